# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The archive: a folder of run folders, and the index of what they contain.

Whatever is in the folder counts, however it came there: runs that were copied there by other programs are
found, and runs that were deleted are gone. The index follows at the next use."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO

from hockney.archive.archived_run import ArchivedRun, Damaged, describe
from hockney.archive.copying import FRESH, NAMED, REMOVED, copy_run, not_writable, remove
from hockney.archive.index import TEMPORARY_INDEX, Changes, Known, read_index, read_times, write_index
from hockney.core.errors import EnvironmentProblem, HockneyError, UsageError, printable
from hockney.core.notice import Notice
from hockney.core.paths import INDEX
from hockney.core.settings import CLOCKS_DIFFER_S
from hockney.models.history.times import RunTimes
from hockney.store import RunFolder
from hockney.system.files import open_regular, remove_older

TEMPORARY = (FRESH, REMOVED, TEMPORARY_INDEX)
BLOCK = 1 << 20
"""Bytes that are compared at once: how many there are comes from the index."""
ABANDONED_S = 86_400.0
"""Nothing that is copied or removed takes this long: older ones are those of processes that were killed."""
WATCHED = ("plan.txt", "machine.json", "records.jsonl", "catalog.json", "survey.json")
"""A run is read again if one of these files has changed."""


TimesOf = Callable[[RunFolder], RunTimes]
Progress = Callable[[int, int], None]
"""How many of so many runs have been read."""
Told = Callable[[Notice], None]


@dataclass(frozen=True)
class Added:
    """A run in the archive. `new`: the archive did not have it in this state; `replaced` are earlier states
    of it, which were removed."""

    entry: ArchivedRun
    new: bool
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contents:
    """The runs of an archive, the oldest first. Earlier states of a run are left out: `superseded` has the
    later state of each. So are those of `future` dates, whose order among the others is unknown."""

    entries: tuple[ArchivedRun, ...] = ()
    damaged: tuple[Damaged, ...] = ()
    future: tuple[ArchivedRun, ...] = ()
    superseded: Mapping[str, ArchivedRun] = field(default_factory=dict)

    @property
    def notices(self) -> tuple[Notice, ...]:
        damaged = (_damaged_run(each.name, each.text) for each in self.damaged)
        return (*damaged, *(_future_run(each.name, each.started_s) for each in self.future))


