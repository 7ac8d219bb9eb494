# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""When each rank begins and ends each round.

A rank begins a round after its own previous one, and not before the schedule that it must use has arrived,
which the master computes from the statistics of an earlier round of all ranks. So the times follow from the
ranks' computing times by sums and maxima alone (max-plus recursion), as those of stochastic task graphs
(Baccelli, Cohen, Olsder, Quadrat, "Synchronization and Linearity", 1992, chapter 1). With a lag of k rounds,
a rank waits only for delays that k rounds do not even out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RoundCosts:
    """Seconds: of statistics on their way to the master (`up`) and of a schedule to the workers (`down`), and
    what posting and testing take from each rank in a round (`posting`, `testing`: master first)."""

    up: float
    down: float
    posting: tuple[float, ...]
    testing: tuple[float, ...]


@dataclass(frozen=True)
class RankTimes:
    """Seconds of each rank, as means over the samples: computing, posting, testing, waiting."""

    computation: np.ndarray
    posting: np.ndarray
    testing: np.ndarray
    waiting: np.ndarray

    @property
    def communication(self) -> np.ndarray:
        return np.asarray(self.posting + self.testing + self.waiting)

    @property
    def share(self) -> float:
        """Communication, of the time of all ranks."""
        spent = float(self.communication.sum())
        whole = spent + float(self.computation.sum())
        return spent / whole if whole > 0 else 0.0


def run(computing: np.ndarray, ahead: int | None, costs: RoundCosts, polls: int = 1) -> RankTimes:
    """`computing` are seconds by sample, rank and round; `ahead` is how many rounds a rank may be ahead of
    its schedule, None: it never waits for one. The master looks for statistics `polls` times in a round,
    the last time at its end."""
    samples, ranks, rounds = computing.shape
    busy = np.array(costs.posting) + np.array(costs.testing)
    if ranks == 1:
        ahead, busy = None, np.zeros(1)
    first = costs.down if ahead == 0 else 0.0
    now = np.full((samples, ranks), first)
    waiting = now.copy()
    known: list[np.ndarray] = []
    arrivals: list[np.ndarray] = []
    for k in range(rounds):
        if ahead is not None and k > ahead:
            ready = np.repeat(known[k - 1 - ahead][:, None], ranks, axis=1)
            ready[:, 1:] += costs.down
            if ahead == 0:
                ready[:, 0] += costs.down  # the master takes part in the call
            waiting += np.maximum(ready - now, 0.0)
            now = np.maximum(ready, now)
        began = now[:, 0].copy()
        now = now + computing[:, :, k] + busy
        if ahead is None:
            continue
        arrivals.append(np.maximum(now[:, 0], now[:, 1:].max(axis=1) + costs.up) if ranks > 1 else now[:, 0])
        _handle(known, arrivals, began, now[:, 0], polls, k, ahead)
    if arrivals:  # the last statistics
        waiting[:, 0] += arrivals[-1] - now[:, 0]
    posting, testing = (
        np.array(each) * rounds if ranks > 1 else np.zeros(1) for each in (costs.posting, costs.testing)
    )
    return RankTimes(computing.sum(axis=2).mean(axis=0), posting, testing, waiting.mean(axis=0))


def _handle(
    known: list[np.ndarray],
    arrivals: list[np.ndarray],
    began: np.ndarray,
    ended: np.ndarray,
    polls: int,
    round: int,
    ahead: int,
) -> None:
    """Adds to `known` when the master has the statistics of this round: at the first of its polls after they
    have arrived, or on their arrival if it waits for them."""
    arrived = arrivals[round]
    if ahead == 0:
        known.append(arrived)
        return
    # By then the master is in its next round, which takes about as long as this one.
    every = np.maximum((ended - began) / polls, 1e-12)
    known.append(ended + np.ceil(np.maximum(arrived - ended, 0.0) / every) * every)
