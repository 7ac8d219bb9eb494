# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Contents of `fits.json`: summaries of cases and fitted models, derived from `records.jsonl`. Contents of
`survey.json`: a survey that a study used.

Every number has a 95% interval, every fit a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import msgspec

from hockney.core.case import Case, Value, format_value, parse_canonical, parse_subject_line
from hockney.core.catalog import Workload
from hockney.core.machine import Machine
from hockney.core.record import SCHEMA, OverRanks
from hockney.core.units import format_interval

Verdict = Literal["good", "fair", "poor", "refused"]
Intercept = Literal["found", "held", "below zero"]
Cost = Literal["typical", "undisturbed"]
"""Which time of a case: the centre over all its visits and launches, or the time of its fastest mode."""


class Estimate(msgspec.Struct, frozen=True):
    """A value with its 95% interval; `low` and `high` are None if the data allow no interval."""

    value: float
    low: float | None
    high: float | None


def estimate_fields(name: str, estimate: Estimate | None, unit: str = "") -> dict[str, float | None]:
    """Return the value and the bounds of the interval as fields with names ending in `unit`; None without an
    estimate."""
    names = {f"{name}{unit}": "value", f"{name}_low{unit}": "low", f"{name}_high{unit}": "high"}
    return {field: getattr(estimate, attribute, None) for field, attribute in names.items()}


class ExactValue(Estimate, frozen=True):
    """A value that does not vary, such as a simulated time. Both bounds equal the value."""

    @classmethod
    def of(cls, value: float) -> ExactValue:
        return cls(value, value, value)


class DefinedValue(ExactValue, frozen=True):
    """A value that is known without measuring, such as the ratio of a time to itself."""


class TimeEstimate(Estimate, frozen=True, omit_defaults=True):
    """A time in seconds, shown with a unit: 5.2 us [5.11, 5.29]. `caveats` are reasons for caution that its
    interval does not reflect."""

    caveats: tuple[FitCaveat, ...] = ()

    def __repr__(self) -> str:
        interval = format_interval(self.value, self.low, self.high, "s")
        return "; ".join((interval, *(caveat.text for caveat in self.caveats)))


class MetricSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of one case over all its launches, summarised like the time.

    For a metric per rank (`over_ranks` each), `typical` is the maximum over the ranks, and `by_rank` contains
    the value of every rank. A `phase` is a part of the operation's time.
    """

    unit: str
    over_ranks: OverRanks
    phase: bool
    typical: Estimate
    by_rank: list[float] = []


class UndisturbedCost(msgspec.Struct, frozen=True, kw_only=True):
    """Cost of a case in its fastest mode (s), and the share of `disturbed` visits, which are more than a
    tenth slower."""

    cost: Estimate
    disturbed: float


class Modes(msgspec.Struct, frozen=True, kw_only=True):
    """Times of one case in two modes, about `fast_s` and about `slow_s`. `slow_share` is the share of visits
    in the slow mode. `dwell_s` is the mean duration of a mode (s), None if no change of mode was observed."""

    fast_s: float
    slow_s: float
    slow_share: float
    dwell_s: float | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One case over all its launches.

    `typical` is the typical time of one operation (s): the robust centre over visits and launches.
    `undisturbed` is its cost in the fastest mode; `modes` is set if its times clearly have two modes.
    `visits` is the number of visits, `preempted` the number of visits during which a rank lost its core.
    `within` is the spread inside a launch (the interquartile range over the median, averaged over launches).
    `between` is the spread of the launches' times (a robust standard deviation of their logarithms; None with
    one launch). `launch_spread` is the same without protection against outliers for fewer than six launches;
    `launch_spread_expected` is its prediction from the spread within launches. `quartiles` are the 5, 25, 75
    and 95% points of all repetitions (s).

    `launches` measured the case. `inferred_launches` missed it; their times are inferred from similar cases,
    and enter both costs and the spread between launches. With an `unknown_change` there is no interval: in
    launches that missed the case, other cases changed, and no similar case was measured. `min_s` to `max_s`
    are the extremes, the mean and quantiles of the repetitions (s). `operations` is the total number of
    operations. `algbw_bytes_per_s`, `busbw_bytes_per_s` and `rate_per_s` are derived from the typical time as
    in nccl-tests and the OSU benchmarks, None if undefined (docs/columns.md). `metrics` are the other metrics
    of the workload, by name. `place` and `nodes` are those of its records, "" and 0 if they differ between
    launches.
    """

    case: str
    typical: Estimate
    undisturbed: UndisturbedCost | None = None
    modes: Modes | None = None
    visits: int = 0
    preempted: int = 0
    quartiles: tuple[float, float, float, float]
    within: float
    between: float | None
    launch_spread: float | None = None
    launch_spread_expected: float | None = None
    repetitions: int
    launches: int
    inferred_launches: int = 0
    unknown_change: bool = False
    bytes_moved: int
    verified_bytes: int
    errors: int
    operations: int = 0
    min_s: float | None = None
    mean_s: float | None = None
    p50_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None
    max_s: float | None = None
    algbw_bytes_per_s: float | None = None
    busbw_bytes_per_s: float | None = None
    rate_per_s: float | None = None
    metrics: dict[str, MetricSummary] = {}
    place: str = ""
    nodes: int = 0

    @property
    def spread_within(self) -> float | None:
        """The value of `within`; None if it is unknown because every launch has only one repetition."""
        is_known = self.repetitions > self.launches or isinstance(self.typical, ExactValue)
        return self.within if is_known else None

    def cost(self, cost: Cost) -> Estimate:
        """Return this cost; the typical cost if the undisturbed one is unknown."""
        undisturbed = self.undisturbed if cost == "undisturbed" else None
        return self.typical if undisturbed is None else undisturbed.cost