@dataclass(frozen=True)
class Archive:
    path: Path

    @staticmethod
    def open(path: Path, *, create: bool = False) -> Archive:
        """Raises UsageError if there is none, or something else; EnvironmentProblem if it cannot be made."""
        if (path / "plan.txt").is_file():
            raise UsageError(
                f"'{printable(str(path))}' is a run",
                "an archive is a folder of runs",
                "name another folder with --archive",
                code="archive-is-a-run",
                path=str(path),
            )
        if path.exists() and not path.is_dir():
            raise UsageError(
                f"'{printable(str(path))}' is not a folder",
                "an archive is a folder of runs",
                "name another one with --archive",
                code="archive-not-a-folder",
                path=str(path),
            )
        if not path.exists():
            if not create:
                raise UsageError(
                    f"there is no archive '{printable(str(path))}'",
                    "no such folder exists",
                    "add a run first: hockney history add RUN",
                    code="no-archive",
                    path=str(path),
                )
            try:
                path.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise not_writable(path, error) from error
        return Archive(path)

    @property
    def index_path(self) -> Path:
        return self.path / INDEX

    def folder(self, entry: ArchivedRun) -> RunFolder:
        return RunFolder(self.path / entry.name)

    def add(self, source: RunFolder) -> Added:
        """Copy a run into the archive. An earlier state of the same run is removed. Raises UsageError for a
        run of this archive or one that contains it, EnvironmentProblem if it is damaged or the archive is not
        writable, Inconclusive if nothing was measured."""
        refuse_inside(self.path, source)
        if source.path.resolve().parent == self.path.resolve():
            raise UsageError(
                f"'{printable(str(source.path))}' is in the archive already",
                "",
                "name a run outside of it",
                code="run-of-the-archive",
                path=str(source.path),
            )
        remove_older((each for kind in TEMPORARY for each in self.path.glob(f"{kind}*")), ABANDONED_S)
        copied = copy_run(source, self.path)
        entry = copied.entry
        contents = self._read(read_index(self.index_path), None, {entry.name: entry})
        states = [name for name, later in contents.superseded.items() if later.identity == entry.identity]
        self.remove(states)
        later = contents.superseded.get(entry.name)
        if later is not None:
            return Added(later, False)
        return Added(entry, copied.new, tuple(states))

    def contents(self, progress: Progress | None = None) -> Contents:
        """Raises EnvironmentProblem if the folder cannot be read."""
        return self._read(read_index(self.index_path), progress)

    def reindex(self, progress: Progress | None = None) -> Contents:
        """The same from the runs alone: the index is made again."""
        return self._read({}, progress, again=True)

    def remove(self, names: Iterable[str]) -> None:
        """Each run disappears at once, before its files are deleted. Raises EnvironmentProblem."""
        for name in names:
            try:
                remove(self.path / name)
            except OSError as error:
                raise not_writable(self.path, error) from error

    def times(
        self,
        entries: Sequence[ArchivedRun],
        by: str,
        compute: TimesOf,
        workload: str = "",
        progress: Progress | None = None,
        told: Told | None = None,
    ) -> dict[str, RunTimes]:
        """The times of these runs, by name: from the index if the program `by` computed them, otherwise from
        `compute`, which makes them for the index too. With a `workload` only its cases, at least. Runs for
        which `compute` raises a HockneyError are left out; `told` gets a notice."""
        names = [entry.name for entry in entries]
        found = {name: of for name, of in read_times(self.index_path, names, workload).items() if of.by == by}
        lacking = [entry for entry in entries if entry.name not in found]
        made: dict[str, RunTimes] = {}
        for number, entry in enumerate(lacking):
            try:
                made[entry.name] = compute(self.folder(entry))
            except HockneyError as error:
                if told is not None and self.folder(entry).path.exists():
                    told(_damaged_run(entry.name, str(error)))
            if progress is not None:
                progress(number + 1, len(lacking))
        if made:
            write_index(self.index_path, Changes(times=made))
        return {name: (found | made)[name] for name in names if name in found or name in made}

    def _read(
        self,
        before: Mapping[str, Known],
        progress: Progress | None,
        described: Mapping[str, ArchivedRun] | None = None,
        *,
        again: bool = False,
    ) -> Contents:
        """`before` is what the index has; `described` are runs that have just been read."""
        every = self._states()
        states = {name: state for name, state in every.items() if _in_utf8(name)}
        nameless = [_nameless(name) for name in sorted(every.keys() - states.keys())]
        changed = [
            name for name, state in states.items() if name not in before or before[name].state != state
        ]
        known: dict[str, Known] = {}
        for number, name in enumerate(changed):
            what = (described or {}).get(name) or self._described(name)
            if what is not None:
                known[name] = Known(states[name], what)
            if progress is not None:
                progress(number + 1, len(changed))
        changes = Changes(gone=before.keys() - states.keys(), known=known)
        if changes or again:
            write_index(self.index_path, changes, fresh=again)
        now = [known.get(name) or before[name] for name in states if name in known or name in before]
        return self._sorted([*(each.what for each in now), *nameless])

    def _states(self) -> dict[str, str]:
        """The state of every folder that is a run, by name: sizes and times of its files."""
        try:
            with os.scandir(self.path) as listed:
                names = sorted(each.name for each in listed if not each.name.startswith("."))
        except OSError as error:
            raise EnvironmentProblem(
                f"cannot read the archive '{printable(str(self.path))}'",
                (error.strerror or str(error)).lower(),
                "check its permissions",
                code="archive-not-readable",
                path=str(self.path),
            ) from error
        states = {name: _state(os.path.join(self.path, name)) for name in names}
        return {name: state for name, state in states.items() if state}

    def _described(self, name: str) -> ArchivedRun | Damaged | None:
        """The run, or how it is damaged; None if it was removed meanwhile."""
        folder = RunFolder(self.path / name)
        try:
            return describe(folder)
        except EnvironmentProblem as problem:
            if not folder.plan_path.exists():
                return None
            return Damaged(name=name, code=problem.code, text=str(problem))

    def _sorted(self, found: Sequence[ArchivedRun | Damaged]) -> Contents:
        entries = [each for each in found if isinstance(each, ArchivedRun)]
        damaged = tuple(each for each in found if isinstance(each, Damaged))
        superseded = self._superseded(entries)
        kept = (each for each in entries if each.name not in superseded)
        ordered = sorted(kept, key=lambda each: (each.started_s, each.name))
        past = tuple(each for each in ordered if not in_future(each))
        return Contents(past, damaged, tuple(ordered[len(past) :]), superseded)

    def _superseded(self, entries: Sequence[ArchivedRun]) -> dict[str, ArchivedRun]:
        """Earlier states of a run whose later state is there too, and second copies of the same state."""
        same: dict[str, list[ArchivedRun]] = {}
        for entry in entries:
            same.setdefault(entry.identity, []).append(entry)
        found: dict[str, ArchivedRun] = {}
        for states in same.values():
            states.sort(key=lambda each: (-each.bytes, each.name))
            for k, entry in enumerate(states):
                kept = (each for each in states[:k] if each.name not in found)
                later = next((each for each in kept if self._continues(each, entry)), None)
                if later is not None:
                    found[entry.name] = later
        return found

    def _continues(self, later: ArchivedRun, earlier: ArchivedRun) -> bool:
        """Whether the records of one begin with those of the other."""
        try:
            with (
                open_regular(self.folder(later).records_path) as one,
                open_regular(self.folder(earlier).records_path) as other,
            ):
                return _begin_alike(one, other, earlier.bytes)
        except OSError:
            return False


