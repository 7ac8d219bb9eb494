# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Hockney's model of a message's time, piecewise: time = latency + bytes * per_byte in each segment.

R. W. Hockney, 'The communication challenge for MPP: Intel Paragon and Meiko CS-2', Parallel Computing 20
(1994) 389: t = t_0 + n / r_inf, and n_half is the size that moves at half of r_inf. MPI libraries change
protocol with the size, so there are several such lines; how many and where is searched for (`segments`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import (
    CurvePoint,
    Estimate,
    Fit,
    FittedParameter,
    FittedSegment,
    Subject,
)
from hockney.models.fits.model import SIZE, Scope, explains
from hockney.models.fits.piecewise.curve import Pieces
from hockney.models.fits.piecewise.fit import Piecewise, fit_piecewise
from hockney.models.fits.verdict import deviations, refused, verdict
from hockney.models.statistics import Observation, estimate, tabulate

FEWEST_SIZES = 4


@explains("point-to-point", "stream", order=1, free=(SIZE,))
def of_pairs(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    """A message's time is between two ranks."""
    return [fit_hockney(observations, subject)] if subject["ranks"] == 2 else []


def fit_hockney(observations: Sequence[Observation], subject: Subject) -> Fit:
    """The model of one subject: observations that differ in nothing but their size.

    Parameters by symbol: t_0 (latency of the shortest messages, s), r_inf (B/s), n_half (B), r_peak (B/s,
    the largest bandwidth of the fitted curve at a measured size). r_inf and n_half are left out where the
    largest messages cost nothing for a byte more.
    """
    seen = sorted(observations, key=lambda each: each.size)
    sizes = np.array([float(each.size) for each in seen])
    count = len(set(sizes))
    if count < FEWEST_SIZES:
        few = f"{count} size{'' if count == 1 else 's'}"
        return refused("hockney", subject, f"only {few}: at least {FEWEST_SIZES} tell a line from a curve")
    if len(set(sizes)) < len(sizes):
        return refused("hockney", subject, "cases differ in more than bytes, so one curve cannot hold them")
    table = tabulate(seen)
    fit = fit_piecewise(sizes, table)
    parameters = _parameters(fit)
    fitted = fit.center.time(sizes)[0]
    grade, why = verdict(fit.times, fitted, errors=table.errors, doubts=_doubts(fit, parameters))
    error, worst = deviations(fit.times, fitted)
    changes = fit.changes()
    return Fit(
        model="hockney",
        line=subject.line,
        parameters=parameters,
        verdict=grade,
        why=why,
        error=error,
        worst=worst,
        segments=_segments(fit, changes),
        change_points=changes,
        curve=_curve(fit, changes),
    )


def _parameters(fit: Piecewise) -> list[FittedParameter]:
    latency, _ = fit.segment(fit.lines[0])
    _, per_byte = fit.segment(fit.lines[-1])
    parameters = [FittedParameter(name="latency", symbol="t_0", unit="s", estimate=latency)]
    if per_byte.value > 0:
        parameters.append(
            FittedParameter(
                name="asymptotic bandwidth",
                symbol="r_inf",
                unit="B/s",
                estimate=estimate(
                    1 / per_byte.value,
                    1 / per_byte.high if per_byte.high else np.nan,
                    1 / per_byte.low if per_byte.low else np.nan,
                ),
            )
        )
        half = fit.read(Pieces.half_size)[0]
        parameters.append(
            FittedParameter(name="half-bandwidth size", symbol="n_half", unit="B", estimate=half)
        )
    peak = fit.read(Pieces.peak_bandwidth)[0]
    parameters.append(FittedParameter(name="peak bandwidth", symbol="r_peak", unit="B/s", estimate=peak))
    return parameters


def _doubts(fit: Piecewise, parameters: Sequence[FittedParameter]) -> list[str]:
    known = {p.symbol: p.estimate for p in parameters}
    doubts = []
    if "r_inf" not in known:
        doubts.append(
            "the largest messages cost nothing for a byte more, so there is no r_inf: measure larger ones"
        )
    else:
        if known["n_half"].value > fit.size[-1]:
            doubts.append("half of r_inf lies beyond the largest size measured, so it is an extrapolation")
        if known["r_inf"].high is None:
            doubts.append("r_inf has no upper bound: measure larger messages or more of them")
    if known["t_0"].value == 0:
        doubts.append("the latency came out as zero: measure smaller messages")
    return doubts


def _segments(fit: Piecewise, changes: Sequence[Estimate]) -> list[FittedSegment]:
    bounds = [int(fit.size[0]), *(int(np.ceil(change.value)) for change in changes)]
    segments = []
    for line, first, beyond in zip(fit.lines, bounds, [*bounds[1:], None], strict=True):
        latency, per_byte = fit.segment(line)
        segments.append(FittedSegment(first=first, beyond=beyond, latency=latency, per_byte=per_byte))
    return segments


def _curve(fit: Piecewise, changes: Sequence[Estimate]) -> list[CurvePoint]:
    """The measured sizes, the middles between them, and both sides of each change."""
    middles = np.sqrt(fit.size[1:] * np.maximum(fit.size[:-1], fit.size[1:] / 4))
    sides = [side for c in changes for side in (np.ceil(c.value) - 1, np.ceil(c.value))]
    x = np.unique(np.concatenate((fit.size, np.round(middles), sides)))
    x = x[(x >= fit.size[0]) & (x <= fit.size[-1])]
    band = fit.read(lambda curve: curve.time(x))
    return [
        CurvePoint(
            float(at), e.value, e.value if e.low is None else e.low, e.value if e.high is None else e.high
        )
        for at, e in zip(x, band, strict=True)
    ]
