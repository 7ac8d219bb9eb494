# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The archive: a folder of run folders, and the index of what they contain.

Whatever is in the folder counts, however it came there: runs that were copied there by other programs are
found, and runs that were deleted are gone. The index follows at the next use."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO

from hockney.archive.archived_run import ArchivedRun, Damaged, describe
from hockney.archive.copying import (
    COPY_PREFIX,
    NAME,
    REMOVED_PREFIX,
    ArchivedCopy,
    copy_run,
    not_writable,
    remove,
)
from hockney.archive.index import TEMPORARY_INDEX, Changes, IndexedFolder, read_index, read_times, write_index
from hockney.core.errors import EnvironmentProblem, HockneyError, UsageError, printable
from hockney.core.notice import Notice
from hockney.core.paths import INDEX
from hockney.core.settings import CLOCKS_DIFFER_S
from hockney.measurement import Listener, StepDone, ignore_event
from hockney.models.history.times import RunTimes
from hockney.store import RunFolder
from hockney.system.files import open_regular, remove_older

TEMPORARY = (COPY_PREFIX, REMOVED_PREFIX, TEMPORARY_INDEX)
BLOCK = 1 << 20
"""Bytes compared at once. Their total comes from the index, so it cannot be trusted."""
ABANDONED_S = 86_400.0
"""Copying or removing never takes this long: older temporary files belong to processes that were killed."""
WATCHED = ("plan.txt", "machine.json", "records.jsonl", "catalog.json", "survey.json")
"""A run is read again if one of these files has changed."""


