# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The input of a study: the options of the question, and later the evidence to answer it, with caveats."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from hockney.core.case import PLACE, SETTING, Case, parse_canonical
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Cost, Fits, Summary, Surveyed
from hockney.core.launch_setting import LaunchSetting
from hockney.core.layout import sort_levels
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.record import RunRecords
from hockney.core.settings import Settings
from hockney.draw.page import Caveat, Page, Table

if TYPE_CHECKING:
    from hockney.models.statistics import LaunchTimesCache, Observation

T = TypeVar("T")
Results = TypeVar("Results", bound="StudyResults")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The user's restrictions. Empty: the study decides. `cases` are typed lines, for the study of ad-hoc
    cases; `programs` are the descriptions of programs (`Settings.programs`); `parameters` are values of those
    that the study declares. If there is `surveyed`, the machine's parameters come from there and need not be
    measured. `budget_s` is the time for all measurements."""

    ranks: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    cases: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    surveyed: Surveyed | None = None
    budget_s: float = 60.0

    def value(self, parameter: StudyParameter) -> Any:
        """The given value, or the parameter's default, in the type of its kind."""
        return self.parameters.get(parameter.name, parameter.value())


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A run as measured, and its settings. `planned` counts pairs of case and launch, `left` those of them
    without a record; `added` are the cases that were measured beyond the plan. `notices` are what reading the
    run had to say. `surveyed` is where the machine's parameters are from when not from this run.
    `times` has the typical times of the launches, as computed for the fits. `place` is the level at which its
    pairs of ranks meet, if it is the part of the `whole` that `at` returns."""

    fits: Fits
    run: RunRecords
    machine: Machine
    settings: Settings
    planned: int
    left: int = 0
    added: int = 0
    notices: tuple[str, ...] = ()
    surveyed: Surveyed | None = None
    times: LaunchTimesCache | None = None
    place: str = ""
    whole: Evidence | None = field(default=None, repr=False, compare=False)

    @cached_property
    def cores(self) -> int:
        """The cores of all hosts of the run, assuming that they are alike: with more ranks than these, the
        scheduler decides."""
        return self.run.cores(self.machine)

    def most_with_cores(self, counts: Sequence[int]) -> int:
        """The largest of these ascending numbers of ranks with a core for each rank; otherwise the smallest,
        0 if there are none."""
        return max((count for count in counts if count <= self.cores), default=min(counts, default=0))

    @cached_property
    def levels(self) -> tuple[Evidence, ...]:
        """The run at each level that its cases name, nearest first; the run itself if they name none."""
        named = sort_levels(filter(None, (m.case.place for m in self.measured)))
        return tuple(self.at(level) for level in named) or (self,)

    def at(self, place: str) -> Evidence:
        """The part of the run with only the cases that name this place, and the fits to them; with "" the
        cases that name none, which `of` and `of_role` of the whole return too."""
        fits = replace(
            self.fits,
            summaries=[s for s in self.fits.summaries if parse_canonical(s.case).place == place],
            fits=[fit for fit in self.fits.fits if fit.subject.get(PLACE, "") == place],
        )
        return dataclasses.replace(self, fits=fits, place=place, whole=self)

    def observed(self, cases: Iterable[Case] | None = None, *, cost: Cost | None = None) -> list[Observation]:
        """One observation for each of these cases, by default for all of the run, of the cost that the fits
        use unless `cost` is given. All of the run counts: a case that missed launches depends on others."""
        from hockney.models.statistics import launch_times, observe

        if self.whole is not None:
            own_cases = [m.case for m in self.measured] if cases is None else cases
            return self.whole.observed(own_cases, cost=cost)
        cost = cost or self.fits.cost
        if cost not in self._observed:
            self._observed[cost] = observe(self.run, self.catalog, cost, self.times or launch_times)
        lines = None if cases is None else {case.line for case in cases}
        return [
            observation
            for observation in self._observed[cost]
            if lines is None or observation.case.line in lines
        ]

    def cached(self, compute: Callable[[Evidence], T]) -> T:
        """`compute(self)`, cached: several sections of a page need the same result."""
        if compute not in self._cache:
            self._cache[compute] = compute(self)
        return self._cache[compute]

    @cached_property
    def _observed(self) -> dict[Cost, list[Observation]]:
        return {}

    @cached_property
    def _cache(self) -> dict[Callable[[Evidence], Any], Any]:
        return {}

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        """Every summary with its case, by workload, parameters and ranks. Its `typical` cost is the one used
        by the fits."""
        cases = [
            self._measured(parse_canonical(s.case), replace(s, typical=s.cost(self.fits.cost)))
            for s in self.fits.summaries
        ]
        return tuple(sorted(cases, key=lambda m: (m.case.workload, m.case.ranks, m.size, m.case.line)))

    def of(self, workload: str, **fixed: str | int | float) -> tuple[Measured, ...]:
        """The measured cases of a workload whose parameters have these values, by ranks and size. Those
        with a launch setting are left out unless `setting` is given, and those of another `place`."""
        fixed = {PLACE: self.place, **fixed}
        return tuple(m for m in self.measured if m.case.workload == workload and m.has(fixed))

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog's entries of the run's workloads."""
        return Catalog(schema=self.fits.schema, engine="", workloads=self.fits.workloads)

    def of_role(self, *roles: str, **fixed: str | int | float) -> tuple[Measured, ...]:
        """The measured cases of all workloads with one of these roles, whose parameters have these values; as
        for `of`, of one place."""
        fixed = {PLACE: self.place, **fixed}
        return tuple(m for m in self.measured if m.workload.role in roles and m.has(fixed))

    def role_of(self, case: str) -> str:
        """The role of the workload of a case line."""
        return self.catalog.entry(parse_canonical(case).workload).role

    def _measured(self, case: Case, summary: Summary) -> Measured:
        return Measured(case, summary, self.catalog.entry(case.workload))


