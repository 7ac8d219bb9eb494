# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How messages of several pairs share the way between them: the max-rate model.

W. Gropp, L. N. Olson, P. Samfass, 'Modeling MPI Communication Performance on SMP Nodes: Is it Time to Retire
the Ping Pong Test', EuroMPI 2016, equation 2: k processes of a node that send n bytes each take

    T = alpha + k n / min(R_N, k R_C)

A process reaches R_C by itself, a node R_N. Here one pair's time b(n), measured for each size, takes the
place of alpha + n / R_C, since MPI changes protocol with the size; and a node may need a time g_N for each
message besides the time of its bytes, a limit of the message rate (as LogGP's gap, per node). Per message of
a pair,

    stream       T = max(b(n), k (g_N + n / R_N))
    ping-pong    T = max(b(n), b(n_0) + (k - 1) g_N + k (n - n_0) / R_N)

where n_0 is the smallest size: a stream hides the latency, and k messages that set out at once queue for the
node. If both ranks of a pair send, R_N counts both directions.

A case belongs to one of the two branches; given the branches, all is a sum of parameters with known factors
(`regression`). The branches are those of the least squares (`branches`). Without saturated cases, R_N is only
known to be at least the largest rate seen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.case import NODES
from hockney.core.fit import CurvePoint, Estimate, Fit, FitCaveat, FittedParameter, Subject
from hockney.core.units import format_rate
from hockney.models.fits.branches import BYTE, MESSAGE, Branches, SharedCases
from hockney.models.fits.model import RANKS, SIZE, Scope, explains, ranges_of
from hockney.models.fits.regression import Regression
from hockney.models.fits.verdict import refused, uncertainty, verdict
from hockney.models.max_rate import FULL, GAP, MODEL, ONE, PAIRS, RATE, inverse
from hockney.models.statistics import Observation, ratio_of_estimates

ROLE = "messages"


@explains(ROLE, order=4, free=(SIZE, PAIRS, RANKS, NODES))
def of_many_pairs(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    """The fit for a workload of which at least two numbers of pairs were measured, each rank on its own core.
    Cases that name their nodes count only with one rank on each: others may have messages of two levels."""
    allowed = scope.ranks_allowed
    seen = [
        each
        for each in observations
        if PAIRS in each.case
        and each.size >= 0
        and (allowed is None or each.case.ranks in allowed)
        and each.case.nodes in (0, each.case.ranks)
    ]
    if len({pairs_of(each) for each in seen}) < 2:
        return []
    if len({_where(each) for each in seen}) > 1:
        return [refused(MODEL, subject, "the ranks of its cases meet at different levels")]
    return [fit_sharing(seen, subject)]


def _where(seen: Observation) -> str:
    """What is known of the nodes of a case without a level: all ranks are on one, each is on its own, or
    neither."""
    nodes = {seen.case.nodes} if seen.case.nodes else {record.nodes for record in seen.records} - {0}
    if seen.case.place or not nodes:
        return seen.case.place
    return "one" if nodes == {1} else "apart" if nodes == {seen.case.ranks} else "several"


def pairs_of(seen: Observation) -> int:
    """The number of active pairs of a case."""
    return int(seen.case.number(PAIRS)) or seen.case.ranks // 2


def fit_sharing(observations: Sequence[Observation], subject: Subject) -> Fit:
    """Parameters by symbol: R_N (B/s; the largest rate seen, with a lower end only, if nothing is at the
    limit), R_C (B/s), and, if there are such costs, g_N (s) and k_sat, the pairs from which on the largest
    messages take R_N. The curve is one pair's time over the size."""
    seen = sorted(observations, key=lambda each: (pairs_of(each), each.size))
    cases = SharedCases.of(seen, [pairs_of(each) for each in seen])
    if cases.alone.all():
        return refused(MODEL, subject, "no size was measured with two numbers of pairs")
    if cases.sizes[-1] <= 0:
        return refused(MODEL, subject, "a shared rate needs messages with data")
    branches = cases.branches()
    groups, order = by_launches(seen)
    found = Regression.of(groups, cases.design(branches)[order])
    parameters = _parameters(cases, branches, found, seen)
    return Fit(
        model=MODEL,
        line=subject.line,
        parameters=parameters,
        curve=_curve(cases, found),
        ranges=ranges_of(seen) | {PAIRS: (float(cases.pairs.min()), float(cases.pairs.max()))},
        **verdict(
            found.times,
            found.fitted,
            errors=found.errors,
            caveats=_caveats(cases, parameters),
            widths={p.symbol: _uncertainty(p.symbol, cases, branches, found) for p in parameters},
        ),
    )


def by_launches(seen: Sequence[Observation]) -> tuple[list[list[Observation]], np.ndarray]:
    """The observations grouped by launches, since different launches vary independently; and the index of
    each in `seen`, in the order of the groups."""
    groups: list[tuple[set[str], list[int]]] = []
    for index, each in enumerate(seen):
        same = next((group for group in groups if not group[0].isdisjoint(each.launches)), None)
        if same is None:
            groups.append((set(each.launches), [index]))
        else:
            same[0].update(each.launches)
            same[1].append(index)
    order = [index for _, members in groups for index in members]
    return [[seen[index] for index in members] for _, members in groups], np.array(order)


def _parameters(
    cases: SharedCases, branches: Branches, found: Regression, seen: Sequence[Observation]
) -> list[FittedParameter]:
    one, rate = _one(cases, found), _rate(cases, branches, found) or _at_least(cases, seen)
    parameters = [
        FittedParameter(name="shared rate", symbol=RATE, unit="B/s", estimate=rate),
        FittedParameter(name="rate of one pair", symbol=ONE, unit="B/s", estimate=one),
    ]
    gap = branches.column(MESSAGE, len(cases.sizes))
    if gap is not None:
        parameters.append(
            FittedParameter(name="shared gap", symbol=GAP, unit="s", estimate=found.parameter(gap))
        )
    if rate.high is not None:
        full = ratio_of_estimates(rate, one)
        parameters.append(
            FittedParameter(name="pairs that use the rate", symbol=FULL, unit="", estimate=full)
        )
    return parameters


def _rate(cases: SharedCases, branches: Branches, found: Regression) -> Estimate | None:
    """The inverse of the shared cost of a byte; None if there is none."""
    column = branches.column(BYTE, len(cases.sizes))
    cost = None if column is None else found.parameter(column)
    return None if cost is None or cost.value <= 0 else inverse(cost)


def _at_least(cases: SharedCases, seen: Sequence[Observation]) -> Estimate:
    """The largest rate seen, and the least that it may be; the limit is beyond."""
    slowest = [high / time for time, _, high in (each.interval() for each in seen)]
    rates = cases.together * cases.size / cases.each
    lower = rates / np.where(np.isfinite(slowest), slowest, 1.0)
    best = int(np.argmax(lower))
    return Estimate(float(rates[best]), float(lower[best]), None)


def _one(cases: SharedCases, found: Regression) -> Estimate:
    """The largest rate of the fewest pairs, divided by these."""
    place = int(np.argmax(cases.sizes / np.maximum(found.best[: len(cases.sizes)], 1e-300)))
    flow = float((cases.together / cases.pairs)[0] * cases.sizes[place])
    return inverse(found.parameter(place), flow)


def _uncertainty(symbol: str, cases: SharedCases, branches: Branches, found: Regression) -> float:
    """The uncertainty of a shared cost; 0 for other parameters, which are derived, or measured one by one."""
    cost = {RATE: BYTE, GAP: MESSAGE}.get(symbol)
    column = None if cost is None else branches.column(cost, len(cases.sizes))
    return 0.0 if column is None else uncertainty(found.parameter(column), float(found.leverage[column]))


def _caveats(cases: SharedCases, parameters: Sequence[FittedParameter]) -> list[FitCaveat]:
    rate = next(p.estimate for p in parameters if p.symbol == RATE)
    if rate.high is not None:
        return []
    pairs, least = int(cases.pairs.max()), rate.low or rate.value
    text = (
        f"up to {pairs} pairs nothing is saturated, so the shared rate is only known to be at least "
        f"{format_rate(least)}"
    )
    return [FitCaveat("no-saturation", text, {"pairs": pairs, "rate": least})]


def _curve(cases: SharedCases, found: Regression) -> list[CurvePoint]:
    """One pair's time at each size."""
    each = [(size, found.parameter(place)) for place, size in enumerate(cases.sizes)]
    return [CurvePoint(float(x), b.value, b.low or 0.0, b.high or b.value) for x, b in each]
