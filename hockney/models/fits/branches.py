# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which cases of several pairs take one pair's time, and which are at the limit that the pairs share.

The model is the larger of two sums (`sharing`). For given shared costs, the branches at one size follow: its
cases with fewer pairs are below the limit, the others at it. For given branches, the shared costs are those
of least squares. Both steps alternate from many beginnings, and the best end counts; no case takes less than
b. Whether there is a shared cost of a byte or of a message at all is decided by its price, as for pieces of a
line (`piecewise`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from hockney.models.fits.piecewise import PENALTY
from hockney.models.fits.regression import FLOOR
from hockney.models.scipy_functions import nonnegative_least_squares
from hockney.models.statistics import Observation, shared_variance, tabulate

ROUNDS = 12
MESSAGE, BYTE = 0, 1
OPTIONS = ((), (BYTE,), (MESSAGE,), (MESSAGE, BYTE))
"""The shared costs that a model may have."""


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
        price = PENALTY * np.log(len(self.size))
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