@dataclass(frozen=True)
class Measured:
    case: Case
    summary: Summary
    workload: Workload

    @property
    def size(self) -> float:
        return self.workload.size_of(self.case)

    def has(self, fixed: Mapping[str, str | int | float]) -> bool:
        """Whether these parameters have these values, and no launch setting is used that is not among
        them."""
        absent = dict.fromkeys((SETTING, PLACE), "")
        return all(self.case.get(k, absent.get(k)) == v for k, v in fixed.items()) and (
            SETTING in fixed or not self.case.setting
        )

    @property
    def has_size(self) -> bool:
        return bool(self.workload.size) and self.workload.size in self.case


@dataclass(frozen=True)
class StudyResults:
    """What a study computes from a run."""

    evidence: Evidence

    @classmethod
    def of(cls: type[Results], evidence: Evidence) -> Results:
        """The same object for the same evidence, however often a page requests it."""
        return evidence.cached(cls)


@dataclass(frozen=True)
class RunCaveat:
    """A caveat about a run. `cases` are the lines that it affects; None means all."""

    caveat: Caveat
    cases: frozenset[str] | None = None


def run_caveat(
    code: str, text: str, todo: str, *, touches: str = "", cases: Iterable[str] | None = None
) -> RunCaveat:
    return RunCaveat(Caveat(code, text, touches, todo), None if cases is None else frozenset(cases))


def _always(evidence: Evidence) -> bool:
    return True


def _no_settings(options: Options, machine: Machine) -> Sequence[LaunchSetting]:
    return ()


def _no_tables(evidence: Evidence) -> Sequence[Table]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Study:
    """What a module of `hockney/studies` defines. Names without a default make it a study; the others are
    optional."""

    NAME: str
    """The name of its module, with "-" for "_"."""
    HELP: str
    """A line for `hockney run --list`."""
    plan: Callable[[Options, Catalog, Machine], list[Case]]
    """Chooses the cases to measure."""
    page: Callable[[Evidence], Page]
    """The result, as data."""

    PARAMETERS: tuple[StudyParameter, ...] = ()
    """Its parameters other than ranks and sizes: users set them as NAME=VALUE, and
    `options.value(PARAMETER)` returns the typed value."""
    WORKLOADS: tuple[str, ...] = ()
    """All workloads that it may plan, if some of them are compiled on first use."""
    launch_settings: Callable[[Options, Machine], Sequence[LaunchSetting]] = _no_settings
    """The launch settings that its cases name."""

    RUN_BY_NAME: bool = True
    """Whether users may run it by its name. A study that others use may have another name than its module."""
    REFINES: bool = False
    """Whether sizes are added between the planned ones, around changes of a cost. A question about certain
    sizes is answered as asked."""
    ASKS_FOR_LEVELS: bool = False
    """Whether its plan depends on the levels at which ranks of one node meet, which are found by starting
    ranks."""
    AS_TYPED: bool = False
    """Whether its cases are measured as they are; otherwise nothing in them is left to the launcher on
    several nodes."""

    is_conclusive: Callable[[Evidence], bool] = _always
    """Whether the run answers the question."""
    summary: Callable[[Evidence], Sequence[Table]] = _no_tables
    """The tables below the headline on a terminal."""
    answer: Callable[[Evidence], Mapping[str, Any]] | None = None
    """Its part of the JSON document; a study without one adds nothing."""


def once(cases: Iterable[Case]) -> list[Case]:
    return list(dict.fromkeys(cases))
