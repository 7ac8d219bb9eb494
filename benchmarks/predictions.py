# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How well predictions of traced programs meet what is then run.

    python benchmarks/predictions.py [--questions replay,check] [--classes S,W] [--repeat 3]
        [--program NAME=COMMAND] [--run openmpi=FOLDER] [--lines FILE] [--out FILE]

Every prediction is made before the truth is run; a median is that of the absolute errors. Questions:

- *replay*: the run time on the machine of the trace, 2 ranks. The truth is the traced run, without what
  recording added, compared with the costs alone, and, for *next launches*, the median of later launches,
  which are not traced.
- *simulation*: the run time on a described machine; the truth is SimGrid, which executes the same calls.
- *network*: another latency or bandwidth of that machine, as the ratio of run times. The base is known, as
  that of a trace is.
- *ethernet*: the same on emulated Ethernets, where the replayer executes the calls over TCP.
- *algorithm*: another algorithm of a collective, likewise by SimGrid with its own algorithms.
- *check*: another algorithm in launches on 2 ranks, as `hockney profile --check` compares them.
- *imbalance*: perfect balance and no noise, for a program with a known delay of a rank and known noise; the
  truth is a launch of it without them.

Programs of more ranks than cores are traced for their calls only: before each call at a place every rank
computes the median of all ranks. `--program` adds a program on 2 ranks to *replay*, for each MPI, whose name
replaces {mpi} in the command. `--lines` keeps predictions in a file, so that questions can be asked one after
the other: results are of all in the file, and new ones replace those of the same question.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np
from npb_reference import REFERENCES

import hockney
from hockney import api, build
from hockney.api.checking import check_prediction
from hockney.api.profile import Profile, load_profile
from hockney.api.replays import TracePrediction, predict_trace, traced_launch_of
from hockney.core.errors import HockneyError
from hockney.core.ethernet import Ethernet
from hockney.core.machine import Mpi
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.command import command
from hockney.machines import emulated, simulated
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.programs.communication import Communication
from hockney.models.routes import shares_links
from hockney.mpi import title_of
from hockney.replay.answers import ExplainedRun
from hockney.replay.building import Placement, TraceGraph
from hockney.replay.graph import (
    AT_ROOT,
    BLOCKING,
    ENTER,
    GROUP,
    LEAVE,
    MESSAGE,
    OP,
    RECEIVE,
    RECEIVED,
    ROOTED_FROM,
    ROOTED_TO,
    SEND,
    SENT,
    TOGETHER,
    Graph,
)
from hockney.replay.pricing import make_machine
from hockney.replay.replayer import replay_on
from hockney.replay.scenarios import RequestedChanges, TracedProgram
from hockney.system.files import write_atomically

HERE = Path(__file__).parent
QUESTIONS = ("replay", "simulation", "network", "ethernet", "algorithm", "check", "imbalance")
SURVEY_S = 60.0
MS = 1e-3
KIB = 1024


@dataclass(frozen=True)
class Line:
    """A prediction and, once it has run, the truth: seconds or a ratio of run times. `withheld` ones have a
    replay error with which hockney gives no gain."""

    question: str
    program: str
    ranks: int
    subject: str
    predicted: float
    low: float | None = None
    high: float | None = None
    seconds: bool = False
    withheld: bool = False
    truth: float = math.nan
    launches: int = 0
    load: str = ""
    """The load average at the start and when the truth was run."""

    @property
    def error(self) -> float:
        return self.predicted / self.truth - 1

    @property
    def covered(self) -> bool | None:
        if self.low is None or self.high is None:
            return None
        return self.low <= self.truth <= self.high

    @property
    def sign(self) -> bool | None:
        """Whether the direction of a change of more than 1% is right, if the interval decides it."""
        decided = self.low is None or self.high is None or not self.low <= 1 <= self.high
        if self.seconds or not decided or abs(self.truth - 1) <= 0.01:
            return None
        return (self.predicted < 1) == (self.truth < 1)

    @property
    def cells(self) -> list[str]:
        def shown(value: float | None) -> str:
            if value is None or math.isnan(value):
                return "-"
            return f"{value * 1e3:.4g} ms" if self.seconds else f"{value:.4f}"

        error = "-" if math.isnan(self.truth) else f"{self.error:+.2%}"
        interval = "-" if self.low is None else f"{shown(self.low)} to {shown(self.high)}"
        covered = {None: "-", True: "yes", False: "no"}[self.covered]
        return [
            self.program, str(self.ranks), self.subject, shown(self.predicted), shown(self.truth),
            error, interval, "withheld" if self.withheld else covered,
        ]  # fmt: skip


