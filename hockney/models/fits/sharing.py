# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The max-rate model: messages of concurrent pairs share a connection.

W. Gropp, L. N. Olson, P. Samfass, 'Modeling MPI Communication Performance on SMP Nodes: Is it Time to Retire
the Ping Pong Test', EuroMPI 2016, equation 2: k processes of a node that send n bytes each take

    T = alpha + k n / min(R_N, k R_C)

A single process reaches the rate R_C, a node R_N. Here the measured time b(n) of one pair at each size
replaces alpha + n / R_C, since MPI chooses the protocol by size. A node may also need a time g_N for each
message in addition to the time of its bytes, which limits the message rate (like LogGP's gap, but per node).
Per message of a pair,

    stream       T = max(b(n), k (g_N + n / R_N))
    ping-pong    T = max(b(n), b(n_0) + (k - 1) g_N + k (n - n_0) / R_N)

where n_0 is the smallest size: a stream hides the latency, and k messages sent at the same time queue at the
node. If both ranks of a pair send, R_N counts both directions.

Each case belongs to one of the two branches. Given the branches, all times are sums of parameters with known
factors (`regression`). Given the shared costs, the branches at one size follow: cases with fewer pairs are
below the limit, the others at it. Given the branches, the shared costs follow from least squares. Both steps
alternate from many starting points, and the best result is used; no case takes less than b. A shared cost per
byte or per message is only included if it reduces the error by more than its penalty, as for segments of a
line (`piecewise`). Without saturated cases, R_N is only known to be at least the largest measured rate."""

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
from hockney.models.fits.regression import MIN_RELATIVE_ERROR, Regression
from hockney.models.fits.verdict import judge_fit, refused, uncertainty
from hockney.models.max_rate import FULL, GAP, MODEL, ONE, PAIRS, RATE, invert_estimate
from hockney.models.scipy_functions import nonnegative_least_squares
from hockney.models.statistics import Observation, ratio_of_estimates, shared_variance, tabulate

ROLE = "messages"
MAX_ITERATIONS = 12
MESSAGE, BYTE = 0, 1
COST_OPTIONS = ((), (BYTE,), (MESSAGE,), (MESSAGE, BYTE))
"""Possible combinations of shared costs."""


@explains(ROLE, order=4, free=(SIZE, PAIRS, RANKS, NODES))
def fit_many_pairs(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    """Fit a workload measured with at least two numbers of pairs and each rank on its own core. Of the cases
    with a given number of nodes, only those with one rank per node are used: others may mix messages of two
    levels."""
    allowed_ranks = scope.ranks_allowed
    selected = [
        observation
        for observation in observations
        if PAIRS in observation.case
        and observation.size >= 0
        and (allowed_ranks is None or observation.case.ranks in allowed_ranks)
        and observation.case.nodes in (0, observation.case.ranks)
    ]
    if len({pair_count(observation) for observation in selected}) < 2:
        return []
    if len({_level_of_case(observation) for observation in selected}) > 1:
        return [refused(MODEL, subject, "the ranks of its cases meet at different levels")]
    return [fit_sharing(selected, subject)]


def _level_of_case(observation: Observation) -> str:
    """Level of a case, or what its nodes imply without one: all ranks on one node, each rank on its own node,
    or neither."""
    nodes = (
        {observation.case.nodes}
        if observation.case.nodes
        else {record.nodes for record in observation.records} - {0}
    )
    if observation.case.place or not nodes:
        return observation.case.place
    return "one" if nodes == {1} else "apart" if nodes == {observation.case.ranks} else "several"


def pair_count(observation: Observation) -> int:
    """Number of active pairs of a case."""
    return int(observation.case.number(PAIRS)) or observation.case.ranks // 2


def fit_sharing(observations: Sequence[Observation], subject: Subject) -> Fit:
    """Fit the model.

    Parameters by symbol: R_N (B/s; without saturated cases the largest measured rate with a lower bound
    only), R_C (B/s), and, if there are such costs, g_N (s) and k_sat, the number of pairs from which on the
    largest messages reach R_N. The curve is one pair's time over the size."""
    sorted_observations = sorted(
        observations, key=lambda observation: (pair_count(observation), observation.size)
    )
    cases = SharedCases.from_observations(
        sorted_observations, [pair_count(observation) for observation in sorted_observations]
    )
    if cases.has_fewest_pairs.all():
        return refused(MODEL, subject, "no size was measured with two numbers of pairs")
    if cases.sizes[-1] <= 0:
        return refused(MODEL, subject, "a shared rate needs messages with data")
    branches = cases.branches()
    groups, order = group_by_launches(sorted_observations)
    regression = Regression.fit_groups(groups, cases.design(branches)[order])
    parameters = _parameters(cases, branches, regression, sorted_observations)
    return Fit(
        model=MODEL,
        line=subject.line,
        parameters=parameters,
        curve=_curve(cases, regression),
        ranges=ranges_of(sorted_observations) | {PAIRS: (float(cases.pairs.min()), float(cases.pairs.max()))},
        **judge_fit(
            regression.times,
            regression.fitted,
            errors=regression.errors,
            caveats=_caveats(cases, parameters),
            widths={
                parameter.symbol: _uncertainty(parameter.symbol, cases, branches, regression)
                for parameter in parameters
            },
        ),
    )


def group_by_launches(observations: Sequence[Observation]) -> tuple[list[list[Observation]], np.ndarray]:
    """Group the observations by launches, which vary independently; also return the index of each observation
    in `observations`, in the order of the groups."""
    groups: list[tuple[set[str], list[int]]] = []
    for index, observation in enumerate(observations):
        matching_group = next(
            (group for group in groups if not group[0].isdisjoint(observation.launches)), None
        )
        if matching_group is None:
            groups.append((set(observation.launches), [index]))
        else:
            matching_group[0].update(observation.launches)
            matching_group[1].append(index)
    order = [index for _, members in groups for index in members]
    return [[observations[index] for index in members] for _, members in groups], np.array(order)


def _parameters(
    cases: SharedCases, branches: Branches, regression: Regression, observations: Sequence[Observation]
) -> list[FittedParameter]:
    pair_rate, rate = (
        _pair_rate(cases, regression),
        _shared_rate(cases, branches, regression) or _min_shared_rate(cases, observations),
    )
    parameters = [
        FittedParameter(name="shared rate", symbol=RATE, unit="B/s", estimate=rate),
        FittedParameter(name="rate of one pair", symbol=ONE, unit="B/s", estimate=pair_rate),
    ]
    gap_column = branches.cost_column(MESSAGE, len(cases.sizes))
    if gap_column is not None:
        parameters.append(
            FittedParameter(
                name="shared gap", symbol=GAP, unit="s", estimate=regression.parameter(gap_column)
            )
        )
    if rate.high is not None:
        saturating_pairs = ratio_of_estimates(rate, pair_rate)
        parameters.append(
            FittedParameter(name="pairs that use the rate", symbol=FULL, unit="", estimate=saturating_pairs)
        )
    return parameters


def _shared_rate(cases: SharedCases, branches: Branches, regression: Regression) -> Estimate | None:
    """Inverse of the shared cost per byte; None without such a cost."""
    column = branches.cost_column(BYTE, len(cases.sizes))
    cost = None if column is None else regression.parameter(column)
    return None if cost is None or cost.value <= 0 else invert_estimate(cost)


def _min_shared_rate(cases: SharedCases, observations: Sequence[Observation]) -> Estimate:
    """Largest measured rate with its lower bound; the limit is higher."""
    upper_factors = [
        high / time for time, _, high in (observation.interval() for observation in observations)
    ]
    rates = cases.concurrent * cases.size / cases.times
    lower_bounds = rates / np.where(np.isfinite(upper_factors), upper_factors, 1.0)
    best_index = int(np.argmax(lower_bounds))
    return Estimate(float(rates[best_index]), float(lower_bounds[best_index]), None)


def _pair_rate(cases: SharedCases, regression: Regression) -> Estimate:
    """Largest rate of the smallest number of pairs, divided by that number."""
    best_index = int(np.argmax(cases.sizes / np.maximum(regression.best[: len(cases.sizes)], 1e-300)))
    bytes_per_pair = float((cases.concurrent / cases.pairs)[0] * cases.sizes[best_index])
    return invert_estimate(regression.parameter(best_index), bytes_per_pair)


def _uncertainty(symbol: str, cases: SharedCases, branches: Branches, regression: Regression) -> float:
    """Uncertainty of a shared cost; 0 for other parameters, which are derived or measured separately."""
    cost = {RATE: BYTE, GAP: MESSAGE}.get(symbol)
    column = None if cost is None else branches.cost_column(cost, len(cases.sizes))
    return (
        0.0
        if column is None
        else uncertainty(regression.parameter(column), float(regression.leverage[column]))
    )


def _caveats(cases: SharedCases, parameters: Sequence[FittedParameter]) -> list[FitCaveat]:
    rate = next(parameter.estimate for parameter in parameters if parameter.symbol == RATE)
    if rate.high is not None:
        return []
    pairs, min_rate = int(cases.pairs.max()), rate.low or rate.value
    text = (
        f"up to {pairs} pairs nothing is saturated, so the shared rate is only known to be at least "
        f"{format_rate(min_rate)}"
    )
    return [FitCaveat("no-saturation", text, {"pairs": pairs, "rate": min_rate})]


def _curve(cases: SharedCases, regression: Regression) -> list[CurvePoint]:
    """Time of one pair at each size."""
    estimates = [(size, regression.parameter(index)) for index, size in enumerate(cases.sizes)]
    return [
        CurvePoint(float(size_at), pair_time.value, pair_time.low or 0.0, pair_time.high or pair_time.value)
        for size_at, pair_time in estimates
    ]


@dataclass(frozen=True)
class Branches:
    """`at_limit` marks the cases at the shared limit. `costs` contains the shared costs in the order of
    COST_OPTIONS. `excess` is the sum of squares of the residuals."""

    at_limit: np.ndarray
    costs: tuple[int, ...]
    excess: float

    def cost_column(self, cost: int, sizes: int) -> int | None:
        """Column of a shared cost in the design with `sizes` sizes; None without such a cost."""
        return sizes + self.costs.index(cost) if cost in self.costs else None


@dataclass(frozen=True)
class SharedCases:
    """Cases of one subject. `times` is the time (s) in which every pair sends as many messages as one pair in
    b(n), `concurrent` the messages of all pairs in this time. `hides_latency`: whether a stream hides the
    latency of a message."""

    size: np.ndarray
    pairs: np.ndarray
    concurrent: np.ndarray
    times: np.ndarray
    variance: np.ndarray
    hides_latency: bool

    @staticmethod
    def from_observations(observations: Sequence[Observation], pairs: Sequence[int]) -> SharedCases:
        table = tabulate(observations)
        launch_variance, _ = shared_variance([table])
        pair_counts = np.array(pairs, dtype=float)
        hides_latency = "window" in observations[0].case
        is_bidirectional = observations[0].case.get("direction") == "both"
        concurrent = pair_counts * (2 if is_bidirectional else 1)
        return SharedCases(
            size=np.array([float(observation.size) for observation in observations]),
            pairs=pair_counts,
            concurrent=concurrent,
            times=table.times * (concurrent if hides_latency else 1.0),
            variance=table.variance + launch_variance / max(table.launches, 1),
            hides_latency=hides_latency,
        )

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.unique(self.size)

    @cached_property
    def size_index(self) -> np.ndarray:
        """Index of each case's size."""
        return np.searchsorted(self.sizes, self.size)

    @cached_property
    def has_fewest_pairs(self) -> np.ndarray:
        """Mask of the cases with the fewest pairs of their size, which define b(n)."""
        min_pairs = np.array([self.pairs[self.size == size].min() for size in self.sizes])
        return np.asarray(self.pairs == min_pairs[self.size_index])

    @cached_property
    def factors(self) -> np.ndarray:
        """Factors of the shared costs per message and per byte in the time `times` of a case at the limit."""
        if self.hides_latency:
            return np.stack((self.concurrent, self.concurrent * self.size), axis=1)
        return np.stack((self.pairs - 1, self.pairs * (self.size - self.sizes[0])), axis=1)

    @cached_property
    def weight(self) -> np.ndarray:
        return np.asarray(1 / (self.variance + MIN_RELATIVE_ERROR**2))

    def design(self, branches: Branches) -> np.ndarray:
        """Factors of the measured times: a column for b at each size, then one for each of the costs."""
        columns = np.eye(len(self.sizes))[self.size_index]
        columns[branches.at_limit] = 0.0
        if not self.hides_latency:
            columns[branches.at_limit, 0] = 1.0
        costs = self.factors[:, branches.costs] * branches.at_limit[:, None]
        messages = self.concurrent if self.hides_latency else np.ones(len(self.times))
        return np.asarray(np.hstack((columns, costs)) / messages[:, None])

    def branches(self) -> Branches:
        """The branches with the minimum sum of squares and penalty."""
        penalty = SEGMENT_PENALTY * np.log(len(self.size))
        options = [self._best_branches(costs) for costs in COST_OPTIONS]
        return min(options, key=lambda option: option.excess + penalty * len(option.costs))

    def _best_branches(self, costs: tuple[int, ...]) -> Branches:
        """The best branches with these shared costs."""
        no_cases = np.zeros(len(self.size), dtype=bool)
        if not costs:
            return Branches(no_cases, (), self._sum_of_squares(no_cases, self._pair_times(no_cases)))
        candidates: list[Branches] = []
        visited_states: set[bytes] = set()
        for pairs, size in product(np.unique(self.pairs[~self.has_fewest_pairs]), self.sizes):
            for is_in_range in (self.size >= size, self.size <= size):
                at_limit = (self.pairs >= pairs) & is_in_range & ~self.has_fewest_pairs
                candidates += self._iterate_branches(at_limit, costs, visited_states)
        return min(candidates, key=lambda option: option.excess)

    def _iterate_branches(
        self, at_limit: np.ndarray, costs: tuple[int, ...], visited_states: set[bytes]
    ) -> list[Branches]:
        """Iterate from this starting point until a state is in `visited_states`, and return all branches on
        the way."""
        visited: list[Branches] = []
        while len(visited) < MAX_ITERATIONS and at_limit.tobytes() not in visited_states:
            visited_states.add(at_limit.tobytes())
            limit = self._limit_times(at_limit, costs)
            pair_times = self._pair_times(at_limit)
            excess = self._sum_of_squares(
                at_limit, np.where(at_limit, np.maximum(limit, pair_times), pair_times)
            )
            visited.append(Branches(at_limit & (limit >= pair_times), costs, excess))
            at_limit = self._split_at_limit(limit)
        return visited

    def _limit_times(self, at_limit: np.ndarray, costs: tuple[int, ...]) -> np.ndarray:
        """Times of all cases at the limit, with the costs fitted to the cases `at_limit` by least squares."""
        latency = 0.0 if self.hides_latency else float(self._pair_times(at_limit)[self._reference_case])
        if not at_limit.any():
            return np.full(len(self.size), latency)
        factors = self.factors[:, costs]
        weight = np.sqrt(self.weight[at_limit]) / self.times[at_limit]
        matrix = factors[at_limit] * weight[:, None]
        scale = np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
        target = np.maximum(self.times[at_limit] - latency, 0.0) * weight
        fitted_costs = nonnegative_least_squares(matrix / scale, target)[0] / scale
        return np.asarray(latency + factors @ fitted_costs)

    @cached_property
    def _reference_case(self) -> int:
        """Index of a case of the smallest size with the fewest pairs."""
        return int(np.flatnonzero((self.size_index == 0) & self.has_fewest_pairs)[0])

    def _pair_times(self, at_limit: np.ndarray) -> np.ndarray:
        """b at each case's size: the centre of the cases below the limit."""
        is_below = ~at_limit
        weight = self.weight * is_below
        total_weight = np.maximum(np.bincount(self.size_index, weight, len(self.sizes)), 1e-300)
        logs = np.bincount(self.size_index, weight * np.log(self.times), len(self.sizes))
        return np.asarray(np.exp(logs / total_weight)[self.size_index])

    def _split_at_limit(self, limit: np.ndarray) -> np.ndarray:
        """Mask of the cases at the limit, given their times at the limit: at each size, cases with more pairs
        are at it."""
        at_limit = np.zeros(len(self.size), dtype=bool)
        logs, log_limits = np.log(self.times), np.log(np.maximum(limit, 1e-300))
        for size_index in range(len(self.sizes)):
            rows = np.flatnonzero(self.size_index == size_index)
            rows = rows[np.argsort(self.pairs[rows], kind="stable")]
            min_below = int(self.has_fewest_pairs[rows].sum())
            squares = []
            for below_count in range(min_below, len(rows) + 1):
                rows_below, rows_at = rows[:below_count], rows[below_count:]
                log_time = self.weight[rows_below] @ logs[rows_below] / self.weight[rows_below].sum()
                squares.append(
                    np.sum(self.weight[rows_below] * (logs[rows_below] - log_time) ** 2)
                    + np.sum(
                        self.weight[rows_at]
                        * (logs[rows_at] - np.maximum(log_limits[rows_at], log_time)) ** 2
                    )
                )
            at_limit[rows[min_below + int(np.argmin(squares)) :]] = True
        return at_limit

    def _sum_of_squares(self, at_limit: np.ndarray, times: np.ndarray) -> float:
        return float(np.sum(self.weight * np.log(self.times / np.maximum(times, 1e-300)) ** 2))
