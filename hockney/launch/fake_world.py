# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A world with exactly known message passing costs, for the fake launcher.

One message follows a piecewise Hockney model, a train of messages LogGP (the PRTT of Hoefler, Lichei and
Rehm, "Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks", 2007). A collective takes
a + rounds * (latency + bytes * per_byte), an exchange on a ring the time of its steps' messages, computing
the preset time, a message-based barrier the messages on its longest path, one in shared memory its flags; for
the workloads of suites see `fakes`, for computing while messages are on their way `FakeOverlap`, for many
pairs at once `FakePairs`. At another level than within a node, messages take longer or less by the factors
of `COSTS`.
Fits of its results must recover these parameters.
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
    IN_PLAN,
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
    """Factors on every constant time of a message, and on every time per byte."""

    constant: float
    per_byte: float


COSTS: Mapping[str, LevelCosts] = {
    "core": LevelCosts(0.4, 0.6),
    "cache": LevelCosts(0.5, 0.7),
    "socket": LevelCosts(0.8, 0.85),
    "node": LevelCosts(1.0, 1.0),
    "network": LevelCosts(9.0, 6.0),
}
"""What messages cost at each level, relative to messages within a node."""

NAMES = ("pairs_stream", "pairs_pingpong")


@dataclass(frozen=True)
class FakePairs:
    """The rate (B/s) that pairs share at each level ("": at the others), and the gap (s) between two messages
    of any pairs."""

    rates: Mapping[str, float] = field(default_factory=lambda: {"": 25e9, "network": 4e9})
    gap_s: float = 0.06e-6

    def time(
        self, workload: Workload, case: Case, message_s: float, latency_s: float, stream_s: float
    ) -> float | None:
        """Seconds, if a message of one pair takes `message_s`, an empty one `latency_s`, and each of a stream
        `stream_s`; None for other workloads."""
        if workload.name not in NAMES:
            return None
        pairs = int(case.number("pairs")) or case.ranks // 2
        byte = 1 / self.rates.get(case.place, self.rates[""])
        if "window" in case:
            return max(stream_s / pairs, self.gap_s + case.bytes * byte)
        return max(message_s, latency_s + (pairs - 1) * self.gap_s + pairs * case.bytes * byte)


OVERLAP = "overlap"
AVAILABILITY = "availability"
"""The roles of these workloads."""
PROGRESS = "MPICH_ASYNC_PROGRESS"
"""The variable that gives a launch a progress thread: MPICH's."""


