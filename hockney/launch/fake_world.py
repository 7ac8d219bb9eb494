# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A world with exactly known message passing costs, for the fake launcher. Fits of its results must recover
these parameters.

One message follows a piecewise Hockney model, a train of messages LogGP (the PRTT of Hoefler, Lichei and
Rehm, "Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks", 2007). A collective takes
a + rounds * (latency + bytes * per_byte). An exchange on a ring takes the time of the messages of its steps,
computing takes the preset time. A message-based barrier takes the time of the messages on its longest path, a
barrier in shared memory the time of its flags. The costs of suites' workloads are in `fakes`, those of
overlap in `FakeOverlap`, and those of concurrent pairs in `FakePairs`. `COSTS` has the factors for levels
other than "node".
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Catalog, Metric, Workload
from hockney.core.program_cases import (
    PLAN_PREFIX,
    PROGRAM,
    REPLAY,
    REPLAY_HEADER,
    REPLAY_STEP,
    program_name,
    replay_file,
    steps_file,
)
from hockney.core.record import MetricSeries
from hockney.launch.fakes import FakeWorkloads, fakes
from hockney.system.bundled import bundled_catalog


@dataclass(frozen=True)
class LevelCosts:
    """Factors on all constant times of a message, and on all times per byte."""

    constant: float
    per_byte: float


COSTS: Mapping[str, LevelCosts] = {
    "core": LevelCosts(0.4, 0.6),
    "cache": LevelCosts(0.5, 0.7),
    "socket": LevelCosts(0.8, 0.85),
    "node": LevelCosts(1.0, 1.0),
    "network": LevelCosts(9.0, 6.0),
}
"""Costs of messages at each level, relative to messages within a node."""

PAIR_WORKLOADS = ("pairs_stream", "pairs_pingpong")


@dataclass(frozen=True)
class FakePairs:
    """Costs of concurrent pairs: the rate (B/s) that they share at each level ("" for all other levels), and
    the gap (s) between two messages of any pairs."""

    rates: Mapping[str, float] = field(default_factory=lambda: {"": 25e9, "network": 4e9})
    gap_s: float = 0.06e-6

    def time(
        self, workload: Workload, case: Case, message_s: float, latency_s: float, stream_s: float
    ) -> float | None:
        """Return seconds, if a message of one pair takes `message_s`, an empty message `latency_s`, and a
        message of a stream `stream_s`; None for other workloads."""
        if workload.name not in PAIR_WORKLOADS:
            return None
        pairs = int(case.number("pairs")) or case.ranks // 2
        per_byte_s = 1 / self.rates.get(case.place, self.rates[""])
        if "window" in case:
            return max(stream_s / pairs, self.gap_s + case.bytes * per_byte_s)
        return max(message_s, latency_s + (pairs - 1) * self.gap_s + pairs * case.bytes * per_byte_s)


OVERLAP = "overlap"
AVAILABILITY = "availability"
"""The roles of these workloads."""
PROGRESS_VARIABLE = "MPICH_ASYNC_PROGRESS"
"""MPICH's variable that gives a launch a progress thread."""


