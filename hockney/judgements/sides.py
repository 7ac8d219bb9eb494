# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One side of a comparison: its runs, and the cases that they measured, their launches pooled.

The launches of an interleaved comparison alternate. Both runs have the same text in the setting
`interleaved`, and launch k of one ran next to launch k of the other. Both launches get the same name here,
which pairs them.

A run lacks a case if its plan or another run of the same study contains that case. A difference in ad-hoc
cases, in the study, or in ranks or sizes is the user's choice. A missing workload of the same study is not:
it is missing because, for example, MPI or hockney was updated."""

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
    """A run that was read. `name` is its path, or the name of a published machine. `planned_cases` are the
    cases of its plan, of which `missing_count` measurements are missing."""

    name: str
    machine: Machine
    run: RunRecords
    settings: Settings
    catalog: Catalog
    missing_count: int = 0
    planned_cases: frozenset[Case] = frozenset()

    @property
    def records(self) -> tuple[Record, ...]:
        return self.run.records

    @cached_property
    def loaded_count(self) -> int:
        """The number of launches with a high load from other programs."""
        return len(loaded_launches(self.run))

    def level(self, record: Record) -> str:
        """Return a phrase for the level that the case names, otherwise for one node or several; "" if
        unknown."""
        if place := record.parse_case().place:
            return LEVEL_PHRASES[parse_level(place)]
        nodes = record.nodes or self._launch_nodes.get(record.launch, 0)
        return "" if not nodes else LEVEL_PHRASES["node" if nodes == 1 else "network"]

    @cached_property
    def launch_numbers(self) -> dict[str, int | str]:
        """The number of each launch in the plan, by launch. Several launches can have the same number."""
        return {launch.launch: launch.index for launch in self.run.launches}

    @cached_property
    def launch_ranks(self) -> dict[str, int]:
        """The number of ranks of each launch, by launch."""
        return {launch.launch: len(launch.ranks) for launch in self.run.launches}

    @cached_property
    def _launch_nodes(self) -> dict[str, int]:
        """The number of nodes of each launch, by launch. Older records contain no other number of nodes."""
        return {launch.launch: len(launch.nodes) for launch in self.run.launches}


@dataclass(frozen=True)
class Side:
    """One or more runs whose launches are pooled. `name` is A or B."""

    name: str
    runs: tuple[MeasuredRun, ...]

    @property
    def launch_count(self) -> int:
        return sum(len(run.run.launches) for run in self.runs)

    @property
    def loaded_count(self) -> int:
        return sum(run.loaded_count for run in self.runs)

    @property
    def is_exact(self) -> bool:
        """Whether the times are exact, as from a simulator or a paper."""
        return all(run.machine.is_exact for run in self.runs)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that the user gave to the runs."""
        return tuple(dict.fromkeys(run.settings.label for run in self.runs if run.settings.label))

    @property
    def wrong_count(self) -> int:
        """The number of records with corrupted payloads, and of launches with a corrupted message."""
        return sum(len(run.run.corrupted_records) + run.run.corrupted_launches for run in self.runs)

    @property
    def studies(self) -> set[str]:
        return {run.settings.study for run in self.runs}

    def planned_cases(self, catalog: Catalog) -> set[Case]:
        """Return the cases in the plan of any run."""
        return {complete_case(case, catalog) for run in self.runs for case in run.planned_cases}

    @cached_property
    def workloads(self) -> dict[str, list[Workload]]:
        """The different definitions of each measured workload, by name."""
        definitions: dict[str, list[Workload]] = {}
        for run in self.runs:
            for name in sorted({record.parse_case().workload for record in run.records}):
                entries = definitions.setdefault(name, [])
                entry = run.catalog.entry(name)
                if entry not in entries:
                    entries.append(entry)
        return definitions

    def pooled_cases(self, catalog: Catalog, cost: Cost) -> dict[Case, PooledCase]:
        """Return each case with the launches of all runs."""
        return pool_cases([observe(run.run, run.catalog, cost) for run in self.runs], catalog)

    def levels(self, catalog: Catalog) -> dict[Case, str]:
        """Return the level that each case names, otherwise whether its ranks were on one node or several; ""
        if both or unknown."""
        levels: dict[Case, set[str]] = {}
        for run in self.runs:
            for record in run.records:
                case = complete_case(record.parse_case(), catalog)
                level = run.level(record) if run.machine.traits.records_nodes else ""
                levels.setdefault(case, set()).add(level)
        return {case: level.pop() if len(level) == 1 else "" for case, level in levels.items()}

    def failures(self, catalog: Catalog) -> dict[Case, str]:
        """Return the reason why a case has no result in some launch, by case."""
        return {
            complete_case(parse_canonical(failure.case), catalog): failure.reason
            for run in self.runs
            for failure in run.run.failures
        }


def pool_cases(by_run: Iterable[Iterable[Observation]], catalog: Catalog) -> dict[Case, PooledCase]:
    """Pool the launches of all runs by case. Parameters that an older engine lacked get their defaults in
    `catalog`."""
    by_case: dict[Case, dict[int, Observation]] = {}
    for number, run in enumerate(by_run):
        for observation in run:
            by_case.setdefault(complete_case(observation.case, catalog), {})[number] = observation
    return {case: PooledCase.from_runs(observation) for case, observation in by_case.items()}


