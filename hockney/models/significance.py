# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Decides from the interval of a ratio whether one time is notably longer than another, and estimates the
additional measuring time if it is undecided. Does not import numpy, so pages of stored fits can be written
without it."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal, overload

from hockney.core.fit import Estimate

SIGNIFICANCE_LEVEL = 0.95
NOTABLE = 1.05
"""A smaller difference is not worth another algorithm, however exact both times are."""

Verdict = Literal["slower", "faster", "alike", "undecided", "unknown"]
"""slower, faster: by NOTABLE at least, and the interval excludes 1; alike: the interval excludes any notable
difference; undecided: neither; unknown: there is no interval."""

UNDECIDED_VERDICTS: tuple[Literal["undecided", "unknown"], ...] = ("undecided", "unknown")
"""Verdicts that are no answer."""


def interval_stretch(comparisons: int) -> float:
    """Normal quantile for this number of comparisons divided by that for a single one: among a hundred equal
    pairs, five 95% intervals would exclude 1 (Bonferroni)."""
    normal, tail = NormalDist(), (1 - SIGNIFICANCE_LEVEL) / 2
    return normal.inv_cdf(1 - tail / max(1, comparisons)) / normal.inv_cdf(1 - tail)


@overload
def widen(ratio: Estimate, interval_stretch: float) -> Estimate: ...


@overload
def widen(ratio: Estimate | None, interval_stretch: float) -> Estimate | None: ...


def widen(ratio: Estimate | None, interval_stretch: float) -> Estimate | None:
    """The ratio with an interval whose log is `interval_stretch` times as wide."""
    if ratio is None or ratio.low is None or ratio.high is None or ratio.low <= 0 or ratio.low == ratio.high:
        return ratio
    value = ratio.value
    return Estimate(
        value,
        value * (ratio.low / value) ** interval_stretch,
        value * (ratio.high / value) ** interval_stretch,
    )


def verdict(ratio: Estimate | None) -> Verdict:
    """Verdict on the first of two times from their ratio as a single comparison, or from the widened ratio if
    there are several comparisons."""
    if ratio is None or ratio.low is None or ratio.high is None or ratio.low <= 0:
        return "unknown"
    value, low, high = ratio.value, ratio.low, ratio.high
    if value >= NOTABLE and low > 1:
        return "slower"
    if value <= 1 / NOTABLE and high < 1:
        return "faster"
    return "alike" if low >= 1 / NOTABLE and high <= NOTABLE else "undecided"


def time_to_decide(ratio: Estimate) -> float:
    """Factor for the measuring time after which the verdict would be decided if the ratio stayed the same.
    Infinite without an interval."""
    if 1 / NOTABLE < ratio.value < NOTABLE:
        return max(time_to_exclude(ratio, bound) for bound in (1 / NOTABLE, NOTABLE))
    return time_to_exclude(ratio, 1.0)


def time_to_exclude(ratio: Estimate, bound: float, interval_stretch: float = 1.0) -> float:
    """Factor for the measuring time after which the interval excludes `bound`: its half widths shrink with
    the root of the time."""
    if ratio.low is None or ratio.high is None or ratio.low <= 0 or ratio.value == bound:
        return math.inf
    distance = abs(math.log(ratio.value / bound))
    half_width = math.log(ratio.value / ratio.low if ratio.value > bound else ratio.high / ratio.value)
    return max(1.0, (interval_stretch * half_width / distance) ** 2)