@dataclass(frozen=True)
class FakeOverlap:
    """The true costs of overlap (s): of starting a communication, of a call of MPI_Test, of answering a
    message, of a step of the computation. Computing slows by the share `interrupts` while a communication
    proceeds in the background, or by `thread` if a progress thread drives it. An idle progress thread slows
    it by `idle_thread`."""

    eager_bytes: int = 16384
    posting_s: float = 0.05e-6
    test_s: float = 0.04e-6
    answer_s: float = 0.25e-6
    step_s: float = 1e-9
    interrupts: float = 0.02
    thread: float = 0.10
    idle_thread: float = 0.05
    progress_thread: bool = False

    def enables_progress_thread(self, variables: Mapping[str, str]) -> bool:
        """Return whether a launch with these variables has a progress thread."""
        return variables.get(PROGRESS_VARIABLE, "0") not in ("", "0")

    def background_share(self, case: Case) -> float:
        """Return the share of a communication that proceeds while this rank computes."""
        if self.progress_thread or ("pattern" in case and case.bytes <= self.eager_bytes):
            return 1.0
        tests = case.number("tests", 0)
        return tests / (tests + 1)

    @property
    def slowdown(self) -> float:
        """The slowdown of computing without communication."""
        return 1 + self.idle_thread * self.progress_thread

    def stolen_share(self, background_share: float) -> float:
        return background_share * (self.thread if self.progress_thread else self.interrupts)

    def overlap_parts(self, case: Case, pure_s: float) -> dict[str, float]:
        """Return the seconds of each part of a run whose communication alone takes `pure_s`."""
        computation_s = self.computation_s(case, pure_s)
        posting = min(self.posting_s, pure_s)
        background_share = self.background_share(case)
        return {
            "posting": posting,
            "computing": computation_s * (1 + self.stolen_share(background_share)),
            "testing": case.number("tests") * self.test_s,
            "waiting": pure_s - posting - background_share * min(pure_s - posting, computation_s),
        }

    def polling_parts(self, case: Case, message_s: float) -> dict[str, float]:
        """Return the seconds of each part of a run of COMB's polling method, if a message alone takes
        `message_s`."""
        return {
            "posting": case.number("window") * self.posting_s,
            "computing": self.computation_s(case, 0.0) * (1 + self.stolen_share(1.0)),
            "testing": case.number("polls") * self.test_s + self.messages(case, message_s) * self.answer_s,
            "waiting": self.posting_s,
        }

    def messages(self, case: Case, message_s: float) -> float:
        """Return the number of messages that arrive during the work. At most a full queue arrives between two
        polls; fewer if the interval is too short. Half as many arrive if a message needs one poll to proceed
        and another to complete."""
        arrivals = min(case.number("window"), case.number("interval") / message_s)
        needs_two_polls = case.bytes > self.eager_bytes and not self.progress_thread
        return case.number("polls") * arrivals / (2 if needs_two_polls else 1)

    def work_s(self, case: Case, pure_s: float) -> float:
        """Return the preset computing time in seconds."""
        if "polls" in case:
            return case.number("interval") * (case.number("polls") + 1)
        return case.number("duration") or case.number("computing") * pure_s

    def computation_s(self, case: Case, pure_s: float) -> float:
        """Return seconds of computing without communication."""
        return self.work_s(case, pure_s) * self.slowdown

    def parts(self, workload: Workload, case: Case, pure_s: float) -> dict[str, float] | None:
        """Return the seconds of each part of a run; None for other workloads."""
        if workload.role == OVERLAP:
            return self.overlap_parts(case, pure_s)
        return self.polling_parts(case, pure_s) if workload.role == AVAILABILITY else None

    def values(
        self, metric: Metric, workload: Workload, case: Case, pure_s: float, times: np.ndarray
    ) -> np.ndarray | None:
        """Return the values of a metric, for repetitions that took `times`. The computation measured alone
        has the same noise as the repetition; `pure_s` has none."""
        parts = self.parts(workload, case, pure_s)
        if parts is None:
            return None
        noise = times / sum(parts.values())
        computation_s = self.computation_s(case, pure_s) * noise
        shorter_s = np.minimum(pure_s, computation_s)
        hidden_s = np.clip(pure_s + computation_s - times, 0.0, shorter_s)
        received = self.messages(case, pure_s) if "polls" in case else 0.0
        values = {name: seconds * noise for name, seconds in parts.items()} | {
            "cpu": computation_s,
            "alone": computation_s,
            "step": self.step_s * self.slowdown * noise,
            "availability": 100 * computation_s / times,
            "stolen": np.full(len(times), 100 * (parts["computing"] / self.computation_s(case, pure_s) - 1)),
            "overlap": 100 * hidden_s / shorter_s,
            "hidden": hidden_s,
            "pure": np.full(len(times), pure_s),
            "ratio": times / (pure_s + computation_s),
            "messages": np.full(len(times), received),
            "bandwidth": received * case.bytes / times,
            "work": np.array([self.work_s(case, pure_s)]),
        }
        return values.get(metric.name)


PAIRS = {"send": 1.0, "sendrecv": 1.2, "isend": 1.1}
"""Cost of an operation between two ranks, relative to a one-way message."""

LINEAR = ("gather", "scatter", "allgather", "alltoall")
"""Operations that take one message per other rank in this world."""

