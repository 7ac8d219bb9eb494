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
(`regression`). For given shared costs, the branches at one size follow: its cases with fewer pairs are below
the limit, the others at it. For given branches, the shared costs are those of least squares. Both steps
alternate from many beginnings, and the best end counts; no case takes less than b. Whether there is a shared
cost of a byte or of a message at all is decided by its price, as for pieces of a line (`piecewise`). Without
saturated cases, R_N is only known to be at least the largest rate seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from hockney.core.case import NODES
from hockney.core.fit import CurvePoint, Estimate, Fit, FitCaveat, FittedParameter, Subject
from hockney.core.units import format_rate
from hockney.models.fits.model import RANKS, SIZE, Scope, explains, ranges_of
from hockney.models.fits.piecewise import SEGMENT_PENALTY
from hockney.models.fits.regression import FLOOR, Regression
from hockney.models.fits.verdict import refused, uncertainty, verdict
from hockney.models.max_rate import FULL, GAP, MODEL, ONE, PAIRS, RATE, inverse
from hockney.models.scipy_functions import nonnegative_least_squares
from hockney.models.statistics import Observation, ratio_of_estimates, shared_variance, tabulate

ROLE = "messages"
ROUNDS = 12
MESSAGE, BYTE = 0, 1
OPTIONS = ((), (BYTE,), (MESSAGE,), (MESSAGE, BYTE))
"""The shared costs that a model may have."""


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


@dataclass(frozen=True)
class Branches:
    """`at_limit`: the cases at the shared limit. `costs`: the shared costs of OPTIONS, in order. `excess` is
    the sum of squares and the price of the costs."""

    at_limit: np.ndarray
    costs: tuple[int, ...]
    excess: float

    def column(self, cost: int, sizes: int) -> int | None:
        """The column of a shared cost in the design of `sizes` sizes; None if there is no such cost."""
        return sizes + self.costs.index(cost) if cost in self.costs else None