@dataclass(frozen=True)
class FakeOverlap:
    """The true costs (s): of starting a communication, of a call of MPI_Test, of answering a message, of a
    step of the computation. By which share computing slows: `interrupts` while all of a communication
    proceeds in the background, `thread` then if a thread makes it do so, `idle_thread` always."""

    eager_bytes: int = 16384
    posting_s: float = 0.05e-6
    test_s: float = 0.04e-6
    answer_s: float = 0.25e-6
    step_s: float = 1e-9
    interrupts: float = 0.02
    thread: float = 0.10
    idle_thread: float = 0.05
    progress_thread: bool = False

    def under(self, variables: Mapping[str, str]) -> bool:
        """Whether a launch with these variables has a progress thread."""
        return variables.get(PROGRESS, "0") not in ("", "0")

    def proceeds(self, case: Case) -> float:
        """The share of a communication that does so while this rank computes."""
        if self.progress_thread or ("pattern" in case and case.bytes <= self.eager_bytes):
            return 1.0
        tests = case.number("tests", 0)
        return tests / (tests + 1)

    @property
    def slowdown(self) -> float:
        """The slowdown of computing without communication."""
        return 1 + self.idle_thread * self.progress_thread

    def stolen(self, proceeding: float) -> float:
        return proceeding * (self.thread if self.progress_thread else self.interrupts)

    def overlapped(self, case: Case, pure_s: float) -> dict[str, float]:
        """Seconds of each part of a run, whose communication alone takes `pure_s`."""
        alone = self.alone(case, pure_s)
        posting = min(self.posting_s, pure_s)
        proceeding = self.proceeds(case)
        return {
            "posting": posting,
            "computing": alone * (1 + self.stolen(proceeding)),
            "testing": case.number("tests") * self.test_s,
            "waiting": pure_s - posting - proceeding * min(pure_s - posting, alone),
        }

    def polled(self, case: Case, message_s: float) -> dict[str, float]:
        """The like of COMB's polling, if a message alone takes `message_s`."""
        return {
            "posting": case.number("window") * self.posting_s,
            "computing": self.alone(case, 0.0) * (1 + self.stolen(1.0)),
            "testing": case.number("polls") * self.test_s + self.messages(case, message_s) * self.answer_s,
            "waiting": self.posting_s,
        }

    def messages(self, case: Case, message_s: float) -> float:
        """The messages that arrive during the work: all of a queue between two polls, unless the interval is
        too short for them; half as many where a message needs a poll to proceed and another to be found."""
        arriving = min(case.number("window"), case.number("interval") / message_s)
        needs_two = case.bytes > self.eager_bytes and not self.progress_thread
        return case.number("polls") * arriving / (2 if needs_two else 1)

    def work(self, case: Case, pure_s: float) -> float:
        """Preset seconds."""
        if "polls" in case:
            return case.number("interval") * (case.number("polls") + 1)
        return case.number("duration") or case.number("computing") * pure_s

    def alone(self, case: Case, pure_s: float) -> float:
        """Seconds of computing without communication."""
        return self.work(case, pure_s) * self.slowdown

    def parts(self, workload: Workload, case: Case, pure_s: float) -> dict[str, float] | None:
        """The seconds whose sum is a run's; None for other workloads."""
        if workload.role == OVERLAP:
            return self.overlapped(case, pure_s)
        return self.polled(case, pure_s) if workload.role == AVAILABILITY else None

    def values(
        self, metric: Metric, workload: Workload, case: Case, pure_s: float, times: np.ndarray
    ) -> np.ndarray | None:
        """The values of a metric, for repetitions that took `times`. The computation alone, just before, met
        the same noise as the repetition; `pure_s` none."""
        parts = self.parts(workload, case, pure_s)
        if parts is None:
            return None
        noise = times / sum(parts.values())
        cpu = self.alone(case, pure_s) * noise
        shorter = np.minimum(pure_s, cpu)
        hidden = np.clip(pure_s + cpu - times, 0.0, shorter)
        received = self.messages(case, pure_s) if "polls" in case else 0.0
        values = {name: seconds * noise for name, seconds in parts.items()} | {
            "cpu": cpu,
            "alone": cpu,
            "step": self.step_s * self.slowdown * noise,
            "availability": 100 * cpu / times,
            "stolen": np.full(len(times), 100 * (parts["computing"] / self.alone(case, pure_s) - 1)),
            "overlap": 100 * hidden / shorter,
            "hidden": hidden,
            "pure": np.full(len(times), pure_s),
            "ratio": times / (pure_s + cpu),
            "messages": np.full(len(times), received),
            "bandwidth": received * case.bytes / times,
            "work": np.array([self.work(case, pure_s)]),
        }
        return values.get(metric.name)


PAIRS = {"send": 1.0, "sendrecv": 1.2, "isend": 1.1}
"""The cost of an operation between two ranks, relative to a one-way message."""

LINEAR = ("gather", "scatter", "allgather", "alltoall")
"""Operations that take a message per other rank in this world."""

OWN_ROLES = (
    "point-to-point", "stream", "train", "overhead", "exchange", "collective", "overlap", "availability",
)  # fmt: skip
"""No suite has a workload with such a role."""

PROGRAM_PARTS = ("computation", "messages", "collectives")
"""The role of the workload that executes described programs, and its metrics."""
REPLAY_MESSAGES, REPLAY_COLLECTIVES = (1, 2, 7, 8), (5,)
"""The kinds of steps that start these in a traced program."""

LEAST_FACTOR = 0.1
"""The factor of the fastest launch that noise allows."""
EAGER = "FAKE_EAGER_LIMIT"
"""The variable that sets the end of the first piece (bytes)."""


@dataclass(frozen=True)
class FakePiece:
    """From `first` bytes on, a message takes latency_s + bytes * per_byte_s."""

    first: int
    latency_s: float
    per_byte_s: float


@dataclass(frozen=True)
class LongestWork:
    """The computing time of the busiest rank, and its parallel part relative to the mean."""

    seconds: float
    imbalance: float = 1.0