HEAD = ("program", "ranks", "prediction", "predicted", "truth", "error", "95% interval", "in it")
Pending = tuple[Line, Callable[[], float]]
"""A prediction, and what then finds the truth."""


# Graphs that are described


class Writer:
    """The calls of each rank, one after the other."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.ops: list[list[tuple[float, ...]]] = [[] for _ in range(ranks)]
        self.messages: list[tuple[int, ...]] = []
        self.groups: list[tuple[float, ...]] = []
        self.operations: list[str] = []
        self.computed = [0.0] * ranks
        self.channels: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.taken: dict[tuple[int, int], int] = defaultdict(int)

    def compute(self, rank: int, seconds: float) -> None:
        self.computed[rank] += seconds

    def _add(self, rank: int, kind: int, slot: int, flags: int = 0) -> None:
        self.ops[rank].append((kind, flags, 0, 0, slot, self.computed[rank]))
        self.computed[rank] = 0.0

    def _slot(self, source: int, target: int, size: int) -> int:
        """The k-th send and the k-th receive of a channel have the same one, whichever is written first."""
        self.messages.append((source, target, 0, 0, size))
        return len(self.messages) - 1

    def send(self, source: int, target: int, size: int) -> None:
        slot = self._slot(source, target, size)
        self.channels[source, target].append(slot)
        self._add(source, SEND, slot, BLOCKING)
        self._add(source, SENT, slot, TOGETHER)

    def receive(self, target: int, source: int) -> None:
        place = self.taken[source, target]
        self.taken[source, target] += 1
        slot = self.channels[source, target][place]
        self._add(target, RECEIVE, slot, BLOCKING)
        self._add(target, RECEIVED, slot, TOGETHER)

    def exchange(self, neighbors: Sequence[Sequence[int]], size: int) -> None:
        """MPI_Irecv from and MPI_Isend to all neighbors, then MPI_Waitall."""
        slots = {(a, b): self._slot(a, b, size) for a, others in enumerate(neighbors) for b in others}
        for rank, others in enumerate(neighbors):
            came = [slots[other, rank] for other in others]
            went = [slots[rank, other] for other in others]
            for slot in came:
                self._add(rank, RECEIVE, slot)
            for slot in went:
                self._add(rank, SEND, slot)
            ends = [(RECEIVED, slot) for slot in came] + [(SENT, slot) for slot in went]
            for number, (kind, slot) in enumerate(ends):
                self._add(rank, kind, slot, TOGETHER if number else 0)

    def collective(self, operation: str, size: int, root: int = -1) -> None:
        if operation not in self.operations:
            self.operations.append(operation)
        self.groups.append((self.operations.index(operation), 0, root, self.ranks, size))
        way = {"bcast": ROOTED_FROM, "reduce": ROOTED_TO}.get(operation, 0)
        for rank in range(self.ranks):
            flags = way | (AT_ROOT if rank == root else 0)
            self._add(rank, ENTER, len(self.groups) - 1, flags | BLOCKING)
            self._add(rank, LEAVE, len(self.groups) - 1, flags | TOGETHER)

    def graph(self) -> Graph:
        return Graph(
            np.array([op for mine in self.ops for op in mine], OP),
            np.cumsum([0, *map(len, self.ops)]),
            np.array(self.messages, MESSAGE),
            np.array(self.groups, GROUP),
            tuple(self.operations),
            (np.arange(self.ranks),),
            ("call",),
            np.array(self.computed),
        )


def grid(ranks: int) -> tuple[int, int]:
    """The sides of a grid, as near to a square as possible."""
    width = next(side for side in range(math.isqrt(ranks), 0, -1) if ranks % side == 0)
    return width, ranks // width


def computing(writer: Writer, random: np.random.Generator, mean_s: float, spread: float) -> None:
    for rank, factor in enumerate(random.lognormal(0.0, spread, writer.ranks)):
        writer.compute(rank, mean_s * factor)


def halo(ranks: int, size: int) -> Graph:
    """A torus of ranks, 20 steps, with an allreduce of a number in each."""
    writer, random = Writer(ranks), np.random.default_rng(1)
    wide, high = grid(ranks)
    neighbors = []
    for rank in range(ranks):
        x, y = rank % wide, rank // wide
        around = [((x + 1) % wide, y), ((x - 1) % wide, y), (x, (y + 1) % high), (x, (y - 1) % high)]
        neighbors.append(sorted({b * wide + a for a, b in around} - {rank}))
    for _ in range(20):
        computing(writer, random, 0.5 * MS, 0.05)
        writer.exchange(neighbors, size)
        writer.collective("allreduce", 8)
    return writer.graph()


def wavefront(ranks: int, size: int) -> Graph:
    """Blocking messages to the right and down, of 20 waves."""
    writer, random = Writer(ranks), np.random.default_rng(2)
    wide, high = grid(ranks)
    for _ in range(20):
        for rank in range(ranks):
            x, y = rank % wide, rank // wide
            for there, other in ((x > 0, rank - 1), (y > 0, rank - wide)):
                if there:
                    writer.receive(rank, other)
            writer.compute(rank, 0.1 * MS * random.lognormal(0.0, 0.05))
            for there, other in ((x < wide - 1, rank + 1), (y < high - 1, rank + wide)):
                if there:
                    writer.send(rank, other, size)
    return writer.graph()


def transpose(ranks: int, size: int) -> Graph:
    writer, random = Writer(ranks), np.random.default_rng(3)
    for _ in range(5):
        computing(writer, random, 1 * MS, 0.05)
        writer.collective("alltoall", size)
    return writer.graph()


def rooted(ranks: int, size: int) -> Graph:
    writer, random = Writer(ranks), np.random.default_rng(4)
    for _ in range(10):
        writer.collective("bcast", size, 0)
        computing(writer, random, 0.5 * MS, 0.3)
        writer.collective("reduce", size, 0)
        writer.collective("barrier", 0)
    return writer.graph()


def called(operation: str) -> Callable[[int, int], Graph]:
    """20 calls of one operation, with computation of about the time that they take."""

    def made(ranks: int, size: int) -> Graph:
        writer, random = Writer(ranks), np.random.default_rng(5)
        for _ in range(20):
            computing(writer, random, 0.1 * MS, 0.05)
            writer.collective(operation, size, 0 if operation == "bcast" else -1)
        return writer.graph()

    return made


DESCRIBED: dict[str, tuple[Callable[[int, int], Graph], int]] = {
    "halo, 8 KiB": (halo, 8 * KIB),
    "halo, 256 KiB": (halo, 256 * KIB),
    "wavefront, 1 KiB": (wavefront, KIB),
    "transpose, 1 KiB": (transpose, KIB),
    "bcast and reduce, 16 KiB": (rooted, 16 * KIB),
}


# Machines that are described


def machine(name: str, **network: object) -> Platform:
    """256 nodes on a network of 1 GB/s and 5 us."""
    shape = {"shape": "switch", "nodes": (NodeGroup(count=256),)} | network
    return Platform(
        name=name,
        title=name,
        network=Network(**shape),  # type: ignore[arg-type]
        segments=(
            Segment(
                send_s=0.5e-6, latency_s=5e-6, per_byte_s=1e-9, receive_s=0.5e-6, gap_s=0.2e-6,
                gap_s_per_byte=1e-9,
            ),
        ),
    )  # fmt: skip


SWITCH = machine("switch")
NICS = machine("nics", nic=1e9)
TORUS = machine("torus", shape="torus", dims=(16, 16), nodes=(), nic=1e9, link=1e9, hop_s=0.1e-6)
HISTORIC = ("t3e", "paragon", "switched-ethernet")


def other_network(platform: Platform, latency_s: float, bandwidth: float) -> Platform:
    """With latency added, and all rates times a factor."""
    segments = tuple(
        msgspec.structs.replace(
            each,
            latency_s=each.latency_s + latency_s,
            per_byte_s=each.per_byte_s / bandwidth,
            gap_s_per_byte=each.gap_s_per_byte / bandwidth,
            exchange_s_per_byte=each.exchange_s_per_byte / bandwidth,
        )
        for each in platform.segments
    )
    network = msgspec.structs.replace(
        platform.network, nic=platform.network.nic * bandwidth, link=platform.network.link * bandwidth
    )
    return msgspec.structs.replace(platform, segments=segments, network=network)


def situation(graph: Graph, platform: Platform) -> TracedProgram:
    ranks = graph.ranks
    placement = Placement.from_hosts(np.arange(ranks))
    nothing = np.zeros(ranks)
    built = TraceGraph(graph, placement, nothing, nothing, nothing)
    costs = Communication(costs_of_description(platform), platform=platform)
    return TracedProgram(built, {"value": make_machine(costs, placement)})


def executed(graph: Graph, name: str) -> float:
    """Seconds of the calls on a machine."""
    named = replace(graph, operations=tuple(each.capitalize() for each in graph.operations))
    return replay_on(named, name, launches=2).time_s


@dataclass
class Simulations:
    """SimGrid's times, each found once."""

    folder: Path

    def __post_init__(self) -> None:
        self._known: dict[tuple[int, str], float] = {}
        self._graphs: list[Graph] = []

    def seconds(self, graph: Graph, platform: Platform) -> float:
        text = simulated.write(platform)
        key = id(graph), text
        if key not in self._known:
            path = self.folder / "machine.toml"
            path.write_text(text, encoding="utf-8")
            self._known[key] = executed(graph, f"sim:{path}")
            self._graphs.append(graph)
        return self._known[key]


