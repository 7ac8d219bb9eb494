# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The times at which each rank begins and ends each round.

A rank begins a round after its previous one, once the schedule that it needs has arrived. The master
computes this schedule from the statistics of all ranks for an earlier round. The times therefore follow
from the ranks' computation times by sums and maxima alone (max-plus recursion), as those of stochastic
task graphs (Baccelli, Cohen, Olsder, Quadrat, "Synchronization and Linearity", 1992, chapter 1). If
schedules may be k rounds late, a rank waits only for delays that do not average out over k rounds.
Described programs cannot express these messages: the master answers them as they arrive, and they are
received several rounds after they were sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from hockney.suites.annealing.models.program import Timetable


@dataclass(frozen=True)
class RoundCosts:
    """Seconds for statistics to reach the master (`statistics_s`), for a schedule to reach the workers
    (`schedule_s`), and for posting and testing on each rank in a round (master first). On a medium that
    carries one message at a time, each message first occupies it for `statistics_hold_s` or
    `schedule_hold_s`."""

    statistics_s: float
    schedule_s: float
    posting: tuple[float, ...]
    testing: tuple[float, ...]
    statistics_hold_s: float = 0.0
    schedule_hold_s: float = 0.0


@dataclass(frozen=True)
class RankTimes:
    """Mean seconds per phase over the samples, per rank or averaged over ranks."""

    computation: np.ndarray
    posting: np.ndarray
    testing: np.ndarray
    waiting: np.ndarray

    @property
    def communication(self) -> np.ndarray:
        return np.asarray(self.posting + self.testing + self.waiting)

    @property
    def share(self) -> float:
        """Communication as a share of the time of all ranks."""
        communication_s = float(self.communication.sum())
        total_s = communication_s + float(self.computation.sum())
        return communication_s / total_s if total_s > 0 else 0.0


def simulate_rounds(
    computation: np.ndarray, timetable: Timetable | None, costs: RoundCosts, poll_count: int = 1
) -> RankTimes:
    """Simulates all rounds. `computation` contains seconds by sample, rank and round. Without a timetable,
    ranks never wait for each other. The master polls for statistics `poll_count` times in a round, the
    last time at its end."""
    _, ranks, rounds = computation.shape
    if ranks == 1:
        costs = RoundCosts(0.0, 0.0, (0.0,), (0.0,))
    posting, testing = (rounds * np.array(seconds) for seconds in (costs.posting, costs.testing))
    waiting = np.zeros(ranks)
    if timetable is not None and ranks > 1:
        waiting = _RoundSimulation(computation, timetable, costs, poll_count).waiting.mean(axis=0)
    return RankTimes(computation.sum(axis=2).mean(axis=0), posting, testing, waiting)


@dataclass
class _RoundSimulation:
    """Simulates all samples round by round. The statistics of each round reach the master at `arrival_s`,
    and it polls for them at `polled_s` (infinite until then). At `send_start_s` the medium is free for the
    resulting schedule, at `medium_free_s` for the next message."""

    computation: np.ndarray
    timetable: Timetable
    costs: RoundCosts
    poll_count: int
    now_s: np.ndarray = field(init=False)
    waiting: np.ndarray = field(init=False)
    arrival_s: list[np.ndarray] = field(default_factory=list)
    polled_s: list[np.ndarray] = field(default_factory=list)
    send_start_s: list[np.ndarray] = field(default_factory=list)
    medium_free_s: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        samples, ranks, rounds = self.computation.shape
        self.now_s = np.zeros((samples, ranks))
        self.waiting = self.now_s.copy()
        self.medium_free_s = np.zeros(samples)
        overhead_s = np.array(self.costs.posting) + np.array(self.costs.testing)
        for round_index in range(rounds):
            if round_index >= self.timetable.rounds_behind:
                self._wait_for(round_index - self.timetable.rounds_behind)
            start_s = self.now_s[:, 0].copy()
            self.now_s = self.now_s + self.computation[:, :, round_index] + overhead_s
            # Workers that wait for the master's schedules send after the master does.
            self._poll(start_s, range(max(0, round_index - self.timetable.rounds_behind), round_index))
            self.arrival_s.append(self._send_statistics())
            self.polled_s.append(np.full(samples, np.inf))
            self.send_start_s.append(np.full(samples, np.inf))
            self._poll(start_s, (round_index,))
        last_statistics = rounds - 2 - self.timetable.lag
        if last_statistics >= 0:
            self._wait_for(last_statistics)
        self._wait_until(0, self.arrival_s[-1])

    def _wait_for(self, statistics_round: int) -> None:
        """Makes each rank wait for the schedule that follows from the statistics of this round."""
        self._receive_statistics(
            statistics_round, np.maximum(self.arrival_s[statistics_round], self.now_s[:, 0])
        )
        self._wait_until(0, self.polled_s[statistics_round])
        for rank in range(1, self.now_s.shape[1]):
            self._wait_until(
                rank,
                self.send_start_s[statistics_round]
                + rank * self.costs.schedule_hold_s
                + self.costs.schedule_s,
            )

    def _send_statistics(self) -> np.ndarray:
        """Sends the statistics of all workers, in the order in which they are ready. Returns the arrival
        of the last (s, by sample)."""
        for send_s in np.sort(self.now_s[:, 1:], axis=1).T:
            start_s = np.maximum(self.medium_free_s, send_s) if self.costs.statistics_hold_s else send_s
            self.medium_free_s = start_s + self.costs.statistics_hold_s
        return np.maximum(self.now_s[:, 0], self.medium_free_s + self.costs.statistics_s)

    def _wait_until(self, rank: int, time_s: np.ndarray) -> None:
        delay = np.maximum(time_s - self.now_s[:, rank], 0.0)
        self.waiting[:, rank] += delay
        self.now_s[:, rank] += delay

    def _poll(self, start_s: np.ndarray, statistics_rounds: Iterable[int]) -> None:
        """Polls for these statistics in the master's round that has just ended."""
        end_s = self.now_s[:, 0]
        poll_interval_s = (end_s - start_s) / self.poll_count
        for k in statistics_rounds:
            delay_s = np.maximum(self.arrival_s[k] - start_s, 0.0)
            poll_s = (
                start_s
                + np.maximum(np.ceil(delay_s / np.maximum(poll_interval_s, 1e-15)), 1.0) * poll_interval_s
            )
            self._receive_statistics(
                k, np.where(self.arrival_s[k] <= end_s, np.minimum(poll_s, end_s), np.inf)
            )

    def _receive_statistics(self, statistics_round: int, time_s: np.ndarray) -> None:
        """Receives statistics at this time. The master immediately sends a schedule to each worker."""
        is_first = np.isinf(self.polled_s[statistics_round]) & np.isfinite(time_s)
        start_s = np.maximum(self.medium_free_s, time_s) if self.costs.schedule_hold_s else time_s
        self.polled_s[statistics_round] = np.where(is_first, time_s, self.polled_s[statistics_round])
        self.send_start_s[statistics_round] = np.where(is_first, start_s, self.send_start_s[statistics_round])
        occupied_s = (self.now_s.shape[1] - 1) * self.costs.schedule_hold_s
        self.medium_free_s = np.where(is_first & (occupied_s > 0), start_s + occupied_s, self.medium_free_s)
