# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sides whose launches took turns: an interleaved comparison, or several.

Both runs of an interleaved comparison have the same text in the setting `interleaved`, and launch k of one
ran next to launch k of the other. So both get the same name here, by which they are paired."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from hockney.comparison.side import MeasuredRun, Side, pooled_cases
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.fit import Cost
from hockney.models.statistics import Observation, PooledCase, loaded_launches, observe

PairedCases = dict[Case, PooledCase]


def in_turns(a: Side, b: Side) -> tuple[Side, Side] | None:
    """Both sides, with the runs of B in the order of their counterparts in A; None if a run has none, or if
    several runs of a side belong to the same interleaved comparison."""
    names = [[run.settings.interleaved for run in side.runs] for side in (a, b)]
    if not all(names[0]) or sorted(names[0]) != sorted(names[1]) or len(set(names[0])) < len(names[0]):
        return None
    of_b = dict(zip(names[1], b.runs, strict=True))
    return a, replace(b, runs=tuple(of_b[name] for name in names[0]))


def observed_in_turns(a: Side, b: Side, catalog: Catalog, cost: Cost) -> tuple[PairedCases, PairedCases]:
    """The cases of sides that are `in_turns`. The launches of a pair have the same name, and both are under
    load if one of them is."""
    by_run: list[list[list[Observation]]] = [[], []]
    for runs in zip(a.runs, b.runs, strict=True):
        loaded = {number for run in runs for number in _loaded(run)}
        for side, run in enumerate(runs):
            by_run[side].append(_observed(run, cost, loaded))
    return pooled_cases(by_run[0], catalog), pooled_cases(by_run[1], catalog)


def without_counterpart(a: Side, b: Side) -> int:
    """The launches whose partner did not measure anything, of sides that are `in_turns`."""
    alone = 0
    for runs in zip(a.runs, b.runs, strict=True):
        of_a, of_b = ({_place(run, record.launch) for record in run.records} for run in runs)
        alone += len(of_a ^ of_b)
    return alone


def _place(run: MeasuredRun, launch: str) -> tuple[int | str, int]:
    """The number of a launch, and its ranks: cases on different numbers of ranks are launched separately."""
    return run.numbers.get(launch, launch), run.ranks.get(launch, 0)


def _loaded(run: MeasuredRun) -> set[int | str]:
    """The numbers of the launches with a high load from other programs."""
    return {run.numbers.get(launch, launch) for launch in loaded_launches(run.run)}


def _observed(run: MeasuredRun, cost: Cost, loaded: Collection[int | str]) -> list[Observation]:
    under_load = {launch.launch for launch in run.run.launches if launch.index in loaded}
    return [
        replace(seen, launches=_names(run, seen.launches))
        for seen in observe(run.run, run.catalog, cost, loaded=under_load)
    ]


def _names(run: MeasuredRun, launches: Sequence[str]) -> tuple[str, ...]:
    """Their numbers. Of several launches with the same number, as after a failure, the last is that of the
    pair, and the others keep their names."""
    last = {run.numbers.get(launch, launch): launch for launch in launches}
    numbers = ((run.numbers.get(launch, launch), launch) for launch in launches)
    return tuple(str(number) if last[number] == launch else launch for number, launch in numbers)
