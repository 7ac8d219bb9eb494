# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A piecewise line as reported in a fit: its segments, and points along its curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import CurvePoint, Estimate, FittedSegment, Intercept
from hockney.models.fits.piecewise.fit import Piecewise


def segments_of(fit: Piecewise, changes: Sequence[Estimate]) -> list[FittedSegment]:
    bounds = [int(fit.size[0]), *(int(change.value) for change in changes)]
    found = []
    for line, first, beyond in zip(fit.lines, bounds, [*bounds[1:], None], strict=True):
        latency, per_byte = fit.segment(line)
        intercept = _intercept(latency.value)
        found.append(
            FittedSegment(
                first=first,
                beyond=beyond,
                latency=latency,
                per_byte=per_byte,
                intercept=intercept,
                smallest=int(fit.size[line.first]),
                largest=int(fit.size[line.beyond - 1]),
            )
        )
    return found


def _intercept(latency: float) -> Intercept:
    return "found" if latency > 0 else "held" if latency == 0 else "below zero"


def curve_of(fit: Piecewise, changes: Sequence[Estimate]) -> list[CurvePoint]:
    """The measured sizes, their midpoints, and both sides of each change."""
    middles = np.sqrt(fit.size[1:] * np.maximum(fit.size[:-1], fit.size[1:] / 4))
    sides = [side for c in changes for side in (c.value - 1, c.value)]
    x = np.unique(np.concatenate((fit.size, np.round(middles), sides)))
    x = x[(x >= fit.size[0]) & (x <= fit.size[-1])]
    band = fit.band(x)
    return [
        CurvePoint(
            float(at), e.value, e.value if e.low is None else e.low, e.value if e.high is None else e.high
        )
        for at, e in zip(x, band, strict=True)
    ]
