# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of all operations on the first screen; then, as in the paper, time and aggregated bandwidth of
each operation against the size of its buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hockney.core.case import MPI
from hockney.core.fit import Estimate, Fit
from hockney.core.units import thin_out
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.models.statistics import UNDECIDED_VERDICTS
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import quantity
from hockney.pages.point_to_point import PING_PONG_TITLE
from hockney.pages.series import curve, estimates, row_offsets
from hockney.pages.series import times as measured_times
from hockney.studies.collectives.results import (
    FORMULA,
    OWN_LIMIT,
    CollectivePoint,
    CollectiveResults,
    EagerEffect,
    definition,
    is_t3e,
    mpi_name,
    predictions,
    printed_times,
)

MIN_TIME_S = 1e-9
MAX_SIZES = 4
"""Sizes on the first screen."""
HIGHEST = 1.5
"""The height of the row of an operation with several sizes, where 1 is enough for one."""
BETWEEN_SIZES = 0.22
"""The distance of their points from each other, where that of the operations is 1."""
Rate = Callable[[float, int, float], float]
"""Bytes per second for a buffer, ranks, and seconds."""
Quantity = Callable[[CollectivePoint, str], "Estimate | None"]


def ratios(run: CollectiveResults, ranks: int) -> Figure | None:
    """MPI's time over that of the best user-level algorithm, a row for each operation; None without any."""
    points = [p for p in run.of_ranks(ranks) if p.ratio is not None]
    if not points:
        return None
    names = list(dict.fromkeys(p.operation for p in points))
    worst = {n: max(p.ratio.value for p in points if p.operation == n and p.ratio) for n in names}
    names.sort(key=lambda name: -worst[name])
    sizes = thin_out(sorted({p.buffer for p in points if p.block}), MAX_SIZES)
    series = []
    for size, offset in zip(sizes, row_offsets(len(sizes), BETWEEN_SIZES), strict=True):
        for decided in (True, False):
            ratios_at_size = [
                (names.index(p.operation) + offset, p.ratio, f"{p.name}: {p.best}, MPI is {p.verdict}")
                for p in points
                if p.ratio and p.buffer == size and decided != (p.verdict in UNDECIDED_VERDICTS)
            ]
            name = str(quantity(size, "B"))
            label = name if decided else f"{name}, undecided"
            series.append(estimates(label, ratios_at_size, name, hollow=not decided))
    return Figure(
        f"ratio-{ranks}",
        f"{plural(ranks, 'rank')}: MPI's time / the best user-level algorithm's",
        Axis(
            "operation",
            "operation",
            "linear",
            names=tuple(map(mpi_name, names)),
            row=HIGHEST if len(sizes) > 1 else 1.0,
        ),
        Axis("ratio of the times", "times", include=(1.0,)),
        tuple(s for s in series if s.x),
        "MPI is slower where the ratio is above 1. With 95% intervals; hollow: undecided.",
        marks=((1.0, "equal"),),
    )


def time_of(point: CollectivePoint, algorithm: str) -> Estimate | None:
    """The time of an algorithm; None also if its calls return at once, as simulated ones with empty blocks
    may."""
    time = point.time(algorithm)
    return None if time is None or time.value < MIN_TIME_S else time


def times(run: CollectiveResults) -> Iterator[Figure]:
    """Time against size, one figure for each operation, with the same axes."""
    values = [m.summary.typical.value for p in run.points if p.block for m in p.times.values()]
    time = Axis("time", "s", include=(min(values), max(values)) if values else ())
    for operation in run.operations:
        yield _figure(run, operation, "time", time, time_of)


def bandwidths(run: CollectiveResults) -> Iterator[Figure]:
    """Aggregated bandwidth against size."""
    for operation in run.operations:
        rate = Axis("aggregated bandwidth", "B/s")
        yield _figure(run, operation, "bandwidth", rate, CollectivePoint.bandwidth)


