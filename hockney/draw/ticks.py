# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Positions and labels of an axis' ticks: bytes at powers of two, times and rates at decades.

Ticks come in levels from coarse to fine, so that the renderer can choose the finest whose labels fit, again
after each zoom, and labels are only made here.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from hockney.core.errors import one_line
from hockney.core.units import format_value
from hockney.draw.figure import Axis

# Zero is this many octaves left of the smallest size: clearly separate, yet next to it.
ZERO_OCTAVES = 2.0

# The units that belong to each number; others are words of an axis' title.
UNITS = ("s", "s/B", "B", "B/s", "%")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# No real quantity in bytes or seconds is larger, nor smaller than its inverse.
BEYOND = 1e30

RATIOS = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.4, 8)
"""Ticks on both sides of 1, which have the same distances on a logarithmic axis."""


def drawable(value: float) -> bool:
    return math.isfinite(value) and abs(value) < BEYOND


@dataclass(frozen=True)
class Ticks:
    values: tuple[float, ...]
    labels: tuple[str, ...]

    def within(self, low: float, high: float) -> Ticks:
        kept = [(v, t) for v, t in zip(self.values, self.labels, strict=True) if low <= v <= high]
        return Ticks(tuple(v for v, _ in kept), tuple(t for _, t in kept))

    def every(self, stride: int) -> Ticks:
        """The first, and each that is `stride` further."""
        return Ticks(self.values[::stride], self.labels[::stride])


@dataclass(frozen=True)
class Scale:
    """An axis with its view: `low` and `high` are its ends, `zero` the position of 0 on a log axis."""

    axis: Axis
    low: float
    high: float
    zero: float | None
    levels: tuple[Ticks, ...]

    def place(self, value: float) -> float | None:
        """The position of `value`; None if it cannot be drawn: not a number, or not positive on a log
        axis."""
        if not drawable(value):
            return None
        if self.axis.names:  # the first on top
            return -value
        if self.axis.scale == "linear" or value > 1 / BEYOND:
            return value
        return self.zero if value == 0 else None

    def fraction(self, value: float) -> float:
        """How far along the axis `value` is, 0 at the low end and 1 at the high one."""
        if self.axis.scale == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, length: float, room: Callable[[str], float]) -> Ticks:
        """The finest level whose labels do not overlap on an axis of `length`; `room` is the size of a label.
        If that has fewer than two labels, some of a finer level that do not overlap; report.js chooses in the
        same way."""
        visible_levels = [level.within(self.low, self.high) for level in self.levels]
        fitting = [level for level in visible_levels if self._fits(level, length, room)]
        finest = fitting[-1] if fitting else visible_levels[0]
        if len(visible_levels) == 1 or (fitting and len(finest.values) > 1):
            return finest
        thinned = (level.every(stride) for level in visible_levels for stride in range(1, len(level.values)))
        return next((level for level in thinned if self._fits(level, length, room)), finest)

    def _fits(self, level: Ticks, length: float, room: Callable[[str], float]) -> bool:
        ends = (
            (self.fraction(v) * length, room(t) / 2) for v, t in zip(level.values, level.labels, strict=True)
        )
        return all(right - left >= a + b for (left, a), (right, b) in itertools.pairwise(ends))


def scale(axis: Axis, values: Iterable[float], counts: Iterable[float] = ()) -> Scale:
    """The view of `axis` that shows all `values` that can be shown.

    `counts` are the integers at which something was measured (of ranks, for example): they make better ticks
    than decades.
    """
    if axis.names:
        return _named(axis)
    finite = [float(v) for v in (*values, *axis.include) if drawable(v)]
    if axis.scale == "linear":
        return _linear(axis, finite)
    positive = [v for v in finite if v > 1 / BEYOND] or [1.0]
    smallest, largest = min(positive), max(positive)
    zero = smallest / 2**ZERO_OCTAVES if axis.zero and 0.0 in finite else None
    first = zero if zero is not None else smallest
    pad = max((largest / first) ** 0.035, 1.12 if largest > first else 1.6)
    # The dash of a model at zero extends 0.3 to both sides.
    low, high = (
        (first / pad if zero is None else min(first / pad, zero / 2 ** (0.4 * ZERO_OCTAVES))),
        largest * pad,
    )
    levels = _log_levels(axis.unit, smallest, high, sorted(set(counts) - {0}))
    if zero is not None:
        levels = tuple(Ticks((zero, *level.values), ("0", *level.labels)) for level in levels)
    return Scale(axis, low, high, zero, levels)


def _named(axis: Axis) -> Scale:
    places = tuple(float(-k) for k in range(len(axis.names)))
    return Scale(axis, places[-1] - 0.6, 0.6, None, (Ticks(places, tuple(map(one_line, axis.names))),))


