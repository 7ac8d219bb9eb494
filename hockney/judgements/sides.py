# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One side of a comparison: its runs, and the cases that they measured, their launches pooled.

Sides whose launches took turns: an interleaved comparison, or several.

Both runs of an interleaved comparison have the same text in the setting `interleaved`, and launch k of one
ran next to launch k of the other. So both get the same name here, by which they are paired.

Which cases a run should have measured, because its plan or a run of the same study has them.

Cases that the user typed, another study, and other ranks or sizes are a choice. A workload that a study
leaves out, as after an update of the MPI or of hockney, is none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hockney.core.case import Case, format_value, parse_canonical
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import UsageError
from hockney.core.fit import Cost
from hockney.core.layout import LEVEL_PHRASES, parse_level
from hockney.core.machine import Machine
from hockney.core.record import Record, RunRecords
from hockney.core.settings import Settings
from hockney.models.statistics import Observation, PooledCase, loaded_launches, observe


@dataclass(frozen=True)
class MeasuredRun:
    """A run that has been read. `name` is its path, or a published machine's name; `left` measurements of
    its plan are missing. `planned` are the cases that it was to measure."""

    name: str
    machine: Machine
    run: RunRecords
    settings: Settings
    catalog: Catalog
    left: int = 0
    planned: frozenset[Case] = frozenset()

    @property
    def records(self) -> tuple[Record, ...]:
        return self.run.records

    @cached_property
    def loaded(self) -> int:
        """Launches with a high load from other programs."""
        return len(loaded_launches(self.run))

    def level(self, record: Record) -> str:
        """The level in words: the one that the case names, otherwise one node or several; "" if unknown."""
        if place := record.parse_case().place:
            return LEVEL_PHRASES[parse_level(place)]
        nodes = record.nodes or self._nodes.get(record.launch, 0)
        return "" if not nodes else LEVEL_PHRASES["node" if nodes == 1 else "network"]

    @cached_property
    def numbers(self) -> dict[str, int | str]:
        """Each launch's number in the plan, by launch; several launches may have the same number."""
        return {launch.launch: launch.index for launch in self.run.launches}

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The number of ranks of each launch, by launch."""
        return {launch.launch: len(launch.ranks) for launch in self.run.launches}

    @cached_property
    def _nodes(self) -> dict[str, int]:
        """The number of nodes on which each launch's ranks ran, by launch; older records have no other
        number."""
        return {launch.launch: len(launch.nodes) for launch in self.run.launches}


@dataclass(frozen=True)
class Side:
    """One or more runs whose launches count together. `name` is A or B."""

    name: str
    runs: tuple[MeasuredRun, ...]

    @property
    def launches(self) -> int:
        return sum(len(run.run.launches) for run in self.runs)

    @property
    def loaded(self) -> int:
        return sum(run.loaded for run in self.runs)

    @property
    def exact(self) -> bool:
        """Whether its times do not vary: those of a simulator or of a paper."""
        return all(run.machine.is_exact for run in self.runs)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that the user gave to its runs."""
        return tuple(dict.fromkeys(run.settings.label for run in self.runs if run.settings.label))

    @property
    def wrong(self) -> int:
        """Records whose payload arrived corrupted, and launches with a corrupted message."""
        return sum(len(run.run.corrupted_records) + run.run.corrupted_launches for run in self.runs)

    @property
    def studies(self) -> set[str]:
        return {run.settings.study for run in self.runs}

    def planned(self, catalog: Catalog) -> set[Case]:
        """The cases that any of its runs was to measure."""
        return {completed(case, catalog) for run in self.runs for case in run.planned}

    @cached_property
    def workloads(self) -> dict[str, list[Workload]]:
        """The different definitions of each workload that was measured, by its name."""
        definitions: dict[str, list[Workload]] = {}
        for run in self.runs:
            for name in sorted({record.parse_case().workload for record in run.records}):
                same_name = definitions.setdefault(name, [])
                entry = run.catalog.entry(name)
                if entry not in same_name:
                    same_name.append(entry)
        return definitions

    def observed(self, catalog: Catalog, cost: Cost) -> dict[Case, PooledCase]:
        """Each case with the launches of all runs."""
        return pooled_cases([observe(run.run, run.catalog, cost) for run in self.runs], catalog)

    def levels(self, catalog: Catalog) -> dict[Case, str]:
        """The level that each case names, otherwise whether its ranks were on one node or on several; "" if
        both or unknown."""
        levels: dict[Case, set[str]] = {}
        for run in self.runs:
            for record in run.records:
                case = completed(record.parse_case(), catalog)
                level = run.level(record) if run.machine.traits.records_nodes else ""
                levels.setdefault(case, set()).add(level)
        return {case: level.pop() if len(level) == 1 else "" for case, level in levels.items()}

    def failures(self, catalog: Catalog) -> dict[Case, str]:
        """The reason why a case has no result in some launch, by case."""
        return {
            completed(parse_canonical(each.case), catalog): each.reason
            for run in self.runs
            for each in run.run.failures
        }


