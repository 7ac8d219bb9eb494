# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The prediction of a fit at a point, with its 95% interval."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from hockney.core.fit import CurvePoint, Fit, TimeEstimate
from hockney.core.plugins import plugins
from hockney.models import fits, max_rate
from hockney.models.applications.point_to_point_costs import costs_from_fit
from hockney.models.fits.collective import collective_interval
from hockney.models.fits.collective_forms import FORMS
from hockney.models.fits.model import RANKS

IN_PIECES = ("hockney", "size")
"""Models with piecewise lines of the time over the size."""


def fitted_time(fit: Fit, at: Mapping[str, float]) -> TimeEstimate:
    """Predicted seconds at the values `at` of the model's variables, one number within the fitted range for
    each name of `fit.ranges`. Unknown bounds of the interval are None.

    A piecewise line has the relative interval of the fitted curve at the neighboring sizes. It covers both
    lines if the protocol may change nearby. A collective's interval comes from its `interval_matrix`. For a
    suite's model, `model_time` of its module computes the time. Any other model is its curve over the size,
    interpolated linearly."""
    size = next((value for name, value in at.items() if name not in (RANKS, max_rate.PAIRS)), 0.0)
    if fit.segments and fit.model in IN_PIECES:
        return _on_pieces(fit, size)
    if fit.model == max_rate.MODEL:
        time = max_rate.shared_time(fit, size, at[max_rate.PAIRS])
        return TimeEstimate(time.value, time.low, time.high)
    if fit.model in FORMS:
        time = collective_interval(fit, int(at.get(RANKS, 2)), size)
        return TimeEstimate(time.value, time.low, time.high)
    for module in plugins(fits.__name__, "MODELS", "model_time"):
        if fit.model in module.MODELS:
            time = module.model_time(fit, at)
            return TimeEstimate(time.value, time.low, time.high)
    return _on_curve(fit.curve, size)


def _on_pieces(fit: Fit, size: float) -> TimeEstimate:
    costs = costs_from_fit(fit, name="", title="", source=fit.line)
    time = costs.one_way(size)
    low, high = costs.bounds(size) or (1.0, 1.0)
    return _known(time, low * time, high * time)


def _on_curve(curve: list[CurvePoint], size: float) -> TimeEstimate:
    points = [curve[0], *curve] if len(curve) == 1 else curve
    before, after = next(pair for pair in pairwise(points) if size <= pair[1].x)
    share = (size - before.x) / (after.x - before.x) if after.x > before.x else 0.0
    ends = ((p.time, p.low, p.high) for p in (before, after))
    return _known(*(first + share * (last - first) for first, last in zip(*ends, strict=True)))


def _known(time: float, low: float, high: float) -> TimeEstimate:
    """Replace an unknown bound of the interval by the curve itself."""
    return TimeEstimate(time, low if low < time else None, high if high > time else None)
