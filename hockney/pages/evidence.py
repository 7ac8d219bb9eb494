# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The input of a study: the options of the question, and later the evidence to answer it, with caveats."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from hockney.core.case import PLACE, SETTING, Case, parse_canonical
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Cost, Fits, Summary, UsedSurvey
from hockney.core.launch_setting import LaunchSetting
from hockney.core.layout import sort_levels
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.record import RunRecords
from hockney.core.settings import MIN_LAUNCHES, Settings
from hockney.draw.page import Caveat, Page, Table

if TYPE_CHECKING:
    from hockney.models.comparison import JudgedCases, RunOfMachine
    from hockney.models.history import CaseTime
    from hockney.models.statistics import LaunchTimesCache, Observation

T = TypeVar("T")
StudyResultsT = TypeVar("StudyResultsT", bound="StudyResults")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The user's restrictions; the study decides what is left empty. `cases` are typed lines, for the study
    of ad-hoc cases; `programs` are the descriptions of programs (`Settings.programs`); `parameters` are
    values of the parameters that the study declares. If `survey` is set, the machine's parameters come from
    it and need not be measured. `budget_s` is the time for all measurements."""

    ranks: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    cases: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    survey: UsedSurvey | None = None
    budget_s: float = 60.0

    def value(self, parameter: StudyParameter) -> Any:
        """Return the given value, or the parameter's default, with the type of its kind."""
        return self.parameters.get(parameter.name, parameter.value())


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The measurements of a run and its settings. `planned_count` counts pairs of case and launch,
    `missing_count` the pairs without a record, and `added_count` the cases that were measured beyond the
    plan. `notices` are problems found when the run was read. `survey` is the source of the machine's
    parameters if they are not from this run. `times` caches the typical times of launches that the fits used.
    `parent` is set if this is a part of a run: the cases with pairs of ranks at the level `place` (see
    `at`)."""

    fits: Fits
    run: RunRecords
    machine: Machine
    settings: Settings
    planned_count: int
    missing_count: int = 0
    added_count: int = 0
    notices: tuple[str, ...] = ()
    survey: UsedSurvey | None = None
    times: LaunchTimesCache | None = None
    place: str = ""
    parent: Evidence | None = field(default=None, repr=False, compare=False)

    @cached_property
    def cores(self) -> int:
        """The number of cores of all hosts of the run, assuming that the hosts are alike. With more ranks,
        the scheduler decides where they run."""
        return self.run.cores(self.machine)

    def max_count_with_cores(self, counts: Sequence[int]) -> int:
        """Return the largest of these ascending rank counts for which each rank has a core. If there is none,
        return the smallest count, or 0 without counts."""
        return max((count for count in counts if count <= self.cores), default=min(counts, default=0))

    @cached_property
    def levels(self) -> tuple[Evidence, ...]:
        """The parts of the run at each level that its cases name, nearest first, or the run itself if they
        name none."""
        places = sort_levels(filter(None, (m.case.place for m in self.measured)))
        return tuple(self.at(level) for level in places) or (self,)

    def at(self, place: str) -> Evidence:
        """Return the part of the run with only the cases that name this place, and their fits. "" selects the
        cases that name none, which `of` and `of_role` of the complete run also return."""
        fits = replace(
            self.fits,
            summaries=[s for s in self.fits.summaries if parse_canonical(s.case).place == place],
            fits=[fit for fit in self.fits.fits if fit.subject.get(PLACE, "") == place],
        )
        return dataclasses.replace(self, fits=fits, place=place, parent=self)

    def observations(
        self, cases: Iterable[Case] | None = None, *, cost: Cost | None = None
    ) -> list[Observation]:
        """Return one observation for each of these cases (default: all), of `cost` (default: the cost that
        the fits use). They are computed from the complete run, because a case that missed launches depends on
        the other cases."""
        from hockney.models.statistics import launch_times, observe

        if self.parent is not None:
            selected_cases = [m.case for m in self.measured] if cases is None else cases
            return self.parent.observations(selected_cases, cost=cost)
        cost = cost or self.fits.cost
        if cost not in self._observations:
            self._observations[cost] = observe(self.run, self.catalog, cost, self.times or launch_times)
        selected_lines = None if cases is None else {case.line for case in cases}
        return [
            observation
            for observation in self._observations[cost]
            if selected_lines is None or observation.case.line in selected_lines
        ]

    def cached(self, compute: Callable[[Evidence], T]) -> T:
        """Return `compute(self)` from a cache, because several sections of a page use the same result."""
        if compute not in self._cache:
            self._cache[compute] = compute(self)
        return self._cache[compute]

    @cached_property
    def _observations(self) -> dict[Cost, list[Observation]]:
        return {}

    @cached_property
    def _cache(self) -> dict[Callable[[Evidence], Any], Any]:
        return {}

    @cached_property
    def measured(self) -> tuple[MeasuredCase, ...]:
        """Every summary with its case, sorted by workload, parameters and ranks. The `typical` cost of a
        summary is the cost that the fits use."""
        cases = [
            self._measured(
                parse_canonical(summary.case), replace(summary, typical=summary.cost(self.fits.cost))
            )
            for summary in self.fits.summaries
        ]
        return tuple(sorted(cases, key=lambda m: (m.case.workload, m.case.ranks, m.size, m.case.line)))

    def of(self, workload: str, **values: str | int | float) -> tuple[MeasuredCase, ...]:
        """Return the measured cases of a workload with these parameter values, sorted by ranks and size.
        Cases with a launch setting are excluded unless `setting` is given, and so are cases with another
        `place`."""
        values = {PLACE: self.place, **values}
        return tuple(m for m in self.measured if m.case.workload == workload and m.has(values))

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog entries of the run's workloads."""
        return Catalog(schema=self.fits.schema, engine="", workloads=self.fits.workloads)

    def of_role(self, *roles: str, **values: str | int | float) -> tuple[MeasuredCase, ...]:
        """Return the measured cases of all workloads with one of these roles and with these parameter values;
        see `of` for `setting` and `place`."""
        values = {PLACE: self.place, **values}
        return tuple(m for m in self.measured if m.workload.role in roles and m.has(values))

    def role_of(self, case: str) -> str:
        """Return the role of a case line's workload."""
        return self.catalog.entry(parse_canonical(case).workload).role

    def _measured(self, case: Case, summary: Summary) -> MeasuredCase:
        return MeasuredCase(case, summary, self.catalog.entry(case.workload))


