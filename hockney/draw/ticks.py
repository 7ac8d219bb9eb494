# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Positions and labels of axis ticks: bytes at powers of two, times and rates at decades.

Ticks are provided in levels from coarse to fine. The renderer chooses the finest level with labels that fit,
also after each zoom, so that all labels are made here.
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
MAX_BEYOND = 1e30

RATIOS = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.4, 8)
"""Ticks on both sides of 1, which have the same distances on a logarithmic axis."""


def is_drawable(value: float) -> bool:
    return math.isfinite(value) and abs(value) < MAX_BEYOND


@dataclass(frozen=True)
class Ticks:
    values: tuple[float, ...]
    labels: tuple[str, ...]

    def within(self, low: float, high: float) -> Ticks:
        visible = [
            (value, label)
            for value, label in zip(self.values, self.labels, strict=True)
            if low <= value <= high
        ]
        return Ticks(tuple(value for value, _ in visible), tuple(label for _, label in visible))

    def every(self, stride: int) -> Ticks:
        """The first tick and every `stride`-th tick after it."""
        return Ticks(self.values[::stride], self.labels[::stride])


@dataclass(frozen=True)
class Scale:
    """An axis with its visible range. `low` and `high` are its bounds, `zero` is the position of 0 on a log
    axis."""

    axis: Axis
    low: float
    high: float
    zero: float | None
    levels: tuple[Ticks, ...]

    def place(self, value: float) -> float | None:
        """Position of `value`; None if it is not a number, or not positive on a log axis."""
        if not is_drawable(value):
            return None
        if self.axis.names:  # the first on top
            return -value
        if self.axis.scale == "linear" or value > 1 / MAX_BEYOND:
            return value
        return self.zero if value == 0 else None

    def fraction(self, value: float) -> float:
        """Position of `value` as a fraction of the axis, 0 at the low end and 1 at the high end."""
        if self.axis.scale == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, length: float, room: Callable[[str], float]) -> Ticks:
        """Finest level with labels that do not overlap on an axis of `length`; `room` is the size of a label.
        If it has fewer than two labels, ticks of a finer level are thinned. report.js chooses in the same
        way."""
        visible_levels = [level.within(self.low, self.high) for level in self.levels]
        fitting_levels = [level for level in visible_levels if self._fits(level, length, room)]
        finest_level = fitting_levels[-1] if fitting_levels else visible_levels[0]
        if len(visible_levels) == 1 or (fitting_levels and len(finest_level.values) > 1):
            return finest_level
        thinned_levels = (
            level.every(stride) for level in visible_levels for stride in range(1, len(level.values))
        )
        return next((level for level in thinned_levels if self._fits(level, length, room)), finest_level)

    def _fits(self, level: Ticks, length: float, room: Callable[[str], float]) -> bool:
        extents = (
            (self.fraction(value) * length, room(label) / 2)
            for value, label in zip(level.values, level.labels, strict=True)
        )
        return all(
            next_position - position >= half_width + next_half_width
            for (position, half_width), (next_position, next_half_width) in itertools.pairwise(extents)
        )


def make_scale(axis: Axis, values: Iterable[float], counts: Iterable[float] = ()) -> Scale:
    """Make the scale of `axis` that includes all drawable `values`.

    `counts` are integers at which something was measured (numbers of ranks, for example). They are better
    ticks than decades.
    """
    if axis.names:
        return _name_levels(axis)
    finite_values = [float(value) for value in (*values, *axis.include) if is_drawable(value)]
    if axis.scale == "linear":
        return _linear_levels(axis, finite_values)
    positive_values = [value for value in finite_values if value > 1 / MAX_BEYOND] or [1.0]
    smallest, largest = min(positive_values), max(positive_values)
    zero = smallest / 2**ZERO_OCTAVES if axis.zero and 0.0 in finite_values else None
    smallest_positive = zero if zero is not None else smallest
    padding = max((largest / smallest_positive) ** 0.035, 1.12 if largest > smallest_positive else 1.6)
    # The dash of a model at zero extends 0.3 to both sides.
    low, high = (
        (
            smallest_positive / padding
            if zero is None
            else min(smallest_positive / padding, zero / 2 ** (0.4 * ZERO_OCTAVES))
        ),
        largest * padding,
    )
    levels = _log_levels(axis.unit, smallest, high, sorted(set(counts) - {0}))
    if zero is not None:
        levels = tuple(Ticks((zero, *level.values), ("0", *level.labels)) for level in levels)
    return Scale(axis, low, high, zero, levels)


def _name_levels(axis: Axis) -> Scale:
    positions = tuple(float(-k) for k in range(len(axis.names)))
    return Scale(axis, positions[-1] - 0.6, 0.6, None, (Ticks(positions, tuple(map(one_line, axis.names))),))