def _begin_alike(one: BinaryIO, other: BinaryIO, length: int) -> bool:
    for done in range(0, length, BLOCK):
        size = min(BLOCK, length - done)
        block = one.read(size)
        if block != other.read(size):
            return False
        if len(block) < size:
            break
    return True


def in_future(entry: ArchivedRun) -> bool:
    """Whether the clock of its host was wrong, by more than those of well-kept hosts differ."""
    return entry.started_s > time.time() + CLOCKS_DIFFER_S


def refuse_inside(archive: Path, source: RunFolder) -> None:
    """Raises UsageError for an archive inside of the run, which would be copied into itself."""
    if archive.resolve().is_relative_to(source.path.resolve()):
        raise UsageError(
            f"the archive '{printable(str(archive))}' is inside of the run '{printable(str(source.path))}'",
            "the run would contain its own copy",
            "name another archive with --archive",
            code="archive-in-run",
            path=str(archive),
        )


def is_archive(path: Path) -> bool:
    """Whether runs have been added to this folder; the index may be missing."""
    try:
        return path.is_dir() and any(NAMED.fullmatch(each.name) for each in path.iterdir())
    except OSError:
        return False


def _in_utf8(name: str) -> bool:
    """Names of other bytes cannot be kept in the index, nor printed."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _nameless(name: str) -> Damaged:
    shown = name.encode(errors="backslashreplace").decode()
    problem = EnvironmentProblem(
        f"the name of the folder '{printable(shown)}' is not UTF-8",
        "",
        "rename it",
        code="archive-name-not-utf8",
        path=shown,
    )
    return Damaged(name=shown, code=problem.code, text=str(problem))


def _state(folder: str) -> str:
    """ "" if it is no run."""
    parts = []
    for name in WATCHED:
        try:
            status = os.stat(os.path.join(folder, name))
        except OSError:
            if name == WATCHED[0]:
                return ""
            parts.append("-")
        else:
            parts.append(f"{status.st_size}.{status.st_mtime_ns}.{status.st_ino}")
    return " ".join(parts)


def _future_run(name: str, started_s: float) -> Notice:
    try:
        date = datetime.fromtimestamp(started_s, timezone.utc).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        date = f"{started_s:g} s after 1970"
    return Notice(
        f"{printable(name)} is left out: its date, {date}, lies in the future: its host has a wrong clock",
        "archive-future-run",
    )


def _damaged_run(name: str, text: str) -> Notice:
    return Notice(f"{printable(name)} is damaged and left out: {printable(text)}", "archive-damaged-run")
