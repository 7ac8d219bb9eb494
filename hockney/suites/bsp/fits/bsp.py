# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the bulk synchronous models, at one number of ranks.

    bsp         t = L + g h               random full h-relations of h words, in packets of one size
    bpram       t = l + sigma m           full block permutations with blocks of m bytes
    superstep   t = L + o n + G b         the same relations, with n packets of several sizes, b bytes in all

The lines are fitted by relative errors, so that small relations determine L and large ones g. If the largest
relation takes hardly longer than the smallest, g says little: that is a caveat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from hockney.core.fit import CurvePoint, Estimate, Fit, FittedParameter, Subject
from hockney.models.fits import caveats
from hockney.models.fits.model import SIZE, Scope, explains
from hockney.models.fits.ranges import ranges_of
from hockney.models.fits.regression import Regression, sum_interval
from hockney.models.fits.verdict import deviations, refused, uncertainty, verdict
from hockney.models.statistics import Observation
from hockney.suites.bsp.models.programs import WORD

MODELS = ("bsp", "bpram", "superstep")
ROLE = "bsp"
RELATION, PERMUTATION, SYNCHRONISATION = "h-relation", "permutation", "synchronisation"
PACKET = "packet"
FEWEST_SIZES = 3
WIDE_ENOUGH = 2.0
"""The largest case takes at least this many times as long as the smallest."""

LINES = {
    RELATION: ("bsp", ("L", "superstep", "s"), ("g", "word of an h-relation", "s")),
    PERMUTATION: ("bpram", ("l", "startup of a block", "s"), ("sigma", "byte of a block", "s/B")),
}
"""Model, and symbol, name and unit of both parameters."""
OF_SUPERSTEPS = (
    ("L", "superstep", "s"),
    ("o", "packet", "s"),
    ("G", "byte of an h-relation", "s/B"),
)


@explains(ROLE, order=6, free=(SIZE,))
def of_relations(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    """g and L, or sigma and l. With more ranks than cores, they are not those of the machine."""
    line = LINES.get(observations[0].workload.operation)
    if line is None or not _allowed(subject, scope):
        return []
    model, *parameters = line
    seen = sorted(observations, key=lambda each: each.size)
    sizes = np.array([float(each.size) for each in seen])
    if len(set(sizes)) < FEWEST_SIZES:
        return [refused(model, subject, f"a line needs at least {FEWEST_SIZES} sizes, not {len(set(sizes))}")]
    design = np.stack((np.ones(len(sizes)), sizes), axis=1)
    return [_fit(model, subject, seen, design, parameters, sizes)]


@explains(ROLE, order=7, free=(SIZE, PACKET))
def of_packets(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    """L, o and G, if packets of several sizes were measured."""
    if observations[0].workload.operation != RELATION or not _allowed(subject, scope):
        return []
    seen = sorted(observations, key=lambda each: (each.case.number(PACKET), each.size))
    packets = {each.case.number(PACKET) for each in seen}
    if len(packets) < 2 or len(seen) <= len(OF_SUPERSTEPS):
        return []
    bytes = np.array([WORD * float(each.size) for each in seen])
    count = bytes / np.array([each.case.number(PACKET) for each in seen])
    design = np.stack((np.ones(len(seen)), count, bytes), axis=1)
    fit = _fit("superstep", subject, seen, design, OF_SUPERSTEPS, None)
    return [replace(fit, ranges=fit.ranges | {PACKET: (min(packets), max(packets))})]


def model_time(fit: Fit, at: Mapping[str, float]) -> Estimate:
    """Seconds predicted by a fit of this module for these values of its variables."""
    size = next(value for name, value in at.items() if name != PACKET)
    if fit.model != "superstep":
        return sum_interval(fit, np.array([1.0, size]))
    return sum_interval(fit, np.array([1.0, WORD * size / at.get(PACKET, WORD), WORD * size]))


def _allowed(subject: Subject, scope: Scope) -> bool:
    return scope.ranks_allowed is None or subject["ranks"] in scope.ranks_allowed


def _fit(
    model: str,
    subject: Subject,
    seen: Sequence[Observation],
    design: np.ndarray,
    names: Sequence[tuple[str, str, str]],
    sizes: np.ndarray | None,
) -> Fit:
    """`design` has a column for each of the parameters' names: symbol, name, unit. With `sizes`, the fit has
    a curve over them."""
    found = Regression.of([seen], design)
    parameters = [
        FittedParameter(name=name, symbol=symbol, unit=unit, estimate=found.parameter(k))
        for k, (symbol, name, unit) in enumerate(names)
    ]
    leverage = found.leverage
    judgement = verdict(
        found.times,
        found.fitted,
        errors=found.errors,
        caveats=_caveats(found),
        widths={p.symbol: uncertainty(p.estimate, float(leverage[k])) for k, p in enumerate(parameters)},
    )
    error, worst = deviations(found.times, found.fitted)
    curve = [] if sizes is None else zip(sizes, found.band(design), strict=True)
    return Fit(
        model=model,
        line=subject.line,
        parameters=parameters,
        verdict=judgement.grade,
        why=judgement.why,
        caveats=judgement.caveats,
        error=error,
        worst=worst,
        curve=[CurvePoint(float(x), e.value, e.low or 0.0, e.high or e.value) for x, e in curve],
        ranges=ranges_of(seen),
        interval_matrix=found.interval_matrix,
    )


def _caveats(found: Regression) -> list[caveats.FitCaveat]:
    ratio = float(found.times.max() / found.times.min())
    return [caveats.narrow_relations(ratio)] if ratio < WIDE_ENOUGH else []
