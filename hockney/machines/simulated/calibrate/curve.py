# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of one message as a function of its size: lines that begin at or above zero and do not decrease.

The lines come from the piecewise Hockney fit. If a line misses a median to which it was fitted, or begins
below zero, it is replaced by a line from the median to that of the next measured size. Therefore, the curve
agrees with the ping-pong at every size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from hockney.core.fit import Estimate, Fit
from hockney.core.units import format_seconds

JUMP = 1.25
"""A message that takes this many times as long as one that is a byte shorter is sent in another way."""
NEAR = 0.05
"""A line may deviate from a median by this much if the median's interval does not allow more."""


@dataclass(frozen=True)
class CurveLine:
    """`latency` + bytes `per_byte` for messages of `first` bytes and more; `source` is a text."""

    first: int
    latency: float
    per_byte: float
    source: str

    def time(self, size: float) -> float:
        return self.latency + self.per_byte * size


@dataclass(frozen=True)
class Curve:
    lines: tuple[CurveLine, ...]

    def line(self, size: float) -> CurveLine:
        return [line for line in self.lines if line.first <= size][-1]

    def time(self, size: float) -> float:
        return self.line(size).time(size)

    @property
    def jumps(self) -> tuple[int, ...]:
        """Sizes at which the time jumps, ascending."""
        firsts = (line.first for line in self.lines if line.first > 0)
        return tuple(size for size in firsts if self.time(size) > JUMP * self.time(size - 1))


def curve_of(
    fit: Fit, medians: Mapping[int, Estimate], reading: Callable[[int], float] = lambda size: 0.0
) -> Curve:
    """Curve of the fitted lines where they agree with the medians, and of lines through the medians
    elsewhere, minus the time for `reading` the clock."""
    sizes = sorted(medians)
    smooth = rising({size: medians[size].value for size in sizes})
    lines: list[CurveLine] = []
    for piece in fit.segments:
        beyond = math.inf if piece.beyond is None else piece.beyond
        latency, per_byte = with_interval(piece.latency, "s"), with_interval(piece.per_byte, "s/B")
        source = f"the fitted segment from {piece.first} B: {latency}, {per_byte}"
        covered_sizes = [size for size in sizes if piece.first <= size < beyond]
        start = piece.first if lines else 0
        fitted = {size: piece.latency.value + piece.per_byte.value * size for size in covered_sizes}
        possible = piece.latency.value >= 0
        for is_met, group in _group_by_kind(
            {size: possible and meets(fitted[size], medians[size]) for size in covered_sizes}
        ):
            if is_met:
                lines.append(CurveLine(start, piece.latency.value, piece.per_byte.value, source))
            else:
                lines += through(smooth, medians, group, start)
            start = next((size for size in covered_sizes if size > group[-1]), 0)
    return Curve(tuple(_subtract(line, reading(_measured_at(line.first, sizes))) for line in lines))


def _measured_at(first: int, sizes: list[int]) -> int:
    return next((size for size in sizes if size >= first), sizes[-1])


def _subtract(line: CurveLine, seconds: float) -> CurveLine:
    return replace(line, latency=max(line.latency - seconds, 0.0))


def _group_by_kind(met: Mapping[int, bool]) -> list[tuple[bool, list[int]]]:
    """Group adjacent sizes of the same kind."""
    return [(kind, list(group)) for kind, group in groupby(met, lambda size: met[size])]


def meets(time: float, median: Estimate) -> bool:
    low = min(median.value if median.low is None else median.low, median.value * (1 - NEAR))
    high = max(median.value if median.high is None else median.high, median.value * (1 + NEAR))
    return low <= time <= high


def through(
    smooth: Mapping[int, float], medians: Mapping[int, Estimate], chosen_sizes: list[int], start: int
) -> list[CurveLine]:
    """Lines from each of the chosen sizes to the next measured size.

    If times grow faster than sizes, such a line would begin below zero. In this case, the time is
    proportional to the size and jumps at the next size.
    """
    sizes = sorted(smooth)
    lines: list[CurveLine] = []
    for size in chosen_sizes:
        next_sizes = [other_size for other_size in sizes if other_size > size][:1]
        median = with_interval(medians[size], "s")
        source = f"the typical time {median} at {size} B, which the fitted segments miss"
        first_size = size if lines else start
        slope = (smooth[next_sizes[0]] - smooth[size]) / (next_sizes[0] - size) if next_sizes else None
        if slope is None and lines and lines[-1].per_byte * size <= smooth[size]:
            slope = lines[-1].per_byte
        if slope is None or smooth[size] - slope * size < 0:
            slope = smooth[size] / size if size else 0.0
        lines.append(CurveLine(first_size, max(smooth[size] - slope * size, 0.0), slope, source))
    return lines


def rising(times: Mapping[int, float]) -> dict[int, float]:
    """Closest times (in relative terms) that do not decrease with size: decreasing neighbors are replaced by
    their geometric mean (pool adjacent violators: Ayer et al., Ann. Math. Statist. 26 (1955) 641)."""
    pools: list[tuple[float, list[int]]] = []
    for size in sorted(times):
        pools.append((math.log(times[size]), [size]))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (mean_before, sizes_before), (mean_after, sizes_after) = pools[-2:]
            mean = (mean_before * len(sizes_before) + mean_after * len(sizes_after)) / (
                len(sizes_before) + len(sizes_after)
            )
            pools[-2:] = [(mean, sizes_before + sizes_after)]
    return {size: math.exp(mean) for mean, sizes in pools for size in sizes}


def with_interval(estimate: Estimate, unit: str) -> str:
    """ "1.3 us (95%: 1.2 us to 1.4 us)"."""
    value, low, high = (
        "" if x is None else f"{format_seconds(x)}{unit.removeprefix('s')}"
        for x in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} (95%: {low} to {high})" if low and high else f"{value} (no interval)"