@dataclass(frozen=True)
class SharedCases:
    """Cases of one subject, by the time (s) `each` in which every pair sends as many messages as one pair in
    b(n): `together` are those of all pairs in this time. `hidden`: in a stream, the latency of one message is
    hidden behind others."""

    size: np.ndarray
    pairs: np.ndarray
    together: np.ndarray
    each: np.ndarray
    variance: np.ndarray
    hidden: bool

    @staticmethod
    def of(seen: Sequence[Observation], pairs: Sequence[int]) -> SharedCases:
        table = tabulate(seen)
        shared, _ = shared_variance([table])
        count = np.array(pairs, dtype=float)
        hidden = "window" in seen[0].case
        both = seen[0].case.get("direction") == "both"
        together = count * (2 if both else 1)
        return SharedCases(
            size=np.array([float(one.size) for one in seen]),
            pairs=count,
            together=together,
            each=table.times * (together if hidden else 1.0),
            variance=table.variance + shared / max(table.launches, 1),
            hidden=hidden,
        )

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.unique(self.size)

    @cached_property
    def place(self) -> np.ndarray:
        """The index of each case's size."""
        return np.searchsorted(self.sizes, self.size)

    @cached_property
    def alone(self) -> np.ndarray:
        """The cases with the fewest pairs of their size, which define b(n)."""
        fewest = np.array([self.pairs[self.size == size].min() for size in self.sizes])
        return np.asarray(self.pairs == fewest[self.place])

    @cached_property
    def factors(self) -> np.ndarray:
        """The factors of the shared costs of a message and of a byte in `each` of a case at the limit."""
        if self.hidden:
            return np.stack((self.together, self.together * self.size), axis=1)
        return np.stack((self.pairs - 1, self.pairs * (self.size - self.sizes[0])), axis=1)

    @cached_property
    def weight(self) -> np.ndarray:
        return np.asarray(1 / (self.variance + FLOOR**2))

    def design(self, branches: Branches) -> np.ndarray:
        """Factors of the times as measured: a column for b at each size, then for each of the costs."""
        columns = np.eye(len(self.sizes))[self.place]
        columns[branches.at_limit] = 0.0
        if not self.hidden:
            columns[branches.at_limit, 0] = 1.0
        costs = self.factors[:, branches.costs] * branches.at_limit[:, None]
        each = self.together if self.hidden else np.ones(len(self.each))
        return np.asarray(np.hstack((columns, costs)) / each[:, None])

    def branches(self) -> Branches:
        """The branches with the least sum of squares and price."""
        price = SEGMENT_PENALTY * np.log(len(self.size))
        options = [self._best(costs) for costs in OPTIONS]
        return min(options, key=lambda option: option.excess + price * len(option.costs))

    def _best(self, costs: tuple[int, ...]) -> Branches:
        """The best branches with these shared costs."""
        nothing = np.zeros(len(self.size), dtype=bool)
        if not costs:
            return Branches(nothing, (), self._squares(nothing, self._alone(nothing)))
        found: list[Branches] = []
        known: set[bytes] = set()
        for pairs, size in product(np.unique(self.pairs[~self.alone]), self.sizes):
            for sizes in (self.size >= size, self.size <= size):
                at_limit = (self.pairs >= pairs) & sizes & ~self.alone
                found += self._settled(at_limit, costs, known)
        return min(found, key=lambda option: option.excess)

    def _settled(self, at_limit: np.ndarray, costs: tuple[int, ...], known: set[bytes]) -> list[Branches]:
        """What the steps go through from here, up to what is `known` from other beginnings."""
        found: list[Branches] = []
        while len(found) < ROUNDS and at_limit.tobytes() not in known:
            known.add(at_limit.tobytes())
            limit = self._limit(at_limit, costs)
            alone = self._alone(at_limit)
            excess = self._squares(at_limit, np.where(at_limit, np.maximum(limit, alone), alone))
            found.append(Branches(at_limit & (limit >= alone), costs, excess))
            at_limit = self._divided(limit)
        return found

    def _limit(self, at_limit: np.ndarray, costs: tuple[int, ...]) -> np.ndarray:
        """What all cases would take at the limit, by the costs of least squares of those that are at it."""
        latency = 0.0 if self.hidden else float(self._alone(at_limit)[self._first])
        if not at_limit.any():
            return np.full(len(self.size), latency)
        factors = self.factors[:, costs]
        weight = np.sqrt(self.weight[at_limit]) / self.each[at_limit]
        matrix = factors[at_limit] * weight[:, None]
        scale = np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
        right = np.maximum(self.each[at_limit] - latency, 0.0) * weight
        best = nonnegative_least_squares(matrix / scale, right)[0] / scale
        return np.asarray(latency + factors @ best)

    @cached_property
    def _first(self) -> int:
        """A case of the smallest size with the fewest pairs."""
        return int(np.flatnonzero((self.place == 0) & self.alone)[0])

    def _alone(self, at_limit: np.ndarray) -> np.ndarray:
        """b at each case's size: the centre of those that are below the limit."""
        below = ~at_limit
        weight = self.weight * below
        total = np.maximum(np.bincount(self.place, weight, len(self.sizes)), 1e-300)
        logs = np.bincount(self.place, weight * np.log(self.each), len(self.sizes))
        return np.asarray(np.exp(logs / total)[self.place])

    def _divided(self, limit: np.ndarray) -> np.ndarray:
        """The branches of each size for these times at the limit: of few pairs below, of more at it."""
        at_limit = np.zeros(len(self.size), dtype=bool)
        logs, far = np.log(self.each), np.log(np.maximum(limit, 1e-300))
        for place in range(len(self.sizes)):
            rows = np.flatnonzero(self.place == place)
            rows = rows[np.argsort(self.pairs[rows], kind="stable")]
            least = int(self.alone[rows].sum())
            squares = []
            for below in range(least, len(rows) + 1):
                under, at = rows[:below], rows[below:]
                middle = self.weight[under] @ logs[under] / self.weight[under].sum()
                squares.append(
                    np.sum(self.weight[under] * (logs[under] - middle) ** 2)
                    + np.sum(self.weight[at] * (logs[at] - np.maximum(far[at], middle)) ** 2)
                )
            at_limit[rows[least + int(np.argmin(squares)) :]] = True
        return at_limit

    def _squares(self, at_limit: np.ndarray, times: np.ndarray) -> float:
        return float(np.sum(self.weight * np.log(self.each / np.maximum(times, 1e-300)) ** 2))
