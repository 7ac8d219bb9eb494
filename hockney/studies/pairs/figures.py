# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The bandwidth of all pairs over the size, their message rate and the slowdown of a message over the number
of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.models.max_rate import shared_time
from hockney.pages.format import bandwidth, quantity, ratio_interval_suffix, with_interval
from hockney.pages.series import estimates
from hockney.studies.pairs.columns import SLOWED, rate_text, way_name, way_title
from hockney.studies.pairs.results import PairsPoint, PairsResults, Way

Value = Callable[[PairsPoint], Estimate]


def bandwidths(run: PairsResults, way: Way) -> Figure | None:
    """Points as measured, a line for the model."""
    points = [p for p in run.of_way(way) if p.size > 0]
    if not points:
        return None
    series: list[Series] = []
    for pairs in run.counts(way):
        same_pairs = [p for p in points if p.pairs == pairs]
        name = plural(pairs, "pair")
        series.append(estimates(name, ((p.size, bandwidth(p.measured), _bandwidth(p)) for p in same_pairs)))
        if modelled := _modelled(run, way, same_pairs, name):
            series.append(modelled)
    return Figure(
        f"pairs-bandwidth-{way_name(way)}",
        f"{way_title(way)}: bandwidth of all pairs",
        Axis("message size", "B", include=tuple(float(p.size) for p in points)),
        Axis("bandwidth", "B/s"),
        tuple(series),
        "Points: measured, with 95% intervals. Lines: the model of sharing.",
    )


def rates(run: PairsResults, way: Way) -> Figure | None:
    """Messages a second."""
    short = run.sizes(way)[: max(1, len(run.sizes(way)) // 2)]
    points = [p for p in run.of_way(way) if p.size in short]
    if len(run.counts(way)) < 2:
        return None
    return Figure(
        f"pairs-rate-{way_name(way)}",
        f"{way_title(way)}: messages of all pairs",
        _pairs(run, way),
        Axis("messages a second", "1/s", "linear", include=(0.0,)),
        _by_size(points, lambda p: p.rate, lambda p: rate_text(p.rate.value)),
        "Of the shorter messages, with 95% intervals.",
    )


def slowdowns(run: PairsResults, way: Way) -> Figure | None:
    points = run.of_way(way)
    if len(run.counts(way)) < 2:
        return None
    return Figure(
        f"pairs-slowdown-{way_name(way)}",
        f"{way_title(way)}: {'a stream' if way.streams else 'a ping-pong'}'s message next to others",
        _pairs(run, way),
        Axis("time / with the fewest pairs", "times", include=(1.0,)),
        _by_size(points, lambda p: p.slowdown, _slowed),
        "At 1, pairs do not disturb each other; proportional to the number of pairs where they share a "
        "saturated way. 95% intervals.",
    )


def _by_size(
    points: Sequence[PairsPoint], value: Value, detail: Callable[[PairsPoint], str]
) -> tuple[Series, ...]:
    sizes = sorted({p.size for p in points})
    return tuple(
        estimates(
            str(quantity(size, "B")),
            ((p.pairs, value(p), detail(p)) for p in points if p.size == size),
        )
        for size in sizes
    )


def _modelled(run: PairsResults, way: Way, points: Sequence[PairsPoint], group: str) -> Series | None:
    fit = run.fit(way)
    if fit is None or fit.verdict == "refused" or len(points) < 2:
        return None
    times = [shared_time(fit, p.size, p.pairs) for p in points]
    moved = [p.measured.summary.bytes_moved for p in points]
    rate = tuple(b / time.value for b, time in zip(moved, times, strict=True))
    return Series(f"{group}, model", tuple(float(p.size) for p in points), rate, kind="line", group=group)


def _pairs(run: PairsResults, way: Way) -> Axis:
    return Axis("pairs", "", include=tuple(float(k) for k in run.counts(way)))


def _bandwidth(p: PairsPoint) -> str:
    return with_interval(p.bandwidth, "B/s")


def _slowed(p: PairsPoint) -> str:
    return f"{p.slowdown.value:.2f}{ratio_interval_suffix(p.slowdown)}, {SLOWED[p.slowed]}"