def _linear(axis: Axis, values: list[float]) -> Scale:
    smallest, largest = (min(values), max(values)) if values else (0.0, 1.0)
    # A time or a rate is shown relative to zero, unless all values are far from zero and close together.
    base = 0.0 if smallest >= 0 and (smallest < 0.8 * largest or smallest == largest) else smallest
    # Values that agree to the last digits, or that are all zero, still need an axis.
    span = max(largest - base, abs(largest) * 1e-9) if abs(largest) > 1 / BEYOND else 1.0
    low, high = base - 0.025 * span, largest + 0.05 * span
    levels = []
    steps = _steps(high - low, axis.unit)
    for step in [step for step in steps if step >= 1] or [1.0] if axis.whole else steps:
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        points = [k * step for k in range(first, last + 1)]
        # Enough digits to distinguish neighbors.
        digits = max(1, 1 + math.ceil(math.log10(max(abs(low), abs(high)) / step)))
        levels.append(_labelled(points, axis.unit, digits))
    levels = [level for level in levels if level.values] or [_labelled([smallest], axis.unit)]
    return Scale(axis, low, high, None, tuple(levels))


def _steps(span: float, unit: str) -> list[float]:
    """Distances of ticks from coarse to fine that give 2 to some hundred of them."""
    if unit == "B":
        top = math.floor(math.log2(span / 2)) if span > 2 else 0
        return [2.0**k for k in range(top, max(top - 8, -1), -1)]
    top = math.floor(math.log10(span))
    steps = [m * 10.0**k for k in range(top, top - 4, -1) for m in (5, 2, 1)]
    return [s for s in steps if 2 <= span / s <= 300]


def _log_levels(unit: str, low: float, high: float, counts: list[float]) -> tuple[Ticks, ...]:
    levels = _octaves(unit, low, high, counts) if unit == "B" or counts else _decades(unit, low, high)
    levels = [level.within(low * (1 - 1e-9), high) for level in levels]
    return tuple(level for level in levels if level.values) or (_labelled([low], unit),)


def _octaves(unit: str, low: float, high: float, counts: list[float]) -> list[Ticks]:
    first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
    powers = range(first, last + 1)
    levels = [[2.0**k for k in powers if k % stride == 0] for stride in (10, 5, 4, 2, 1)]
    if unit == "B":
        levels.append([2.0**k * q / 4 for k in powers for q in (4, 5, 6, 7) if 2.0**k * q % 4 == 0])
    else:
        levels.append(counts)
    return [_labelled([v for v in level if low <= v <= high], unit) for level in levels]


def _decades(unit: str, low: float, high: float) -> list[Ticks]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every_second = ([10.0**k for k in decades if k % 2 == odd and low <= 10.0**k <= high] for odd in (0, 1))
    levels: list[tuple[list[float], int]] = [
        ([10.0**k for k in decades if k % 3 == 0], 1),
        (max(every_second, key=len), 1),
        ([10.0**k for k in decades], 1),
        ([m * 10.0**k for k in decades for m in (1, 2, 5)], 1),
        ([m * 10.0**k for k in decades for m in range(1, 10)], 1),
        ([m * 10.0**k / 10 for k in decades for m in (*range(10, 20), *range(20, 100, 10))], 2),
        ([m * 10.0**k / 10 for k in decades for m in range(10, 100, 5)], 2),
        ([m * 10.0**k / 10 for k in decades for m in range(10, 100)], 2),
    ]
    if not unit and high < 10 * low:
        levels[5:] = [([m * 10.0**k for k in decades for m in RATIOS], 3), *_even(low, high)]
    return [_labelled(points, unit, digits) for points, digits in levels]


def _even(low: float, high: float) -> Iterable[tuple[list[float], int]]:
    """Points at the same distances below and above 1, with their digits; few enough for a label each."""
    for part in (10, 20, 50, 100):
        step = 10.0 ** math.floor(math.log10(high)) / part
        first, last = math.ceil(low / step), math.floor(high / step)
        if last - first <= 100:
            yield [k * step for k in range(first, last + 1)], 4


def _labelled(points: list[float], unit: str, digits: int = 3) -> Ticks:
    return Ticks(tuple(points), tuple(_name(value, unit, digits) for value in points))


@lru_cache(maxsize=1 << 14)  # figures with the same axis have the same labels
def _name(value: float, unit: str, digits: int) -> str:
    return _trim(_untrimmed(value, unit, digits))


def _untrimmed(value: float, unit: str, digits: int) -> str:
    """A unit that is a plain word ("ranks") is part of the axis title, not of each tick. Decades are not in
    minutes: 100 s, 1000 s."""
    if value == 0:
        return "0%" if unit == "%" else "0"
    if unit == "s" and abs(value) >= 100:
        return f"{value:.{max(digits, 6)}g} s"
    if unit in UNITS:
        return format_value(value, unit, digits)
    number, _, power = f"{value:.{max(digits, 6)}g}".partition("e")
    if not power:
        return number
    if len(number) > len("1.5") and value.is_integer() and abs(value) < 1e15:
        return f"{value:.0f}"  # 2**20 ranks
    raised = f"10{str(int(power)).translate(SUPERSCRIPTS)}"
    return raised if number == "1" else f"{number}·{raised}"


def _trim(text: str) -> str:
    """`text` without redundant zeros: "10.0 GB/s" is "10 GB/s" on an axis."""
    if "." not in text:
        return text
    return re.sub(r"(\.\d*?)0+(?=\D|$)", lambda m: m[1] if m[1] != "." else "", text)
