# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The measured grid: one cell for each T, L, s and np, with its efficiency; and the work from which ranks pay
off.

    efficiency = (time of T on one rank, measured) / (np x time of T shared among np ranks, exchange included)

which is equations 1, 2 and 6 with the measured times in place of T and of the model's time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from statistics import median
from typing import Literal

from hockney.core.case import parse_canonical
from hockney.core.fit import Estimate
from hockney.models.applications.granularity import Algorithm, required_work, with_shared_cores
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_bounds
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import interval, quantity
from hockney.studies.needed_budget import LAUNCHES, MAX_MULTIPLE, MIN_MULTIPLE

EVEN = "equal"


@dataclass(frozen=True)
class Cell:
    """`one_rank` is the measured time of the whole work on one rank, `imbalance` the largest rank's parallel
    work over the mean, `times_s` every repetition, one tuple per launch: each is the mean of a run of many
    exchanges. `started_s` is when each launch measured it, `one_rank_times_s` the time of the work on one
    rank in the same round of launches (of all rounds if this one did not measure it). `outside` is the number
    of processors used by other programs meanwhile, in the median launch."""

    measured: MeasuredCase
    one_rank: Estimate
    imbalance: float
    times_s: tuple[tuple[float, ...], ...]
    outside: float = 0.0
    started_s: tuple[float, ...] = ()
    one_rank_times_s: tuple[float, ...] = ()

    @property
    def work_s(self) -> float:
        return float(self.measured.case.number("work"))

    @property
    def bytes(self) -> int:
        return int(self.measured.size)

    @property
    def serial(self) -> float:
        return float(self.measured.case.number("serial"))

    @property
    def ranks(self) -> int:
        return self.measured.case.ranks

    @property
    def nodes(self) -> int:
        """The number of nodes over which the ranks are spread; 0 if the launch decides."""
        return self.measured.case.nodes

    @property
    def shares(self) -> str:
        return str(dict(self.measured.case.parameters).get("shares", EVEN))

    @property
    def even(self) -> bool:
        return self.shares == EVEN

    @property
    def algorithm(self) -> Algorithm:
        return Algorithm(self.work_s, self.bytes, self.serial, imbalance=self.imbalance)

    @cached_property
    def efficiency(self) -> Estimate:
        return ratio(self.one_rank, self.measured.summary.typical, self.ranks)

    @property
    def runs(self) -> tuple[float, ...]:
        """The efficiency of every single run, relative to one rank in the same round."""
        return tuple(e for launch in self.by_launch for e in launch)

    @property
    def by_launch(self) -> tuple[tuple[float, ...], ...]:
        """The same, one tuple per launch."""
        one_rank = self.one_rank_times_s or (self.one_rank.value,) * len(self.times_s)
        return tuple(
            tuple(one / (self.ranks * t) for t in launch if t > 0)
            for one, launch in zip(one_rank, self.times_s, strict=True)
        )


def cells(evidence: Evidence) -> tuple[Cell, ...]:
    """Every cell whose work was also measured on one rank, by np, L, s and T."""
    one_rank = {
        m.case.number("work"): m.summary.typical
        for m in evidence.of("compute", ranks=1)
        if m.summary.typical.value > 0
    }
    records = evidence.run.by_case()
    rounds = _rounds(evidence)
    serial = _serial(evidence, rounds)
    load = {c.launch: c.outside_cores or 0.0 for c in evidence.run.closes}
    measured = []
    for m in evidence.of("granularity"):
        work = m.case.number("work")
        if work in one_rank and work > 0 and m.summary.typical.value > 0:
            of_case = records.get(m.summary.case, [])
            imbalance = max((r.metric("imbalance") or 1.0 for r in of_case), default=1.0)
            times = tuple(tuple(r.times_s) for r in of_case)
            outside = median([load.get(r.launch, 0.0) for r in of_case] or [0.0])
            started = tuple(r.started_s for r in of_case)
            pooled = one_rank[work].value
            ones = tuple(serial.get((work, rounds.get(r.launch, -1)), pooled) for r in of_case)
            measured.append(Cell(m, one_rank[work], max(1.0, imbalance), times, outside, started, ones))
    return tuple(sorted(measured, key=lambda c: (c.ranks, not c.even, c.shares, c.bytes, c.serial, c.work_s)))


