# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the bulk synchronous models, at one number of ranks.

    bsp         t = L + g h               random full h-relations of h words, in packets of one size
    bpram       t = l + sigma m           full block permutations with blocks of m bytes
    superstep   t = L + o n + G b         the same relations,with n packets of several sizes, b bytes in total

The lines are fitted by relative errors, so that small relations determine L and large ones g. If the largest
relation takes little longer than the smallest, g is uncertain, and the fit has a caveat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from hockney.core.fit import CurvePoint, Estimate, Fit, FitCaveat, FittedParameter, Subject
from hockney.models.fits.model import SIZE, Scope, explains, ranges_of
from hockney.models.fits.regression import Regression, sum_interval
from hockney.models.fits.verdict import judge_fit, refused, uncertainty
from hockney.models.statistics import Observation
from hockney.suites.bsp.models.programs import WORD_BYTES

MODELS = ("bsp", "bpram", "superstep")
ROLE = "bsp"
RELATION, PERMUTATION, SYNCHRONISATION = "h-relation", "permutation", "synchronisation"
PACKET = "packet"
MIN_SIZES = 3
MIN_TIME_RATIO = 2.0
"""Minimum ratio of the longest to the shortest time for a line without a caveat."""

LINES = {
    RELATION: ("bsp", ("L", "superstep", "s"), ("g", "word of an h-relation", "s")),
    PERMUTATION: ("bpram", ("l", "startup of a block", "s"), ("sigma", "byte of a block", "s/B")),
}
"""The model, and the symbol, name and unit of both parameters, by operation."""
SUPERSTEP_PARAMETERS = (
    ("L", "superstep", "s"),
    ("o", "packet", "s"),
    ("G", "byte of an h-relation", "s/B"),
)


@explains(ROLE, order=6, free=(SIZE,))
def fit_lines(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    """Fits g and L, or sigma and l. Returns no fit for more ranks than cores, since the parameters would not
    be those of the machine."""
    line = LINES.get(observations[0].workload.operation)
    if line is None or not _has_enough_cores(subject, scope):
        return []
    model, *parameters = line
    sorted_observations = sorted(observations, key=lambda observation: observation.size)
    sizes = np.array([float(observation.size) for observation in sorted_observations])
    if len(set(sizes)) < MIN_SIZES:
        return [refused(model, subject, f"a line needs at least {MIN_SIZES} sizes, not {len(set(sizes))}")]
    design = np.stack((np.ones(len(sizes)), sizes), axis=1)
    return [_fit(model, subject, sorted_observations, design, parameters, sizes)]


@explains(ROLE, order=7, free=(SIZE, PACKET))
def fit_supersteps(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    """Fits L, o and G if packets of several sizes were measured."""
    if observations[0].workload.operation != RELATION or not _has_enough_cores(subject, scope):
        return []
    sorted_observations = sorted(
        observations, key=lambda observation: (observation.case.number(PACKET), observation.size)
    )
    packet_sizes = {observation.case.number(PACKET) for observation in sorted_observations}
    if len(packet_sizes) < 2 or len(sorted_observations) <= len(SUPERSTEP_PARAMETERS):
        return []
    byte_counts = np.array([WORD_BYTES * float(observation.size) for observation in sorted_observations])
    packet_counts = byte_counts / np.array(
        [observation.case.number(PACKET) for observation in sorted_observations]
    )
    design = np.stack((np.ones(len(sorted_observations)), packet_counts, byte_counts), axis=1)
    fit = _fit("superstep", subject, sorted_observations, design, SUPERSTEP_PARAMETERS, None)
    return [replace(fit, ranges=fit.ranges | {PACKET: (min(packet_sizes), max(packet_sizes))})]


def model_time(fit: Fit, values: Mapping[str, float]) -> Estimate:
    """Returns the seconds that a fit of this module predicts for these values of its variables."""
    size = next(value for name, value in values.items() if name != PACKET)
    if fit.model != "superstep":
        return sum_interval(fit, np.array([1.0, size]))
    return sum_interval(
        fit, np.array([1.0, WORD_BYTES * size / values.get(PACKET, WORD_BYTES), WORD_BYTES * size])
    )


def _has_enough_cores(subject: Subject, scope: Scope) -> bool:
    return scope.ranks_allowed is None or subject["ranks"] in scope.ranks_allowed


def _fit(
    model: str,
    subject: Subject,
    observations: Sequence[Observation],
    design: np.ndarray,
    parameter_specs: Sequence[tuple[str, str, str]],
    sizes: np.ndarray | None,
) -> Fit:
    """Fits one model. `design` has a column for each parameter in `parameter_specs` (symbol, name, unit).
    With `sizes`, the fit includes a curve over them."""
    regression = Regression.fit_groups([observations], design)
    parameters = [
        FittedParameter(name=name, symbol=symbol, unit=unit, estimate=regression.parameter(k))
        for k, (symbol, name, unit) in enumerate(parameter_specs)
    ]
    leverage = regression.leverage
    curve = [] if sizes is None else zip(sizes, regression.band(design), strict=True)
    return Fit(
        model=model,
        line=subject.line,
        parameters=parameters,
        curve=[
            CurvePoint(float(x), estimate.value, estimate.low or 0.0, estimate.high or estimate.value)
            for x, estimate in curve
        ],
        ranges=ranges_of(observations),
        interval_matrix=regression.interval_matrix,
        **judge_fit(
            regression.times,
            regression.fitted,
            errors=regression.errors,
            caveats=_caveats(regression),
            widths={p.symbol: uncertainty(p.estimate, float(leverage[k])) for k, p in enumerate(parameters)},
        ),
    )


def _caveats(regression: Regression) -> list[FitCaveat]:
    ratio = float(regression.times.max() / regression.times.min())
    if ratio >= MIN_TIME_RATIO:
        return []
    text = (
        f"the largest case takes only {ratio:.2g} times as long as the smallest, so the cost of a byte is "
        "uncertain: measure larger ones"
    )
    return [FitCaveat("narrow-relations", text, {"ratio": ratio})]