@dataclass(frozen=True)
class MeasuredCase:
    case: Case
    summary: Summary
    workload: Workload

    @property
    def size(self) -> float:
        return self.workload.size_of(self.case)

    def has(self, values: Mapping[str, str | int | float]) -> bool:
        """Check whether the parameters have these values. A launch setting or place must be among the
        values."""
        defaults = dict.fromkeys((SETTING, PLACE), "")
        return all(self.case.get(k, defaults.get(k)) == v for k, v in values.items()) and (
            SETTING in values or not self.case.setting
        )

    @property
    def has_size(self) -> bool:
        return bool(self.workload.size) and self.workload.size in self.case


@dataclass(frozen=True)
class StudyResults:
    """Results that a study computes from a run."""

    evidence: Evidence

    @classmethod
    def of(cls: type[StudyResultsT], evidence: Evidence) -> StudyResultsT:
        """Return the results for the evidence, computed at the first call only."""
        return evidence.cached(cls)


@dataclass(frozen=True)
class RunCaveat:
    """A caveat about a run. `cases` contains the affected lines; None means all cases."""

    caveat: Caveat
    cases: frozenset[str] | None = None


def run_caveat(
    code: str, text: str, todo: str, *, touches: str = "", cases: Iterable[str] | None = None
) -> RunCaveat:
    return RunCaveat(Caveat(code, text, touches, todo), None if cases is None else frozenset(cases))


def _is_always_conclusive(evidence: Evidence) -> bool:
    return True


def _has_no_fault(evidence: Evidence) -> bool:
    return False


def _no_part_times(evidence: Evidence) -> Sequence[CaseTime]:
    return ()


def _no_settings(options: Options, machine: Machine) -> Sequence[LaunchSetting]:
    return ()


def _no_tables(evidence: Evidence) -> Sequence[Table]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Study:
    """The members of a module of `hockney/studies`. Members without a default are required; the others are
    optional."""

    NAME: str
    """The name of the module, with "-" for "_"."""
    HELP: str
    """One line for `hockney run --list`."""
    plan: Callable[[Options, Catalog, Machine], list[Case]]
    """Chooses the cases to measure."""
    page: Callable[[Evidence], Page]
    """Returns the report as data."""

    PARAMETERS: tuple[StudyParameter, ...] = ()
    """Parameters in addition to ranks and sizes. Users set them as NAME=VALUE, and `options.value(PARAMETER)`
    returns the typed value."""
    WORKLOADS: tuple[str, ...] = ()
    """All workloads that the study may plan, if some of them are compiled on first use."""
    launch_settings: Callable[[Options, Machine], Sequence[LaunchSetting]] = _no_settings
    """Returns the launch settings that the cases name."""

    RUN_BY_NAME: bool = True
    """Whether users can run the study by its name. A study that only other studies use may have another name
    than its module."""
    REFINES: bool = False
    """Whether sizes are added between the planned ones, where a cost changes. Studies of particular sizes
    measure just these."""
    LAUNCHES: int = 10
    """The number of launches if the budget allows it: more for effects that differ between launches."""
    ASKS_FOR_LEVELS: bool = False
    """Whether the plan depends on the levels at which ranks of one node meet. Finding them requires a
    launch."""
    SIMULATED_LAUNCHES: int = MIN_LAUNCHES
    """Launches on a simulated machine with noise, unless the user chooses."""
    AS_TYPED: bool = False
    """Whether the cases are measured exactly as typed. Otherwise, on several nodes, parameters that a case
    leaves to the launcher are set."""

    is_conclusive: Callable[[Evidence], bool] = _is_always_conclusive
    """Returns whether the run answers the question."""
    open_cases: Callable[[Evidence], Collection[Case]] | None = None
    """Returns the cases of which more launches may answer the question. Launches beyond the plan then measure
    these instead of the cases that are not precise."""
    has_fault: Callable[[Evidence], bool] = _has_no_fault
    """Returns whether the run found a fault of the machine, which the exit code then reports."""
    part_times: Callable[[Evidence], Sequence[CaseTime]] = _no_part_times
    """Returns times of parts of the machine, such as its nodes, which the history of runs follows one by
    one."""
    judge_parts: (
        Callable[[Sequence[RunOfMachine], Sequence[RunOfMachine], Catalog, float], JudgedCases] | None
    ) = None
    """Judges the parts of a machine, such as its nodes, in the runs of two sides with a tolerance.
    Comparisons of runs of the study then contain these parts instead of cases."""
    summary: Callable[[Evidence], Sequence[Table]] = _no_tables
    """Returns the tables below the headline on a terminal."""
    answer: Callable[[Evidence], Mapping[str, Any]] | None = None
    """Returns the study's part of the JSON document; a study without this function adds nothing."""


def unique_cases(cases: Iterable[Case]) -> list[Case]:
    return list(dict.fromkeys(cases))