# Programs that are launched


@dataclass(frozen=True)
class Programs:
    """The kernels of the engine, and the program with known imbalance, with an MPI."""

    mpi: Mpi
    folder: Path
    survey_given: Path | None

    @property
    def title(self) -> str:
        return title_of(self.mpi)

    @cached_property
    def kernels(self) -> Path:
        return build.engine(self.mpi, group="hockney-npb").path

    @cached_property
    def known(self) -> Path:
        path = self.folder / f"known-{self.mpi.family}"
        source = str(HERE / "predicted_program.cpp")
        words = [self.mpi.mpicxx, "-O2", "-g", "-std=c++20", source, "-o", str(path)]
        subprocess.run(words, check=True)
        return path

    @cached_property
    def survey(self) -> Path:
        if self.survey_given is not None:
            return self.survey_given
        path = self.folder / f"survey-{self.mpi.family}"
        api.survey(api.RunOptions(ranks=(2,), budget=SURVEY_S, mpi=self.mpi.family), out=path)
        return path

    def kernel(self, name: str, size: str, ranks: int) -> list[str]:
        options = ("--budget", "20", "--max-repetitions", "3", "--warm-up", "1")
        return self.launcher((str(self.kernels), *options, name, f"class={size}"), ranks)

    def own(self, ranks: int, *words: object) -> list[str]:
        return self.launcher((str(self.known), *map(str, words)), ranks)

    def launcher(self, words: Sequence[str], ranks: int) -> list[str]:
        asked = command(self.mpi, tuple(words), ranks, processors().cores, bind=True, root=os.geteuid() == 0)
        variables = [f"{name}={value}" for name, value in dict(asked.environment).items()]
        return ["env", *variables, *asked.words] if variables else list(asked.words)

    def profile(self, words: Sequence[str], *, trace: bool, repeat: int = 1) -> Profile:
        out = Path(tempfile.mkdtemp(dir=self.folder)) / "profile"
        mode = "all" if trace else None
        with open(os.devnull, "w") as nothing:
            made = hockney.profile(
                words, trace=mode, repeat=repeat, survey="none", out=out, stdout=nothing.fileno()
            )
        return load_profile(made.path, self.survey)

    def predicted(self, words: Sequence[str], repeat: int, **changes: object) -> TracePrediction:
        profiled = self.profile(words, trace=True, repeat=repeat)
        return predict_trace(profiled, run=self.survey, **changes)  # type: ignore[arg-type]

    def seconds(self, words: Sequence[str], repeat: int) -> float:
        """Of launches without a trace."""
        launches = self.profile(words, trace=False, repeat=repeat).recorded.launches
        return statistics.median(each.elapsed_s for each in launches)

    def calls(self, words: Sequence[str]) -> Graph:
        """What a program calls, with usual computation."""
        return usual(traced_launch_of(self.profile(words, trace=True)).trace_graph.graph)


