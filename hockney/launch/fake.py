# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A launcher without MPI: it generates results from a world with known costs, using the real code path.

It has the engine's guarantees (order, budget, precision, one line at a time, identical bytes) on a simulated
clock, and can be set to die, hang, refuse or fail verification on a given case.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar, cast, get_args

import numpy as np

from hockney.core.case import Case
from hockney.core.errors import UsageError, unknown
from hockney.core.layout import (
    LEVELS,
    THIS_HOST,
    HostOptions,
    Layout,
    Level,
    level_between,
    parse_level,
    sort_levels,
)
from hockney.core.record import (
    SCHEMA,
    Clock,
    End,
    EngineLines,
    Failure,
    Launch,
    Rank,
    Record,
    Start,
    Stop,
    Sync,
    SyncKind,
    Verified,
    decode_engine_line,
    encode_line,
)
from hockney.core.units import parse_seconds
from hockney.launch.fake_world import World
from hockney.launch.fakes.nodes import FakeNodeTimes
from hockney.launch.launcher import CheckedRanks, Hello, LaunchCommand, Launcher, LaunchFailed, LaunchOptions

T = TypeVar("T")
FaultKind = Literal["die", "hang", "refuse", "corrupt"]
CLOCK = Clock(overhead_s=25e-9, resolution_s=1e-9)
LIBRARY = "Fake MPI 1.0"
HOST = "fakehost"
CORES = 4
"""Cores per node."""
EPOCH = 1_700_000_000.0


@dataclass(frozen=True)
class Fault:
    """A fault that occurs `times` times, in cases that contain all words of `case`."""

    kind: FaultKind
    case: str
    times: int = 10**9

    def matches(self, case: Case) -> bool:
        return set(self.case.split()) <= set(case.line.split())