def joint_catalog(sides: Iterable[Side]) -> Catalog:
    """Return a catalog with the definition of each workload that has the most parameters."""
    largest_entries: dict[str, Workload] = {}
    for side in sides:
        for name, entries in side.workloads.items():
            for entry in entries:
                if name not in largest_entries or len(entry.parameters) > len(
                    largest_entries[name].parameters
                ):
                    largest_entries[name] = entry
    first_catalog = next(run for side in sides for run in side.runs).catalog
    return Catalog(
        schema=first_catalog.schema, engine=first_catalog.engine, workloads=list(largest_entries.values())
    )


def complete_case(case: Case, catalog: Catalog) -> Case:
    """Complete the case with the defaults of parameters that it does not name."""
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


def match_interleaved_runs(a: Side, b: Side) -> tuple[Side, Side] | None:
    """Return both sides with their runs in matching order. None if a run has no counterpart, or if several
    runs of a side belong to the same interleaved comparison."""
    comparison_names = [[run.settings.interleaved for run in side.runs] for side in (a, b)]
    if (
        not all(comparison_names[0])
        or sorted(comparison_names[0]) != sorted(comparison_names[1])
        or len(set(comparison_names[0])) < len(comparison_names[0])
    ):
        return None
    runs_of_b = dict(zip(comparison_names[1], b.runs, strict=True))
    return a, replace(b, runs=tuple(runs_of_b[name] for name in comparison_names[0]))


def interleaved_observations(
    a: Side, b: Side, catalog: Catalog, cost: Cost
) -> tuple[PairedCases, PairedCases]:
    """Return the pooled cases of sides with matching runs. The launches of a pair have the same name, and
    both count as loaded if one of them is."""
    observations: list[list[list[Observation]]] = [[], []]
    for runs in zip(a.runs, b.runs, strict=True):
        loaded_numbers = {number for run in runs for number in _loaded_numbers(run)}
        for side, run in enumerate(runs):
            observations[side].append(_observations(run, cost, loaded_numbers))
    return pool_cases(observations[0], catalog), pool_cases(observations[1], catalog)


def unpaired_launch_count(a: Side, b: Side) -> int:
    """Count the launches whose counterpart did not measure anything, for sides with matching runs."""
    unpaired = 0
    for runs in zip(a.runs, b.runs, strict=True):
        keys_a, keys_b = ({_launch_key(run, record.launch) for record in run.records} for run in runs)
        unpaired += len(keys_a ^ keys_b)
    return unpaired


def _launch_key(run: MeasuredRun, launch: str) -> tuple[int | str, int]:
    """Return the number and the ranks of a launch. Cases with different rank counts run in separate
    launches."""
    return run.launch_numbers.get(launch, launch), run.launch_ranks.get(launch, 0)


def _loaded_numbers(run: MeasuredRun) -> set[int | str]:
    """Return the numbers of the launches with a high load from other programs."""
    return {run.launch_numbers.get(launch, launch) for launch in loaded_launches(run.run)}


def _observations(run: MeasuredRun, cost: Cost, loaded_numbers: Collection[int | str]) -> list[Observation]:
    loaded_names = {launch.launch for launch in run.run.launches if launch.index in loaded_numbers}
    return [
        replace(observation, launches=_launch_names(run, observation.launches))
        for observation in observe(run.run, run.catalog, cost, loaded=loaded_names)
    ]


def _launch_names(run: MeasuredRun, launches: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers of launches as names. If several launches have the same number, as after a failure,
    the last one gets the number, and the others keep their names."""
    last_launches = {run.launch_numbers.get(launch, launch): launch for launch in launches}
    numbers = ((run.launch_numbers.get(launch, launch), launch) for launch in launches)
    return tuple(str(number) if last_launches[number] == launch else launch for number, launch in numbers)


AD_HOC_STUDY = "cases"
"""The study of cases that the user typed."""


def find_missing_cases(
    candidates: Iterable[Case],
    side_cases: Collection[Case],
    planned_cases: Collection[Case],
    size_of: Callable[[Case], float],
    *,
    same_study: bool,
) -> set[Case]:
    """Return the `candidates` that were planned but are missing in `side_cases`. With `same_study`, also
    return those of workloads that are neither measured nor planned, if other cases have the same rank count
    and size."""
    workloads = {case.workload for case in (*side_cases, *planned_cases)}
    layouts = {(case.ranks, size_of(case)) for case in (*side_cases, *planned_cases)}
    rank_counts = {count for count, _ in layouts}

    def is_left_out(case: Case) -> bool:
        if not same_study or case.workload in workloads:
            return False
        size = size_of(case)
        return (case.ranks, size) in layouts if size else case.ranks in rank_counts

    return {
        case for case in candidates if case not in side_cases and (case in planned_cases or is_left_out(case))
    }


def is_same_study(a: Collection[str], b: Collection[str]) -> bool:
    """Check whether all runs of two sides belong to one study that plans its cases. Ad-hoc cases, papers and
    imported logs have no plan."""
    names = {*a, *b}
    return len(names) == 1 and not names & {AD_HOC_STUDY, "published", "import", "imported", ""}
