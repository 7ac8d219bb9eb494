# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratios of all operations on the first screen; then, as in the paper, time and aggregated bandwidth of
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
    MESSAGE_FORMULA,
    OWN_LIMIT,
    CollectivePoint,
    CollectiveResults,
    EagerEffect,
    definition,
    is_t3e,
    mpi_name,
    predicted_times,
    printed_times,
)

MIN_TIME_S = 1e-9
MAX_SIZES = 4
"""The maximum number of sizes on the first screen."""
MAX_ROW_HEIGHT = 1.5
"""The row height of an operation with several sizes, relative to a row with one size."""
SIZE_SPACING = 0.22
"""The distance between their points, relative to that between operations."""
Rate = Callable[[float, int, float], float]
"""Bytes per second for a buffer, ranks, and seconds."""
PointQuantity = Callable[[CollectivePoint, str], "Estimate | None"]


def ratios_figure(run: CollectiveResults, ranks: int) -> Figure | None:
    """MPI's time divided by that of the best user-level algorithm, a row for each operation; None without
    any."""
    points = [point for point in run.points_on_ranks(ranks) if point.ratio is not None]
    if not points:
        return None
    operations = list(dict.fromkeys(point.operation for point in points))
    worst_ratios = {
        n: max(point.ratio.value for point in points if point.operation == n and point.ratio)
        for n in operations
    }
    operations.sort(key=lambda name: -worst_ratios[name])
    sizes = thin_out(sorted({point.buffer for point in points if point.block}), MAX_SIZES)
    series = []
    for size, offset in zip(sizes, row_offsets(len(sizes), SIZE_SPACING), strict=True):
        for is_decided in (True, False):
            ratios_at_size = [
                (
                    operations.index(point.operation) + offset,
                    point.ratio,
                    f"{point.name}: {point.best}, MPI is {point.verdict}",
                )
                for point in points
                if point.ratio
                and point.buffer == size
                and is_decided != (point.verdict in UNDECIDED_VERDICTS)
            ]
            name = str(quantity(size, "B"))
            label = name if is_decided else f"{name}, undecided"
            series.append(estimates(label, ratios_at_size, name, hollow=not is_decided))
    return Figure(
        f"ratio-{ranks}",
        f"{plural(ranks, 'rank')}: MPI's time / the best user-level algorithm's",
        Axis(
            "operation",
            "operation",
            "linear",
            names=tuple(map(mpi_name, operations)),
            row=MAX_ROW_HEIGHT if len(sizes) > 1 else 1.0,
        ),
        Axis("ratio of the times", "times", include=(1.0,)),
        tuple(entry for entry in series if entry.x),
        "MPI is slower where the ratio is above 1. With 95% intervals; hollow: undecided.",
        marks=((1.0, "equal"),),
    )


def drawable_time(point: CollectivePoint, algorithm: str) -> Estimate | None:
    """The time of an algorithm. None also if its calls return immediately, as simulated ones with empty
    blocks may."""
    time = point.time(algorithm)
    return None if time is None or time.value < MIN_TIME_S else time


def time_figures(run: CollectiveResults) -> Iterator[Figure]:
    """Time against size, one figure per operation, with equal axes."""
    values = [m.summary.typical.value for p in run.points if p.block for m in p.times.values()]
    time = Axis("time", "s", include=(min(values), max(values)) if values else ())
    for operation in run.operations:
        yield _figure(run, operation, "time", time, drawable_time)


def bandwidth_figures(run: CollectiveResults) -> Iterator[Figure]:
    """Aggregated bandwidth against size."""
    for operation in run.operations:
        rate = Axis("aggregated bandwidth", "B/s")
        yield _figure(run, operation, "bandwidth", rate, CollectivePoint.bandwidth)