def _rounds(evidence: Evidence) -> dict[str, int]:
    """The round of each launch: a round has one for each number of ranks, including failed ones; the whole
    layout for placed cases (`Case.launched_ranks`)."""
    run = evidence.run
    lines = {record.case for record in run.records} | {failure.case for failure in run.failures}
    counts = {parse_canonical(line).launched_ranks for line in lines} or {0}
    return {launch.launch: launch.index // len(counts) for launch in run.launches}


def _serial(evidence: Evidence, rounds: Mapping[str, int]) -> dict[tuple[float, int], float]:
    """The median time of each work on one rank, by round."""
    records = evidence.run.by_case()
    times: dict[tuple[float, int], list[float]] = {}
    for m in evidence.of("compute", ranks=1):
        for record in records.get(m.summary.case, []):
            if record.launch in rounds:
                times.setdefault((m.case.number("work"), rounds[record.launch]), []).extend(record.times_s)
    middles = {key: median(measured) for key, measured in times.items() if measured}
    return {key: middle for key, middle in middles.items() if middle > 0}


def ratio(above: Estimate, below: Estimate, ranks: int) -> Estimate:
    """above / (ranks x below). Both are medians of different launches, whose errors are relative, so half the
    widths of their intervals are added as squares of logarithms, as for independent values. Influences that
    last for a round (load, frequency) affect both the same way and partly cancel: then the interval is too
    wide."""
    value = above.value / (ranks * below.value)
    down = _half(above.value, above.low, below.high, below.value)
    up = _half(above.high, above.value, below.value, below.low)
    if down is None or up is None:
        return Estimate(value, None, None)
    return Estimate(value, value * math.exp(-down), value * math.exp(up))


def _half(a: float | None, b: float | None, c: float | None, d: float | None) -> float | None:
    """Root of log(a/b)**2 + log(c/d)**2; None if an end is unknown."""
    if not (a and b and c and d):
        return None
    return math.hypot(math.log(a / b), math.log(c / d))


def lengths(measured: tuple[Cell, ...]) -> tuple[int, ...]:
    return tuple(sorted({cell.bytes for cell in measured}))


def rank_counts(measured: tuple[Cell, ...]) -> tuple[int, ...]:
    """The numbers of ranks above 1."""
    return tuple(sorted({cell.ranks for cell in measured if cell.ranks > 1}))


def line(measured: tuple[Cell, ...], ranks: int, size: int, serial: float = 0.0) -> tuple[Cell, ...]:
    """The cells of one curve over T: evenly shared work, ascending."""
    return tuple(c for c in measured if c.even and (c.ranks, c.bytes, c.serial) == (ranks, size, serial))


WANTED = 0.9
"""In addition to break-even the table gives the work from which this efficiency is reached."""
SHY = 1e-9


@dataclass(frozen=True)
class Reached:
    """The work (s) at which a curve of efficiencies reaches a value, or the work that it is below or above.
    With both it is somewhere between `above` and `below`, or beyond those that are `open`. `never` if no work
    is enough."""

    at: Estimate | None = None
    below: float | None = None
    above: float | None = None
    never: bool = False
    open: Literal["", "below", "above", "both"] = ""

    def __str__(self) -> str:
        if self.at is not None:
            ends = [quantity(end, "s") for end in (self.at.low, self.at.high) if end is not None]
            value = quantity(self.at.value, "s")
            return f"{value} ({interval(self.at, 's')})" if set(ends) - {value} else value
        if self.never:
            return "never"
        if self.below is not None and self.above is not None:
            first = "less than " if self.open in ("below", "both") else ""
            last = "more than " if self.open in ("above", "both") else ""
            return f"between {first}{quantity(self.above, 's')} and {last}{quantity(self.below, 's')}"
        if self.below is not None:
            return f"below {quantity(self.below, 's')}"
        return f"above {quantity(self.above, 's')}" if self.above is not None else "not measured"

    @property
    def since(self) -> str:
        """To follow a statement that holds from this work on: "from 26.8 us (25.1 us to 28.9 us) of work"."""
        if self.at is not None:
            return f"from {self} of work"
        if self.never:
            return "with no work"
        if self.below is not None and self.above is not None:
            return f"from a work {self}"
        return f"from {self} of work" if self.below is not None else f"only {self} of work"


def reached(measured: Sequence[Cell], efficiency: float) -> Reached:
    """The work at which measured efficiencies, ascending in T, exceed `efficiency` for the first time.
    Between two works log(E / (1 - E)) is interpolated linearly over log T, as implied by equation 2.

    Its interval is from the ends of the efficiencies' intervals. Since efficiency does not fall with T, an
    upper end holds for less work too, and a lower end for more. If the curve exceeds `efficiency` everywhere
    or nowhere, but not the ends of its intervals, the result is a range: a single cell does not decide."""
    if not measured:
        return Reached()
    values = [(c.work_s, c.efficiency.value) for c in measured]
    (least, first), (most, _) = values[0], values[-1]
    uppers, lowers = _limits(measured)
    at = _crossing(values, efficiency)
    early, late = _crossing(uppers, efficiency), _crossing(lowers, efficiency)
    if first < efficiency and at is not None:
        return Reached(at=Estimate(at, early and min(at, early), late and max(at, late)))
    if not any(_known(c.efficiency) for c in measured):
        return Reached(below=least) if first >= efficiency else Reached(above=most)
    reaches = uppers[-1][1] >= efficiency
    from_least, to_end = uppers[0][1] >= efficiency, lowers[-1][1] >= efficiency
    if first >= efficiency and to_end:
        return Reached(below=least if late is None else late)
    if first < efficiency and not reaches:
        return Reached(above=most)
    low, high = (least if from_least else early), (late if to_end else most)
    if from_least:
        return Reached(above=low, below=high, open="below" if to_end else "both")
    return Reached(above=low, below=high, open="" if to_end else "above")


def _known(efficiency: Estimate) -> bool:
    return efficiency.low is not None and efficiency.high is not None


def _limits(measured: Sequence[Cell]) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """The upper and the lower limits of efficiencies that do not fall with the work, by work."""
    works = [cell.work_s for cell in measured]
    highs = [math.inf if cell.efficiency.high is None else cell.efficiency.high for cell in measured]
    lows = [0.0 if cell.efficiency.low is None else cell.efficiency.low for cell in measured]
    uppers = list(accumulate(reversed(highs), min))[::-1]
    return list(zip(works, uppers, strict=True)), list(zip(works, accumulate(lows, max), strict=True))


def predicted(messages: PointToPointCosts, size: int, ranks: int, efficiency: float) -> Reached:
    """The work that an efficiency needs by equation 6; its interval follows from the fit's."""
    algorithm = with_shared_cores(Algorithm(1.0, size), ranks, messages.max_ranks)
    value = required_work(efficiency, algorithm, messages, ranks)
    if value is None:
        return Reached(never=True)
    ends = exchange_bounds(messages, size, ranks)
    low, high = (
        (None, None)
        if ends is None
        else (required_work(efficiency, algorithm, messages, ranks, e) for e in ends)
    )
    return Reached(at=Estimate(value, low and min(low, value), high and max(high, value)))


def _crossing(values: Sequence[tuple[float, float | None]], efficiency: float) -> float | None:
    """The first position at which the value exceeds `efficiency` from below."""
    for (t0, e0), (t1, e1) in pairwise(values):
        if e0 is not None and e1 is not None and e0 < efficiency <= e1:
            a, b, w = (_straight(v) for v in (e0, e1, efficiency))
            return t0 * (t1 / t0) ** ((w - a) / (b - a))
    return None


def _straight(value: float) -> float:
    inside = min(max(value, SHY), 1 - SHY)
    return math.log(inside / (1 - inside))


WIDE = 0.1
"""The efficiencies with the least and with the most work may overlap if both are known this well: then more
work does not matter."""
TOO_WIDE = 0.3
"""A curve whose intervals typically are this wide shows nothing."""


@dataclass(frozen=True)
class ThinCurve:
    """A curve over T that does not suffice. `width` is the typical width of its intervals (efficiency); None
    if ends of the curve have none. `launches` are the fewest of its `cells`, of which `without` have no
    interval; `known` are the well known efficiencies of a curve without `width`, as (T in s, efficiency)."""

    ranks: int
    bytes: int
    width: float | None
    launches: int
    cells: int = 0
    without: int = 0
    known: tuple[tuple[float, Estimate], ...] = ()

    @property
    def times(self) -> float:
        """The multiple of the measuring time that would suffice: the width decreases with its root."""
        more = LAUNCHES / max(1, self.launches)
        if self.width is not None:
            more = max(more, (self.width / TOO_WIDE) ** 2)
        return min(MAX_MULTIPLE, max(MIN_MULTIPLE, more))


def find_thin(curve: Sequence[Cell]) -> ThinCurve | None:
    """Returns what statements about `curve`, which ascends in T, lack; None if they lack nothing."""
    if not curve:
        return None
    first, last = curve[0].efficiency, curve[-1].efficiency
    launches = min(len(cell.times_s) for cell in curve)
    ranks, size = curve[0].ranks, curve[0].bytes
    widths = [interval_width(cell.efficiency) for cell in curve]
    if math.isinf(widths[0]) or math.isinf(widths[-1]) or math.isinf(median(widths)):
        without = sum(math.isinf(each) for each in widths)
        points = tuple(
            (cell.work_s, cell.efficiency)
            for cell, each in zip(curve, widths, strict=True)
            if each <= TOO_WIDE
        )
        return ThinCurve(ranks, size, None, launches, len(curve), without, points)
    overlap = first is not last and (first.high or 0.0) >= (last.low or 0.0)
    ends = max(widths[0], widths[-1])
    if median(widths) > TOO_WIDE or (overlap and ends > WIDE):
        return ThinCurve(ranks, size, max(median(widths), ends), launches)
    return None


def interval_width(efficiency: Estimate) -> float:
    """The width of the interval; infinite without one."""
    if efficiency.low is None or efficiency.high is None:
        return math.inf
    return efficiency.high - efficiency.low


def crowded_counts(measured: Sequence[Cell], cores: int) -> tuple[int, ...]:
    """Numbers of ranks without a core per rank."""
    return tuple(sorted({cell.ranks for cell in measured if cell.ranks > cores}))