@dataclass(frozen=True)
class World:
    """The true costs. Noise: each time is multiplied by a lognormal factor of relative width `noise`, by a
    factor of the launch of width `launch_noise`, and with probability `tail` by an exponential excess of mean
    5."""

    pieces: tuple[FakePiece, ...] = (
        FakePiece(0, 0.45e-6, 0.09e-9),
        FakePiece(4096, 1.4e-6, 0.13e-9),
        FakePiece(65536, 6.0e-6, 0.10e-9),
    )
    byte_factors: Mapping[str, float] = field(
        default_factory=lambda: {"hot": 1.0, "written": 1.3, "cold": 1.6}
    )
    """How many times as much a byte costs in such buffers as in hot ones."""
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
    exits: float = 0.4
    """The spread of the exits of a barrier, relative to its time."""
    pairs: FakePairs = field(default_factory=FakePairs)
    overlap: FakeOverlap = field(default_factory=FakeOverlap)
    noise: float = 0.03
    launch_noise: float = 0.004
    tail: float = 0.02
    seed: int = 1
    slowed: tuple[tuple[str, float], ...] = ()
    """Words of a case, and the factor by which each case that has all of them takes longer."""
    nodes: int = 1
    """The number of nodes over which the ranks of a case are spread."""
    launch: int = 0
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    """The files that the cases name (`LaunchOptions.files`)."""
    replaced: tuple[FakeWorkloads, ...] = ()
    """Workloads that replace those of the suites."""
    catalog: Catalog = field(default_factory=bundled_catalog, repr=False)

    def time(self, case: Case) -> float:
        """Noise-free time (s) of one operation of `case`, from its workload's role. Other roles cost as
        much as the collective of the same name."""
        workload = self.catalog.entry(case.workload)
        size = case.bytes
        slower = self.byte_factor(case)
        world = self.at("network") if self.nodes > 1 else self
        one_way = world.message(size, slower)
        if workload.role == "point-to-point":
            return PAIRS.get(workload.operation, 1.0) * one_way
        more = 1.0 if workload.bidirectional else slower
        gap = max(world.gap_s, world.gap_s / 2 + size * world.pieces[-1].per_byte_s * more)
        if workload.role == "stream":
            return 1.3 * gap if workload.bidirectional else gap
        if workload.role == "train":
            return self.prtt(int(case.number("messages", 1)), self.pause(case), size)
        if workload.role == "overhead":
            return self.receive_overhead_s
        if workload.role == "exchange" and workload.operation == "ring":
            return self.exchange(case.ranks, one_way)
        if (known := self.pairs.time(workload, case, one_way, world.message(0), gap)) is not None:
            return known
        if (fake := self.fake_of(workload)) is not None:
            return fake.time(workload, case, self.shares_of(case))
        if workload.role == REPLAY:
            return float(self.replayed(case).sum(axis=1).max())
        if workload.role == PROGRAM:
            return max(map(sum, zip(*self.program_parts(case).values(), strict=True)))
        if (parts := self.overlap.parts(workload, case, self.pure(case))) is not None:
            return sum(parts.values())
        if workload.operation == "barrier":
            whole = self.barrier(str(case.get("algorithm", "mpi")), case.ranks)
            return whole * (self.exits if workload.name == "barrier_skew" else 1.0)
        if (work := self.work(case)) is not None:
            return work.seconds + (
                self.exchange(case.ranks, one_way) if workload.operation == "ring" else 0.0
            )
        return self.collective(workload.operation, case.ranks, size) * slower

    def at(self, level: str) -> World:
        """The world of ranks that meet at this level."""
        factor = COSTS[level]
        constant = ("latency_s", "send_overhead_s", "receive_overhead_s", "gap_s", "round_s", "flag_s")
        per_byte = ("gap_per_byte_s", "round_per_byte_s")
        pieces = tuple(
            FakePiece(p.first, factor.constant * p.latency_s, factor.per_byte * p.per_byte_s)
            for p in self.pieces
        )
        return replace(
            self,
            nodes=1,
            pieces=pieces,
            **{name: factor.constant * getattr(self, name) for name in constant},
            **{name: factor.per_byte * getattr(self, name) for name in per_byte},
        )

    def spread(self, place: str, nodes: int) -> World:
        """The world of a case whose pairs meet at the level `place`, or whose ranks are on `nodes` nodes."""
        return self.at(place) if place else replace(self, nodes=nodes)

    def under(self, variables: Mapping[str, str]) -> World:
        """The same world with a launch's variables: EAGER moves the end of the first piece, and MPI may have
        a progress thread."""
        threaded = self.overlap.under(variables)
        world = replace(self, overlap=replace(self.overlap, progress_thread=threaded)) if threaded else self
        if EAGER not in variables:
            return world
        first, second, *rest = self.pieces
        limit = int(variables[EAGER])
        later = [piece for piece in rest if piece.first > limit]
        return replace(world, pieces=(first, replace(second, first=limit), *later))

    def pure(self, case: Case) -> float:
        """What is overlapped with computing, by itself: a message, or a collective of which nonblocking calls
        have an i before their names."""
        slower = self.byte_factor(case)
        if "pattern" in case or "polls" in case:
            return self.message(case.bytes, slower)
        operation = str(case.get("operation", self.catalog.entry(case.workload).operation))
        return self.collective(operation.removeprefix("i"), case.ranks, case.bytes) * slower

    def in_launch(self, launch: int) -> World:
        """This world with the variation of launch `launch`."""
        return replace(self, launch=launch)

    def having(self, fake: FakeWorkloads) -> World:
        """The same world with other costs of the workloads of a suite."""
        return replace(self, replaced=(fake, *self.replaced))

    def fake_of(self, workload: Workload) -> FakeWorkloads | None:
        """What a suite has to tell about its workload."""
        if workload.role in OWN_ROLES:
            return None
        taking = (fake for fake in (*self.replaced, *fakes()) if fake.takes(workload))
        return next((fake.in_launch(self.launch) for fake in taking), None)

    def lacks_program(self, case: Case) -> bool:
        """Whether the case names a program whose steps were not written."""
        if case.workload == REPLAY:
            return replay_file(str(case["graph"]).removeprefix(IN_PLAN)) not in self.files
        return case.workload == PROGRAM and steps_file(program_name(case), case.ranks) not in self.files

    def program_parts(self, case: Case) -> dict[str, list[float]]:
        """Seconds of each rank's computation, messages and collectives in an iteration of a described
        program (`models.programs.skeleton`): every message takes its sender and its receiver a one-way time,
        and nobody waits."""
        parts: dict[str, list[float]] = {part: [0.0] * case.ranks for part in PROGRAM_PARTS}
        rank, share = 0, 1.0
        for line in str(self.files[steps_file(program_name(case), case.ranks)]).splitlines():
            word, *rest = line.split()
            if word == "rank":
                rank = int(rest[0])
            elif word == "part":
                share = float(rest[0])
            elif word == "compute":
                parts["computation"][rank] += share * float(rest[0])
            elif word == "collective":
                parts["collectives"][rank] += share * self.collective(rest[0], case.ranks, int(rest[1]))
            elif word != "wait":
                parts["messages"][rank] += share * sum(self.message(int(size)) for size in rest[1::2])
        return parts

    def replayed(self, case: Case) -> np.ndarray:
        """Seconds of each rank in the calls of each place of a traced program, at last those of computation,
        likewise: all starts of messages take a one-way time, and all collectives that of a broadcast."""
        content = self.files[replay_file(str(case["graph"]).removeprefix(IN_PLAN))]
        assert isinstance(content, bytes)
        _, ranks, communicators, members, places = struct.unpack_from(REPLAY_HEADER, content)
        numbers = np.frombuffer(content, np.uint64, ranks + 1, struct.calcsize(REPLAY_HEADER))
        tails = struct.calcsize(REPLAY_HEADER) + 8 * (ranks + 1 + 2 * communicators + members)
        steps = np.frombuffer(content, list(REPLAY_STEP), -1, tails + 8 * ranks)
        rank = np.repeat(np.arange(ranks), np.diff(numbers).astype(np.int64))
        seconds = np.zeros((ranks, places + 1))
        seconds[:, -1] = np.bincount(rank, weights=steps["seconds"], minlength=ranks)
        seconds[:, -1] += np.frombuffer(content, np.float64, ranks, tails)
        for kinds, cost in ((REPLAY_MESSAGES, self.message), (REPLAY_COLLECTIVES, self._broadcast(ranks))):
            made = np.isin(steps["kind"], kinds)
            each = [cost(int(size)) for size in steps["bytes"][made]]
            np.add.at(seconds, (rank[made], steps["place"][made]), each)
        return seconds

    def _broadcast(self, ranks: int) -> Callable[[int], float]:
        return lambda size: self.collective("bcast", ranks, size)

    def exchange(self, ranks: int, one_way: float) -> float:
        """Equation 3 of Hanebutte and Tatsumi for a switch: two steps, and a third if the number of ranks is
        odd."""
        return 0.0 if ranks < 2 else (2 + ranks % 2) * one_way

    def work(self, case: Case) -> LongestWork | None:
        """The computing time of the busiest rank: the serial part and the largest share of the rest; None if
        a case does not compute for a preset time."""
        if "work" not in case:
            return None
        work = case.number("work")
        if "shares" not in case:
            return LongestWork(work)
        serial = case.number("serial") * work
        shares = self.shares_of(case)
        longest = float(np.max(shares)) * (work - serial) / case.ranks
        return LongestWork(serial + longest, float(np.max(shares)))

    def metrics(self, case: Case, times: np.ndarray) -> dict[str, MetricSeries]:
        """The metrics that a workload declares besides its times, for repetitions that took `times`: known
        values for its work, otherwise made-up values, the same for the same metric. Phases share the time
        evenly."""
        declared = self.catalog.entry(case.workload).metrics
        phases = sum(metric.phase for metric in declared)
        return {
            metric.name: MetricSeries(
                unit=metric.unit,
                over_ranks=metric.over_ranks,
                per=metric.per,
                phase=metric.phase,
                values=self._values(metric, case, times, times / max(1, phases)).tolist(),
            )
            for metric in declared
        }

    def _values(self, metric: Metric, case: Case, case_s: np.ndarray, share_s: np.ndarray) -> np.ndarray:
        workload = self.catalog.entry(case.workload)
        fake = self.fake_of(workload)
        known = None if fake is None else fake.values(metric, case, case_s, self.shares_of(case))
        if known is not None:
            return known
        known = self.overlap.values(metric, workload, case, self.pure(case), case_s)
        if known is not None:
            return known
        if workload.role == REPLAY:
            return self._replay_values(metric.name, case, case_s / self.time(case))
        if workload.role == PROGRAM:
            return case_s / self.time(case) * float(np.mean(self.program_parts(case)[metric.name]))
        work = self.work(case)
        preset = {} if work is None else {"work": work.seconds, "imbalance": work.imbalance}
        if metric.name == "paused":
            preset["paused"] = self.pause(case)
        if fake is not None:
            preset |= fake.constants(workload, case)
        truth = {metric.name: self.truth(metric.name), "work_error": self.work_error} | preset
        value = share_s if metric.phase else np.full(len(share_s), truth[metric.name])
        if metric.per != "repetition":  # a single superstep
            value = np.median(value, keepdims=True)
        if metric.over_ranks == "each":  # a rank in the middle has half the value of the last one
            value = np.outer(value, np.arange(1, case.ranks + 1) / case.ranks).ravel()
        return value

    def _replay_values(self, name: str, case: Case, slower: np.ndarray) -> np.ndarray:
        """`slower` is the factor of each repetition. All of the time in calls counts as messages."""
        seconds = self.replayed(case)
        if name == "rank":
            return np.outer(slower, seconds.sum(axis=1)).ravel()
        if name == "place":
            return np.median(slower) * seconds[:, :-1].mean(axis=0)
        parts = {"computation": seconds[:, -1], "messages": seconds[:, :-1].sum(axis=1)}
        return slower * float(np.mean(parts.get(name, 0.0)))

    @staticmethod
    def truth(name: str) -> float:
        """The made-up value of a metric that this world does not model: from 1 to 11."""
        return 1 + zlib.crc32(name.encode()) % 1000 / 100

    def labels(self, case: Case) -> dict[str, str]:
        if (fake := self.fake_of(self.catalog.entry(case.workload))) is not None:
            return fake.labels(case)
        computes = self.work(case) is not None or "computing" in case or "polls" in case
        return {"work_clock": "thread"} if computes else {}

    def shares_of(self, case: Case) -> np.ndarray:
        """Every rank's share in a case, 1 for each if it does not name them."""
        return self.shares(str(case.get("shares", "equal")), int(case.number("seed")), case.ranks)

    def shares(self, text: str, seed: int, ranks: int) -> np.ndarray:
        """Every rank's share of the parallel work, with mean 1. Random shares have the requested
        distribution, but not the engine's values."""
        word, _, rest = text.partition(":")
        random = np.random.default_rng(seed)
        drawn: dict[str, Callable[[], np.ndarray]] = {
            "equal": lambda: np.zeros(ranks),
            "uniform": lambda: random.uniform(-np.sqrt(3), np.sqrt(3), ranks),
            "normal": lambda: random.standard_normal(ranks),
            "exponential": lambda: random.exponential(1.0, ranks) - 1,
        }
        if word in drawn:
            shares = np.maximum(0.01, 1 + float(rest or 0) * drawn[word]())
        else:
            shares = np.array([float(part) for part in text.split(":")])
        return shares / shares.mean()

    def byte_factor(self, case: Case) -> float:
        """The factor by which bytes in the buffers of `case` cost more than in hot ones."""
        return self.byte_factors[str(case.get("buffers", "hot"))]

    def message(self, size: int, slower: float = 1.0) -> float:
        piece = [p for p in self.pieces if p.first <= size][-1]
        return piece.latency_s + size * piece.per_byte_s * slower

    def pause(self, case: Case) -> float:
        """Seconds between two messages of a train; 0 if there is only one."""
        if self.catalog.entry(case.workload).role != "train" or case.number("messages") == 1:
            return 0.0
        return case.number("delay") + case.number("pause") * self.prtt(1, 0.0, case.bytes)

    def prtt(self, messages: int, delay: float, size: int) -> float:
        """Equations 1 and 2 of the paper: PRTT(1, 0, s), then each additional message costs the larger of o +
        d and the gap. Payload enters as s G (the paper's s - 1 differs by one byte's gap)."""
        overhead = self.send_overhead_s + self.receive_overhead_s
        round_trip = 2 * (self.latency_s + overhead + size * self.gap_per_byte_s)
        return round_trip + (messages - 1) * max(
            self.send_overhead_s + delay, self.gap_s + size * self.gap_per_byte_s
        )

    def collective(self, operation: str, ranks: int, size: int) -> float:
        """Seconds of a collective; on several nodes, within each and then between them."""
        if self.nodes > 1:
            near, far = replace(self, nodes=1), self.at("network")
            within = near.collective(operation, ranks // self.nodes, size)
            return within + far.collective(operation, self.nodes, size) - self.call_s
        rounds = math.ceil(math.log2(ranks)) if ranks > 1 else 0
        if operation in LINEAR:
            rounds = ranks - 1
        elif operation == "allreduce":
            rounds *= 2
        return self.call_s + rounds * (self.round_s + size * self.round_per_byte_s)

    def barrier(self, algorithm: str, ranks: int) -> float:
        if self.nodes > 1:
            near, far = replace(self, nodes=1), self.at("network")
            within = near.barrier(algorithm, ranks // self.nodes)
            return within + far.barrier(algorithm, self.nodes) - self.call_s
        rounds = math.ceil(math.log2(ranks)) if ranks > 1 else 0
        if algorithm.startswith("mpi"):
            return self.collective("barrier", ranks, 0)
        if algorithm.startswith(("shm_", "hierarchical", "one_sided")):
            return self.call_s + rounds * self.flag_s
        one_way = self.message(0)
        if algorithm.startswith(("central", "total_exchange")):
            hops = 2 if algorithm == "central" else 1
            return self.call_s + hops * (one_way * (ranks > 1) + max(0, ranks - 2) * self.gap_s)
        both_ways = algorithm.startswith(("binomial", "mcs_tree", "tournament"))
        return self.call_s + rounds * one_way * (2 if both_ways else 1)

    def bytes_moved(self, case: Case) -> int:
        return self.catalog.entry(case.workload).payload_bytes(case)

    def bytes_checked(self, case: Case) -> int:
        """The bytes checked in each repetition."""
        fake = self.fake_of(self.catalog.entry(case.workload))
        checked = None if fake is None else fake.checked_bytes(case)
        return self.bytes_moved(case) if checked is None else checked

    def slowness(self, case: Case) -> float:
        """The product of the factors of `slowed` that apply to it."""
        words = set(case.line.split())
        return math.prod(factor for named, factor in self.slowed if set(named.split()) <= words)

    def sample(self, case: Case, launch: int, count: int) -> np.ndarray:
        """`count` repetitions of `case` in a launch: the same for the same seed."""
        words = f"{self.seed} {launch} {case.line}".encode()
        random = np.random.default_rng(zlib.crc32(words))
        factor = max(LEAST_FACTOR, 1 + self.launch_noise * random.standard_normal())
        waits = (case.number("messages", 1) - 1) * self.pause(case)  # by the clock, without noise
        factor *= self.slowness(case)
        times = (self.time(case) - waits) * factor * np.exp(self.noise * random.standard_normal(count))
        late = random.random(count) < self.tail
        return waits + times * np.where(late, 1 + 5 * random.exponential(1.0, count), 1.0)
