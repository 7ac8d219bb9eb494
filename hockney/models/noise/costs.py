# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What observed noise costs on many ranks, by replaying detours with random phases.

Each rank has the detours of one of the observed cores, from a random moment on. Work that a detour
interrupts, of the program or of a message, continues after it. A barrier is the dissemination barrier
(Hensgen, Finkel and Manber 1988): in round k, rank r signals rank r + 2**k. This is the method of Hoefler,
Schneider and Lumsdaine, "Characterizing the Influence of System Noise on Large-Scale Applications by
Simulation", SC 2010."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Estimate
from hockney.core.platform import Detours
from hockney.models.noise.observations import MIN_UNITS, Core, mean_over_launches, trace_of
from hockney.models.scipy_functions import student_quantile

MAX_TRACES = 64
"""With more cores, evenly spaced ones represent them."""
BARRIER_SAMPLES = 100
PROGRAM_SAMPLES, STEPS = 4, 25
MAX_GROUPS = 5
"""Of launches, which intervals leave out one after the other."""
TOLERANCE_S = 1e-12


@dataclass(frozen=True)
class MessageTimes:
    """The parts of an empty message's time."""

    send_s: float
    flight_s: float
    receive_s: float

    @classmethod
    def of_latency(cls, latency_s: float) -> MessageTimes:
        """Half of the time is spent by the processors of both sides, half in the network."""
        return cls(latency_s / 4, latency_s / 2, latency_s / 4)

    @property
    def total_s(self) -> float:
        return self.send_s + self.flight_s + self.receive_s


class NoisyRanks:
    """Ranks in several independent samples. Rank r has the detours of core r modulo the number of cores,
    which recur with the period of its trace, from a random phase on."""

    def __init__(
        self, traces: Sequence[Detours | None], ranks: int, samples: int, random: np.random.Generator
    ) -> None:
        self.ranks, self.samples = ranks, samples
        kind = np.arange(ranks) % len(traces)
        starts = [np.array(trace.start_s if trace else ()) for trace in traces]
        lengths = [np.array(trace.length_s if trace else ()) for trace in traces]
        periods = np.array([trace.period_s if trace else 1.0 for trace in traces])
        lost = np.array([part.sum() for part in lengths])
        origins = np.concatenate(([0.0], np.cumsum(periods)[:-1]))
        work_before = [s - (np.cumsum(part) - part) for s, part in zip(starts, lengths, strict=True)]
        # the detours of all cores on one axis, each core after the other, in time and in work
        self._starts = np.concatenate([s + o for s, o in zip(starts, origins, strict=True)])
        self._lengths = np.concatenate(lengths)
        self._work_starts = np.concatenate([w + o for w, o in zip(work_before, origins, strict=True)])
        self._lost = np.concatenate(([0.0], np.cumsum(self._lengths)))
        first = np.concatenate(([0], np.cumsum([len(s) for s in starts])[:-1]))
        self._first, self._origin = first[kind], origins[kind]
        self._period_s, self._work_s = periods[kind], (periods - lost)[kind]
        self._phase = random.random((samples, ranks)) * self._period_s

    def end_of(self, start: np.ndarray, seconds: float) -> np.ndarray:
        """When work of `seconds` ends that each rank can begin at `start`: after as many detours as it
        meets."""
        if not len(self._starts):
            return np.asarray(start + seconds)
        time = start + self._phase
        period = np.floor(time / self._period_s)
        within = time - period * self._period_s
        before = np.searchsorted(self._starts, within + self._origin, side="right")
        last = np.maximum(before - 1, 0)
        end_of_last = self._starts[last] + self._lengths[last] - self._origin
        pending = np.where(before > self._first, np.maximum(0.0, end_of_last - within), 0.0)
        work = within - (self._lost[before] - self._lost[self._first]) + pending + seconds
        more = np.floor(work / self._work_s)
        rest = work - more * self._work_s
        met = np.searchsorted(self._work_starts, rest + self._origin - TOLERANCE_S, side="left")
        end = (period + more) * self._period_s + rest + (self._lost[met] - self._lost[self._first])
        return np.asarray(np.maximum(end - self._phase, start + pending + seconds))

    def barrier(self, now: np.ndarray, message: MessageTimes) -> np.ndarray:
        """When each rank leaves a dissemination barrier that it enters at `now`."""
        distance = 1
        while distance < self.ranks:
            sent = self.end_of(now, message.send_s)
            arrived = np.roll(sent + message.flight_s, distance, axis=1)
            now = self.end_of(np.maximum(sent, arrived), message.receive_s)
            distance *= 2
        return now


