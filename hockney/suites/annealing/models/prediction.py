# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The share of communication on several ranks, from the steps of one rank and the costs of messages.

Each rank computes the steps of its walkers as fast as one rank that has as many walkers, and its rounds vary
as that one's do, independently of the other ranks. The blocking set-up adds a gather and a broadcast to each
round, and waits for the slowest rank. The others pay for posting and testing, and wait for what their lag
does not even out. Times between ranks are those of ranks that do nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.programs.communication import Communication
from hockney.models.programs.program import Collective
from hockney.suites.annealing.models.program import (
    SCHEDULE_BYTES,
    SETUPS,
    STATISTICS_BYTES,
    AnnealingProgram,
    SetupModel,
)
from hockney.suites.annealing.models.rounds import RankTimes, RoundCosts, run


@dataclass(frozen=True)
class OneRank:
    """Seconds of a step of one rank with `walkers` walkers, and how its rounds vary."""

    walkers: int
    step_s: float
    spread: RoundSpread


def predict(
    program: AnnealingProgram,
    one: OneRank,
    messages: Communication,
    *,
    test_s: float = 0.0,
    slower: float = 1.0,
) -> RankTimes | None:
    """`test_s` is the time of a test for a message that has not arrived. With more ranks than cores, a rank
    is `slower` by this factor. None for a set-up without a model."""
    setup = SETUPS.get(program.setup)
    if setup is None:
        return None
    costs = round_costs(program, setup, messages, test_s)
    timetable = None if setup.silent else setup.timetable(program)
    return run(_computing(program, one, slower), timetable, costs, max(1, round(_tests(program, 0))))


def _computing(program: AnnealingProgram, one: OneRank, slower: float) -> np.ndarray:
    """Seconds by sample, rank and round. Fewer or more walkers than were measured vary less or more, as sums
    of independent times do."""
    factors = one.spread.sample(program.ranks, program.rounds, SAMPLES)
    typical = np.resize(one.spread.typical, program.rounds)
    relative = typical / typical.mean()
    walkers = np.array([program.walkers_of(rank) for rank in range(program.ranks)])
    shares = np.array(program.shares or (1.0,) * program.ranks)
    seconds = slower * one.step_s * program.steps * walkers * shares
    scale = np.sqrt(one.walkers / np.maximum(walkers, 1))
    varied = np.maximum(1.0 + (factors - 1.0) * scale[None, :, None], 0.0)
    return np.asarray(seconds[None, :, None] * relative[None, None, :] * varied)


def round_costs(
    program: AnnealingProgram, setup: SetupModel, messages: Communication, test_s: float = 0.0
) -> RoundCosts:
    """The costs of one round."""
    ranks = program.ranks
    nothing = (0.0,) * ranks
    if ranks < 2 or setup.silent:
        return RoundCosts(0.0, 0.0, nothing, nothing)
    held = tuple(messages.on_medium(1, size, ranks) for size in (STATISTICS_BYTES, SCHEDULE_BYTES))
    # At the end of a round one test finds a message and another one none.
    testing = tuple(test_s * (2 + _tests(program, rank)) for rank in range(ranks))
    if setup.collective:
        down = messages.collective(Collective("bcast", 1, (SCHEDULE_BYTES,)), ranks)
        up = messages.collective(Collective("gather", 1, (STATISTICS_BYTES,)), ranks)
        # Starting a collective that does not block is taken to cost as much as the blocking one.
        if setup.blocking:
            return RoundCosts(up, down, nothing, nothing, blocking=True)
        alone = (max(0.0, up - (ranks - 1) * held[0]), max(0.0, down - (ranks - 1) * held[1]))
        return RoundCosts(*alone, (sum(alone),) * ranks, testing, False, *held)
    sent_down, got_down = handling(messages, SCHEDULE_BYTES, ranks)
    sent_up, got_up = handling(messages, STATISTICS_BYTES, ranks)
    master = (ranks - 1) * (sent_down + got_up)
    posting = (master, *[sent_up + got_down] * (ranks - 1))
    up, down = messages.one_way(STATISTICS_BYTES, ranks), messages.one_way(SCHEDULE_BYTES, ranks)
    return RoundCosts(max(0.0, up - held[0]), max(0.0, down - held[1]), posting, testing, False, *held)


def handling(messages: Communication, size: float, ranks: int) -> tuple[float, float]:
    """Seconds that a message occupies its sender and its receiver. Where a run has not measured LogGP's
    overheads, each has half of the message's time."""
    sent, received = messages.handling(size, ranks)
    if messages.platform is not None or sent > 0:
        return sent, received
    half = messages.one_way(size, ranks) / 2
    return half, half


def _tests(program: AnnealingProgram, rank: int) -> int:
    """Calls of MPI_Test during a round's steps."""
    return program.walkers_of(rank) * program.steps // program.test_every if program.test_every else 0


SAMPLES = 64
"""Of the rounds of all ranks: the means over them vary by a few percent of themselves."""
SEED = 1998


@dataclass(frozen=True)
class RoundSpread:
    """`typical` are the seconds of each round, `factors` those of each launch relative to them: a row for
    each launch, whose median is 1."""

    typical: np.ndarray
    factors: np.ndarray

    def sample(self, ranks: int, rounds: int, samples: int = SAMPLES) -> np.ndarray:
        """Factors by sample, rank and round. Each rank has those of a measured launch from a random round on,
        so that what lasts for several rounds does so here."""
        random = np.random.default_rng(SEED)
        launch = random.integers(len(self.factors), size=(samples, ranks, 1))
        first = random.integers(self.factors.shape[1], size=(samples, ranks, 1))
        return np.asarray(self.factors[launch, (first + np.arange(rounds)) % self.factors.shape[1]])


def spread(ends: Sequence[Sequence[float]]) -> RoundSpread | None:
    """How rounds vary, from the end of each round (s) in each launch. The typical time of a round is the
    median over the launches, since all ranks share what makes some temperatures take longer. What makes a
    launch slower as a whole is left out. None without rounds."""
    known = [np.diff(np.asarray(launch, dtype=float), prepend=0.0) for launch in ends if len(launch)]
    if not known:
        return None
    fewest = min(map(len, known))
    rounds = np.array([launch[:fewest] for launch in known])
    relative = rounds / np.maximum(np.median(rounds, axis=1, keepdims=True), 1e-12)
    typical = np.maximum(np.median(relative, axis=0), 1e-12)
    factors = relative / typical
    factors /= np.maximum(np.median(factors, axis=1, keepdims=True), 1e-12)
    return RoundSpread(typical * float(np.median(rounds)), factors)