def _figure(run: CollectiveResults, operation: str, what: str, axis: Axis, value: Quantity) -> Figure:
    """MPI's own and the best user-level algorithm for each number of ranks, the prediction of the latter,
    and on the simulated T3E the paper's printed times."""
    sizes = sorted({p.buffer for p in run.points})
    series: list[Series] = []
    for ranks in run.ranks:
        points = run.of_ranks(ranks, operation)
        count = plural(ranks, "rank")
        series.append(_curve(f"MPI, {count}", points, lambda p: value(p, MPI), f"MPI {ranks}"))
        series.append(_curve(f"user-level, {count}", points, lambda p: value(p, p.best), f"user {ranks}"))
        rate = definition(operation).of_buffer if what == "bandwidth" else None
        series.append(_prediction(run.evidence, points, ranks, rate))
        if is_t3e(run.evidence.machine):
            series.append(_printed(operation, ranks, rate))
    rule = definition(operation).rule
    return Figure(
        f"collective-{operation}-{what}",
        mpi_name(operation) if what == "time" else f"{mpi_name(operation)}: {rule}",
        Axis("buffer", "B", "log", zero=True, include=tuple(sizes)),
        axis,
        tuple(s for s in series if s.x),
    )


def _curve(
    name: str,
    points: Sequence[CollectivePoint],
    value: Callable[[CollectivePoint], Estimate | None],
    group: str,
) -> Series:
    estimated = [(p.buffer, each, p.best) for p in points if (each := value(p)) is not None]
    return estimates(name, estimated, group)


def _prediction(
    evidence: Evidence, points: Sequence[CollectivePoint], ranks: int, rate: Rate | None
) -> Series:
    """The predicted times of the algorithm that was fastest at each size."""
    all_of = predictions(evidence)
    times = [
        (p.buffer, seconds)
        for p in points
        if (seconds := all_of.get((p.operation, p.best, ranks, p.block))) is not None
    ]
    x, y = _line(times, ranks, rate) if len(times) > 1 else ((), ())
    return Series(f"predicted, {plural(ranks, 'rank')}", x, y, kind="line", group=f"user {ranks}")


def _printed(operation: str, ranks: int, rate: Rate | None) -> Series:
    x, y = _line(sorted(printed_times(operation, ranks).items()), ranks, rate)
    return Series(f"printed 1998, {plural(ranks, 'rank')}", x, y, group=f"MPI {ranks}", hollow=True)


def _line(
    times: Sequence[tuple[float, float]], ranks: int, rate: Rate | None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Sizes with their times (s) or, by the definition `rate`, with their bandwidths."""
    drawn = [(x, t) for x, t in times if rate is None or (x > 0 and t > 0)]
    y = (t if rate is None else rate(x, ranks, t) for x, t in drawn)
    return tuple(float(x) for x, _ in drawn), tuple(y)


def eager_limits(effect: EagerEffect) -> Figure:
    """The time of a message with each eager limit."""
    names = [OWN_LIMIT, *(each.setting for each in effect.limits)]
    return Figure(
        "eager",
        "Time of a message with other eager limits",
        Axis("message size", "B"),
        Axis("time", "s"),
        tuple(measured_times(_limit_title(name, effect), effect.measured[name]) for name in names),
        "Ping-pong; launches with the settings alternated.",
    )


def _limit_title(setting: str, effect: EagerEffect) -> str:
    if setting == OWN_LIMIT:
        return "MPI's own"
    return next((quantity(each.limit, "B") for each in effect.limits if each.setting == setting), setting)


def hot_ping_pongs(evidence: Evidence) -> Sequence[MeasuredCase]:
    return evidence.of("pingpong", buffers="hot", ranks=2)


def send_time(evidence: Evidence, fit: Fit) -> Figure:
    measured = hot_ping_pongs(evidence)
    low, high = min(m.size for m in measured), max(m.size for m in measured)
    sizes = [s for s in FORMULA.sizes() if low <= s <= high]
    series = [measured_times(PING_PONG_TITLE, measured), curve("a + x/b, 95% band", fit, PING_PONG_TITLE)]
    if len(sizes) > 1:
        printed = tuple(FORMULA.time(s) for s in sizes)
        series.append(Series("T3E, 1998", tuple(map(float, sizes)), printed, kind="line", group="T3E"))
    return Figure(
        "send-time",
        "Time of a message",
        Axis("message size", "B", "log", zero=True),
        Axis("time", "s"),
        tuple(series),
        "Points: measured. Lines: fitted, and the paper's formula.",
        marks=tuple((p.value, quantity(p.value, "B")) for p in fit.change_points),
    )