BUILT_IN_ROLES = (
    "point-to-point", "stream", "train", "overhead", "exchange", "collective", "overlap", "availability",
)  # fmt: skip
"""Roles of workloads that no suite provides."""

PROGRAM_PARTS = ("computation", "messages", "collectives")
"""Metrics of the workload that executes described programs."""
REPLAY_MESSAGES, REPLAY_COLLECTIVES = (1, 2, 7, 8), (5,)
"""Kinds of steps in a traced program that start messages and collectives."""

MIN_FACTOR = 0.1
"""Smallest factor of a launch that noise may produce."""
EAGER_VARIABLE = "FAKE_EAGER_LIMIT"
"""Variable that sets the end of the first segment (bytes)."""


@dataclass(frozen=True)
class FakeSegment:
    """From `first` bytes on, a message takes latency_s + bytes * per_byte_s."""

    first: int
    latency_s: float
    per_byte_s: float


@dataclass(frozen=True)
class BusiestRankWork:
    """Computing time of the busiest rank, and its parallel part relative to the mean."""

    seconds: float
    imbalance: float = 1.0


@dataclass(frozen=True)
class World:
    """The true costs. Each time is multiplied by a lognormal factor of relative width `noise` and by a factor
    of the launch of width `launch_noise`. With probability `tail`, an exponential excess of mean 5 is
    added."""

    segments: tuple[FakeSegment, ...] = (
        FakeSegment(0, 0.45e-6, 0.09e-9),
        FakeSegment(4096, 1.4e-6, 0.13e-9),
        FakeSegment(65536, 6.0e-6, 0.10e-9),
    )
    byte_factors: Mapping[str, float] = field(
        default_factory=lambda: {"hot": 1.0, "written": 1.3, "cold": 1.6}
    )
    """Cost of a byte in each kind of buffer, relative to a hot buffer."""
    latency_s: float = 0.20e-6
    send_overhead_s: float = 0.14e-6
    receive_overhead_s: float = 0.11e-6
    gap_s: float = 0.18e-6
    gap_per_byte_s: float = 0.09e-9
    call_s: float = 0.05e-6
    work_error: float = 0.002
    round_s: float = 0.40e-6
    round_per_byte_s: float = 0.12e-9
    flag_s: float = 0.06e-6
    exit_spread: float = 0.4
    """Spread of the exits of a barrier, relative to its time."""
    pairs: FakePairs = field(default_factory=FakePairs)
    overlap: FakeOverlap = field(default_factory=FakeOverlap)
    noise: float = 0.03
    launch_noise: float = 0.004
    tail: float = 0.02
    seed: int = 1
    slowdowns: tuple[tuple[str, float], ...] = ()
    """Pairs of words and a factor: cases with all of the words take that factor longer."""
    nodes: int = 1
    """Number of nodes over which the ranks of a case are spread."""
    launch: int = 0
    rank_nodes: tuple[int, ...] = ()
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    """Files that the cases name (`LaunchOptions.files`)."""
    replacements: tuple[FakeWorkloads, ...] = ()
    """Workloads that replace those of the suites."""
    catalog: Catalog = field(default_factory=bundled_catalog, repr=False)

    def time(self, case: Case) -> float:
        """Return the noise-free time (s) of one operation of `case`, by the role of its workload. Other roles
        cost as much as the collective of the same name."""
        workload = self.catalog.entry(case.workload)
        size = case.bytes
        byte_factor = self.byte_factor(case)
        world = self.at_level("network") if self.nodes > 1 else self
        one_way = world.message(size, byte_factor)
        if workload.role == "point-to-point":
            return PAIRS.get(workload.operation, 1.0) * one_way
        gap_factor = 1.0 if workload.bidirectional else byte_factor
        gap = max(world.gap_s, world.gap_s / 2 + size * world.segments[-1].per_byte_s * gap_factor)
        if workload.role == "stream":
            return 1.3 * gap if workload.bidirectional else gap
        if workload.role == "train":
            return self.prtt(int(case.number("messages", 1)), self.pause(case), size)
        if workload.role == "overhead":
            return self.receive_overhead_s
        if workload.role == "exchange" and workload.operation == "ring":
            return self.exchange(case.ranks, one_way)
        if (pairs_s := self.pairs.time(workload, case, one_way, world.message(0), gap)) is not None:
            return pairs_s
        if (fake := self.fake_for(workload)) is not None:
            return fake.time(workload, case, self.shares_of(case))
        if workload.role == REPLAY:
            return float(self.replay_seconds(case).sum(axis=1).max())
        if workload.role == PROGRAM:
            return max(map(sum, zip(*self.program_parts(case).values(), strict=True)))
        if (parts := self.overlap.parts(workload, case, self.communication_s(case))) is not None:
            return sum(parts.values())
        if workload.operation == "barrier":
            barrier_s = self.barrier(str(case.get("algorithm", "mpi")), case.ranks)
            return barrier_s * (self.exit_spread if workload.name == "barrier_skew" else 1.0)
        if (work := self.preset_work(case)) is not None:
            return work.seconds + (
                self.exchange(case.ranks, one_way) if workload.operation == "ring" else 0.0
            )
        return self.collective(workload.operation, case.ranks, size) * byte_factor

    def at_level(self, level: str) -> World:
        """Return the world of ranks that meet at this level."""
        costs = COSTS[level]
        constant = ("latency_s", "send_overhead_s", "receive_overhead_s", "gap_s", "round_s", "flag_s")
        per_byte = ("gap_per_byte_s", "round_per_byte_s")
        pieces = tuple(
            FakeSegment(
                segment.first, costs.constant * segment.latency_s, costs.per_byte * segment.per_byte_s
            )
            for segment in self.segments
        )
        return replace(
            self,
            nodes=1,
            segments=pieces,
            **{name: costs.constant * getattr(self, name) for name in constant},
            **{name: costs.per_byte * getattr(self, name) for name in per_byte},
        )

    def spread(self, place: str, nodes: int) -> World:
        """Return the world of a case whose pairs meet at the level `place`, or whose ranks are on `nodes`
        nodes."""
        return self.at_level(place) if place else replace(self, nodes=nodes)

    def with_variables(self, variables: Mapping[str, str]) -> World:
        """Return this world with the variables of a launch: EAGER_VARIABLE moves the end of the first
        segment, and MPI may have a progress thread."""
        threaded = self.overlap.enables_progress_thread(variables)
        world = replace(self, overlap=replace(self.overlap, progress_thread=threaded)) if threaded else self
        if EAGER_VARIABLE not in variables:
            return world
        first, second, *rest = self.segments
        limit = int(variables[EAGER_VARIABLE])
        later = [piece for piece in rest if piece.first > limit]
        return replace(world, segments=(first, replace(second, first=limit), *later))

    def communication_s(self, case: Case) -> float:
        """Return the seconds of the communication that is overlapped with computing: of a message, or of a
        collective. Names of nonblocking calls begin with an i."""
        byte_factor = self.byte_factor(case)
        if "pattern" in case or "polls" in case:
            return self.message(case.bytes, byte_factor)
        operation = str(case.get("operation", self.catalog.entry(case.workload).operation))
        return self.collective(operation.removeprefix("i"), case.ranks, case.bytes) * byte_factor

    def in_launch(self, launch: int, rank_nodes: tuple[int, ...] = ()) -> World:
        """Return this world with the variation of launch `launch`, for a case whose ranks are on these
        nodes."""
        return replace(self, launch=launch, rank_nodes=rank_nodes)

    def with_workloads(self, fake: FakeWorkloads) -> World:
        """Return this world with other costs of the workloads of a suite."""
        return replace(self, replacements=(fake, *self.replacements))

    def fake_for(self, workload: Workload) -> FakeWorkloads | None:
        """Return the costs that a suite provides for its workload."""
        if workload.role in BUILT_IN_ROLES:
            return None
        matches = (fake for fake in (*self.replacements, *fakes()) if fake.takes(workload))
        return next((fake.in_launch(self.launch).on_nodes(self.rank_nodes) for fake in matches), None)

    def lacks_program(self, case: Case) -> bool:
        """Return whether the case names a program whose steps were not written."""
        if case.workload == REPLAY:
            return replay_file(str(case["graph"]).removeprefix(PLAN_PREFIX)) not in self.files
        return case.workload == PROGRAM and steps_file(program_name(case), case.ranks) not in self.files

    def program_parts(self, case: Case) -> dict[str, list[float]]:
        """Return the seconds of each rank's computation, messages and collectives in an iteration of a
        described program (`models.programs.skeleton`). Every message takes its sender and its receiver a
        one-way time, and no rank waits."""
        parts: dict[str, list[float]] = {part: [0.0] * case.ranks for part in PROGRAM_PARTS}
        rank, share = 0, 1.0
        for line in str(self.files[steps_file(program_name(case), case.ranks)]).splitlines():
            word, *values = line.split()
            if word == "rank":
                rank = int(values[0])
            elif word == "part":
                share = float(values[0])
            elif word == "compute":
                parts["computation"][rank] += share * float(values[0])
            elif word == "collective":
                parts["collectives"][rank] += share * self.collective(values[0], case.ranks, int(values[1]))
            elif word != "wait":
                parts["messages"][rank] += share * sum(self.message(int(size)) for size in values[1::2])
        return parts

    def replay_seconds(self, case: Case) -> np.ndarray:
        """Return the seconds of each rank in the calls of each place of a traced program; the last column is
        computation. Starting a message takes a one-way time, and every collective takes as long as a
        broadcast."""
        content = self.files[replay_file(str(case["graph"]).removeprefix(PLAN_PREFIX))]
        assert isinstance(content, bytes)
        _, ranks, communicators, members, places = struct.unpack_from(REPLAY_HEADER, content)
        first_steps = np.frombuffer(content, np.uint64, ranks + 1, struct.calcsize(REPLAY_HEADER))
        tails_offset = struct.calcsize(REPLAY_HEADER) + 8 * (ranks + 1 + 2 * communicators + members)
        steps = np.frombuffer(content, list(REPLAY_STEP), -1, tails_offset + 8 * ranks)
        rank = np.repeat(np.arange(ranks), np.diff(first_steps).astype(np.int64))
        seconds = np.zeros((ranks, places + 1))
        seconds[:, -1] = np.bincount(rank, weights=steps["seconds"], minlength=ranks)
        seconds[:, -1] += np.frombuffer(content, np.float64, ranks, tails_offset)
        for kinds, cost in ((REPLAY_MESSAGES, self.message), (REPLAY_COLLECTIVES, self._broadcast(ranks))):
            selected = np.isin(steps["kind"], kinds)
            costs = [cost(int(size)) for size in steps["bytes"][selected]]
            np.add.at(seconds, (rank[selected], steps["place"][selected]), costs)
        return seconds

    def _broadcast(self, ranks: int) -> Callable[[int], float]:
        return lambda size: self.collective("bcast", ranks, size)

    def exchange(self, ranks: int, one_way: float) -> float:
        """Equation 3 of Hanebutte and Tatsumi for a switch: two steps, and a third if the number of ranks is
        odd."""
        return 0.0 if ranks < 2 else (2 + ranks % 2) * one_way

    def preset_work(self, case: Case) -> BusiestRankWork | None:
        """Return the computing time of the busiest rank: the serial part and the largest share of the
        parallel part. None if the case does not compute for a preset time."""
        if "work" not in case:
            return None
        work = case.number("work")
        if "shares" not in case:
            return BusiestRankWork(work)
        serial = case.number("serial") * work
        shares = self.shares_of(case)
        longest = float(np.max(shares)) * (work - serial) / case.ranks
        return BusiestRankWork(serial + longest, float(np.max(shares)))

    def metrics(self, case: Case, times: np.ndarray) -> dict[str, MetricSeries]:
        """Return the declared metrics of a workload, for repetitions that took `times`. Values of modelled
        metrics are exact, all others are made up but reproducible. Phases share the time evenly."""
        declared = self.catalog.entry(case.workload).metrics
        phases = sum(metric.phase for metric in declared)
        return {
            metric.name: MetricSeries(
                unit=metric.unit,
                over_ranks=metric.over_ranks,
                per=metric.per,
                phase=metric.phase,
                values=self._values(metric, case, times, times / max(1, phases)).tolist(),
                counts=self._counts(metric, case, times),
            )
            for metric in declared
        }

    def _values(self, metric: Metric, case: Case, case_s: np.ndarray, share_s: np.ndarray) -> np.ndarray:
        workload = self.catalog.entry(case.workload)
        fake = self.fake_for(workload)
        values = None if fake is None else fake.values(metric, case, case_s, self.shares_of(case))
        if values is not None:
            return values
        values = self.overlap.values(metric, workload, case, self.communication_s(case), case_s)
        if values is not None:
            return values
        if workload.role == REPLAY:
            return self._replay_values(metric.name, case, case_s / self.time(case))
        if workload.role == PROGRAM:
            return case_s / self.time(case) * float(np.mean(self.program_parts(case)[metric.name]))
        work = self.preset_work(case)
        preset = {} if work is None else {"work": work.seconds, "imbalance": work.imbalance}
        if metric.name == "paused":
            preset["paused"] = self.pause(case)
        if fake is not None:
            preset |= fake.constants(workload, case)
        constants = {metric.name: self.made_up_value(metric.name), "work_error": self.work_error} | preset
        value = share_s if metric.phase else np.full(len(share_s), constants[metric.name])
        if metric.per != "repetition":  # a single superstep
            value = np.median(value, keepdims=True)
        if metric.over_ranks == "each":  # a rank in the middle has half the value of the last one
            value = np.outer(value, np.arange(1, case.ranks + 1) / case.ranks).ravel()
        return value

    def _counts(self, metric: Metric, case: Case, times: np.ndarray) -> list[int]:
        fake = self.fake_for(self.catalog.entry(case.workload))
        return [] if fake is None else fake.counts(metric, case, times)

    def _replay_values(self, name: str, case: Case, factors: np.ndarray) -> np.ndarray:
        """Return the values of a metric. `factors` are the factors of the repetitions. All time in calls
        counts as messages."""
        seconds = self.replay_seconds(case)
        if name == "rank":
            return np.outer(factors, seconds.sum(axis=1)).ravel()
        if name == "place":
            return np.median(factors) * seconds[:, :-1].mean(axis=0)
        parts = {"computation": seconds[:, -1], "messages": seconds[:, :-1].sum(axis=1)}
        return factors * float(np.mean(parts.get(name, 0.0)))

    @staticmethod
    def made_up_value(name: str) -> float:
        """Return the made-up value of a metric that this world does not model: from 1 to 11."""
        return 1 + zlib.crc32(name.encode()) % 1000 / 100

    def labels(self, case: Case) -> dict[str, str]:
        if (fake := self.fake_for(self.catalog.entry(case.workload))) is not None:
            return fake.labels(case)
        computes = self.preset_work(case) is not None or "computing" in case or "polls" in case
        return {"work_clock": "thread"} if computes else {}

    def shares_of(self, case: Case) -> np.ndarray:
        """Return every rank's share in a case, 1 if the case does not name shares."""
        return self.shares(str(case.get("shares", "equal")), int(case.number("seed")), case.ranks)

    def shares(self, text: str, seed: int, ranks: int) -> np.ndarray:
        """Return every rank's share of the parallel work, with mean 1. Random shares have the requested
        distribution, but not the engine's values."""
        word, _, width = text.partition(":")
        random = np.random.default_rng(seed)
        deviations: dict[str, Callable[[], np.ndarray]] = {
            "equal": lambda: np.zeros(ranks),
            "uniform": lambda: random.uniform(-np.sqrt(3), np.sqrt(3), ranks),
            "normal": lambda: random.standard_normal(ranks),
            "exponential": lambda: random.exponential(1.0, ranks) - 1,
        }
        if word in deviations:
            shares = np.maximum(0.01, 1 + float(width or 0) * deviations[word]())
        else:
            shares = np.array([float(part) for part in text.split(":")])
        return shares / shares.mean()

    def byte_factor(self, case: Case) -> float:
        """Return the cost of a byte in the buffers of `case`, relative to a hot buffer."""
        return self.byte_factors[str(case.get("buffers", "hot"))]

    def message(self, size: int, byte_factor: float = 1.0) -> float:
        segment = [candidate for candidate in self.segments if candidate.first <= size][-1]
        return segment.latency_s + size * segment.per_byte_s * byte_factor

    def pause(self, case: Case) -> float:
        """Return seconds between two messages of a train; 0 if there is only one message."""
        if self.catalog.entry(case.workload).role != "train" or case.number("messages") == 1:
            return 0.0
        return case.number("delay") + case.number("pause") * self.prtt(1, 0.0, case.bytes)

    def prtt(self, messages: int, delay: float, size: int) -> float:
        """Equations 1 and 2 of the paper: PRTT(1, 0, s), plus the larger of o + d and the gap for each
        additional message. Payload enters as s G (the paper's s - 1 differs by one byte's gap)."""
        overhead = self.send_overhead_s + self.receive_overhead_s
        round_trip = 2 * (self.latency_s + overhead + size * self.gap_per_byte_s)
        return round_trip + (messages - 1) * max(
            self.send_overhead_s + delay, self.gap_s + size * self.gap_per_byte_s
        )

    def collective(self, operation: str, ranks: int, size: int) -> float:
        """Return the seconds of a collective. On more than one node, it runs within each node and then
        between the nodes."""
        if self.nodes > 1:
            local_world, network_world = replace(self, nodes=1), self.at_level("network")
            within = local_world.collective(operation, ranks // self.nodes, size)
            return within + network_world.collective(operation, self.nodes, size) - self.call_s
        rounds = math.ceil(math.log2(ranks)) if ranks > 1 else 0
        if operation in LINEAR:
            rounds = ranks - 1
        elif operation == "allreduce":
            rounds *= 2
        return self.call_s + rounds * (self.round_s + size * self.round_per_byte_s)

    def barrier(self, algorithm: str, ranks: int) -> float:
        if self.nodes > 1:
            local_world, network_world = replace(self, nodes=1), self.at_level("network")
            within = local_world.barrier(algorithm, ranks // self.nodes)
            return within + network_world.barrier(algorithm, self.nodes) - self.call_s
        rounds = math.ceil(math.log2(ranks)) if ranks > 1 else 0
        if algorithm.startswith("mpi"):
            return self.collective("barrier", ranks, 0)
        if algorithm.startswith(("shm_", "hierarchical", "one_sided")):
            return self.call_s + rounds * self.flag_s
        one_way = self.message(0)
        if algorithm.startswith(("central", "total_exchange")):
            hops = 2 if algorithm == "central" else 1
            return self.call_s + hops * (one_way * (ranks > 1) + max(0, ranks - 2) * self.gap_s)
        is_bidirectional = algorithm.startswith(("binomial", "mcs_tree", "tournament"))
        return self.call_s + rounds * one_way * (2 if is_bidirectional else 1)

    def bytes_moved(self, case: Case) -> int:
        return self.catalog.entry(case.workload).payload_bytes(case)

    def bytes_checked(self, case: Case) -> int:
        """Return the bytes checked in each repetition."""
        fake = self.fake_for(self.catalog.entry(case.workload))
        byte_count = None if fake is None else fake.checked_bytes(case)
        return self.bytes_moved(case) if byte_count is None else byte_count

    def slowdown_factor(self, case: Case) -> float:
        """Return the product of the factors of `slowdowns` that apply to the case."""
        words = set(case.line.split())
        return math.prod(factor for slow_words, factor in self.slowdowns if set(slow_words.split()) <= words)

    def sample(self, case: Case, launch: int, count: int) -> np.ndarray:
        """Return the times of `count` repetitions of `case` in a launch; they depend only on the seed."""
        seed_words = f"{self.seed} {launch} {case.line}".encode()
        random = np.random.default_rng(zlib.crc32(seed_words))
        factor = max(MIN_FACTOR, 1 + self.launch_noise * random.standard_normal())
        pauses_s = (case.number("messages", 1) - 1) * self.pause(case)  # by the clock, without noise
        factor *= self.slowdown_factor(case)
        times = (self.time(case) - pauses_s) * factor * np.exp(self.noise * random.standard_normal(count))
        is_late = random.random(count) < self.tail
        return pauses_s + times * np.where(is_late, 1 + 5 * random.exponential(1.0, count), 1.0)
