# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""`plan.txt`: all measurements of a run, complete before the first launch, for users and for `resume`.

    study = "survey"
    budget_s = 60
    ...

    0 0 pingpong buffers=hot bytes=8 ranks=2

Settings first (NAME = VALUE as in JSON), then one line per case: launch, position in its shuffled order,
case.

This module also lists the measurements that a run should have, including sizes that were added while it
measured, and those that it lacks.
"""

from __future__ import annotations

import json
import signal
from collections import Counter
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import get_type_hints

import msgspec

from hockney.core.case import Case, parse_canonical
from hockney.core.errors import EnvironmentProblem, HockneyError, printable
from hockney.core.record import SCHEMA, RunRecords
from hockney.core.settings import MIN_LAUNCHES, Settings
from hockney.store import messages

_HEAD = """\
# A hockney plan. First the settings, then one case a line: launch, place in the launch, case.
# `hockney resume` runs what is listed here and not yet in records.jsonl.
"""


COUNT = "# measurements = "
"""Precedes the number of lines after the settings, so that a missing line is noticed."""

DIGITS = 9
"""Maximum digits of a launch's number, and of a position in it."""

ALWAYS = {
    "study", "budget_s", "precision", "launches", "seed", "bind", "mpi", "machine", "assume_network",
}  # fmt: skip
"""Settings that every plan contains. Others are written only if they differ from their default."""


@dataclass(frozen=True)
class Item:
    """One case in one launch. `launch` counts from 0 over the whole run, `order` within the launch."""

    launch: int
    order: int
    case: Case


