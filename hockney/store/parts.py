# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Concurrent writers of one run. Each writer measures a share of its launches into a separate file,
`records-2of4.jsonl`. When it ends, the lines move to `records.jsonl`. No writer waits for another while it
measures. Moving lines requires locks that hold between the writers' hosts: they show which files have no
writer, and let one writer at a time append to `records.jsonl`."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from hockney.core.case import Case
from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.core.record import Close, Failure, Launch, Line, Record, RunRecords
from hockney.store import messages
from hockney.store.appender import Appender
from hockney.store.folder import RunFolder
from hockney.store.plan import Plan, unmeasured_items
from hockney.store.record_reader import decoded, raw_lines

FILE = re.compile(r"records-(\d+)of(\d+)\.jsonl")
MOST_SHARES = 10_000
WAIT_S = 60.0
AGAIN_S = 0.2


@dataclass(frozen=True)
class LaunchShare:
    """Number `number`, from 1, of `count` shares of a run's launches."""

    number: int
    count: int

    @staticmethod
    def parse(text: str) -> LaunchShare:
        """A share from text such as "2/4". Raises UsageError."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if not match or not 1 <= int(match[1]) <= int(match[2]) <= MOST_SHARES:
            raise UsageError(
                f"'{printable(text)}' is not a share of a run",
                "it is its number, from 1, a slash, and the number of shares",
                "use for example 2/4",
                code="not-a-share",
                text=text,
            )
        return LaunchShare(int(match[1]), int(match[2]))

    @property
    def file(self) -> str:
        return f"records-{self.number}of{self.count}.jsonl"

    def of(self, plan: Plan) -> Plan:
        """Return the part of `plan` in this share: every `count`-th round of launches, so that every share
        contains all cases."""
        groups = plan.groups
        items = (i for i in plan.items if i.launch // groups % self.count == self.number - 1)
        return replace(plan, items=tuple(items))


@dataclass(frozen=True)
class PartFolder(RunFolder):
    """A run folder as seen by the writer of one share. The plan contains the share's launches without the
    cases in `done` (number of the launch, case), and the records go to the share's file."""

    share: LaunchShare
    done: frozenset[tuple[int, Case]]

    @staticmethod
    def of_share(folder: RunFolder, share: LaunchShare) -> PartFolder:
        """Return the run in `folder` without the cases of the share that `records.jsonl` already contains."""
        plan = share.of(folder.plan())
        unmeasured = {(item.launch, item.case) for item in unmeasured_items(plan, folder.read().run)}
        done = frozenset((item.launch, item.case) for item in plan.items) - unmeasured
        return PartFolder(folder.path, share, done)

    @property
    def records_path(self) -> Path:
        return self.path / self.share.file

    def plan(self) -> Plan:
        share_plan = self.share_plan()
        items = (item for item in share_plan.items if (item.launch, item.case) not in self.done)
        return replace(share_plan, items=tuple(items))

    def share_plan(self) -> Plan:
        """Return all launches of the share, with the share's part of the budget. Rounds have a budget each,
        and a share measures whole rounds."""
        plan = self.share.of(super().plan())
        settings = replace(plan.settings, extend=False, refine=False)  # both depend on the other shares
        if not settings.every_s:
            settings = replace(settings, budget_s=settings.budget_s / self.share.count)
        return replace(plan, settings=settings)


def unabsorbed_shares(folder: RunFolder) -> list[Path]:
    """Return the files of shares that are not yet in `records.jsonl`."""
    return sorted(path for path in folder.path.glob("records-*of*.jsonl") if FILE.fullmatch(path.name))


def absorb_shares(
    folder: RunFolder, wait_s: float = WAIT_S, *, own_file: str = "", all_ended: bool = False
) -> int:
    """Move the lines of all shares without a writer into `records.jsonl`. Returns the number of shares that
    still have a writer. On a file system without locks, any other share may have one, unless `all_ended`; the
    caller's `own_file` has none. The move can be repeated after a kill at any moment: lines that have arrived
    are not appended again. Raises EnvironmentProblem, also if another process writes `records.jsonl` for
    longer than `wait_s`."""
    paths = unabsorbed_shares(folder)
    if not paths:
        return 0
    with lock_records(folder, wait_s) as out:
        return sum(not _absorb_part(path, folder, out, all_ended or path.name == own_file) for path in paths)


@contextlib.contextmanager
def lock_records(folder: RunFolder, wait_s: float) -> Iterator[Appender]:
    """Lock the run's records for writing, as soon as no other process has the lock. Raises EnvironmentProblem
    after `wait_s` seconds."""
    end = time.monotonic() + wait_s
    with contextlib.ExitStack() as stack:
        while True:
            try:
                out = stack.enter_context(folder.append())
                break
            except EnvironmentProblem as problem:
                if problem.code != messages.RECORDS_LOCKED or time.monotonic() >= end:
                    raise
                time.sleep(AGAIN_S)
        yield out


def _absorb_part(path: Path, folder: RunFolder, out: Appender, ended: bool) -> bool:
    """Move the lines of one share. Returns False if the share may still have a writer: only a lock shows that
    its writer has `ended`."""
    if not (out.locked or ended):
        return False
    try:
        with Appender(path, folder.sums.checksum) as part:
            if not (part.locked or ended):
                return False
            lines = [decoded(raw, path, number) for number, raw in raw_lines(path)]
            for line in _new_lines(lines, out.run()):
                out.append(line)
            out.sync()  # a crash of the system must not take both copies
            path.unlink()
    except EnvironmentProblem as problem:
        if problem.code != messages.RECORDS_LOCKED:
            raise
        return False
    return True


def _new_lines(lines: list[Line], existing: RunRecords) -> list[Line]:
    """Return the lines that `existing` lacks. A launch whose name is already used gets the next number."""
    existing_launches = {launch.launch: launch for launch in existing.launches}
    closed = {close.launch for close in existing.closes}
    measured = {(record.launch, record.case) for record in existing.records}
    measured |= {(failure.launch, failure.case) for failure in existing.failures}
    names: dict[str, str] = {}
    new: list[Line] = []
    for line in lines:
        if isinstance(line, Launch):
            names[line.launch], arrived = _name(line, existing_launches)
            existing_launches[names[line.launch]] = line
            if arrived:
                continue
        name = names.get(line.launch, line.launch)
        if isinstance(line, Record | Failure) and (name, line.case) in measured:
            continue
        if isinstance(line, Close) and name in closed:
            continue
        new.append(line if name == line.launch else msgspec.structs.replace(line, launch=name))
    return new


def _name(line: Launch, existing: dict[str, Launch]) -> tuple[str, bool]:
    """Return a name for the launch `line` that no other launch in `existing` has, and whether `existing`
    already contains this launch."""
    index, _, number = line.launch.partition(".")
    count = int(number or 0)
    while True:
        name = f"{index}.{count}"
        if name not in existing:
            return name, False
        if msgspec.structs.replace(existing[name], launch=line.launch) == line:
            return name, True
        count += 1