def usual(graph: Graph) -> Graph:
    """The median of all ranks before each call at a place, on ranks that share cores."""
    ops = graph.ops.copy()
    begins = np.flatnonzero((ops["flags"] & TOGETHER) == 0)
    for place in np.unique(ops["place"][begins]):
        here = begins[ops["place"][begins] == place]
        ops["computed_s"][here] = np.median(ops["computed_s"][here])
    tail = graph.tail_s
    return replace(graph, ops=ops, tail_s=np.full(len(tail), np.median(tail)) if len(tail) else tail)


# Questions


@dataclass
class Study:
    programs: Sequence[Programs]
    classes: Sequence[str]
    kernels: Sequence[str]
    added: Sequence[str]
    repeat: int
    most: int
    simulations: Simulations

    def answered(self, question: str) -> Iterator[Line]:
        """The lines of a question; what cannot be predicted or run is told."""
        try:
            for line, truth in getattr(self, question)():
                try:
                    found = truth()
                except HockneyError as error:
                    tell(f"{line.program}, {line.subject}: {error}")
                    continue
                yield replace(line, truth=found)
        except HockneyError as error:
            tell(f"{question}: {error}")

    def on_two_ranks(self, programs: Programs) -> Iterator[tuple[str, list[str]]]:
        for size in self.classes:
            for name in self.kernels:
                yield f"{name.upper()} {size}", programs.kernel(name, size, 2)
        yield "known halo", programs.own(2, "halo", 2000, 8 * KIB, 200)
        yield "known allreduce", programs.own(2, "allreduce", 2000, KIB, 100)
        for each in self.added:
            name, words = each.split("=", 1)
            yield name, programs.launcher(shlex.split(words.format(mpi=programs.mpi.family)), 2)

    def replay(self) -> Iterator[Pending]:
        for programs in self.programs:
            for name, words in self.on_two_ranks(programs):
                title = f"{name}, {programs.title}"
                try:
                    explained = programs.predicted(words, self.repeat).explained
                except HockneyError as error:
                    tell(f"{title}: {error}")
                    continue
                alone = explained.costs_only_program
                values = sorted(alone.run_s.values())
                line = Line("replay", title, 2, "its trace", alone.value_s, values[0], values[-1], True)
                yield line, lambda explained=explained: explained.recorded_s
                run_s = explained.run_s
                later = replace(
                    line, question="replay, next launches", subject="its trace and launches",
                    predicted=run_s.value, low=run_s.low, high=run_s.high,
                )  # fmt: skip
                yield later, lambda words=words, of=programs: of.seconds(words, self.repeat)

    @cached_property
    def traced_graphs(self) -> dict[str, Graph]:
        """Of the kernels of class S on 4 and 16 ranks."""
        found, programs = {}, self.programs[0]
        for ranks in (4, 16):
            for name in self.kernels:
                try:
                    found[f"{name.upper()} S on {ranks}"] = programs.calls(programs.kernel(name, "S", ranks))
                except HockneyError as error:
                    tell(f"{name} on {ranks} ranks: {error}")
        return found

    @cached_property
    def described_graphs(self) -> dict[str, Graph]:
        counts = [ranks for ranks in (4, 16, 64, 256) if ranks <= self.most]
        return {
            f"{name} on {ranks}": made(ranks, size)
            for ranks in counts
            for name, (made, size) in DESCRIBED.items()
        }

    def graphs(self) -> Iterator[tuple[str, Graph]]:
        for name, graph in (self.traced_graphs | self.described_graphs).items():
            yield name.rpartition(" on ")[0], graph

    def simulation(self) -> Iterator[Pending]:
        """On the machine without shared links, on one with them, and on another one, by turns."""
        others = [TORUS, *(simulated.platform(name) for name in HISTORIC)]
        for number, (name, graph) in enumerate(self.graphs()):
            fitting = [each for each in others if graph.ranks <= each.capacity]
            for platform in (SWITCH, NICS, fitting[number % len(fitting)]):
                try:
                    predicted_s = situation(graph, platform).unchanged_program.value_s
                except HockneyError as error:
                    tell(f"{name} on {platform.name}: {error}")
                    continue
                shares = "simulation, shared links" if shares_links(platform) else "simulation"
                line = Line(shares, name, graph.ranks, platform.name, predicted_s, seconds=True)
                yield line, lambda graph=graph, on=platform: self.simulations.seconds(graph, on)

    def _ratio(
        self,
        question: str,
        name: str,
        graph: Graph,
        subject: str,
        before: Platform,
        after: Platform,
        asked: RequestedChanges,
    ) -> Pending:
        """A change, of a run whose time on the base is known."""
        base_s = self.simulations.seconds(graph, before)
        known = situation(graph, before)
        explained = ExplainedRun(known.unchanged_program, base_s, (base_s,), known.costs_only_program)
        ratio = explained.predict_change(known.candidate(asked)).ratio
        line = Line(
            question, name, graph.ranks, subject, ratio.value, ratio.low, ratio.high,
            withheld=not explained.reliable,
        )  # fmt: skip
        return line, lambda: self.simulations.seconds(graph, after) / base_s

    def network(self) -> Iterator[Pending]:
        """On 16 and 64 ranks."""
        changes = ((20e-6, 1.0), (0.0, 2.0), (0.0, 0.25))
        for name, graph in self.graphs():
            if graph.ranks not in (16, 64):
                continue
            for platform in (SWITCH, NICS):
                question = "network, shared links" if shares_links(platform) else "network"
                for latency_s, bandwidth in changes:
                    asked = RequestedChanges(
                        latency_s=latency_s or None, bandwidth=None if bandwidth == 1 else bandwidth
                    )
                    subject = f"{platform.name}, {asked.changes[0].text}"
                    after = other_network(platform, latency_s, bandwidth)
                    yield self._ratio(question, name, graph, subject, platform, after, asked)

    def algorithm(self) -> Iterator[Pending]:
        for ranks in (16, 64):
            for operation, size, (before, own), (after, wanted) in ALGORITHMS:
                graph = called(operation)(ranks, size)
                for platform in (SWITCH, NICS):
                    one, other = (
                        msgspec.structs.replace(platform, collectives={operation: each})
                        for each in (own, wanted)
                    )
                    name = f"{operation}, {size} B"
                    subject = f"{platform.name}, {before} to {after}"
                    asked = RequestedChanges(algorithms={operation: after})
                    question = "algorithm, shared links" if shares_links(platform) else "algorithm"
                    yield self._ratio(question, name, graph, subject, one, other, asked)

    def ethernet(self) -> Iterator[Pending]:
        programs = self.programs[0]
        base = ethernet("base", 100e6, 100e-6)
        base_name = self._written(base)
        survey = self.simulations.folder / "survey-lan"
        api.survey(api.RunOptions(ranks=(2, 4), budget=SURVEY_S, machine=base_name), out=survey)
        others = (
            ("latency +400us", ethernet("slow", 100e6, 300e-6), RequestedChanges(latency_s=400e-6)),
            ("bandwidth x 0.1", ethernet("narrow", 10e6, 100e-6), RequestedChanges(bandwidth=0.1)),
        )
        for name, words in (
            ("known halo, 8 KiB", programs.own(4, "halo", 50, 8 * KIB, 500)),
            ("known allreduce, 1 KiB", programs.own(4, "allreduce", 50, KIB, 500)),
            ("CG S", programs.kernel("cg", "S", 4)),
        ):
            graph = programs.calls(words)
            source = api.programs.communication_source(
                survey, "", "typical", tell_nothing, (4,), larger=False
            )
            placement = Placement.from_hosts(np.arange(4))
            nothing = np.zeros(4)
            machines = {
                end: make_machine(costs, placement, source.fits) for end, costs in source.costs.items()
            }
            known = TracedProgram(TraceGraph(graph, placement, nothing, nothing, nothing), machines)
            values = sorted(known.unchanged_program.run_s.values())
            line = Line(
                "ethernet",
                name,
                4,
                "100 Mbit/s, 100 us",
                known.unchanged_program.value_s,
                values[0],
                values[-1],
                True,
            )
            base_s: list[float] = []

            def truth(graph: Graph = graph, base_s: list[float] = base_s) -> float:
                base_s.append(executed(graph, base_name))
                return base_s[0]

            yield line, truth
            explained = ExplainedRun(
                known.unchanged_program, base_s[0], (base_s[0],), known.costs_only_program
            )
            for subject, after, asked in others:
                ratio = explained.predict_change(known.candidate(asked)).ratio
                line = Line(
                    "ethernet", name, 4, subject, ratio.value, ratio.low, ratio.high,
                    withheld=not explained.reliable,
                )  # fmt: skip
                name_after = self._written(after)
                yield line, lambda g=graph, n=name_after, s=base_s[0]: executed(g, n) / s

    def _written(self, machine: Ethernet) -> str:
        path = self.simulations.folder / f"{machine.name}.toml"
        path.write_text(emulated.write(machine), encoding="utf-8")
        return f"lan:{path}"

    def check(self) -> Iterator[Pending]:
        cases = (
            ("allreduce", 8, {"allreduce": "recursive_doubling"}),
            ("allreduce", 64 * KIB, {"allreduce": "ring"}),
            ("bcast", 64 * KIB, {"bcast": "scatter_allgather"}),
            ("alltoall", 16 * KIB, {"alltoall": "pairwise"}),
            ("barrier", 8, {"barrier": "dissemination"}),
        )
        for programs in self.programs:
            for pattern, size, algorithms in cases:
                words = programs.own(2, pattern, 20000, size, 5)
                found = programs.predicted(words, self.repeat, algorithms=algorithms)
                explained, situation_ = found.explained, found.situation
                what_if = explained.predict_change(
                    situation_.candidate(RequestedChanges(algorithms=algorithms))
                )
                ratio = what_if.ratio
                line = Line(
                    "check", f"known {pattern}, {size} B, {programs.title}", 2,
                    f"{pattern} by {algorithms[pattern]}", ratio.value, ratio.low, ratio.high,
                    withheld=not explained.reliable,
                )  # fmt: skip
                if line.withheld:
                    # There is no prediction that could be checked.
                    yield line, lambda: math.nan
                    continue
                frozen = found.freeze(Path(tempfile.mkdtemp(dir=programs.folder)) / "prediction.json")
                yield line, lambda frozen=frozen, words=words: self._checked(frozen, words)

    def _checked(self, frozen: Path, words: Sequence[str]) -> float:
        with open(os.devnull, "w") as nothing:
            done = check_prediction(
                frozen, words, repeat=self.repeat, out=frozen.parent / "check",
                archive=frozen.parent / "archive", stdout=nothing.fileno(),
            )  # fmt: skip
        return done.check.rows[-1].measured.value

    def imbalance(self) -> Iterator[Pending]:
        work, steps, size = 400, 1000, 8 * KIB
        for programs in self.programs:
            for text, asked, words, without in (
                *(
                    (
                        f"balance, {delay} us of {work + delay}",
                        RequestedChanges(balance=True),
                        (work, delay),
                        (work + delay / 2,),
                    )
                    for delay in (40, 400)
                ),
                *(
                    (f"no noise of {noise} us", RequestedChanges(no_noise=True), (work, 0, noise), (work,))
                    for noise in (400, 2000)
                ),
            ):
                own = programs.own(2, "halo", steps, size, *words)
                found = programs.predicted(own, self.repeat)
                ratio = found.explained.predict_change(found.situation.candidate(asked)).ratio
                line = Line(
                    "imbalance", f"known halo, {programs.title}", 2, text, ratio.value, ratio.low, ratio.high,
                    withheld=not found.explained.reliable,
                )  # fmt: skip
                other = programs.own(2, "halo", steps, size, *without)
                base_s = found.traced.launches_s
                yield (
                    line,
                    lambda of=programs, other=other, base_s=base_s: (
                        of.seconds(other, self.repeat) / statistics.median(base_s)
                    ),
                )


