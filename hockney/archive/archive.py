# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The archive: a folder of run folders, and the index of their contents.

Everything in the folder counts, however it got there: runs copied there by other programs are found, and
deleted runs are gone. The index is updated at the next use.
"""

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
    COPY_NAME,
    COPY_PREFIX,
    REMOVED_PREFIX,
    ArchivedCopy,
    copy_run,
    not_writable_error,
    remove_run,
)
from hockney.archive.index import TEMPORARY_INDEX, Changes, IndexedFolder, read_index, read_times, write_index
from hockney.core.errors import EnvironmentProblem, HockneyError, UsageError, printable
from hockney.core.notice import Notice
from hockney.core.paths import INDEX
from hockney.core.settings import MAX_CLOCK_DIFFERENCE_S
from hockney.measurement import Listener, StepDone, ignore_event
from hockney.models.history.times import RunTimes
from hockney.store import RunFolder
from hockney.system.files import open_regular, remove_older

TEMPORARY_PREFIXES = (COPY_PREFIX, REMOVED_PREFIX, TEMPORARY_INDEX)
BLOCK_BYTES = 1 << 20
"""Number of bytes that are compared at once. The total comes from the index and cannot be trusted."""
ABANDONED_S = 86_400.0
"""Copying or removing never takes this long: older temporary files belong to processes that were killed."""
WATCHED_FILES = ("plan.txt", "machine.json", "records.jsonl", "catalog.json", "survey.json")
"""A run is read again if one of these files has changed."""


ComputeTimes = Callable[[RunFolder], RunTimes]


@dataclass(frozen=True)
class Contents:
    """The runs of an archive, oldest first. Earlier states of a run are excluded; `superseded` maps each to
    the later state. Runs with `future` dates are excluded too, because their order is unknown."""

    entries: tuple[ArchivedRun, ...] = ()
    damaged: tuple[Damaged, ...] = ()
    future: tuple[ArchivedRun, ...] = ()
    superseded: Mapping[str, ArchivedRun] = field(default_factory=dict)

    @property
    def notices(self) -> tuple[Notice, ...]:
        damaged_notices = (_damaged_run_notice(entry.name, entry.text) for entry in self.damaged)
        return (*damaged_notices, *(_future_run_notice(entry.name, entry.started_s) for entry in self.future))


@dataclass(frozen=True)
class Archive:
    path: Path

    @staticmethod
    def open(path: Path, *, create: bool = False) -> Archive:
        """Open the archive in the folder `path`. Raises UsageError if there is no archive or `path` is
        something else, and EnvironmentProblem if the archive cannot be created."""
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
                raise not_writable_error(path, error) from error
        return Archive(path)

    @property
    def index_path(self) -> Path:
        return self.path / INDEX

    def folder(self, entry: ArchivedRun) -> RunFolder:
        return RunFolder(self.path / entry.name)

    def add(self, source: RunFolder) -> ArchivedCopy:
        """Copy a run into the archive, and remove an earlier state of the same run. Raises UsageError for a
        run that is in this archive or contains it, EnvironmentProblem if the run is damaged or the archive is
        not writable, and Inconclusive if nothing was measured."""
        refuse_inside(self.path, source)
        if source.path.resolve().parent == self.path.resolve():
            raise UsageError(
                f"'{printable(str(source.path))}' is in the archive already",
                "",
                "name a run outside of it",
                code="run-of-the-archive",
                path=str(source.path),
            )
        remove_older(
            (path for prefix in TEMPORARY_PREFIXES for path in self.path.glob(f"{prefix}*")), ABANDONED_S
        )
        copied_run = copy_run(source, self.path)
        entry = copied_run.entry
        contents = self._read(read_index(self.index_path), described={entry.name: entry})
        replaced_names = [
            name
            for name, later_state in contents.superseded.items()
            if later_state.identity == entry.identity
        ]
        self.remove(replaced_names)
        later_state = contents.superseded.get(entry.name)
        if later_state is not None:
            return ArchivedCopy(later_state, False)
        return replace(copied_run, replaced=tuple(replaced_names))

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
                remove_run(self.path / name)
            except OSError as error:
                raise not_writable_error(self.path, error) from error

    def times(
        self,
        entries: Sequence[ArchivedRun],
        program: str,
        compute: ComputeTimes,
        workload: str = "",
        listen: Listener = ignore_event,
    ) -> dict[str, RunTimes]:
        """Return the times of these runs, by name. They come from the index if the same `program` (a digest
        of its sources) computed them, otherwise from `compute`, and are then added to the index. With a
        `workload`, at least its cases are included. Runs for which `compute` raises a HockneyError are
        omitted, with a notice."""
        names = [entry.name for entry in entries]
        indexed = {
            name: run_times
            for name, run_times in read_times(self.index_path, names, workload).items()
            if run_times.by == program
        }
        unindexed = [entry for entry in entries if entry.name not in indexed]
        computed: dict[str, RunTimes] = {}
        for number, entry in enumerate(unindexed):
            try:
                computed[entry.name] = compute(self.folder(entry))
            except HockneyError as error:
                if self.folder(entry).path.exists():
                    listen(_damaged_run_notice(entry.name, str(error)))
            _report_progress(number + 1, len(unindexed), listen)
        if computed:
            write_index(self.index_path, Changes(run_times=computed))
        return {name: (indexed | computed)[name] for name in names if name in indexed or name in computed}

    def _read(
        self,
        indexed: Mapping[str, IndexedFolder],
        listen: Listener = ignore_event,
        described: Mapping[str, ArchivedRun] | None = None,
        *,
        rebuild: bool = False,
    ) -> Contents:
        """Read the archive. `indexed` is the content of the index; `described` are runs that were just
        read."""
        all_states = self._states()
        states = {name: state for name, state in all_states.items() if _is_utf8(name)}
        unreadable_names = [
            _unreadable_name_entry(name) for name in sorted(all_states.keys() - states.keys())
        ]
        changed_names = [
            name for name, state in states.items() if name not in indexed or indexed[name].state != state
        ]
        updated_folders: dict[str, IndexedFolder] = {}
        for number, name in enumerate(changed_names):
            content = (described or {}).get(name) or self._describe_folder(name)
            if content is not None:
                updated_folders[name] = IndexedFolder(states[name], content)
            _report_progress(number + 1, len(changed_names), listen)
        changes = Changes(removed_names=indexed.keys() - states.keys(), updated_folders=updated_folders)
        if changes or rebuild:
            write_index(self.index_path, changes, fresh=rebuild)
        current_folders = [
            updated_folders.get(name) or indexed[name]
            for name in states
            if name in updated_folders or name in indexed
        ]
        return self._sorted([*(folder.content for folder in current_folders), *unreadable_names])

    def _states(self) -> dict[str, str]:
        """Return the state of every run folder by name: sizes and times of its files."""
        try:
            with os.scandir(self.path) as folders:
                names = sorted(item.name for item in folders if not item.name.startswith("."))
        except OSError as error:
            raise EnvironmentProblem(
                f"cannot read the archive '{printable(str(self.path))}'",
                (error.strerror or str(error)).lower(),
                "check its permissions",
                code="archive-not-readable",
                path=str(self.path),
            ) from error
        states = {name: _folder_state(os.path.join(self.path, name)) for name in names}
        return {name: state for name, state in states.items() if state}

    def _describe_folder(self, name: str) -> ArchivedRun | Damaged | None:
        """Describe the run in the folder `name`, or its damage; None if the run was removed meanwhile."""
        folder = RunFolder(self.path / name)
        try:
            return describe(folder)
        except EnvironmentProblem as problem:
            if not folder.plan_path.exists():
                return None
            return Damaged(name=name, code=problem.code, text=str(problem))

    def _sorted(self, runs: Sequence[ArchivedRun | Damaged]) -> Contents:
        entries = [run for run in runs if isinstance(run, ArchivedRun)]
        damaged = tuple(run for run in runs if isinstance(run, Damaged))
        superseded = self._superseded(entries)
        current = (run for run in entries if run.name not in superseded)
        sorted_entries = sorted(current, key=lambda run: (run.started_s, run.name))
        past_entries = tuple(run for run in sorted_entries if not is_in_future(run))
        return Contents(past_entries, damaged, tuple(sorted_entries[len(past_entries) :]), superseded)

    def _superseded(self, entries: Sequence[ArchivedRun]) -> dict[str, ArchivedRun]:
        """Return the earlier states of runs with a later state in the archive, and duplicates of the same
        state."""
        by_identity: dict[str, list[ArchivedRun]] = {}
        for entry in entries:
            by_identity.setdefault(entry.identity, []).append(entry)
        superseded: dict[str, ArchivedRun] = {}
        for states in by_identity.values():
            states.sort(key=lambda state: (-state.bytes, state.name))
            for k, entry in enumerate(states):
                candidates = (state for state in states[:k] if state.name not in superseded)
                later_state = next((state for state in candidates if self._continues(state, entry)), None)
                if later_state is not None:
                    superseded[entry.name] = later_state
        return superseded

    def _continues(self, later: ArchivedRun, earlier: ArchivedRun) -> bool:
        """Check whether the records of `later` begin with those of `earlier`."""
        try:
            with (
                open_regular(self.folder(later).records_path) as later_file,
                open_regular(self.folder(earlier).records_path) as earlier_file,
            ):
                return _begin_equally(later_file, earlier_file, earlier.bytes)
        except OSError:
            return False


def _report_progress(done: int, total: int, listen: Listener) -> None:
    if total > 1:
        listen(StepDone("runs read", done, total))


def _begin_equally(left: BinaryIO, right: BinaryIO, length: int) -> bool:
    for offset in range(0, length, BLOCK_BYTES):
        size = min(BLOCK_BYTES, length - offset)
        block = left.read(size)
        if block != right.read(size):
            return False
        if len(block) < size:
            break
    return True


def is_in_future(entry: ArchivedRun) -> bool:
    """Check whether the clock of the run's host was ahead by more than the clocks of well-kept hosts
    differ."""
    return entry.started_s > time.time() + MAX_CLOCK_DIFFERENCE_S


def refuse_inside(archive: Path, source: RunFolder) -> None:
    """Raise UsageError if the archive is inside of the run, which would be copied into itself."""
    if archive.resolve().is_relative_to(source.path.resolve()):
        raise UsageError(
            f"the archive '{printable(str(archive))}' is inside of the run '{printable(str(source.path))}'",
            "the run would contain its own copy",
            "name another archive with --archive",
            code="archive-in-run",
            path=str(archive),
        )


def is_archive(path: Path) -> bool:
    """Check whether runs have been added to this folder; the index may be missing."""
    try:
        return path.is_dir() and any(COPY_NAME.fullmatch(item.name) for item in path.iterdir())
    except OSError:
        return False


def _is_utf8(name: str) -> bool:
    """Check whether the index can store the name, and a terminal can print it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unreadable_name_entry(name: str) -> Damaged:
    escaped = name.encode(errors="backslashreplace").decode()
    problem = EnvironmentProblem(
        f"the name of the folder '{printable(escaped)}' is not UTF-8",
        "",
        "rename it",
        code="archive-name-not-utf8",
        path=escaped,
    )
    return Damaged(name=escaped, code=problem.code, text=str(problem))


def _folder_state(folder: str) -> str:
    """Return sizes and times of the folder's files as one text; "" if the folder is not a run."""
    parts = []
    for name in WATCHED_FILES:
        try:
            status = os.stat(os.path.join(folder, name))
        except OSError:
            if name == WATCHED_FILES[0]:
                return ""
            parts.append("-")
        else:
            parts.append(f"{status.st_size}.{status.st_mtime_ns}.{status.st_ino}")
    return " ".join(parts)


def _future_run_notice(name: str, started_s: float) -> Notice:
    try:
        date = datetime.fromtimestamp(started_s, timezone.utc).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        date = f"{started_s:g} s after 1970"
    return Notice(
        f"{printable(name)} is left out: its date, {date}, lies in the future: its host has a wrong clock",
        "archive-future-run",
    )


def _damaged_run_notice(name: str, text: str) -> Notice:
    return Notice(f"{printable(name)} is damaged and left out: {printable(text)}", "archive-damaged-run")
