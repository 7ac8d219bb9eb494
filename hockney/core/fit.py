# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The contents of `fits.json`: summaries of cases and fitted models, all derived from `records.jsonl`; and of
`survey.json`, a survey that a study used.

Every number comes with its 95% interval, every fit with a verdict.
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
"""Which time of a case: the centre over all its visits and launches, or that of its fastest mode."""


class Estimate(msgspec.Struct, frozen=True):
    """A value with its 95% interval; the ends are None if the data allow no interval."""

    value: float
    low: float | None
    high: float | None


def estimate_fields(name: str, estimate: Estimate | None, unit: str = "") -> dict[str, float | None]:
    """The value and the ends of the interval as fields with names ending in `unit`; None without an
    estimate."""
    names = {f"{name}{unit}": "value", f"{name}_low{unit}": "low", f"{name}_high{unit}": "high"}
    return {field: getattr(estimate, end, None) for field, end in names.items()}


class ExactValue(Estimate, frozen=True):
    """One that does not vary, as a simulated time: both ends are the value."""

    @classmethod
    def of(cls, value: float) -> ExactValue:
        return cls(value, value, value)


class DefinedValue(ExactValue, frozen=True):
    """One that is known without measuring, as the ratio of a time to itself."""


class TimeEstimate(Estimate, frozen=True, omit_defaults=True):
    """A time in seconds, shown with a unit: 5.2 us [5.11, 5.29]. `caveats` are reasons for caution that its
    interval does not show."""

    caveats: tuple[FitCaveat, ...] = ()

    def __repr__(self) -> str:
        shown = format_interval(self.value, self.low, self.high, "s")
        return "; ".join((shown, *(caveat.text for caveat in self.caveats)))


class MetricSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of one case over all its launches, summarised like the time.

    For a metric that is kept for each rank (`over_ranks` each), `typical` is that of the maximum over the
    ranks, and `by_rank` has that of each rank. A `phase` is a part of the operation's time.
    """

    unit: str
    over_ranks: OverRanks
    phase: bool
    typical: Estimate
    by_rank: list[float] = []


class Undisturbed(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of a case in its fastest mode (s), and the share of its visits that were `disturbed`: slower
    than that by more than a tenth."""

    cost: Estimate
    disturbed: float