ALGORITHMS = (
    ("allreduce", 8, ("recursive_doubling", "rdb"), ("reduce_broadcast", "redbcast")),
    ("allreduce", 16 * KIB, ("reduce_broadcast", "redbcast"), ("recursive_doubling", "rdb")),
    ("bcast", 8, ("binomial", "binomial_tree"), ("linear", "flattree")),
    ("bcast", 256 * KIB, ("binomial", "binomial_tree"), ("scatter_allgather", "scatter_LR_allgather")),
    ("alltoall", 8, ("bruck", "bruck"), ("pairwise", "ring")),
    ("alltoall", 8 * KIB, ("bruck", "bruck"), ("pairwise", "ring")),
    ("barrier", 0, ("dissemination", "ompi_bruck"), ("recursive_doubling", "ompi_recursivedoubling")),
    ("barrier", 0, ("dissemination", "ompi_bruck"), ("binomial", "ompi_tree")),
)
"""Operation, bytes, and two algorithms: hockney's name and SimGrid's."""


def ethernet(name: str, bits: float, delay_s: float) -> Ethernet:
    return Ethernet(name=name, title=name, hosts=4, rate=bits / 8, medium="switch", delay_s=delay_s)


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def tell_nothing(event: object) -> None:
    """Listens to the progress of measurements."""