class FittedParameter(msgspec.Struct, frozen=True, kw_only=True):
    """One fitted parameter. `symbol` is its usual symbol in the literature (L, o_s, r_inf), `unit` is s, B,
    s/B, B/s or ""."""

    name: str
    symbol: str
    unit: str
    estimate: Estimate
    note: str = ""


class CurvePoint(msgspec.Struct, frozen=True):
    """Time of the fitted model at `x` (bytes or ranks), in seconds, with the model's 95% band."""

    x: float
    time: float
    low: float
    high: float


class FittedSegment(msgspec.Struct, frozen=True, kw_only=True):
    """One segment of a piecewise model: time = latency + bytes * per_byte for first <= bytes < beyond.

    `intercept` tells whether a latency was `found`; was `held` at 0, as the free line would begin below 0; or
    whether the line begins below 0, because a byte costs more than in shorter messages, for example beyond a
    cache. `smallest` and `largest` are the measured sizes in the segment, None for printed values.
    """

    first: int
    beyond: int | None
    latency: Estimate
    per_byte: Estimate
    intercept: Intercept = "found"
    smallest: int | None = None
    largest: int | None = None


class FitCaveat(msgspec.Struct, frozen=True):
    """A reason to doubt a fit. `code` is a short stable name, `values` the numbers in the text (SI)."""

    code: str
    text: str
    values: dict[str, float] = {}


LAUNCHES_IN_TWO_MODES = "launches-in-two-modes"
"""Caveat of a fit to launches of which some were fast and others slow."""


