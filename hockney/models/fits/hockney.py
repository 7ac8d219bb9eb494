# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Hockney's model of a message's time, piecewise: time = latency + bytes * per_byte in each segment.

R. W. Hockney, 'The communication challenge for MPP: Intel Paragon and Meiko CS-2', Parallel Computing 20
(1994) 389: t = t_0 + n / r_inf, and n_half is the size that reaches half of r_inf. MPI libraries change
protocol with the size, so there are several such lines; their number and positions are searched for
(`piecewise`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from hockney.core.fit import Estimate, Fit, FitCaveat, FittedParameter, FittedSegment, Subject
from hockney.models.fits.model import SIZE, Scope, explains, ranges_of
from hockney.models.fits.piecewise import Pieces, Piecewise, curve_of, fit_piecewise, segments_of
from hockney.models.fits.verdict import refused, uncertainty, verdict
from hockney.models.statistics import Observation, tabulate

FEWEST_SIZES = 4
OF_GROUPS = ("one-sided", "messages", "datatype", "threads")
"""Roles of workloads outside the engine that move bytes between two ranks as well."""

NO_BANDWIDTH = FitCaveat(
    "no-bandwidth",
    "for the largest messages an additional byte costs nothing, so there is no r_inf: measure "
    "larger messages",
)
HALF_BEYOND_SIZES = FitCaveat(
    "half-beyond-sizes", "half of r_inf lies beyond the largest size measured, so it is an extrapolation"
)
UNBOUNDED_BANDWIDTH = FitCaveat(
    "unbounded-bandwidth", "r_inf has no upper bound: measure larger messages or more of them"
)
NO_LATENCY = FitCaveat("no-latency", "the fitted latency is zero: measure smaller messages")


@explains("point-to-point", "stream", *OF_GROUPS, order=1, free=(SIZE,), in_pieces=True)
def of_pairs(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    """A message's time is between two ranks. A workload whose size is a count of something has no line."""
    in_bytes = observations[0].workload.size_unit == "B"
    return [fit_hockney(observations, subject)] if subject["ranks"] == 2 and in_bytes else []


def fit_hockney(observations: Sequence[Observation], subject: Subject) -> Fit:
    """The model of one subject: observations that differ only in their size.

    Parameters by symbol: t_0 (latency of the shortest messages, s), r_inf (B/s), n_half (B), r_peak (B/s, the
    largest bandwidth of the fitted curve at a measured size), n_half_peak (B, the size from
    which up to that of the peak half of it is reached). r_inf and n_half are left out if the cost per byte of
    the largest messages is 0.
    """
    seen = sorted(observations, key=lambda each: each.size)
    sizes = np.array([float(each.size) for each in seen])
    count = len(set(sizes))
    if count < FEWEST_SIZES:
        few = f"{count} size{'' if count == 1 else 's'}"
        return refused("hockney", subject, f"only {few}: a line needs at least {FEWEST_SIZES}")
    if len(set(sizes)) < len(sizes):
        return refused(
            "hockney", subject, "cases differ in more than their size, so one curve cannot describe them"
        )
    table = tabulate(seen)
    fit = fit_piecewise(sizes, table)
    parameters = _parameters(fit)
    changes = fit.changes()
    return Fit(
        model="hockney",
        line=subject.line,
        parameters=parameters,
        segments=_with_limit(segments_of(fit, changes), parameters, float(fit.center.limit_range()[0])),
        change_points=changes,
        curve=curve_of(fit, changes),
        ranges=ranges_of(seen),
        **verdict(
            fit.times,
            fit.center.time(sizes)[0],
            errors=table.errors,
            caveats=_caveats(fit, parameters),
            widths={
                p.symbol: uncertainty(p.estimate, _leverage(p, fit.times))
                for p in parameters
                if p.unit != "B"  # it depends on the position of a change, which no measured time does
            },
        ),
    )


def _parameters(fit: Piecewise) -> list[FittedParameter]:
    latency, _ = fit.segment(fit.lines[0])
    found = [FittedParameter(name="latency", symbol="t_0", unit="s", estimate=latency)]
    if np.isfinite(fit.center.bandwidth_limit()[0]):
        found.append(
            FittedParameter(
                name="asymptotic bandwidth",
                symbol="r_inf",
                unit="B/s",
                estimate=fit.bandwidth_limit(),
            )
        )
        found += _size("half-bandwidth size", "n_half", fit.read(Pieces.half_size)[0])
    peak = fit.peak_bandwidth()
    found.append(FittedParameter(name="peak of the fit", symbol="r_peak", unit="B/s", estimate=peak))
    return found + _size("half-peak size", "n_half_peak", fit.read(Pieces.half_peak_size)[0])


def _size(name: str, symbol: str, size: Estimate) -> list[FittedParameter]:
    """`size` as a parameter in a one-element list; empty if no size reaches it."""
    if not np.isfinite(size.value):
        return []
    return [FittedParameter(name=name, symbol=symbol, unit="B", estimate=size)]


def _with_limit(
    segments: list[FittedSegment], parameters: Sequence[FittedParameter], first: float
) -> list[FittedSegment]:
    """If the last segment has all sizes from `first` on, its cost per byte is 1 / r_inf, and has the same
    interval, which includes the misfit."""
    limit = next((p.estimate for p in parameters if p.symbol == "r_inf"), None)
    *others, last = segments
    if limit is None or last.first > first or not last.per_byte.value > 0:
        return segments
    low, high = (1 / end if end else None for end in (limit.high, limit.low))
    return [*others, replace(last, per_byte=Estimate(last.per_byte.value, low, high))]


def _leverage(parameter: FittedParameter, times: np.ndarray) -> float:
    """A latency is all of the shortest message's time, a bandwidth all of the longest message's."""
    if parameter.symbol == "t_0":
        return float(1 / times.min())
    return 1 / parameter.estimate.value if parameter.estimate.value > 0 else 0.0


def _caveats(fit: Piecewise, parameters: Sequence[FittedParameter]) -> list[FitCaveat]:
    known = {p.symbol: p.estimate for p in parameters}
    found = []
    if "r_inf" not in known:
        found.append(NO_BANDWIDTH)
    else:
        if "n_half" not in known or known["n_half"].value > fit.size[-1]:
            found.append(HALF_BEYOND_SIZES)
        if known["r_inf"].high is None:
            found.append(UNBOUNDED_BANDWIDTH)
    if known["t_0"].value == 0:
        found.append(NO_LATENCY)
    return found