class Modes(msgspec.Struct, frozen=True, kw_only=True):
    """Times of one case that are either about `fast_s` or about `slow_s`, the latter in `slow_share` of the
    visits; `dwell_s` is the mean duration of a mode (s), None if no mode was observed to change."""

    fast_s: float
    slow_s: float
    slow_share: float
    dwell_s: float | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One case over all its launches.

    `typical` is the typical time of one operation (s): the robust centre over visits and launches.
    `undisturbed` is its cost in the fastest mode, `modes` are there where times are clearly of two kinds.
    `visits` is the number of moments at which the case was measured, `preempted` that of visits during which
    a rank lost its core. `within` is the spread inside a launch (the interquartile range over the median,
    averaged over launches), `between` the spread of the launches' times (a robust standard deviation of their
    logarithms; None with one launch). `launch_spread` is the same without protection against outliers below
    six launches, `launch_spread_expected` what the spread within launches predicts for it. `quartiles` are
    the 5, 25, 75 and 95% points of all repetitions (s).
    `launches` are those that measured the case, `inferred_launches` those that it missed and that both costs
    and the spread between launches include as inferred from similar cases. With an `unknown_change`, it has
    no interval: other cases changed in launches that it missed, and nothing similar was measured there.
    `min_s` to `max_s` are the extremes, the mean and quantiles of the repetitions (s), of `operations`
    operations altogether; `algbw_bytes_per_s`, `busbw_bytes_per_s` and `rate_per_s` are what nccl-tests and
    OSU's benchmarks make of a typical time, None where they have no meaning (docs/columns.md).
    `metrics` are what else the workload reports, by name. `place` and `nodes` are those of its records, ""
    and 0 if they differ between launches."""

    case: str
    typical: Estimate
    undisturbed: Undisturbed | None = None
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
        """`within`; None if it is unknown, as each launch has only one repetition."""
        known = self.repetitions > self.launches or isinstance(self.typical, ExactValue)
        return self.within if known else None

    def cost(self, cost: Cost) -> Estimate:
        """The typical cost if the undisturbed one is not known."""
        fast = self.undisturbed if cost == "undisturbed" else None
        return self.typical if fast is None else fast.cost


class FittedParameter(msgspec.Struct, frozen=True, kw_only=True):
    """One fitted parameter. `symbol` is the usual one in the literature (L, o_s, r_inf), `unit` s, B, s/B,
    B/s or ""."""

    name: str
    symbol: str
    unit: str
    estimate: Estimate
    note: str = ""


class CurvePoint(msgspec.Struct, frozen=True):
    """The fitted model at `x` (bytes or ranks): time in seconds with the 95% band of the model."""

    x: float
    time: float
    low: float
    high: float


class FittedSegment(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of a piecewise model: time = latency + bytes * per_byte for first <= bytes < beyond.

    `intercept`: whether a latency was `found`, was `held` at 0 (the free line would begin below), or whether
    the line begins below 0, because a byte costs more than in shorter messages, as beyond a cache. `smallest`
    and `largest` are the sizes measured in it, None if it was printed.
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
"""The caveat of a fit to launches of which some were fast and the others slow."""


@dataclass(frozen=True)
class Subject:
    """The subject of a model: a workload with the parameters that are the same in all its cases (`ranks` may
    be one of them), sorted by name. Its `line` is stored in `fits.json`."""

    workload: str
    fixed: tuple[tuple[str, Value], ...] = ()

    @staticmethod
    def of(case: Case, free: Iterable[str]) -> Subject:
        """All parameters of a case except the free ones."""
        left_out = set(free)
        fixed = tuple(sorted((k, v) for k, v in case.values.items() if k not in left_out))
        return Subject(case.workload, fixed)

    @staticmethod
    @lru_cache(maxsize=4096)
    def parse(line: str) -> Subject:
        """The inverse of `line`."""
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
        """Whether these parameters are fixed at these values."""
        return all(self.values.get(name) == value for name, value in fixed.items())

    @property
    def line(self) -> str:
        return " ".join([self.workload, *(f"{k}={format_value(v)}" for k, v in self.fixed)])

    def __str__(self) -> str:
        return self.line


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """One model fitted to the records of one subject.

    `model` names it (hockney, loggp, logarithmic, linear), `line` is the subject's ("pingpong buffers=hot
    ranks=2"; `subject` in the file), `error` the median relative error of the model over the points it was
    fitted to, `worst` the largest. `preferred` marks the form that describes the data best if a subject has
    several. If `verdict` is refused, `parameters` is empty and `why` gives the reason. `caveats` are what
    made the verdict worse, besides the error.

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
        """The caveat that its launches were in two modes."""
        return next((caveat for caveat in self.caveats if caveat.code == LAUNCHES_IN_TWO_MODES), None)


class Fits(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of `fits.json`. The fits are of the cases' `cost`; summaries have both costs. `workloads`
    are the catalog's entries of the measured workloads: they define a summary's size and metrics, and the
    role by which models and figures are chosen."""

    schema: int
    summaries: list[Summary]
    fits: list[Fit]
    workloads: list[Workload] = []
    cost: Cost = "typical"

    def select(self, model: str, workload: str) -> list[Fit]:
        return [f for f in self.fits if f.model == model and f.subject.workload == workload]

    def measured(self, *roles: str, operation: str = "") -> Iterator[tuple[Workload, Case, Summary]]:
        """The cases of workloads with these roles and, unless it is "", this operation."""
        workloads = {w.name: w for w in self.workloads if w.role in roles and operation in ("", w.operation)}
        for summary in self.summaries:
            workload = workloads.get(summary.case.split(" ", 1)[0])
            if workload is not None:
                yield workload, parse_canonical(summary.case), summary

    def select_by_role(self, model: str, role: str, operation: str = "") -> list[Fit]:
        """The fits of `model` to workloads with this role and, unless it is "", this operation."""
        names = {w.name for w in self.workloads if w.performs(role, operation)}
        return [f for f in self.fits if f.model == model and f.subject.workload in names]


class Surveyed(msgspec.Struct, frozen=True):
    """The survey's fits, its machine, and its folder as the user named it. `differences` from the study's
    machine are texts; they were overridden with --force."""

    fits: Fits
    machine: Machine
    where: str
    differences: tuple[str, ...] = ()
    schema: int = SCHEMA
