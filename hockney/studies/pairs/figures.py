# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The bandwidth of all pairs against the size, and their message rate and slowdown against the number of
pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.models.max_rate import shared_time
from hockney.pages.format import bandwidth, quantity, ratio_interval_suffix, with_interval
from hockney.pages.series import estimates
from hockney.studies.pairs.columns import SLOWDOWN_WORDS, pattern_name, pattern_title, rate_text
from hockney.studies.pairs.results import PairsPoint, PairsResults, Pattern

Value = Callable[[PairsPoint], Estimate]


def bandwidth_figure(run: PairsResults, pattern: Pattern) -> Figure | None:
    """Measured points, and a line for the model."""
    points = [p for p in run.points_of_pattern(pattern) if p.size > 0]
    if not points:
        return None
    series: list[Series] = []
    for pairs in run.pair_counts(pattern):
        same_pairs = [p for p in points if p.pairs == pairs]
        name = plural(pairs, "pair")
        series.append(
            estimates(name, ((p.size, bandwidth(p.measured), _bandwidth_text(p)) for p in same_pairs))
        )
        if model_series := _model_series(run, pattern, same_pairs, name):
            series.append(model_series)
    return Figure(
        f"pairs-bandwidth-{pattern_name(pattern)}",
        f"{pattern_title(pattern)}: bandwidth of all pairs",
        Axis("message size", "B", include=tuple(float(p.size) for p in points)),
        Axis("bandwidth", "B/s"),
        tuple(series),
        "Points: measured, with 95% intervals. Lines: the model of sharing.",
    )


def rate_figure(run: PairsResults, pattern: Pattern) -> Figure | None:
    """Messages per second."""
    short_sizes = run.sizes(pattern)[: max(1, len(run.sizes(pattern)) // 2)]
    points = [p for p in run.points_of_pattern(pattern) if p.size in short_sizes]
    if len(run.pair_counts(pattern)) < 2:
        return None
    return Figure(
        f"pairs-rate-{pattern_name(pattern)}",
        f"{pattern_title(pattern)}: messages of all pairs",
        _pairs_axis(run, pattern),
        Axis("messages a second", "1/s", "linear", include=(0.0,)),
        _by_size(points, lambda p: p.rate, lambda p: rate_text(p.rate.value)),
        "Of the shorter messages, with 95% intervals.",
    )


def slowdown_figure(run: PairsResults, pattern: Pattern) -> Figure | None:
    points = run.points_of_pattern(pattern)
    if len(run.pair_counts(pattern)) < 2:
        return None
    return Figure(
        f"pairs-slowdown-{pattern_name(pattern)}",
        f"{pattern_title(pattern)}: {'a stream' if pattern.is_stream else 'a ping-pong'}'s message next to "
        "others",
        _pairs_axis(run, pattern),
        Axis("time / with the fewest pairs", "times", include=(1.0,)),
        _by_size(points, lambda p: p.slowdown, _slowdown_text),
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


def _model_series(
    run: PairsResults, pattern: Pattern, points: Sequence[PairsPoint], group: str
) -> Series | None:
    fit = run.fit(pattern)
    if fit is None or fit.verdict == "refused" or len(points) < 2:
        return None
    times = [shared_time(fit, p.size, p.pairs) for p in points]
    bytes_moved = [p.measured.summary.bytes_moved for p in points]
    rate = tuple(byte_count / time.value for byte_count, time in zip(bytes_moved, times, strict=True))
    return Series(f"{group}, model", tuple(float(p.size) for p in points), rate, kind="line", group=group)


def _pairs_axis(run: PairsResults, pattern: Pattern) -> Axis:
    return Axis("pairs", "", include=tuple(float(count) for count in run.pair_counts(pattern)))


def _bandwidth_text(p: PairsPoint) -> str:
    return with_interval(p.bandwidth, "B/s")


def _slowdown_text(p: PairsPoint) -> str:
    return f"{p.slowdown.value:.2f}{ratio_interval_suffix(p.slowdown)}, {SLOWDOWN_WORDS[p.slowdown_verdict]}"
