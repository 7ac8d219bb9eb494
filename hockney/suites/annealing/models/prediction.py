# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The share of communication on several ranks, from the steps of one rank and the costs of messages.

Each rank computes as fast as a single rank with the same number of walkers. Its rounds vary like those of
the single rank, independently of the other ranks. The blocking set-up is a described program: a round
consists of a broadcast, computation and a gather. The other set-ups pay for posting and testing, and wait
for delays that exceed their lag (`rounds`). The costs of messages are those between otherwise idle ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.programs.communication import Communication
from hockney.models.programs.parts import CollectivePart, Iteration, Noise, Part, StepsPart, join_parts
from hockney.models.programs.timing import call_time, iteration_time
from hockney.models.schedules.schedule import Step
from hockney.suites.annealing.models.program import (
    SCHEDULE_BYTES,
    SETUPS,
    STATISTICS_BYTES,
    AnnealingProgram,
    SetupModel,
)
from hockney.suites.annealing.models.rounds import RankTimes, RoundCosts, simulate_rounds


@dataclass(frozen=True)
class SingleRank:
    """Seconds of a step of one rank with `walkers` walkers, and the variation of its rounds."""

    walkers: int
    step_s: float
    spread: RoundSpread


def predict(
    program: AnnealingProgram,
    single_rank: SingleRank,
    messages: Communication,
    *,
    test_s: float = 0.0,
    slowdown: float = 1.0,
) -> RankTimes | None:
    """Predicts the times of the ranks; None for a set-up without a model. `test_s` is the time of a test
    for a message that has not arrived. With more ranks than cores, computation takes `slowdown` times as
    long."""
    setup = SETUPS.get(program.setup)
    if setup is None:
        return None
    if setup.blocking:
        noise = _noise(program, single_rank)
        rounds = SAMPLED_ROUNDS if noise else 1
        iteration = blocking_rounds(_mean_round_seconds(program, single_rank, slowdown), noise, rounds)
        predicted_time = iteration_time(iteration, messages) * (program.rounds / rounds)
        computation_s = predicted_time.total("computation")
        return RankTimes(
            *map(np.array, ([computation_s], [0.0], [0.0], [predicted_time.seconds - computation_s]))
        )
    costs = round_costs(program, setup, messages, test_s)
    return simulate_rounds(
        _computation_times(program, single_rank, slowdown),
        None if setup.timetable is None else setup.timetable(program),
        costs,
        max(1, round(_test_count(program, 0))),
    )


def blocking_rounds(seconds: np.ndarray, noise: Noise, rounds: int) -> Iteration:
    """Returns an iteration of several rounds, in each of which the ranks compute for `seconds`."""
    parts: tuple[Part, ...] = (
        CollectivePart("schedule", "bcast", SCHEDULE_BYTES),
        StepsPart("steps", (Step((), computed=seconds),), noise),
        CollectivePart("statistics", "gather", STATISTICS_BYTES),
    )
    return join_parts(((part, 1.0) for part in rounds * parts), len(seconds))


def _noise(program: AnnealingProgram, single_rank: SingleRank) -> Noise:
    """Returns the variation of a round of any rank."""
    factors = _scale_variation(
        single_rank.spread.factors, single_rank, _walker_counts(program).mean()
    ).ravel()
    return tuple((factors / factors.mean()).tolist()) if np.ptp(factors) > MIN_SPREAD else 0.0


def _computation_times(program: AnnealingProgram, single_rank: SingleRank, slowdown: float) -> np.ndarray:
    """Returns the seconds of computation by sample, rank and round."""
    factors = single_rank.spread.sample(program.ranks, program.rounds, SAMPLES)
    typical_s = np.resize(single_rank.spread.typical_s, program.rounds)
    relative_times = typical_s / typical_s.mean()
    scaled_factors = _scale_variation(factors, single_rank, _walker_counts(program)[None, :, None])
    return np.asarray(
        _mean_round_seconds(program, single_rank, slowdown)[None, :, None] * relative_times * scaled_factors
    )


def _walker_counts(program: AnnealingProgram) -> np.ndarray:
    return np.array([program.walkers_of(rank) for rank in range(program.ranks)])


def _mean_round_seconds(program: AnnealingProgram, single_rank: SingleRank, slowdown: float) -> np.ndarray:
    """Returns the mean seconds of each rank in a round."""
    shares = np.array(program.shares or (1.0,) * program.ranks)
    return np.asarray(slowdown * single_rank.step_s * program.steps * _walker_counts(program) * shares)


def _scale_variation(factors: np.ndarray, single_rank: SingleRank, walkers: np.ndarray | float) -> np.ndarray:
    """Scales the variation to another number of walkers, as for sums of independent times."""
    scale = np.sqrt(single_rank.walkers / np.maximum(walkers, 1))
    return np.asarray(np.maximum(1.0 + (factors - 1.0) * scale, 0.0))