@dataclass(frozen=True)
class Subject:
    """Subject of a model: a workload with the parameters that all its cases share (possibly `ranks`), sorted
    by name. Its `line` is stored in `fits.json`."""

    workload: str
    fixed: tuple[tuple[str, Value], ...] = ()

    @staticmethod
    def of(case: Case, free: Iterable[str]) -> Subject:
        """Return the subject with all parameters of a case except the free ones."""
        free_names = set(free)
        fixed = tuple(sorted((name, value) for name, value in case.values.items() if name not in free_names))
        return Subject(case.workload, fixed)

    @staticmethod
    @lru_cache(maxsize=4096)
    def parse(line: str) -> Subject:
        """Parse the result of `line`."""
        workload, values = parse_subject_line(line)
        return Subject(workload, tuple(sorted(values.items())))

    @cached_property
    def values(self) -> Mapping[str, Value]:
        return dict(self.fixed)

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def get(self, name: str, default: Value | None = None) -> Value | None:
        return self.values.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def matches(self, **fixed: Value) -> bool:
        """Return whether these parameters are fixed at these values."""
        return all(self.values.get(name) == value for name, value in fixed.items())

    @property
    def line(self) -> str:
        return " ".join([self.workload, *(f"{name}={format_value(value)}" for name, value in self.fixed)])

    def __str__(self) -> str:
        return self.line


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """One model fitted to the records of one subject.

    `model` is its name (hockney, loggp, logarithmic, linear). `line` is the line of the subject ("pingpong
    buffers=hot ranks=2"; `subject` in the file). `error` is the median relative error over the fitted points,
    `worst` the largest. `preferred` marks the form that describes the data best if a subject has more than
    one. If `verdict` is refused, `parameters` is empty and `why` gives the reason. `caveats` are reasons
    other than the error for a worse verdict.

    `ranges` are the smallest and the largest value of each variable in the fitted cases. If a time is a sum
    of the parameters with factors x, in the order of the parameters, `interval_matrix` is the matrix M for
    which the 95% interval of that time has the half width sqrt(x M x); otherwise it is empty.
    """

    model: str
    line: str = msgspec.field(name="subject")
    parameters: list[FittedParameter]
    verdict: Verdict
    why: str
    error: float | None = None
    worst: float | None = None
    segments: list[FittedSegment] = []
    change_points: list[Estimate] = []
    curve: list[CurvePoint] = []
    preferred: bool = False
    caveats: list[FitCaveat] = []
    ranges: dict[str, tuple[float, float]] = {}
    interval_matrix: list[list[float]] = []

    @property
    def subject(self) -> Subject:
        return Subject.parse(self.line)

    def parameter(self, symbol: str) -> FittedParameter | None:
        return next((p for p in self.parameters if p.symbol == symbol), None)

    @property
    def two_modes(self) -> FitCaveat | None:
        """Caveat that its launches were in two modes."""
        return next((caveat for caveat in self.caveats if caveat.code == LAUNCHES_IN_TWO_MODES), None)


class Fits(msgspec.Struct, frozen=True, kw_only=True):
    """Contents of `fits.json`. The fits describe the cases' `cost`; summaries contain both costs. `workloads`
    are the catalog entries of the measured workloads. They define the size and metrics of a summary, and the
    role that selects models and figures."""

    schema: int
    summaries: list[Summary]
    fits: list[Fit]
    workloads: list[Workload] = []
    cost: Cost = "typical"

    def select(self, model: str, workload: str) -> list[Fit]:
        return [fit for fit in self.fits if fit.model == model and fit.subject.workload == workload]

    def measured_cases(self, *roles: str, operation: str = "") -> Iterator[tuple[Workload, Case, Summary]]:
        """Yield the cases of workloads with these roles and, unless it is "", this operation."""
        workloads = {
            workload.name: workload
            for workload in self.workloads
            if workload.role in roles and operation in ("", workload.operation)
        }
        for summary in self.summaries:
            workload = workloads.get(summary.case.split(" ", 1)[0])
            if workload is not None:
                yield workload, parse_canonical(summary.case), summary

    def select_by_role(self, model: str, role: str, operation: str = "") -> list[Fit]:
        """Return the fits of `model` to workloads with this role and, unless it is "", this operation."""
        names = {workload.name for workload in self.workloads if workload.performs(role, operation)}
        return [fit for fit in self.fits if fit.model == model and fit.subject.workload in names]


class UsedSurvey(msgspec.Struct, frozen=True):
    """Fits and machine of a survey that a study used. `where` is the survey's folder as given by the user.
    `differences` describe how its machine differs from the study's; they were overridden with --force."""

    fits: Fits
    machine: Machine
    where: str
    differences: tuple[str, ...] = ()
    schema: int = SCHEMA