TimesOf = Callable[[RunFolder], RunTimes]


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
        """Open the archive in the folder `path`. Raises UsageError if there is none or `path` is something
        else, EnvironmentProblem if it cannot be created."""
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
                "name a folder with --archive",
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

    def add(self, source: RunFolder) -> ArchivedCopy:
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
        contents = self._read(read_index(self.index_path), described={entry.name: entry})
        states = [name for name, later in contents.superseded.items() if later.identity == entry.identity]
        self.remove(states)
        later = contents.superseded.get(entry.name)
        if later is not None:
            return ArchivedCopy(later, False)
        return replace(copied, replaced=tuple(states))

    def contents(self, listen: Listener = ignore_event) -> Contents:
        """Read the archive, and update its index. Raises EnvironmentProblem if the folder cannot be read."""
        return self._read(read_index(self.index_path), listen)

    def reindex(self, listen: Listener = ignore_event) -> Contents:
        """Rebuild the index from the run folders, and return the contents. Raises EnvironmentProblem if the
        folder cannot be read."""
        return self._read({}, listen, rebuild=True)

    def remove(self, names: Iterable[str]) -> None:
        """Remove these runs. Each disappears at once, before its files are deleted. Raises
        EnvironmentProblem."""
        for name in names:
            try:
                remove(self.path / name)
            except OSError as error:
                raise not_writable(self.path, error) from error

    def times(
        self,
        entries: Sequence[ArchivedRun],
        program: str,
        compute: TimesOf,
        workload: str = "",
        listen: Listener = ignore_event,
    ) -> dict[str, RunTimes]:
        """The times of these runs, by name: from the index if `program` (the digest of its sources) computed
        them, otherwise from `compute`, which makes them for the index too. With a `workload` only its cases,
        at least. Runs for which `compute` raises a HockneyError are left out, with a notice."""
        names = [entry.name for entry in entries]
        indexed = {
            name: of for name, of in read_times(self.index_path, names, workload).items() if of.by == program
        }
        unindexed = [entry for entry in entries if entry.name not in indexed]
        computed: dict[str, RunTimes] = {}
        for number, entry in enumerate(unindexed):
            try:
                computed[entry.name] = compute(self.folder(entry))
            except HockneyError as error:
                if self.folder(entry).path.exists():
                    listen(_damaged_run(entry.name, str(error)))
            _report_progress(number + 1, len(unindexed), listen)
        if computed:
            write_index(self.index_path, Changes(times=computed))
        return {name: (indexed | computed)[name] for name in names if name in indexed or name in computed}

    def _read(
        self,
        indexed: Mapping[str, IndexedFolder],
        listen: Listener = ignore_event,
        described: Mapping[str, ArchivedRun] | None = None,
        *,
        rebuild: bool = False,
    ) -> Contents:
        """`indexed` is what the index has; `described` are runs that have just been read."""
        all_states = self._states()
        states = {name: state for name, state in all_states.items() if _in_utf8(name)}
        unreadable_names = [_unreadable_name(name) for name in sorted(all_states.keys() - states.keys())]
        changed = [
            name for name, state in states.items() if name not in indexed or indexed[name].state != state
        ]
        updated: dict[str, IndexedFolder] = {}
        for number, name in enumerate(changed):
            content = (described or {}).get(name) or self._describe_folder(name)
            if content is not None:
                updated[name] = IndexedFolder(states[name], content)
            _report_progress(number + 1, len(changed), listen)
        changes = Changes(gone=indexed.keys() - states.keys(), updated=updated)
        if changes or rebuild:
            write_index(self.index_path, changes, fresh=rebuild)
        current = [
            updated.get(name) or indexed[name] for name in states if name in updated or name in indexed
        ]
        return self._sorted([*(each.content for each in current), *unreadable_names])

    def _states(self) -> dict[str, str]:
        """The state of every folder that is a run, by name: sizes and times of its files."""
        try:
            with os.scandir(self.path) as folders:
                names = sorted(each.name for each in folders if not each.name.startswith("."))
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

    def _describe_folder(self, name: str) -> ArchivedRun | Damaged | None:
        """Describe the run in the folder `name`, or its damage; None if it was removed meanwhile."""
        folder = RunFolder(self.path / name)
        try:
            return describe(folder)
        except EnvironmentProblem as problem:
            if not folder.plan_path.exists():
                return None
            return Damaged(name=name, code=problem.code, text=str(problem))

    def _sorted(self, runs: Sequence[ArchivedRun | Damaged]) -> Contents:
        entries = [each for each in runs if isinstance(each, ArchivedRun)]
        damaged = tuple(each for each in runs if isinstance(each, Damaged))
        superseded = self._superseded(entries)
        current = (each for each in entries if each.name not in superseded)
        ordered = sorted(current, key=lambda each: (each.started_s, each.name))
        past = tuple(each for each in ordered if not in_future(each))
        return Contents(past, damaged, tuple(ordered[len(past) :]), superseded)

    def _superseded(self, entries: Sequence[ArchivedRun]) -> dict[str, ArchivedRun]:
        """Earlier states of a run whose later state is there too, and second copies of the same state."""
        by_identity: dict[str, list[ArchivedRun]] = {}
        for entry in entries:
            by_identity.setdefault(entry.identity, []).append(entry)
        superseded: dict[str, ArchivedRun] = {}
        for states in by_identity.values():
            states.sort(key=lambda each: (-each.bytes, each.name))
            for k, entry in enumerate(states):
                current = (each for each in states[:k] if each.name not in superseded)
                later = next((each for each in current if self._continues(each, entry)), None)
                if later is not None:
                    superseded[entry.name] = later
        return superseded

    def _continues(self, later: ArchivedRun, earlier: ArchivedRun) -> bool:
        """Whether the records of `later` begin with those of `earlier`."""
        try:
            with (
                open_regular(self.folder(later).records_path) as one,
                open_regular(self.folder(earlier).records_path) as other,
            ):
                return _begin_alike(one, other, earlier.bytes)
        except OSError:
            return False


def _report_progress(done: int, total: int, listen: Listener) -> None:
    if total > 1:
        listen(StepDone("runs read", done, total))


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
    """Raises UsageError if the archive is inside of the run, which would be copied into itself."""
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
        return path.is_dir() and any(NAME.fullmatch(each.name) for each in path.iterdir())
    except OSError:
        return False


def _in_utf8(name: str) -> bool:
    """Whether the index can store the name, and a terminal print it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unreadable_name(name: str) -> Damaged:
    escaped = name.encode(errors="backslashreplace").decode()
    problem = EnvironmentProblem(
        f"the name of the folder '{printable(escaped)}' is not UTF-8",
        "",
        "rename it",
        code="archive-name-not-utf8",
        path=escaped,
    )
    return Damaged(name=escaped, code=problem.code, text=str(problem))


def _state(folder: str) -> str:
    """Sizes and times of the folder's files, as one text; "" if it is not a run."""
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