def _linear_levels(axis: Axis, values: list[float]) -> Scale:
    smallest, largest = (min(values), max(values)) if values else (0.0, 1.0)
    # A time or a rate is shown relative to zero, unless all values are far from zero and close together.
    lower_bound = 0.0 if smallest >= 0 and (smallest < 0.8 * largest or smallest == largest) else smallest
    # Values that agree to the last digits, or that are all zero, still need an axis.
    span = max(largest - lower_bound, abs(largest) * 1e-9) if abs(largest) > 1 / MAX_BEYOND else 1.0
    low, high = lower_bound - 0.025 * span, largest + 0.05 * span
    levels = []
    steps = _steps(high - low, axis.unit)
    for step in [step for step in steps if step >= 1] or [1.0] if axis.whole else steps:
        first_index, last_index = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        points = [k * step for k in range(first_index, last_index + 1)]
        # Enough digits to distinguish neighbors.
        digits = max(1, 1 + math.ceil(math.log10(max(abs(low), abs(high)) / step)))
        levels.append(_make_ticks(points, axis.unit, digits))
    levels = [level for level in levels if level.values] or [_make_ticks([smallest], axis.unit)]
    return Scale(axis, low, high, None, tuple(levels))


def _steps(span: float, unit: str) -> list[float]:
    """Distances between ticks from coarse to fine that give 2 to a few hundred ticks."""
    if unit == "B":
        top = math.floor(math.log2(span / 2)) if span > 2 else 0
        return [2.0**k for k in range(top, max(top - 8, -1), -1)]
    top = math.floor(math.log10(span))
    steps = [mantissa * 10.0**k for k in range(top, top - 4, -1) for mantissa in (5, 2, 1)]
    return [step for step in steps if 2 <= span / step <= 300]


def _log_levels(unit: str, low: float, high: float, counts: list[float]) -> tuple[Ticks, ...]:
    levels = (
        _octave_levels(unit, low, high, counts) if unit == "B" or counts else _decade_levels(unit, low, high)
    )
    levels = [level.within(low * (1 - 1e-9), high) for level in levels]
    return tuple(level for level in levels if level.values) or (_make_ticks([low], unit),)


def _octave_levels(unit: str, low: float, high: float, counts: list[float]) -> list[Ticks]:
    min_power, max_power = math.floor(math.log2(low)), math.ceil(math.log2(high))
    powers = range(min_power, max_power + 1)
    levels = [[2.0**k for k in powers if k % stride == 0] for stride in (10, 5, 4, 2, 1)]
    if unit == "B":
        levels.append(
            [2.0**k * quarters / 4 for k in powers for quarters in (4, 5, 6, 7) if 2.0**k * quarters % 4 == 0]
        )
    else:
        levels.append(counts)
    return [_make_ticks([value for value in level if low <= value <= high], unit) for level in levels]


def _decade_levels(unit: str, low: float, high: float) -> list[Ticks]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every_second = (
        [10.0**k for k in decades if k % 2 == parity and low <= 10.0**k <= high] for parity in (0, 1)
    )
    levels: list[tuple[list[float], int]] = [
        ([10.0**k for k in decades if k % 3 == 0], 1),
        (max(every_second, key=len), 1),
        ([10.0**k for k in decades], 1),
        ([mantissa * 10.0**k for k in decades for mantissa in (1, 2, 5)], 1),
        ([mantissa * 10.0**k for k in decades for mantissa in range(1, 10)], 1),
        ([mantissa * 10.0**k / 10 for k in decades for mantissa in (*range(10, 20), *range(20, 100, 10))], 2),
        ([mantissa * 10.0**k / 10 for k in decades for mantissa in range(10, 100, 5)], 2),
        ([mantissa * 10.0**k / 10 for k in decades for mantissa in range(10, 100)], 2),
    ]
    if not unit and high < 10 * low:
        levels[5:] = [
            ([mantissa * 10.0**k for k in decades for mantissa in RATIOS], 3),
            *_even_points(low, high),
        ]
    return [_make_ticks(points, unit, digits) for points, digits in levels]


def _even_points(low: float, high: float) -> Iterable[tuple[list[float], int]]:
    """Points at equal distances below and above 1, with their digits. Each can have a label."""
    for divisor in (10, 20, 50, 100):
        step = 10.0 ** math.floor(math.log10(high)) / divisor
        first_index, last_index = math.ceil(low / step), math.floor(high / step)
        if last_index - first_index <= 100:
            yield [k * step for k in range(first_index, last_index + 1)], 4


def _make_ticks(points: list[float], unit: str, digits: int = 3) -> Ticks:
    return Ticks(tuple(points), tuple(_tick_label(value, unit, digits) for value in points))


@lru_cache(maxsize=1 << 14)  # figures with the same axis have the same labels
def _tick_label(value: float, unit: str, digits: int) -> str:
    return _trim_zeros(_untrimmed_label(value, unit, digits))


def _untrimmed_label(value: float, unit: str, digits: int) -> str:
    """Label of a tick. A unit that is a plain word ("ranks") is part of the axis title instead. Decades are
    not in minutes: 100 s, 1000 s."""
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
    power_of_ten = f"10{str(int(power)).translate(SUPERSCRIPTS)}"
    return power_of_ten if number == "1" else f"{number}·{power_of_ten}"


def _trim_zeros(text: str) -> str:
    """Remove redundant zeros: "10.0 GB/s" is "10 GB/s" on an axis."""
    if "." not in text:
        return text
    return re.sub(r"(\.\d*?)0+(?=\D|$)", lambda m: m[1] if m[1] != "." else "", text)
