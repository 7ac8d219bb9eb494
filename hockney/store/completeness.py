# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which measurements a run should have: those of its plan, and those of the sizes that were added while it
measured; and which of them it lacks."""

from __future__ import annotations

import signal
from collections import Counter

from hockney.core.case import Case
from hockney.core.record import RunRecords
from hockney.core.settings import FEWEST_LAUNCHES
from hockney.store.plan import Item, Plan

ADDITIONS = ((0.2, 0.6), (0.4, 0.85), (0.6, 1.0))
"""After which fraction of the launches sizes are added, and up to which fraction of their maximum: gaps
become narrow in steps, and added cases need launches still to come."""

INTERRUPTED = (128 + signal.SIGINT, 128 + signal.SIGTERM, -signal.SIGINT, -signal.SIGTERM)
"""Exit codes of a launch that ended because hockney was interrupted."""


def addition_rounds(rounds: int) -> dict[int, float]:
    """The numbers of rounds after which sizes are added, and up to which share of the maximum."""
    return {max(1, round(rounds * part)): share for part, share in ADDITIONS}


def expected_items(plan: Plan, run: RunRecords) -> tuple[Item, ...]:
    """The items of the plan, followed by those of the added cases."""
    return (*plan.items, *_added(plan, run))


def unmeasured_items(plan: Plan, run: RunRecords) -> tuple[Item, ...]:
    """The expected items without a record, in order. A record belongs to the planned launch whose number its
    launch line gives; a repeated launch has the same number."""
    index = {launch.launch: launch.index for launch in run.launches}
    done = {(index.get(record.launch), record.parse_case()) for record in run.records}
    return tuple(item for item in expected_items(plan, run) if (item.launch, item.case) not in done)


def missing_items(plan: Plan, run: RunRecords) -> tuple[Item, ...]:
    """The items left that a run still needs. If hockney chose the number of launches (`extend`), that number
    is a target, which a busy machine may not reach: a planned case with `FEWEST_LAUNCHES` needs no more, and
    an added one none, unless the run was interrupted or a launch that was made has lost their record."""
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
        or (item.case in planned and launches[item.case.line] < FEWEST_LAUNCHES)
    )


def _interrupted(run: RunRecords) -> bool:
    """Whether hockney was interrupted or killed during the last launch."""
    if not run.launches:
        return False
    ends = [close for close in run.closes if close.launch == run.launches[-1].launch]
    return not ends or ends[-1].exit_code in INTERRUPTED


def _complete_launches(run: RunRecords) -> set[int]:
    """The numbers of the launches that had time for all of their cases: those followed by another, and the
    last one if it was not ended early."""
    if not run.launches:
        return set()
    last = run.launches[-1]
    ends = [close for close in run.closes if close.launch == last.launch]
    complete = bool(ends) and ends[-1].exit_code == 0 and not ends[-1].reason
    return {launch.index for launch in run.launches if complete or launch.index < last.index}


def _added(plan: Plan, run: RunRecords) -> list[Item]:
    """The added cases in each planned launch that was to measure them: from the addition before the first
    launch that did, in the launches of their workload, rank count and setting."""
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