def barrier_seconds(
    traces: Sequence[Detours | None],
    ranks: int,
    message: MessageTimes,
    *,
    samples: int = BARRIER_SAMPLES,
    seed: int = 1,
) -> np.ndarray:
    """Times of a barrier that all ranks enter at one moment, which is independent of their detours, one for
    each sample."""
    noisy = NoisyRanks(traces, ranks, samples, np.random.default_rng(seed))
    return np.asarray(noisy.barrier(np.zeros((samples, ranks)), message).max(axis=1))


def step_seconds(
    traces: Sequence[Detours | None],
    ranks: int,
    message: MessageTimes,
    grain_s: float,
    *,
    samples: int = PROGRAM_SAMPLES,
    steps: int = STEPS,
    seed: int = 1,
) -> np.ndarray:
    """Mean times of a step in which every rank computes for `grain_s` and enters a barrier, one for each
    sample."""
    noisy = NoisyRanks(traces, ranks, samples, np.random.default_rng(seed))
    now = np.zeros((samples, ranks))
    for _ in range(steps):
        now = noisy.barrier(noisy.end_of(now, grain_s), message)
    return np.asarray(now.max(axis=1) / steps)


def quiet_barrier_s(ranks: int, message: MessageTimes) -> float:
    """Time of a barrier without noise."""
    return (ranks - 1).bit_length() * message.total_s


@dataclass(frozen=True)
class NoiseCost:
    """Costs on `ranks` ranks: a barrier without and with noise, and for a program that computes for `grain_s`
    between barriers, the time of a step relative to one without noise."""

    ranks: int
    grain_s: float
    quiet_barrier_s: float
    barrier_s: Estimate
    slowdown: Estimate


def noise_costs(
    cores: Sequence[Core], ranks_and_grains: Sequence[tuple[int, float]], message: MessageTimes
) -> tuple[NoiseCost, ...]:
    """Costs for numbers of ranks with a grain (s) each. Ranks are in different launches, as they are on nodes
    whose noise changes independently."""
    launches = sorted({launch for core in cores for launch in core.launches})
    groups = [launches[k::MAX_GROUPS] for k in range(min(MAX_GROUPS, len(launches)))]
    left_out = [[], *groups] if len(groups) >= MIN_UNITS else [[]]
    replays = [_traces(cores, [launch for launch in launches if launch not in group]) for group in left_out]
    barriers = {
        ranks: _estimate(
            [barrier_seconds(traces, ranks, message, seed=k) for k, traces in enumerate(replays)],
            quiet_barrier_s(ranks, message),
        )
        for ranks in dict.fromkeys(ranks for ranks, _ in ranks_and_grains)
    }
    result = []
    for ranks, grain_s in ranks_and_grains:
        quiet_s = quiet_barrier_s(ranks, message)
        steps = [
            step_seconds(traces, ranks, message, grain_s, seed=k) / (grain_s + quiet_s)
            for k, traces in enumerate(replays)
        ]
        result.append(NoiseCost(ranks, grain_s, quiet_s, barriers[ranks], _estimate(steps, 1.0)))
    return tuple(result)


def _estimate(replays: Sequence[np.ndarray], least: float) -> Estimate:
    """The mean of values from `least` on. Its 95% interval is that of the jackknife (Miller 1974): the other
    replays are without one group of launches each. If there are none, it is over the values."""
    values, *others = replays
    if not others:
        return mean_over_launches([values.tolist()], least)
    count = len(others)
    error = (count - 1) / np.sqrt(count) * np.std([each.mean() for each in others], ddof=1)
    mean, half = float(values.mean()), student_quantile(count - 1, 0.975) * float(error)
    return Estimate(mean, min(mean, max(least, mean - half)), mean + half)


def _traces(cores: Sequence[Core], launches: Collection[int]) -> list[Detours | None]:
    observed = [part for core in cores if (part := core.in_launches(launches)).observations]
    return [trace_of(core) for core in observed[:: -(-len(observed) // MAX_TRACES)]]