# Results


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]


def share(found: Sequence[bool | None]) -> str:
    known = [each for each in found if each is not None]
    return f"{sum(known) / len(known):.0%} of {len(known)}" if known else "-"


def summary(lines: Sequence[Line]) -> list[str]:
    """A row for each question; predictions that hockney withholds are only counted."""
    rows = []
    for question in dict.fromkeys(line.question for line in lines):
        mine = [line for line in lines if line.question == question]
        for seconds in (True, False):
            given = [line for line in mine if line.seconds == seconds and not line.withheld]
            if not any(line.seconds == seconds for line in mine):
                continue
            errors = [abs(line.error) for line in given]
            cells = ["-"] * 3
            if errors:
                cells = [f"{x:.2%}" for x in (np.median(errors), np.quantile(errors, 0.9), max(errors))]
            withheld = sum(line.withheld for line in mine if line.seconds == seconds)
            rows.append(
                [
                    question, "run time" if seconds else "change", str(len(given)), str(withheld), *cells,
                    share([line.covered for line in given]), share([line.sign for line in given]),
                ]
            )  # fmt: skip
    head = ("question", "of", "predictions", "withheld", "median error", "p90", "largest", "in the interval",
            "direction right, if decided")  # fmt: skip
    return table(head, rows)


def text_of(lines: Sequence[Line]) -> str:
    found = ["## Summary", "", *summary(lines)]
    for question in dict.fromkeys(line.question for line in lines):
        rows = [line.cells for line in lines if line.question == question]
        last = next(line for line in reversed(lines) if line.question == question)
        found += [
            "",
            f"## {question.capitalize()}",
            "",
            f"Load average {last.load}; {last.launches} launches.",
        ]
        found += ["", *table(HEAD, rows)]
    return "\n".join(found)


