# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Hockney's model of message times, piecewise: time = latency + bytes * per_byte in each segment.

R. W. Hockney, 'The communication challenge for MPP: Intel Paragon and Meiko CS-2', Parallel Computing 20
(1994) 389: t = t_0 + n / r_inf, and n_half is the size that reaches half of r_inf. MPI libraries choose the
protocol by size, so there are several such lines. Their number and positions are found by a search
(`piecewise`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from hockney.core.fit import Estimate, Fit, FitCaveat, FittedParameter, FittedSegment, Subject
from hockney.models.fits.model import SIZE, Scope, explains, ranges_of
from hockney.models.fits.piecewise import Pieces, Piecewise, fit_piecewise, fitted_curve, fitted_segments
from hockney.models.fits.verdict import judge_fit, refused, uncertainty
from hockney.models.statistics import Observation, tabulate

MIN_SIZES = 4
OTHER_ROLES = ("one-sided", "messages", "datatype", "threads")
"""Roles of workloads outside the point-to-point group that also move bytes between two ranks."""

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


@explains("point-to-point", "stream", *OTHER_ROLES, order=1, free=(SIZE,), in_pieces=True)
def fit_pairs(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    """Fit the times of messages between two ranks. A workload whose size is a count of something else has no
    line."""
    in_bytes = observations[0].workload.size_unit == "B"
    return [fit_hockney(observations, subject)] if subject["ranks"] == 2 and in_bytes else []


def fit_hockney(observations: Sequence[Observation], subject: Subject) -> Fit:
    """Fit the model to one subject: observations that differ only in their size.

    Parameters by symbol: t_0 (latency of the shortest messages, s), r_inf (B/s), n_half (B), r_peak (B/s, the
    largest bandwidth of the fitted curve at a measured size), n_half_peak (B, the size from which up to the
    peak at least half of r_peak is reached). r_inf and n_half are omitted if the cost per byte of the largest
    messages is 0.
    """
    sorted_observations = sorted(observations, key=lambda observation: observation.size)
    sizes = np.array([float(observation.size) for observation in sorted_observations])
    size_count = len(set(sizes))
    if size_count < MIN_SIZES:
        count_text = f"{size_count} size{'' if size_count == 1 else 's'}"
        return refused("hockney", subject, f"only {count_text}: a line needs at least {MIN_SIZES}")
    if len(set(sizes)) < len(sizes):
        return refused(
            "hockney", subject, "cases differ in more than their size, so one curve cannot describe them"
        )
    table = tabulate(sorted_observations)
    fit = fit_piecewise(sizes, table)
    parameters = _parameters(fit)
    changes = fit.changes()
    return Fit(
        model="hockney",
        line=subject.line,
        parameters=parameters,
        segments=_with_limit_interval(
            fitted_segments(fit, changes), parameters, float(fit.center.limit_range()[0])
        ),
        change_points=changes,
        curve=fitted_curve(fit, changes),
        ranges=ranges_of(sorted_observations),
        **judge_fit(
            fit.times,
            fit.center.time(sizes)[0],
            errors=table.errors,
            caveats=_caveats(fit, parameters),
            widths={
                parameter.symbol: uncertainty(parameter.estimate, _leverage(parameter, fit.times))
                for parameter in parameters
                if parameter.unit != "B"  # sizes depend on the position of a change, measured times do not
            },
        ),
    )


def _parameters(fit: Piecewise) -> list[FittedParameter]:
    latency, _ = fit.segment(fit.lines[0])
    parameters = [FittedParameter(name="latency", symbol="t_0", unit="s", estimate=latency)]
    if np.isfinite(fit.center.bandwidth_limit()[0]):
        parameters.append(
            FittedParameter(
                name="asymptotic bandwidth",
                symbol="r_inf",
                unit="B/s",
                estimate=fit.bandwidth_limit(),
            )
        )
        parameters += _size_parameter("half-bandwidth size", "n_half", fit.evaluate(Pieces.half_size)[0])
    peak = fit.peak_bandwidth()
    parameters.append(FittedParameter(name="peak of the fit", symbol="r_peak", unit="B/s", estimate=peak))
    return parameters + _size_parameter(
        "half-peak size", "n_half_peak", fit.evaluate(Pieces.half_peak_size)[0]
    )


def _size_parameter(name: str, symbol: str, size: Estimate) -> list[FittedParameter]:
    """`size` as a parameter in a one-element list; empty if no size reaches it."""
    if not np.isfinite(size.value):
        return []
    return [FittedParameter(name=name, symbol=symbol, unit="B", estimate=size)]


def _with_limit_interval(
    segments: list[FittedSegment], parameters: Sequence[FittedParameter], first_size: float
) -> list[FittedSegment]:
    """Return the segments; the last one gets the interval of 1 / r_inf, which includes the misfit, for its
    cost per byte if it covers all sizes from `first_size` on."""
    limit = next((parameter.estimate for parameter in parameters if parameter.symbol == "r_inf"), None)
    *earlier, last = segments
    if limit is None or last.first > first_size or not last.per_byte.value > 0:
        return segments
    low, high = (1 / bound if bound else None for bound in (limit.high, limit.low))
    return [*earlier, replace(last, per_byte=Estimate(last.per_byte.value, low, high))]


def _leverage(parameter: FittedParameter, times: np.ndarray) -> float:
    """Latency determines the whole time of the shortest message, a bandwidth that of the longest message."""
    if parameter.symbol == "t_0":
        return float(1 / times.min())
    return 1 / parameter.estimate.value if parameter.estimate.value > 0 else 0.0


def _caveats(fit: Piecewise, parameters: Sequence[FittedParameter]) -> list[FitCaveat]:
    estimates = {parameter.symbol: parameter.estimate for parameter in parameters}
    caveats = []
    if "r_inf" not in estimates:
        caveats.append(NO_BANDWIDTH)
    else:
        if "n_half" not in estimates or estimates["n_half"].value > fit.size[-1]:
            caveats.append(HALF_BEYOND_SIZES)
        if estimates["r_inf"].high is None:
            caveats.append(UNBOUNDED_BANDWIDTH)
    if estimates["t_0"].value == 0:
        caveats.append(NO_LATENCY)
    return caveats
