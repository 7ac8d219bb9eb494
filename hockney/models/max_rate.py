# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The max-rate model of many pairs at once (`fits.sharing`) as a function. Does not import numpy, so pages of
stored fits can be written without it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hockney.core.fit import CurvePoint, Estimate, Fit

MODEL = "sharing"
PAIRS = "pairs"
RATE, ONE, GAP, FULL = "R_N", "R_C", "g_N", "k_sat"
"""Symbols: the shared rate, that of one pair, the shared gap, and the pairs that use all of the rate."""
NOTHING = Estimate(0.0, 0.0, 0.0)


def shared_time(fit: Fit, size: float, pairs: float) -> Estimate:
    """Seconds of the measured operation for this number of pairs; one pair's time is interpolated between the
    sizes of the fit."""
    known = {p.symbol: p.estimate for p in fit.parameters}
    rate, gap = known[RATE], known.get(GAP, NOTHING)
    byte = NOTHING if rate.high is None else invert_estimate(rate)
    both = 2 if fit.subject.get("direction") == "both" else 1
    first = fit.curve[0]
    found = []
    for which, (each, shared) in enumerate(zip(_values(gap), _values(byte), strict=True)):
        alone = _interpolate(fit.curve, size, which)
        if "window" in fit.subject:
            together = pairs * both
            found.append(max(alone, together * (each + shared * size)) / together)
        else:
            begin = _times(first)[which]
            found.append(max(alone, begin + (pairs - 1) * each + pairs * shared * (size - first.x)))
    return Estimate(*found)


def invert_estimate(cost: Estimate, numerator: float = 1.0) -> Estimate:
    """Return numerator / x; the bounds are swapped."""
    low, high = (numerator / bound if bound else None for bound in (cost.high, cost.low))
    return Estimate(numerator / cost.value, low, high)


def _values(cost: Estimate) -> tuple[float, float, float]:
    """Value and bounds; an unknown bound is the value."""
    low, high = (cost.value if bound is None else bound for bound in (cost.low, cost.high))
    return cost.value, low, high


def _times(point: CurvePoint) -> tuple[float, float, float]:
    return point.time, point.low, point.high


def _interpolate(curve: Sequence[CurvePoint], size: float, which: int) -> float:
    """Interpolate linearly between the points; constant beyond them."""
    for before, after in pairwise(curve):
        if before.x <= size <= after.x:
            share = (size - before.x) / (after.x - before.x)
            return _times(before)[which] + share * (_times(after)[which] - _times(before)[which])
    return _times(curve[0] if size < curve[0].x else curve[-1])[which]