def kept(path: Path | None) -> list[Line]:
    if path is None or not path.exists():
        return []
    return [Line(**json.loads(text)) for text in path.read_text("utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--questions", default=",".join(QUESTIONS))
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--classes", default="S,W", help="of the NAS benchmarks on 2 ranks")
    parser.add_argument("--only", default=",".join(REFERENCES), help="NAS benchmarks, separated by commas")
    parser.add_argument("--program", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--run", action="append", default=[], metavar="MPI=FOLDER", help="a survey")
    parser.add_argument("--repeat", type=int, default=3, help="launches of each kind")
    parser.add_argument("--most", type=int, default=256, help="simulated ranks")
    parser.add_argument("--lines", type=Path, help="where predictions are kept")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    surveys = {name: Path(path).resolve() for name, path in (each.split("=", 1) for each in arguments.run)}
    before = os.getloadavg()[0]
    questions = arguments.questions.split(",") if arguments.questions else []
    path, out = (each and each.resolve() for each in (arguments.lines, arguments.out))
    lines = [line for line in kept(path) if line.question.partition(",")[0] not in questions]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = [Programs(find_mpi(each), folder, surveys.get(each)) for each in arguments.mpi.split(",")]
        study = Study(
            programs,
            arguments.classes.split(","),
            list(filter(None, arguments.only.split(","))),
            arguments.program,
            arguments.repeat,
            arguments.most,
            Simulations(folder),
        )
        # Programs may write files.
        os.chdir(folder)
        for question in questions:
            for line in study.answered(question):
                load = f"{before:.1f} to {os.getloadavg()[0]:.1f}"
                lines.append(replace(line, launches=arguments.repeat, load=load))
                tell(f"{question}: {'; '.join(lines[-1].cells)}")
                if path is not None:
                    write_atomically(
                        path, "".join(f"{json.dumps(asdict(each))}\n" for each in lines).encode()
                    )
    lines.sort(key=lambda line: QUESTIONS.index(line.question.partition(",")[0]))
    mpis = ", ".join(each.title for each in programs)
    text = f"{text_of(lines)}\n\n{mpis}, {processors().cores.usable} cores."
    print(text)
    if out:
        intro = __doc__.partition("\n\n")[2].partition("\n\n")[2].strip()
        out.write_text(f"# Predictions of traced programs\n\n{intro}\n\n{text}\n")


if __name__ == "__main__":
    main()
