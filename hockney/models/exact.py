# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Summaries and fits of a machine whose times do not vary: there, values without an interval are exact, not
unknown."""

from __future__ import annotations

from msgspec.structs import replace

from hockney.core.fit import Estimate, ExactValue, Fit, Fits, Summary

ROUNDING = 1e-3
"""A relative width of intervals that fits of exact times have: no digit that is printed."""


def mark_exact(fits: Fits) -> Fits:
    return replace(
        fits, summaries=[_summary(item) for item in fits.summaries], fits=[_fit(item) for item in fits.fits]
    )


def _summary(summary: Summary) -> Summary:
    metrics = {name: replace(m, typical=_exact_if_narrow(m.typical)) for name, m in summary.metrics.items()}
    return replace(
        summary,
        typical=ExactValue.of(summary.typical.value),
        between=0.0 if summary.between is None else summary.between,
        metrics=metrics,
    )


def _fit(fit: Fit) -> Fit:
    return replace(
        fit,
        parameters=[replace(p, estimate=_exact_if_narrow(p.estimate)) for p in fit.parameters],
        segments=[
            replace(s, latency=_exact_if_narrow(s.latency), per_byte=_exact_if_narrow(s.per_byte))
            for s in fit.segments
        ],
    )


def _exact_if_narrow(estimate: Estimate) -> Estimate:
    """Mark a value as exact if it has no interval, or only one due to rounding. A model that does not
    describe the times exactly has an interval."""
    low, high = estimate.low, estimate.high
    if low is None and high is None:
        return ExactValue.of(estimate.value)
    narrow = low is not None and high is not None and high - low <= ROUNDING * abs(estimate.value)
    return ExactValue.of(estimate.value) if narrow else estimate