def round_costs(
    program: AnnealingProgram, setup: SetupModel, messages: Communication, test_s: float = 0.0
) -> RoundCosts:
    """Returns the costs of one round of a nonblocking set-up."""
    ranks = program.ranks
    zeros = (0.0,) * ranks
    if ranks < 2 or setup.silent:
        return RoundCosts(0.0, 0.0, zeros, zeros)
    occupation = tuple(messages.medium_time(1, size, ranks) for size in (STATISTICS_BYTES, SCHEDULE_BYTES))
    # At the end of a round, one test finds a message and another test finds none.
    testing = tuple(test_s * (2 + _test_count(program, rank)) for rank in range(ranks))
    if setup.collective:
        schedule_s = call_time(messages, "bcast", SCHEDULE_BYTES, ranks)
        statistics_s = call_time(messages, "gather", STATISTICS_BYTES, ranks)
        # Starting a nonblocking collective is assumed to cost as much as the blocking one.
        transfer_s = (
            max(0.0, statistics_s - (ranks - 1) * occupation[0]),
            max(0.0, schedule_s - (ranks - 1) * occupation[1]),
        )
        return RoundCosts(*transfer_s, (sum(transfer_s),) * ranks, testing, *occupation)
    send_schedule_s, receive_schedule_s = handling_times(messages, SCHEDULE_BYTES, ranks)
    send_statistics_s, receive_statistics_s = handling_times(messages, STATISTICS_BYTES, ranks)
    master_posting_s = (ranks - 1) * (send_schedule_s + receive_statistics_s)
    posting = (master_posting_s, *[send_statistics_s + receive_schedule_s] * (ranks - 1))
    statistics_s, schedule_s = (
        messages.one_way(STATISTICS_BYTES, ranks),
        messages.one_way(SCHEDULE_BYTES, ranks),
    )
    return RoundCosts(
        max(0.0, statistics_s - occupation[0]),
        max(0.0, schedule_s - occupation[1]),
        posting,
        testing,
        *occupation,
    )


def handling_times(messages: Communication, size: float, ranks: int) -> tuple[float, float]:
    """Returns the seconds that a message occupies its sender and its receiver: LogGP's overheads if a run
    measured them, otherwise half of the message's time each."""
    send_s, receive_s = messages.handling_times(size, ranks)
    if messages.platform is not None or send_s > 0:
        return send_s, receive_s
    half_s = messages.one_way(size, ranks) / 2
    return half_s, half_s


def _test_count(program: AnnealingProgram, rank: int) -> int:
    """Returns the number of calls of MPI_Test during a round's steps."""
    return program.walkers_of(rank) * program.steps // program.test_every if program.test_every else 0


SAMPLES = 64
"""Number of samples of the rounds of all ranks. Their means vary by a few percent."""
SEED = 1998
SAMPLED_ROUNDS = 64
"""Rounds in an iteration of the blocking set-up if they vary. `iteration_time` simulates several
iterations."""
MIN_SPREAD = 1e-6
"""Factors with a smaller range are those of exact times."""


@dataclass(frozen=True)
class RoundSpread:
    """Variation of round times. `typical_s` is the duration of each round (rounds), and `factors` the
    relative times in each launch (launches x rounds). The median of each row is 1."""

    typical_s: np.ndarray
    factors: np.ndarray

    def sample(self, ranks: int, rounds: int, samples: int = SAMPLES) -> np.ndarray:
        """Returns factors by sample, rank and round. Each rank takes the factors of a measured launch from
        a random round on, which preserves effects that last several rounds."""
        generator = np.random.default_rng(SEED)
        launches = generator.integers(len(self.factors), size=(samples, ranks, 1))
        first_rounds = generator.integers(self.factors.shape[1], size=(samples, ranks, 1))
        return np.asarray(self.factors[launches, (first_rounds + np.arange(rounds)) % self.factors.shape[1]])


def round_spread(round_ends: Sequence[Sequence[float]]) -> RoundSpread | None:
    """Returns the variation of rounds, from the end of each round (s) in each launch; None without rounds.

    The typical time of a round is the median over the launches, since some temperatures take longer on all
    ranks. Differences between entire launches are ignored."""
    launches = [np.diff(np.asarray(launch, dtype=float), prepend=0.0) for launch in round_ends if len(launch)]
    if not launches:
        return None
    round_count = min(map(len, launches))
    rounds = np.array([launch[:round_count] for launch in launches])
    relative_times = rounds / np.maximum(np.median(rounds, axis=1, keepdims=True), 1e-12)
    typical_times = np.maximum(np.median(relative_times, axis=0), 1e-12)
    factors = relative_times / typical_times
    factors /= np.maximum(np.median(factors, axis=1, keepdims=True), 1e-12)
    return RoundSpread(typical_times * float(np.median(rounds)), factors)
