# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""When each rank begins and ends each round.

A rank begins a round after its own previous one, and not before the schedule that it needs has arrived, which
the master computes from the statistics of an earlier round of all ranks. So the times follow from the ranks'
computing times by sums and maxima alone (max-plus recursion), as those of stochastic task graphs (Baccelli,
Cohen, Olsder, Quadrat, "Synchronization and Linearity", 1992, chapter 1). If schedules may be k rounds late,
a rank waits only for delays that k rounds do not even out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from hockney.suites.annealing.models.program import Timetable


@dataclass(frozen=True)
class RoundCosts:
    """Seconds: of statistics on their way to the master (`up`) and of a schedule to the workers (`down`), and
    what posting and testing take from each rank in a round (`posting`, `testing`: master first). In a
    `blocking` set-up the master takes part in sending schedules until they have arrived. On a medium that
    carries one message at a time, each message occupies it for `hold_up` or `hold_down` before."""

    up: float
    down: float
    posting: tuple[float, ...]
    testing: tuple[float, ...]
    blocking: bool = False
    hold_up: float = 0.0
    hold_down: float = 0.0


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


def run(computing: np.ndarray, timetable: Timetable | None, costs: RoundCosts, polls: int = 1) -> RankTimes:
    """`computing` are seconds by sample, rank and round. Without a timetable, ranks never wait for each
    other. The master looks for statistics `polls` times in a round, the last time at its end."""
    _, ranks, rounds = computing.shape
    if ranks == 1:
        costs = RoundCosts(0.0, 0.0, (0.0,), (0.0,))
    posting, testing = (rounds * np.array(each) for each in (costs.posting, costs.testing))
    waiting = np.zeros(ranks)
    if timetable is not None and ranks > 1:
        waiting = _Course(computing, timetable, costs, polls).waiting.mean(axis=0)
    return RankTimes(computing.sum(axis=2).mean(axis=0), posting, testing, waiting)


@dataclass
class _Course:
    """All samples round by round. `arrived` is when the statistics of a round have reached the master,
    `heard` when it has looked at them: infinite until then. `sent` is when the medium is free for the
    schedule that follows from them, and `free` for the next message."""

    computing: np.ndarray
    timetable: Timetable
    costs: RoundCosts
    polls: int
    now: np.ndarray = field(init=False)
    waiting: np.ndarray = field(init=False)
    arrived: list[np.ndarray] = field(default_factory=list)
    heard: list[np.ndarray] = field(default_factory=list)
    sent: list[np.ndarray] = field(default_factory=list)
    free: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        samples, ranks, rounds = self.computing.shape
        # A blocking set-up broadcasts the first schedule too.
        self.now = np.full((samples, ranks), self.costs.down if self.costs.blocking else 0.0)
        self.waiting = self.now.copy()
        self.free = np.zeros(samples)
        busy = np.array(self.costs.posting) + np.array(self.costs.testing)
        for k in range(rounds):
            if k >= self.timetable.behind:
                self._wait_for(k - self.timetable.behind)
            began = self.now[:, 0].copy()
            self.now = self.now + self.computing[:, :, k] + busy
            # Workers that wait for the master's schedules send later than it does.
            self._look(began, range(max(0, k - self.timetable.behind), k))
            self.arrived.append(self._statistics_arrive())
            self.heard.append(np.full(samples, np.inf))
            self.sent.append(np.full(samples, np.inf))
            self._look(began, (k,))
        last = rounds - 2 - self.timetable.lag
        if last >= 0 and not self.costs.blocking:
            self._wait_for(last)
        self._until(0, self.arrived[-1])

    def _wait_for(self, statistics: int) -> None:
        """Makes each rank wait for the schedule that follows from the statistics of this round."""
        self._hear(statistics, np.maximum(self.arrived[statistics], self.now[:, 0]))
        self._until(0, self.heard[statistics] + (self.costs.down if self.costs.blocking else 0.0))
        for rank in range(1, self.now.shape[1]):
            self._until(rank, self.sent[statistics] + rank * self.costs.hold_down + self.costs.down)

    def _statistics_arrive(self) -> np.ndarray:
        """The last of those that the workers send now, in this order."""
        for sent in np.sort(self.now[:, 1:], axis=1).T:
            began = np.maximum(self.free, sent) if self.costs.hold_up else sent
            self.free = began + self.costs.hold_up
        return np.maximum(self.now[:, 0], self.free + self.costs.up)

    def _until(self, rank: int, moment: np.ndarray) -> None:
        later = np.maximum(moment - self.now[:, rank], 0.0)
        self.waiting[:, rank] += later
        self.now[:, rank] += later

    def _look(self, began: np.ndarray, statistics: Iterable[int]) -> None:
        """The master's polls for these statistics in the round that it has just ended."""
        ended = self.now[:, 0]
        every = (ended - began) / self.polls
        for k in statistics:
            since = np.maximum(self.arrived[k] - began, 0.0)
            poll = began + np.maximum(np.ceil(since / np.maximum(every, 1e-15)), 1.0) * every
            self._hear(k, np.where(self.arrived[k] <= ended, np.minimum(poll, ended), np.inf))

    def _hear(self, statistics: int, moment: np.ndarray) -> None:
        """The master sends a schedule to each worker as soon as it has looked."""
        first = np.isinf(self.heard[statistics]) & np.isfinite(moment)
        began = np.maximum(self.free, moment) if self.costs.hold_down else moment
        self.heard[statistics] = np.where(first, moment, self.heard[statistics])
        self.sent[statistics] = np.where(first, began, self.sent[statistics])
        held = (self.now.shape[1] - 1) * self.costs.hold_down
        self.free = np.where(first & (held > 0), began + held, self.free)