@dataclass(frozen=True)
class FakeNodes:
    """Where ranks are placed, and which ranks take part in a case. `inner_levels` are the levels below
    "node", nearest first. Each level joins two groups of the level below: with a cache and a socket, ranks 0
    and 1 share a cache, and ranks 0 to 3 a socket. Without a layout, all ranks are on one node with no inner
    levels."""

    layout: Layout | None = None
    inner_levels: tuple[Level, ...] = ()

    def node_of(self, rank: int) -> int:
        return 0 if self.layout is None else rank // self.layout.ranks_per_node

    def rank(self, rank: int) -> Rank:
        node = self.node_of(rank)
        local = rank if self.layout is None else rank % self.layout.ranks_per_node
        group = {level: local >> k for k, level in enumerate(self.inner_levels, start=1)}
        return Rank(
            host=HOST if self.layout is None or self.layout.nodes == 1 else f"{HOST}{node}",
            pid=1000 + rank,
            cpus=str(local),
            core=group.get("core", local) if self.inner_levels else -1,
            cache=group.get("cache", -1),
            socket=group.get("socket", -1),
        )

    def level(self, first_rank: int, second_rank: int) -> Level:
        return level_between(self.rank(first_rank), self.rank(second_rank))

    def members(self, case: Case, launch_ranks: int, index: int) -> list[int]:
        """Return the ranks that take part in a case of launch number `index`, in the case's order. World rank
        0 comes first. The partners of pairs, and the nodes except the first, change with the launch. With
        `nodes=`, the first ranks of each node take part, which are nearest to each other. Empty if the launch
        has no suitable ranks."""
        if case.nodes:
            return self._spread_members(case, launch_ranks, index)
        return (
            self._pair_members(case.ranks // 2, case.place, launch_ranks, index)
            if case.place
            else [*range(case.ranks)]
        )

    def _spread_members(self, case: Case, launch_ranks: int, index: int) -> list[int]:
        nodes = sorted({self.node_of(rank) for rank in range(launch_ranks)})
        per_node = case.ranks // case.nodes
        ranks = [[r for r in range(launch_ranks) if self.node_of(r) == node][:per_node] for node in nodes]
        full = [node_ranks for node_ranks in ranks if len(node_ranks) == per_node]
        first, remaining = full[:1], _rotate(full[1:], index)
        return (
            [rank for node_ranks in [*first, *remaining][: case.nodes] for rank in node_ranks]
            if len(full) >= case.nodes
            else []
        )

    def _pair_members(self, pairs: int, place: str, launch_ranks: int, index: int) -> list[int]:
        """Return the first rank of each pair, then the second ranks. All pairs between nodes connect the same
        two nodes."""
        lower: list[int] = []
        upper: list[int] = []
        free = set(range(launch_ranks))
        partners = [rank for rank in range(launch_ranks) if self.level(0, rank) == place and rank]
        other_node = (
            None if place != LEVELS[-1] or not partners else self.node_of(_rotate(partners, index)[0])
        )
        for rank in range(launch_ranks):
            if rank not in free or (other_node is not None and self.node_of(rank)):
                continue
            free.discard(rank)
            candidates = [candidate for candidate in sorted(free) if self.level(rank, candidate) == place]
            candidates = [
                candidate
                for candidate in candidates
                if other_node is None or self.node_of(candidate) == other_node
            ]
            if candidates and len(lower) < pairs:
                partner = _rotate(candidates, 0 if other_node is not None and pairs > 1 else index)[0]
                free.discard(partner)
                lower.append(rank)
                upper.append(partner)
            elif not rank:
                return []
        return [*lower, *upper] if len(lower) == pairs else []

    def place_of(self, case: Case, members: list[int]) -> Level | Literal[""]:
        """Return the place in a record: the level at which the ranks of each pair meet, "" for other
        cases."""
        pairs = case.ranks // 2 if case.place or case.ranks == 2 else 0
        levels = {self.level(members[k], members[k + pairs]) for k in range(pairs)}
        return levels.pop() if len(levels) == 1 else ""

    def count_nodes(self, members: list[int]) -> int:
        return len({self.node_of(rank) for rank in members})


def _rotate(items: list[T], offset: int) -> list[T]:
    """Return the list beginning with another element for each offset."""
    first = offset % len(items) if items else 0
    return [*items[first:], *items[:first]]


@dataclass(eq=False)
class FakeLauncher(Launcher):
    """Generates results without starting ranks. `pace_s` is a real delay before each case, so that a test can
    kill in between. `launch_s` is the simulated cost of starting and ending a launch, `case_s` the cost of
    setting up and checking a case. `nodes` places the ranks. The clock starts `day` days after EPOCH."""

    world: World = field(default_factory=World)
    faults: Sequence[Fault] = ()
    pace_s: float = 0.0
    launch_s: float = 0.4
    case_s: float = 1e-4
    nodes: FakeNodes = field(default_factory=FakeNodes)
    day: int = 0
    _now: float = 0.0
    _fault_counts: dict[Fault, int] = field(default_factory=dict)

    def now(self) -> float:
        """Return the simulated time in seconds."""
        return self._now

    def _date_s(self, now: float) -> float:
        return EPOCH + 86_400.0 * self.day + now

    def wait(self, seconds: float) -> None:
        """Advance the simulated clock. Takes `pace_s` of real time, or `seconds` if shorter."""
        if self.pace_s:
            time.sleep(min(seconds, self.pace_s))
        self._now += seconds

    def describe(self, ranks: int) -> LaunchCommand:
        return LaunchCommand(
            ("fake-mpiexec", "-n", str(ranks), "hockney-engine", "--plan", "-"),
            binding="rank i on cpu i",
        )

    def check(self, ranks: int) -> CheckedRanks:
        if self.nodes.layout is None:
            return CheckedRanks()
        self._now += self.launch_s
        rank_infos = [self.nodes.rank(rank) for rank in range(ranks)]
        return CheckedRanks(
            tuple(
                Hello(rank, ranks, info.host, LIBRARY, info.node, info.core, info.cache, info.socket)
                for rank, info in enumerate(rank_infos)
            )
        )

    def run(self, plan: Sequence[Case], ranks: int, options: LaunchOptions) -> EngineLines:
        base_world = self.world
        self.world = replace(base_world.with_variables(dict(options.variables)), files=options.files)
        try:
            yield from self._run(plan, ranks, options)
        finally:
            self.world = base_world

    def _run(self, plan: Sequence[Case], ranks: int, options: LaunchOptions) -> EngineLines:
        for line in self._generate_lines(plan, ranks, options):
            yield decode_engine_line(encode_line(line))

    def _generate_lines(self, plan: Sequence[Case], ranks: int, options: LaunchOptions) -> EngineLines:
        self._now += 0.75 * self.launch_s
        start_s = self._now
        yield self._launch(ranks, options)
        for position, case in enumerate(plan):
            if case.ranks != ranks and not (case.is_placed and case.ranks < ranks):
                raise LaunchFailed(
                    f"the plan has ranks={case.ranks}, but {ranks} ranks run",
                    code="fake-wrong-ranks",
                    reason="refused",
                )
            if position and 0 < options.limit_s <= self._now - start_s:
                break
            if self.pace_s:
                time.sleep(self.pace_s)
            yield Start(case=case.line, position=position)
            share = max(0.0, options.budget_s - (self._now - start_s)) / (len(plan) - position)
            yield self._measure(case, ranks, position, share, options)
        yield End(cases=len(plan))
        self._now += 0.25 * self.launch_s

    def _launch(self, ranks: int, options: LaunchOptions) -> Launch:
        command = self.describe(ranks)
        return Launch(
            schema=SCHEMA,
            launch=options.launch,
            index=options.index,
            origin="fake",
            started_s=self._date_s(self._now),
            ranks=[self.nodes.rank(rank) for rank in range(ranks)],
            mpi_standard="4.1",
            library=LIBRARY,
            engine="fake",
            compiler="none",
            clock=CLOCK,
            command=list(command.words),
            binding=command.binding,
            bound=command.bound,
            init_s=0.1,
        )

    def _measure(
        self, case: Case, ranks: int, position: int, share: float, options: LaunchOptions
    ) -> Record | Failure:
        fault = self._fault(case)
        if self.world.lacks_program(case):
            fault = "refuse"
        if fault == "die":
            raise LaunchFailed(
                "rank 1 was ended by signal 9",
                "the fake machine was set to do so",
                code="fake-death",
                reason="died",
                case=case.line,
                job_exit=137,
            )
        if fault == "hang":
            self._now += options.hang_s
            raise LaunchFailed(
                "the case did not end",
                code="fake-hang",
                reason="hung",
                case=case.line,
                silent_ranks=(1,),
                phase="run",
                job_exit=75,
            )
        members = self.nodes.members(case, ranks, options.index)
        if case.nodes and len(members) == ranks:
            members = list(range(ranks))
        if fault == "refuse" or not members:
            return Failure(
                schema=SCHEMA,
                launch=options.launch,
                case=case.line,
                reason="refused",
                message="the fake machine was set to refuse it"
                if members
                else "no ranks of the launch meet there",
            )
        place, nodes = self.nodes.place_of(case, members), self.nodes.count_nodes(members)
        rank_nodes = tuple(map(self.nodes.node_of, members))
        world = self.world.spread(place, nodes)
        start_s = self._now
        batch = max(
            int(case.number("iterations", 1)), math.ceil(CLOCK.overhead_s / (0.05 * world.time(case)))
        )
        times, stop = self._repeat(world, case, batch, share, options)
        self._now += self.case_s + 1.1 * batch * float(times.sum())
        kind = cast(SyncKind, case.get("sync", "none"))
        size, checked_bytes = world.bytes_moved(case), world.bytes_checked(case)
        uses_clock = kind == "window" or world.catalog.entry(case.workload).role == "arrival"
        mismatch = (
            "rank 1, offset 8: expected 7, found 0"
            if fault == "corrupt" or case.get("fault") == "bit"
            else ""
        )
        return Record(
            schema=SCHEMA,
            launch=options.launch,
            origin="fake",
            position=position,
            case=case.line,
            started_s=self._date_s(start_s),
            times_s=times.tolist(),
            batch=batch,
            warmup_s=(3 * times[:2]).tolist(),
            bytes_moved=size,
            sync=Sync(kind=kind, error_s=2e-8 if uses_clock else None),
            stop=stop,
            verified=Verified(bytes=checked_bytes * len(times), errors=3 if mismatch else 0, first=mismatch),
            metrics=world.in_launch(options.index, rank_nodes).metrics(case, times),
            labels=world.labels(case),
            place=place,
            nodes=nodes,
            members=[] if len(members) == ranks else members,
        )

    def _repeat(
        self, world: World, case: Case, batch: int, share: float, options: LaunchOptions
    ) -> tuple[np.ndarray, Stop]:
        """Repeat as the engine does: until the interval of the median is narrow enough or time is up."""
        count = 8
        while True:
            count = min(count * 2, options.max_repetitions)
            times = world.sample(case, options.index, count)
            elapsed_s = 1.1 * batch * np.cumsum(times)
            if elapsed_s[-1] > share:
                times = times[: max(1, int(np.searchsorted(elapsed_s, share)))]
                return times, Stop(
                    reason="budget", precision=options.precision, achieved=achieved_precision(times)
                )
            width = achieved_precision(times)
            if width is not None and width <= options.precision:
                return times, Stop(reason="precision", precision=options.precision, achieved=width)
            if count >= options.max_repetitions:
                return times, Stop(reason="repetitions", precision=options.precision, achieved=width)

    def _fault(self, case: Case) -> FaultKind | None:
        for fault in self.faults:
            if fault.matches(case) and self._fault_counts.get(fault, 0) < fault.times:
                self._fault_counts[fault] = self._fault_counts.get(fault, 0) + 1
                return fault.kind
        return None


def achieved_precision(times: np.ndarray) -> float | None:
    """Return the relative half width of the 95% interval of the median, from the order statistics with ranks
    n/2 -+ 1.96 sqrt(n)/2 (Le Boudec, "Performance Evaluation of Computer and Communication Systems", appendix
    A). None if they do not exist."""
    n = len(times)
    low = math.floor(n / 2 - 0.98 * math.sqrt(n)) - 1
    high = math.ceil(n / 2 + 1 + 0.98 * math.sqrt(n)) - 1
    if low < 0 or high >= n:
        return None
    sorted_times = np.sort(times)
    return float((sorted_times[high] - sorted_times[low]) / 2 / np.median(sorted_times))


def parse_fake_launcher(text: str, hosts: HostOptions = THIS_HOST, cores: int = CORES) -> FakeLauncher:
    """Parse "fake", or with settings: "fake:pace=5ms;seed=3;die=barrier ranks=2;hang=..." (see FaultKind).
    "nodes=2" makes two nodes, with a rank on each of their `cores` unless `hosts` has another number, and
    "levels=cache,socket" the levels at which ranks of a node meet.

    A fault occurs every time; with an exclamation mark ("die!=...") only once. "slow=bcast ranks=2:1.3" makes
    every case with these words take 1.3 times as long. "node=3:1.1" and "link=2-5:1.3" make a node, or
    messages between two nodes, take so many times as long in comparisons of nodes. "day=3" starts the clock
    three days later.
    """
    world, faults, pace = World(), [], 0.0
    nodes: int = 0
    day = 0
    levels: tuple[Level, ...] = ()
    node_times = FakeNodeTimes()
    for part in filter(None, text.partition(":")[2].split(";")):
        name, _, value = part.partition("=")
        kind = name.removesuffix("!")
        if name == "pace":
            pace = parse_seconds(value)
        elif name == "seed" and value.isdecimal():
            world = replace(world, seed=int(value))
        elif kind in get_args(FaultKind) and value:
            faults.append(Fault(cast(FaultKind, kind), value, times=1 if name != kind else 10**9))
        elif name == "slow" and (slowdown := _parse_slowdown(value)):
            world = replace(world, slowdowns=(*world.slowdowns, slowdown))
        elif name == "slow":
            raise UsageError(
                f"'{value}' is no slowdown",
                "it needs words of a case and a factor",
                "use for example 'fake:slow=bcast ranks=2:1.3'",
                code="fake-not-a-slowdown",
            )
        elif name in ("node", "link") and (slow_nodes := _parse_slow_nodes(value, name)):
            places, factor = slow_nodes
            if name == "node":
                node_times = replace(node_times, slow_nodes={**node_times.slow_nodes, places[0]: factor})
            else:
                node_times = replace(node_times, slow_links={**node_times.slow_links, places: factor})
        elif name == "day" and value.isdecimal():
            day = int(value)
        elif name == "nodes" and value.isdecimal() and int(value):
            nodes = int(value)
        elif name == "nodes":
            raise UsageError(
                f"'{value}' is not a number of nodes",
                "",
                "use for example fake:nodes=2",
                code="fake-nodes-not-whole",
            )
        elif name == "levels":
            levels = sort_levels(map(parse_level, value.split(",")))
        elif name == "seed":
            raise UsageError(
                f"seed '{value}' is not a whole number",
                "",
                "use for example fake:seed=3",
                code="fake-seed-not-whole",
            )
        else:
            raise unknown(
                "setting of the fake machine",
                name,
                ["day", "levels", "link", "node", "nodes", "pace", "seed", "slow", *get_args(FaultKind)],
                code="unknown-fake-setting",
            )
    world = world.with_workloads(replace(node_times, seed=world.seed))
    fake_nodes = _fake_nodes(nodes, levels, hosts, cores) if nodes or levels or hosts else FakeNodes()
    return FakeLauncher(world, tuple(faults), pace, nodes=fake_nodes, day=day)


def _fake_nodes(nodes: int, levels: Sequence[Level], hosts: HostOptions, cores: int) -> FakeNodes:
    if nodes and hosts.nodes > nodes:
        raise UsageError(
            f"the fake machine has {nodes} nodes, not {hosts.nodes}",
            "",
            f"use --nodes {nodes} or fake:nodes={hosts.nodes}",
            code="fake-too-few-nodes",
        )
    layout = Layout(hosts.nodes or nodes or 1, hosts.ranks_per_node or cores)
    return FakeNodes(layout, tuple(level for level in levels if level not in ("node", "network")))


def _parse_slow_nodes(text: str, name: str) -> tuple[tuple[int, ...], float] | None:
    """Return the nodes, in ascending order, and the factor of "3:1.1" or, for a link, "2-5:1.3"."""
    places, _, factor = text.partition(":")
    with contextlib.suppress(ValueError):
        nodes = tuple(sorted(map(int, places.split("-"))))
        if len(nodes) == (1 if name == "node" else 2) and 0 < float(factor) < math.inf:
            return nodes, float(factor)
    return None


def _parse_slowdown(text: str) -> tuple[str, float] | None:
    """Return the words and the factor of "bcast ranks=2:1.3"."""
    words, _, factor = text.rpartition(":")
    with contextlib.suppress(ValueError):
        return (words, float(factor)) if words and 0 < float(factor) < math.inf else None
    return None
