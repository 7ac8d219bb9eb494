# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Summaries and fits of a machine whose times do not vary: values without an interval are exact there, not
unknown."""

from __future__ import annotations

from msgspec.structs import replace

from hockney.core.fit import Estimate, ExactValue, Fit, Fits, Summary

ROUNDING = 1e-3
"""A relative width of intervals that fits of exact times have: no digit that is printed."""


def made_exact(fits: Fits) -> Fits:
    return replace(
        fits, summaries=[_summary(each) for each in fits.summaries], fits=[_fit(each) for each in fits.fits]
    )


def _summary(summary: Summary) -> Summary:
    metrics = {name: replace(m, typical=_closed(m.typical)) for name, m in summary.metrics.items()}
    return replace(
        summary,
        typical=ExactValue.of(summary.typical.value),
        between=0.0 if summary.between is None else summary.between,
        metrics=metrics,
    )


def _fit(fit: Fit) -> Fit:
    return replace(
        fit,
        parameters=[replace(p, estimate=_closed(p.estimate)) for p in fit.parameters],
        segments=[replace(s, latency=_closed(s.latency), per_byte=_closed(s.per_byte)) for s in fit.segments],
    )


def _closed(estimate: Estimate) -> Estimate:
    """A value is exact if it has no interval, or one that is only due to rounding. A model that does not
    describe the times exactly has an interval."""
    low, high = estimate.low, estimate.high
    if low is None and high is None:
        return ExactValue.of(estimate.value)
    narrow = low is not None and high is not None and high - low <= ROUNDING * abs(estimate.value)
    return ExactValue.of(estimate.value) if narrow else estimate