def _figure(
    run: CollectiveResults, operation: str, quantity_name: str, axis: Axis, value: PointQuantity
) -> Figure:
    """MPI's own and the best user-level algorithm for each number of ranks, the prediction of the latter, and
    on the simulated T3E the paper's printed times."""
    sizes = sorted({point.buffer for point in run.points})
    series: list[Series] = []
    for ranks in run.ranks:
        points = run.points_on_ranks(ranks, operation)
        count = plural(ranks, "rank")
        series.append(_curve(f"MPI, {count}", points, lambda point: value(point, MPI), f"MPI {ranks}"))
        series.append(
            _curve(f"user-level, {count}", points, lambda point: value(point, point.best), f"user {ranks}")
        )
        rate = definition(operation).of_buffer if quantity_name == "bandwidth" else None
        series.append(_prediction_series(run.evidence, points, ranks, rate))
        if is_t3e(run.evidence.machine):
            series.append(_printed_series(operation, ranks, rate))
    rule = definition(operation).rule
    return Figure(
        f"collective-{operation}-{quantity_name}",
        mpi_name(operation) if quantity_name == "time" else f"{mpi_name(operation)}: {rule}",
        Axis("buffer", "B", "log", zero=True, include=tuple(sizes)),
        axis,
        tuple(entry for entry in series if entry.x),
    )


def _curve(
    name: str,
    points: Sequence[CollectivePoint],
    value: Callable[[CollectivePoint], Estimate | None],
    group: str,
) -> Series:
    points_with_estimates = [
        (point.buffer, estimate, point.best) for point in points if (estimate := value(point)) is not None
    ]
    return estimates(name, points_with_estimates, group)


def _prediction_series(
    evidence: Evidence, points: Sequence[CollectivePoint], ranks: int, rate: Rate | None
) -> Series:
    """The predicted times of the fastest algorithm at each size."""
    all_predictions = predicted_times(evidence)
    times = [
        (point.buffer, seconds)
        for point in points
        if (seconds := all_predictions.get((point.operation, point.best, ranks, point.block))) is not None
    ]
    x, y = _line_points(times, ranks, rate) if len(times) > 1 else ((), ())
    return Series(f"predicted, {plural(ranks, 'rank')}", x, y, kind="line", group=f"user {ranks}")


def _printed_series(operation: str, ranks: int, rate: Rate | None) -> Series:
    x, y = _line_points(sorted(printed_times(operation, ranks).items()), ranks, rate)
    return Series(f"printed 1998, {plural(ranks, 'rank')}", x, y, group=f"MPI {ranks}", hollow=True)


def _line_points(
    times: Sequence[tuple[float, float]], ranks: int, rate: Rate | None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Sizes with their times (s), or with bandwidths by the definition `rate`."""
    valid_points = [(x, time) for x, time in times if rate is None or (x > 0 and time > 0)]
    y = (time if rate is None else rate(x, ranks, time) for x, time in valid_points)
    return tuple(float(x) for x, _ in valid_points), tuple(y)


def eager_limits_figure(effect: EagerEffect) -> Figure:
    """The time of a message with each eager limit."""
    names = [OWN_LIMIT, *(limit.setting for limit in effect.limits)]
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
    return next((quantity(limit.limit, "B") for limit in effect.limits if limit.setting == setting), setting)


def hot_ping_pong_results(evidence: Evidence) -> Sequence[MeasuredCase]:
    return evidence.of("pingpong", buffers="hot", ranks=2)


def send_time_figure(evidence: Evidence, fit: Fit) -> Figure:
    measured = hot_ping_pong_results(evidence)
    low, high = min(m.size for m in measured), max(m.size for m in measured)
    sizes = [size for size in MESSAGE_FORMULA.sizes() if low <= size <= high]
    series = [measured_times(PING_PONG_TITLE, measured), curve("a + x/b, 95% band", fit, PING_PONG_TITLE)]
    if len(sizes) > 1:
        printed = tuple(MESSAGE_FORMULA.time(size) for size in sizes)
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
