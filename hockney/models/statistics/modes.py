# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The undisturbed cost of a case, the share of its visits that were disturbed, and its modes.

A machine whose virtual cores move, whose frequency changes or that other processes share has times in modes
that last from milliseconds to minutes. The *typical* cost is a centre over all visits; the *undisturbed* one
is that of the fastest mode: the median of the visits that are within a tenth of the 10% quantile, each launch
weighing the same. It is no minimum, which falls with the number of visits and has no interval.

Its interval is that of a quantile by Woodruff's method (J. Am. Stat. Assoc. 47 (1952) 635): the share of
visits below it is a mean over launches, with the interval that launches give it, and the quantiles at the
ends of that interval are the ends of this one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import Modes, Undisturbed
from hockney.models.statistics.estimates import estimate
from hockney.models.statistics.location import student

LOW_QUANTILE = 0.1
WITHIN = np.log(1.1)
"""Visits of one mode differ by less: within 0.1 s a machine's times are stable to some percent."""
FEWEST_VISITS = 10
APART = np.log(1.25)
"""Modes closer than this are one."""
LEAST_SHARE = 0.1
"""Of the visits: a mode seen less often is an outlier."""
GAP_SHARE = 0.1
"""Of the visits, those that lie in the middle third between two modes at most."""


def undisturbed(visits: Sequence[np.ndarray]) -> Undisturbed | None:
    """Of the logs of each launch's visits; None with fewer than 10 in all."""
    used = [launch for launch in visits if len(launch)]
    values = np.concatenate(used) if used else np.empty(0)
    if len(values) < FEWEST_VISITS:
        return None
    weights = np.concatenate([np.full(len(launch), 1 / len(launch) / len(used)) for launch in used])
    order = np.argsort(values, kind="stable")
    ordered, cumulated = values[order], np.cumsum(weights[order])

    def quantile(share: float) -> float:
        return float(ordered[min(int(np.searchsorted(cumulated, share)), len(ordered) - 1)])

    fast = cumulated[int(np.searchsorted(ordered, quantile(LOW_QUANTILE) + WITHIN, side="right")) - 1]
    share = float(fast) / 2
    value = quantile(share)
    low, high = np.nan, np.nan
    if len(used) > 1:
        shares = np.array([np.mean(launch <= value) for launch in used])
        half = student(len(used) - 1) * shares.std(ddof=1) / np.sqrt(len(used))
        half = max(half, 1.96 * np.sqrt(share * (1 - share) / len(values)))
        low, high = np.exp(quantile(max(share - half, 0.0))), np.exp(quantile(min(share + half, 1.0)))
    disturbed = sum(float(np.mean(launch > value + WITHIN)) for launch in used) / len(used)
    return Undisturbed(cost=estimate(float(np.exp(value)), low, high), disturbed=disturbed)


def modes(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> Modes | None:
    """Two modes that are clearly separate: each has a tenth of the visits, few lie between them; None else.
    `at_s` are the moments of the visits."""
    values = np.sort(np.concatenate([*visits, np.empty(0)]))
    count = len(values)
    if count < 4 * FEWEST_VISITS:
        return None
    split = _split(values)
    fast, slow = values[:split], values[split:]
    low, high = float(np.median(fast)), float(np.median(slow))
    third = (high - low) / 3
    between = np.count_nonzero((values > low + third) & (values < high - third)) / count
    if min(len(fast), len(slow)) < LEAST_SHARE * count or high - low < APART or between > GAP_SHARE:
        return None
    threshold = (low + high) / 2
    switches, watched = 0, 0.0
    for launch, moments in zip(visits, at_s, strict=True):
        ordered = np.argsort(moments, kind="stable")
        switches += int(np.count_nonzero(np.diff(launch[ordered] > threshold)))
        watched += float(np.ptp(moments)) if len(moments) else 0.0
    return Modes(
        fast_s=float(np.exp(low)),
        slow_s=float(np.exp(high)),
        slow_share=len(slow) / count,
        dwell_s=watched / switches if switches else None,
    )


def _split(ordered: np.ndarray) -> int:
    """Where two groups of ordered values differ most from each other and least inside (Otsu, IEEE Trans.
    Syst. Man Cybern. 9 (1979) 62): the number of values in the lower one."""
    count = len(ordered)
    below = np.arange(1, count)
    sums = np.cumsum(ordered)
    apart = sums[:-1] / below - (sums[-1] - sums[:-1]) / (count - below)
    return int(np.argmax(below * (count - below) * apart**2)) + 1