def pooled_cases(by_run: Iterable[Iterable[Observation]], catalog: Catalog) -> dict[Case, PooledCase]:
    """Each case with the launches of all runs. Parameters that a run's engine did not have yet get their
    default in `catalog`."""
    by_case: dict[Case, dict[int, Observation]] = {}
    for number, run in enumerate(by_run):
        for observation in run:
            by_case.setdefault(completed(observation.case, catalog), {})[number] = observation
    return {case: PooledCase.from_runs(observation) for case, observation in by_case.items()}


def joint_catalog(sides: Iterable[Side]) -> Catalog:
    """A catalog that has, for each workload, the definition with the most parameters."""
    every: dict[str, Workload] = {}
    for side in sides:
        for name, entries in side.workloads.items():
            for entry in entries:
                if name not in every or len(entry.parameters) > len(every[name].parameters):
                    every[name] = entry
    first = next(run for side in sides for run in side.runs).catalog
    return Catalog(schema=first.schema, engine=first.engine, workloads=list(every.values()))


def completed(case: Case, catalog: Catalog) -> Case:
    """The case, completed with the defaults of parameters that it does not name."""
    names: Mapping[str, object] = case.values
    entry = catalog.entry(case.workload)
    if all(parameter.name in names for parameter in entry.parameters):
        return case
    try:
        raw = {name: format_value(value) for name, value in case.values.items()}
        return catalog.complete_case(case.workload, raw)
    except UsageError:  # a value that this definition does not allow
        return case


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
            by_run[side].append(_observations(run, cost, loaded))
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


def _observations(run: MeasuredRun, cost: Cost, loaded: Collection[int | str]) -> list[Observation]:
    under_load = {launch.launch for launch in run.run.launches if launch.index in loaded}
    return [
        replace(observation, launches=_names(run, observation.launches))
        for observation in observe(run.run, run.catalog, cost, loaded=under_load)
    ]


def _names(run: MeasuredRun, launches: Sequence[str]) -> tuple[str, ...]:
    """Their numbers. Of several launches with the same number, as after a failure, the last is that of the
    pair, and the others keep their names."""
    last = {run.numbers.get(launch, launch): launch for launch in launches}
    numbers = ((run.numbers.get(launch, launch), launch) for launch in launches)
    return tuple(str(number) if last[number] == launch else launch for number, launch in numbers)


AD_HOC = "cases"
"""The study of cases that the user typed."""


def lacking(
    candidates: Iterable[Case],
    side_cases: Collection[Case],
    planned: Collection[Case],
    size_of: Callable[[Case], float],
    *,
    same_study: bool,
) -> set[Case]:
    """The `candidates` that are missing in `side_cases` although they were `planned`; with `same_study`,
    also those of workloads that are neither measured nor planned, if other cases have the same number of
    ranks and size."""
    workloads = {case.workload for case in (*side_cases, *planned)}
    measured = {(case.ranks, size_of(case)) for case in (*side_cases, *planned)}
    ranks = {count for count, _ in measured}

    def left_out(case: Case) -> bool:
        if not same_study or case.workload in workloads:
            return False
        size = size_of(case)
        return (case.ranks, size) in measured if size else case.ranks in ranks

    return {case for case in candidates if case not in side_cases and (case in planned or left_out(case))}


def same_study(a: Collection[str], b: Collection[str]) -> bool:
    """Whether all runs of two sides have one study, which is not that of typed cases. Those of papers and of
    imported logs are not planned."""
    names = {*a, *b}
    return len(names) == 1 and not names & {AD_HOC, "published", "import", "imported", ""}