@dataclass(frozen=True)
class Plan:
    settings: Settings
    items: tuple[Item, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        """All distinct cases, in order of first appearance."""
        return tuple(dict.fromkeys(item.case for item in self.items))

    @property
    def groups(self) -> int:
        """Launches per round: one for each number of ranks, and more if the cases need more than one
        executable."""
        launches = 1 + max((item.launch for item in self.items), default=-1)
        return max(len({case.launched_ranks for case in self.cases}), -(-launches // self.settings.launches))

    @property
    def text(self) -> str:
        values = {f.name: getattr(self.settings, f.name) for f in fields(Settings)}
        written = {"schema": SCHEMA} | {name: v for name, v in values.items() if v or name in ALWAYS}
        settings = "".join(f"{name} = {json.dumps(value)}\n" for name, value in written.items())
        cases = "".join(f"{item.launch} {item.order} {item.case.line}\n" for item in self.items)
        return f"{_HEAD}{COUNT}{len(self.items)}\n{settings}\n{cases}"


@lru_cache(maxsize=4)  # records are compared with the plan wherever they are read
def parse_plan(text: str, where: str) -> Plan:
    """Parse the result of `Plan.text`; errors contain the line of `where`."""
    settings: dict[str, str] = {}
    items: list[Item] = []
    stated = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith(COUNT):
            stated = line.removeprefix(COUNT)
        if not line or line.startswith("#"):
            continue
        try:
            name, equals, value = line.partition(" = ")
            if not line[0].isdigit():
                if not equals:
                    raise ValueError
                settings[name] = value
            else:
                launch, order, case = line.split(maxsplit=2)
                if len(launch) > DIGITS or len(order) > DIGITS:
                    raise ValueError
                items.append(Item(int(launch), int(order), parse_canonical(case)))
        except (ValueError, HockneyError) as error:
            raise EnvironmentProblem(
                f"cannot read line {number} of {where}",
                f"'{printable(line[:60])}'",
                messages.EDITED,
                code="plan-damaged",
                path=where,
                line=number,
            ) from error
    if stated not in ("", str(len(items))):
        raise EnvironmentProblem(
            f"{where} has {len(items)} measurements",
            f"it was written with {printable(stated)}",
            "restore it from a copy",
            code="plan-of-other-length",
            path=where,
            found=len(items),
            said=stated,
        )
    return Plan(_settings(settings, where), tuple(items))


def _settings(raw: dict[str, str], where: str) -> Settings:
    try:
        schema = int(raw.pop("schema"))
        if schema > SCHEMA:
            raise messages.newer_file(where, schema, SCHEMA)
        if schema < SCHEMA:
            raise ValueError(f"schema {schema} was never released")
        kinds = get_type_hints(Settings)
        values = {name: msgspec.convert(json.loads(value), kinds[name]) for name, value in raw.items()}
        read = Settings(**values)
        if read.setting_out_of_range:
            raise ValueError(
                f"{read.setting_out_of_range} = {raw[read.setting_out_of_range]} is out of range"
            )
        return read
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise EnvironmentProblem(
            f"{where} has no usable settings",
            printable(str(error)),
            messages.EDITED,
            code="plan-without-settings",
            path=where,
        ) from error


ADDITIONS = ((0.2, 0.6), (0.4, 0.85), (0.6, 1.0))
"""Fraction of the launches after which sizes are added, with the fraction of the maximum that they may reach.
Gaps narrow in steps, and added cases need later launches."""

INTERRUPTED = (128 + signal.SIGINT, 128 + signal.SIGTERM, -signal.SIGINT, -signal.SIGTERM)
"""Exit codes of a launch that ended because hockney was interrupted."""


def addition_rounds(rounds: int) -> dict[int, float]:
    """Return the numbers of rounds after which sizes are added, with the fraction of the maximum that they
    may reach."""
    return {max(1, round(rounds * part)): share for part, share in ADDITIONS}


def expected_items(plan: Plan, run: RunRecords) -> tuple[Item, ...]:
    """Return the items of the plan, followed by those of the added cases."""
    return (*plan.items, *_added(plan, run))


def unmeasured_items(plan: Plan, run: RunRecords) -> tuple[Item, ...]:
    """Return the expected items without a record, in order. A record belongs to the planned launch with the
    number in its launch line; a repeated launch has the same number."""
    index = {launch.launch: launch.index for launch in run.launches}
    done = {(index.get(record.launch), record.parse_case()) for record in run.records}
    return tuple(item for item in expected_items(plan, run) if (item.launch, item.case) not in done)


def missing_items(plan: Plan, run: RunRecords) -> tuple[Item, ...]:
    """Return the unmeasured items that a run still needs. If hockney chose the number of launches (`extend`),
    it is a target that a busy machine may not reach: a planned case needs only `MIN_LAUNCHES` launches, and
    an added case none, unless the run was interrupted or the record of a completed launch was lost."""
    items = unmeasured_items(plan, run)
    if not items or not plan.settings.extend or _interrupted(run):
        return items
    launches = Counter(case for case, _ in {(record.case, record.launch) for record in run.records})
    planned, lost_in = set(plan.cases), _complete_launches(run)
    failed = {failure.case for failure in run.failures}
    return tuple(
        item
        for item in items
        if (item.launch in lost_in and item.case.line not in failed)
        or (item.case in planned and launches[item.case.line] < MIN_LAUNCHES)
    )


def _interrupted(run: RunRecords) -> bool:
    """Return whether hockney was interrupted or killed during the last launch."""
    if not run.launches:
        return False
    ends = [close for close in run.closes if close.launch == run.launches[-1].launch]
    return not ends or ends[-1].exit_code in INTERRUPTED


def _complete_launches(run: RunRecords) -> set[int]:
    """Return the numbers of the launches that had time for all of their cases: those followed by another
    launch, and the last one unless it ended early."""
    if not run.launches:
        return set()
    last = run.launches[-1]
    ends = [close for close in run.closes if close.launch == last.launch]
    complete = bool(ends) and ends[-1].exit_code == 0 and not ends[-1].reason
    return {launch.index for launch in run.launches if complete or launch.index < last.index}


def _added(plan: Plan, run: RunRecords) -> list[Item]:
    """Return the added cases in each planned launch that should measure them: beginning with the addition
    before the first launch that did, in the launches of their workload, number of ranks and setting."""
    if not plan.settings.refine:
        return []
    planned = set(plan.cases)
    index = {launch.launch: launch.index for launch in run.launches}
    first: dict[Case, int] = {}
    for record in run.records:
        case = record.parse_case()
        if case not in planned:
            number = index.get(record.launch, 0)
            first[case] = min(number, first.get(case, number))
    failed = {failure.case for failure in run.failures}
    begins = sorted(rounds * plan.groups for rounds in addition_rounds(plan.settings.launches))
    launches = sorted({(item.launch, _kind(item.case)) for item in plan.items})
    items = []
    for case, measured in first.items():
        begin = max((begin for begin in begins if begin <= measured), default=begins[0])
        numbers = [number for number, kind in launches if kind == _kind(case) and number >= begin]
        if case.line not in failed:
            items += [Item(number, len(plan.items), case) for number in numbers]
    return items


def _kind(case: Case) -> tuple[str, int, str]:
    return case.workload, case.launched_ranks, case.setting
