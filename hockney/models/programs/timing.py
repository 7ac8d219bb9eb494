# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of an iteration of a program, with a clock for each rank, and where it goes.

Computation takes its time. Messages and collective operations are simulated with the costs of a machine: on a
real one what a run measured between two ranks (`measured_costs`) and the collectives that it measured on as
many ranks; on a described one its description, with the links that messages share if there are any
(`network_sim`). Iterations follow each other without a barrier until each takes as long as the one before.

A part's own time is what it takes if all ranks begin it together; what it takes longer is waiting."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count, islice, pairwise
from typing import Literal

import msgspec
import numpy as np

from hockney.core.errors import UsageError
from hockney.core.platform import Platform
from hockney.core.smpi_algorithms import choose_algorithms, unknown_algorithm
from hockney.models import collective_algorithms
from hockney.models.collective_costs import algorithms
from hockney.models.level_costs import CostsByLevel
from hockney.models.loggp_sim import LayerCosts, LogGPSimulator, nodes_of
from hockney.models.network_sim import NetworkSimulator
from hockney.models.programs.communication import Communication
from hockney.models.programs.parts import (
    CollectivePart,
    Iteration,
    Part,
    StepsPart,
    TasksPart,
    in_groups,
    measured_as,
    noise_factors,
)
from hockney.models.routes import Routes, shares_links
from hockney.models.schedules import (
    CLOSED_FORMS,
    SCHEDULES,
    Layer,
    Mode,
    NotModelled,
    Step,
    collectives,
    names,
)
from hockney.models.schedules.blocks import shift
from hockney.models.schedules.schedule import Schedule
from hockney.models.schedules.smpi import SMPI

Kind = Literal["computation", "messages", "collectives", "waiting"]
Basis = Literal["measured", "described", "assumed", "requested"]

ROUNDING = 1e-9
"""Smaller parts of a time are 0."""
SETTLED = 1e-3
MAX_ITERATIONS = 24
VARIED_ITERATIONS = 64
"""Iterations of a program with noise: all are simulated, and the first ones left out."""
LEFT_OUT = 4
SEED = 1998
CONTENDING_ITERATIONS = 3
MAX_CONTENDING_ITERATIONS = 10
SOON_FOLLOWED = 1_000
"""Messages up to which more iterations than the fewest are simulated with shared links."""
MAX_CONTENDING = 4_000
"""Messages of a simulation with shared links, which takes about a millisecond for each."""
MAX_LAYERS = 64
"""Messages of each rank that are simulated if it posts one for each of very many others at once."""
MAX_STEPS = 256
"""Steps of a collective's schedule that are simulated; if it has more, which are alike, the call takes longer
in proportion."""
ALL_TOGETHER = ("allreduce", "allgather", "alltoall", "barrier", "reduce_scatter_block", "scan")
"""Operations that no rank leaves before all have entered."""
BARRIER = "dissemination"
WORK = ": work"
"""The end of a part's name with the computation of a phase that has messages too."""

Runner = Callable[[Iterator[Sequence[Part]]], Iterator[list[np.ndarray]]]
"""Takes iterations one after the other, and yields each rank's time before the first part of each and after
each of its parts."""


@dataclass(frozen=True)
class ChosenAlgorithm:
    """The algorithm by which the time of a collective operation was computed: "" if it was measured. `basis`
    is the evidence for it."""

    operation: str
    ranks: int
    size: int
    algorithm: str
    basis: Basis


@dataclass(frozen=True)
class PartTime:
    """Mean seconds of a part over the ranks in an iteration: without waiting, or of waiting in it."""

    name: str
    kind: Kind
    seconds: float


@dataclass(frozen=True)
class IterationTime:
    """`seconds` of an iteration, with their standard error if the program varies (0 otherwise). `parts` are
    in the order of the program, each name and kind once; all else is `waiting`, which `waits` has by part.
    `contention` is whether links that messages share were simulated, as far as there are any."""

    seconds: float
    error: float
    parts: tuple[PartTime, ...]
    algorithms: tuple[ChosenAlgorithm, ...] = ()
    contention: bool = True
    waits: tuple[PartTime, ...] = ()

    @property
    def waiting(self) -> float:
        rest = self.seconds - sum(part.seconds for part in self.parts)
        return rest if rest > ROUNDING * self.seconds else 0.0

    def total(self, kind: Kind) -> float:
        if kind == "waiting":
            return self.waiting
        return sum(part.seconds for part in self.parts if part.kind == kind)

    def of_part(self, name: str, *kinds: Kind) -> float:
        """Seconds of these kinds in a part."""
        times = (*self.parts, *self.waits)
        return sum(part.seconds for part in times if part.name == name and part.kind in kinds)

    def __mul__(self, iterations: float) -> IterationTime:
        """The time of several iterations."""

        def scaled(times: tuple[PartTime, ...]) -> tuple[PartTime, ...]:
            return tuple(replace(each, seconds=iterations * each.seconds) for each in times)

        return replace(
            self,
            seconds=iterations * self.seconds,
            error=iterations * self.error,
            parts=scaled(self.parts),
            waits=scaled(self.waits),
        )


def iteration_time(
    iteration: Iteration, communication: Communication, *, follow_links: bool = True
) -> IterationTime:
    """The time on the machine of these costs. `communication` may be any on one rank. Links that messages
    share are simulated unless there are too many messages, or if not `follow_links`; then a step takes at
    least as long as the bytes through the busiest one."""
    timer = _Timer(iteration.ranks, communication, follow_links)

    def executed(shares: Container[float]) -> list[Part]:
        return [part for part, s in zip(iteration.parts, iteration.shares, strict=True) if s in shares]

    base_s, error, base = timer.pace(executed((1,)))
    seconds, parts = base_s, dict(base)
    for share in sorted({share for share in iteration.shares if share < 1}):
        longer_s, _, longer = timer.pace(executed((1, share)))
        seconds += share * (longer_s - base_s)
        for key, spent in longer.items():
            parts[key] = parts.get(key, 0.0) + share * (spent - base.get(key, 0.0))
    least = ROUNDING * seconds
    times = [PartTime(name, kind, spent) for (name, kind), spent in parts.items() if spent > least]
    return IterationTime(
        seconds,
        error,
        tuple(each for each in times if each.kind != "waiting"),
        tuple(timer.algorithms),
        timer.contention,
        tuple(each for each in times if each.kind == "waiting"),
    )


def call_time(
    communication: Communication, operation: str, size: int, ranks: int, *, follow_links: bool = True
) -> float:
    """Seconds from the moment at which all ranks call a collective operation until the last one has left
    it."""
    timer, call = _Timer(ranks, communication, follow_links), CollectivePart(operation, operation, size)
    resolved = timer.resolved(call)
    if isinstance(resolved, float):
        return resolved
    marks = next(timer.runner([call])(iter([[call]])))
    return float((marks[-1] - marks[0]).max())


def algorithm_time(
    communication: Communication, operation: str, size: int, ranks: int, algorithm: str
) -> float:
    """The same of an algorithm, without links that messages share; infinite if it does not exist for this
    number of ranks."""
    return _Timer(ranks, communication).seconds_of(operation, ranks, size, algorithm)


def resolved_call(
    communication: Communication, operation: str, size: int, ranks: int, algorithm: str = ""
) -> tuple[tuple[Step, ...] | float, ChosenAlgorithm | None]:
    """The steps of a collective operation by an algorithm (by default the one that the machine is known or
    assumed to use), or its seconds if that is all that is known; and what was chosen. Raises UsageError for
    an algorithm that is unknown or does not exist for this number of ranks."""
    timer = _Timer(ranks, communication)
    resolved = timer.resolved(CollectivePart(operation, operation, size, algorithm=algorithm))
    return resolved, next(iter(timer.algorithms), None)


@dataclass
class _Timer:
    """Times parts on `ranks` ranks."""

    ranks: int
    communication: Communication
    follow_links: bool = True
    algorithms: dict[ChosenAlgorithm, None] = field(default_factory=dict)
    contention: bool = True

    def __post_init__(self) -> None:
        self._collectives: dict[tuple[str, int, int, str], tuple[Step, ...] | float] = {}
        self._alone: dict[int, tuple[Part, float]] = {}

    # Iterations

    def pace(self, parts: Sequence[Part]) -> tuple[float, float, dict[tuple[str, Kind], float]]:
        """Seconds of an iteration, the standard error, and the seconds of the parts by name and kind."""
        if not parts:
            return 0.0, 0.0, {}
        noise = _varies(parts)
        random = np.random.default_rng(SEED) if noise else None
        most = VARIED_ITERATIONS if noise else MAX_ITERATIONS
        ends, spent = [0.0], []
        for marks in self.runner(parts)([self._varied(part, random) for part in parts] for _ in range(most)):
            ends.append(float(marks[-1].max()))
            spent.append([float((after - before).mean()) for before, after in pairwise(marks)])
            lasted = np.diff(ends)
            if not noise and len(lasted) > 1 and abs(lasted[-1] - lasted[-2]) <= SETTLED * lasted[-1]:
                break
        left_out = min(LEFT_OUT, len(spent) - 1) if noise else len(spent) - 1
        lasted = np.diff(ends)[left_out:]
        error = _batch_error(lasted) if noise else 0.0
        return float(lasted.mean()), error, self._parts(parts, np.mean(spent[left_out:], axis=0).tolist())

    def _varied(self, part: Part, random: np.random.Generator | None) -> Part:
        if random is None or not isinstance(part, StepsPart) or not part.noise:
            return part
        return part.with_computation(noise_factors(part.noise, random, self.ranks))

    def _parts(self, parts: Sequence[Part], elapsed: Sequence[float]) -> dict[tuple[str, Kind], float]:
        """The mean time of the parts, those of one name and kind together."""
        times: dict[tuple[str, Kind], float] = {}
        for part, spent in zip(parts, elapsed, strict=True):
            computed = spent if self.ranks == 1 else min(self._computation_of(part), spent)
            communicated = min(max(0.0, self._alone_s(part) - computed), spent - computed)
            name = part.name.removesuffix(WORK)
            kind: Kind = "collectives" if isinstance(part, CollectivePart) else "messages"
            waited = spent - computed - communicated
            spent_on: dict[Kind, float] = {"computation": computed, kind: communicated, "waiting": waited}
            for each, seconds in spent_on.items():
                times[name, each] = times.get((name, each), 0.0) + seconds
        return times

    def _computation_of(self, part: Part) -> float:
        """Mean seconds over the ranks."""
        if isinstance(part, StepsPart):
            return float(part.computation(self.ranks).mean())
        return float(part.seconds.sum()) / self.ranks if isinstance(part, TasksPart) else 0.0

    def _alone_s(self, part: Part) -> float:
        """Mean seconds over the ranks if all begin together; imbalance counts as waiting."""
        if id(part) not in self._alone:
            balanced = part
            if isinstance(part, TasksPart):
                return self._tasks_s(part)
            if isinstance(part, StepsPart):
                balanced = StepsPart(part.name, tuple(map(_balanced, part.steps)))
            marks = next(iter(self.runner([part])(iter([[balanced]]))))
            self._alone[id(part)] = part, float((marks[-1] - marks[0]).mean())
        return self._alone[id(part)][1]

    def _tasks_s(self, part: TasksPart) -> float:
        """Mean seconds of computation and of sending and receiving; idle workers, and a master, wait."""
        sizes = (part.to_worker, part.to_master) if self.ranks > 1 else ()
        busy = sum(sum(self.communication.handling(size, self.ranks)) for size in sizes)
        return float(part.seconds.sum() + len(part.seconds) * busy) / self.ranks

    # Runs of iterations

    def runner(self, parts: Sequence[Part]) -> Runner:
        platform = self.communication.platform
        if platform is None or self.ranks == 1:
            return self._with_clocks
        if shares_links(platform):
            return self._runner_on_links(platform, parts)
        return partial(self._with_clocks_or_links, platform)

    def _runner_on_links(self, platform: Platform, parts: Sequence[Part]) -> Runner:
        if self.follow_links and self._links_can_be_followed(platform, parts):
            return self._with_links
        self.contention = self.contention and not (shares_links(platform) and _has_messages(parts))
        return partial(self._with_clocks, lenient=True)

    def _with_clocks_or_links(
        self, platform: Platform, iterations: Iterator[Sequence[Part]]
    ) -> Iterator[list[np.ndarray]]:
        """With clocks, if these can follow the first iteration."""
        simulator, first = self._simulator(), next(iterations)
        try:
            marks = self._take(simulator, first)
        except NotModelled:
            yield from self._runner_on_links(platform, first)(chain([first], iterations))
            return
        yield marks
        for parts in iterations:
            yield self._take(simulator, parts)

    def _links_can_be_followed(self, platform: Platform, parts: Sequence[Part]) -> bool:
        try:
            Routes(platform)
            messages = sum(step.messages for part in parts for step in self._steps(part))
        except NotModelled:
            return False
        least = VARIED_ITERATIONS if _varies(parts) else CONTENDING_ITERATIONS
        return 0 < messages * least <= MAX_CONTENDING

    def _with_clocks(
        self, iterations: Iterator[Sequence[Part]], *, lenient: bool = False
    ) -> Iterator[list[np.ndarray]]:
        simulator = self._simulator(lenient=lenient)
        return (self._take(simulator, parts) for parts in iterations)

    def _with_links(self, iterations: Iterator[Sequence[Part]]) -> Iterator[list[np.ndarray]]:
        """A few iterations at once: messages of one may still be under way in the next, and delay it. The
        last one, which no other follows, is left out."""
        steps: list[Step] = []
        ends = []
        messages = 0
        for number, parts in enumerate(islice(iterations, VARIED_ITERATIONS), start=1):
            begin = len(steps)
            for part in parts:
                steps += self._steps(part)
                ends.append((begin, len(steps)))
            messages += sum(step.messages for step in steps[begin:])
            enough = CONTENDING_ITERATIONS if messages >= SOON_FOLLOWED else MAX_CONTENDING_ITERATIONS
            if number >= enough and not _varies(parts):
                break
        platform = self.communication.platform
        assert platform is not None
        simulator = NetworkSimulator(platform, self.ranks)
        simulator.run(steps)
        marks = np.vstack((np.zeros(self.ranks), simulator.ends))
        begins = list(dict.fromkeys(begin for begin, _ in ends))
        for begin in begins[:-1] or begins:
            yield [marks[begin], *(marks[end] for first, end in ends if first == begin)]

    def _simulator(self, *, lenient: bool = False) -> LogGPSimulator:
        costs = self.communication
        if costs.platform is not None:
            return (
                _Bounded(costs.platform, self.ranks)
                if lenient
                else LogGPSimulator(costs.platform, self.ranks)
            )
        assert costs.measured is not None or self.ranks == 1, "a run with a ping-pong, or a description"
        if costs.measured is None:
            return LogGPSimulator(None, 1, _Free())
        by_level = CostsByLevel(costs.measured_near, costs.measured)
        return LenientSimulator(None, self.ranks, by_level.on(self.ranks, costs.message.per_node(self.ranks)))

    def _take(self, simulator: LogGPSimulator, parts: Sequence[Part]) -> list[np.ndarray]:
        """Takes the parts; returns each rank's time before the first and after each of them."""
        marks = [simulator.now.copy()]
        for part in parts:
            if isinstance(part, TasksPart):
                _farm(simulator.now, part, self.communication)
            elif isinstance(part, CollectivePart):
                self._call(simulator, part)
            else:
                simulator.run(part.steps)
            marks.append(simulator.now.copy())
        return marks

    def _call(self, simulator: LogGPSimulator, part: CollectivePart) -> None:
        resolved = self.resolved(part)
        if not isinstance(resolved, float):
            simulator.run(resolved)
            return
        groups = np.arange(self.ranks)[None, :] if part.groups is None else part.groups
        now = simulator.now[groups]
        last = now.max(axis=1, keepdims=True)
        if measured_as(part.operation) in ALL_TOGETHER:
            now = np.broadcast_to(last + resolved, now.shape)
        elif part.operation in ("bcast", "scatter"):
            now = np.maximum(now, now[:, :1] + resolved)
        else:
            send_s, _ = self.communication.handling(part.size, self.ranks)
            now = np.concatenate((last + resolved, now[:, 1:] + min(send_s, resolved)), axis=1)
        simulator.now[groups] = now

    # Collective operations

    def _steps(self, part: Part) -> Sequence[Step]:
        if isinstance(part, StepsPart):
            return part.steps
        if isinstance(part, CollectivePart):
            resolved = self.resolved(part)
            if isinstance(resolved, float):
                cost = np.full(self.ranks, resolved)
                return (Step((), joins=True), Step((), computed=cost))
            return resolved
        raise NotModelled("tasks that are given to idle workers")

    def resolved(self, part: CollectivePart) -> tuple[Step, ...] | float:
        """The steps of a call, or its seconds if that is all that is known."""
        size, ranks = part.size, part.group_size(self.ranks)
        key = (part.operation, ranks, size, part.algorithm)
        if key not in self._collectives:
            self._collectives[key] = 0.0 if ranks < 2 else self._resolve(*key)
        resolved = self._collectives[key]
        if isinstance(resolved, float) or part.groups is None:
            return resolved
        return tuple(in_groups(step, part.groups, self.ranks) for step in resolved)

    def _resolve(self, operation: str, ranks: int, size: int, algorithm: str) -> tuple[Step, ...] | float:
        costs = self.communication
        if algorithm:
            return self._by_algorithm(operation, ranks, size, algorithm, "requested")
        if (measured := costs.measured_collective(measured_as(operation), ranks, size)) is not None:
            self._note(operation, ranks, size, "", "measured")
            return measured
        if costs.platform is not None:
            described = self._described(costs.platform, operation, ranks, size)
            if described is not None:
                return described
        operation = measured_as(operation)
        candidates = [BARRIER] if operation == "barrier" else algorithms(operation)
        fastest = min(candidates, key=lambda name: self.seconds_of(operation, ranks, size, name))
        return self._by_algorithm(operation, ranks, size, fastest, "assumed")

    def _described(
        self, platform: Platform, operation: str, ranks: int, size: int
    ) -> tuple[Step, ...] | float | None:
        if operation == "barrier" and (barrier_s := platform.barrier_s(ranks)) is not None:
            self._note(operation, ranks, size, "hardware", "described")
            return barrier_s
        name = choose_algorithms(platform.collectives).get(operation, "default")
        phases = SMPI.get((operation, name))
        if phases is None:
            return None
        try:
            steps = self._steps_or_seconds(phases, ranks, size)
        except NotModelled:
            return None
        self._note(operation, ranks, size, name, "described")
        call_s = collective_algorithms.call_time(platform, operation, size)
        if isinstance(steps, float):
            return call_s + steps
        return (Step((), computed=np.full(ranks, call_s)), *steps) if call_s else steps

    def _by_algorithm(
        self, operation: str, ranks: int, size: int, algorithm: str, basis: Basis
    ) -> tuple[Step, ...] | float:
        self._note(operation, ranks, size, algorithm, basis)
        try:
            return self._schedule(operation, ranks, size, algorithm)
        except NotModelled as error:
            raise UsageError(
                f"{operation} by {algorithm} does not exist on {ranks} ranks",
                str(error),
                "give another algorithm, or another number of ranks",
                code="program-algorithm",
                operation=operation,
                algorithm=algorithm,
                ranks=ranks,
            ) from None

    def _schedule(self, operation: str, ranks: int, size: int, algorithm: str) -> tuple[Step, ...] | float:
        """Raises NotModelled."""
        if (operation, algorithm) not in SCHEDULES:
            raise unknown_algorithm(algorithm, operation, names(operation))
        return self._steps_or_seconds((SCHEDULES[operation, algorithm],), ranks, size)

    def _steps_or_seconds(
        self, phases: Sequence[Schedule], ranks: int, size: int
    ) -> tuple[Step, ...] | float:
        """The steps of schedules that follow each other, or seconds if there are too many steps. Raises
        NotModelled."""
        linear = {collectives.linear_alltoall, collectives.linear_alltoall_in_order}
        if ranks > MAX_STEPS and linear & set(phases):
            some = shift(ranks, *range(1, MAX_LAYERS + 1), size=size, mode=Mode.POSTED, untouched=True)
            return self._steps_s([some], ranks) * (ranks - 1) / MAX_LAYERS
        schedule = chain.from_iterable(phase(ranks, size) for phase in phases)
        steps = tuple(islice(schedule, MAX_STEPS + 1))
        if len(steps) <= MAX_STEPS:
            return steps
        rounds = sum(_rounds(phase, ranks) for phase in phases)
        simulated = chain(steps, schedule) if not rounds else steps[:MAX_STEPS]
        return self._steps_s(simulated, ranks) * max(1.0, rounds / MAX_STEPS)

    def seconds_of(self, operation: str, ranks: int, size: int, algorithm: str) -> float:
        """Seconds by the algorithm; infinite if it does not exist for this number of ranks."""
        try:
            steps = self._schedule(operation, ranks, size, algorithm)
            return steps if isinstance(steps, float) else self._steps_s(steps, ranks)
        except NotModelled:
            return np.inf

    def _steps_s(self, steps: Iterable[Step], ranks: int) -> float:
        """Seconds until the last of `ranks` ranks has taken the steps."""
        return float(_Timer(ranks, self.communication)._simulator(lenient=True).run(steps).max())

    def _note(self, operation: str, ranks: int, size: int, algorithm: str, basis: Basis) -> None:
        self.algorithms[ChosenAlgorithm(operation, ranks, size, algorithm, basis)] = None


@dataclass(frozen=True)
class _Free:
    """The costs of one rank alone, which sends no messages."""

    def of(self, layer: Layer, mode: Mode) -> LayerCosts:
        return LayerCosts(True, 0.0, 0.0, 0.0, 0.0)

    def copying(self, size: float | np.ndarray) -> float:
        return 0.0

    combining = refreshing = copying


def _varies(parts: Sequence[Part]) -> bool:
    return any(isinstance(part, StepsPart) and bool(part.noise) for part in parts)


def _has_messages(parts: Sequence[Part]) -> bool:
    return any(not isinstance(part, StepsPart) or part.has_messages for part in parts)


def _rounds(schedule: Schedule, ranks: int) -> float:
    """The number of steps of a schedule in which they are alike; 0 if it is unknown."""
    if schedule in (collectives.pairwise, collectives.pairwise_xor):
        return ranks - 1
    forms = (CLOSED_FORMS.get(key) for key, each in SCHEDULES.items() if each is schedule)
    form = next(filter(None, forms), None)
    return 0.0 if form is None else form.terms(ranks, 1)[0]


class LenientSimulator(LogGPSimulator):
    """Large messages that a chain of ranks passes on, or that a rank sends to several others, begin
    together."""

    def take(self, step: Step) -> None:
        try:
            super().take(step)
        except NotModelled:
            super().take(replace(step, mode=Mode.POSTED))


class _Bounded(LenientSimulator):
    """A step takes at least as long as its bytes need through the busiest NIC or bus, and its messages on a
    medium. Cables of a torus or mesh are left out."""

    def __init__(self, platform: Platform, ranks: int) -> None:
        super().__init__(without_processors(platform), ranks)
        self._network = platform.network
        self._node = nodes_of(platform, ranks)

    def take(self, step: Step) -> None:
        start = self.now.copy()
        super().take(step)
        if step.layers:
            self._bound(step.layers, start)

    def _bound(self, layers: tuple[Layer, ...], start: np.ndarray) -> None:
        source = np.concatenate([self._node[layer.source] for layer in layers])
        target = np.concatenate([self._node[layer.target] for layer in layers])
        size = np.concatenate([np.broadcast_to(layer.size, layer.source.shape) for layer in layers])
        far = source != target
        if not far.any():
            return
        network, nodes = self._network, int(self._node[-1]) + 1
        sent = np.bincount(source[far], size[far], nodes)
        received = np.bincount(target[far], size[far], nodes)
        busiest = sent + received if network.duplex == "half" else np.maximum(sent, received)
        receivers = np.unique(np.concatenate([layer.target for layer in layers]))
        everything = far.sum() * network.medium_message_s + size[far].sum() * network.medium_s_per_byte
        if network.shape == "bus":
            everything = max(everything, size[far].sum() / network.link)
        limit = start + np.maximum(busiest / network.nic, everything)[self._node]
        self.now[receivers] = np.maximum(self.now, limit)[receivers]


def without_processors(platform: Platform) -> Platform:
    """The work of processors as latency of their messages."""
    if not platform.processors_work:
        return platform
    segments = tuple(
        msgspec.structs.replace(
            each,
            latency_s=each.latency_s + each.processor_s,
            per_byte_s=each.per_byte_s + each.processor_s_per_byte,
            processor_s=0.0,
            processor_s_per_byte=0.0,
        )
        for each in platform.segments
    )
    return msgspec.structs.replace(platform, segments=segments)


def _balanced(step: Step) -> Step:
    if step.computed is None:
        return step
    return Step(step.layers, step.mode, computed=np.full(step.computed.shape, step.computed.mean()))


def _batch_error(lasted: np.ndarray) -> float:
    """The standard error of the mean of correlated times, from the means of batches."""
    batches = np.array([batch.mean() for batch in np.array_split(lasted, 10)])
    return float(batches.std(ddof=1) / np.sqrt(len(batches)))


def _farm(now: np.ndarray, part: TasksPart, communication: Communication) -> None:
    """Advances `now` by a master (rank 0) that serves workers as their results arrive. On a shared medium,
    and through the master's NIC, one message follows another."""
    ranks = len(now)
    if ranks == 1:
        now[0] += part.seconds.sum()
        return
    send_s, accept_s = communication.handling(part.to_worker, ranks)
    return_s, receive_s = communication.handling(part.to_master, ranks)
    to_s = max(0.0, communication.one_way(part.to_worker, ranks) - send_s - accept_s)
    from_s = max(0.0, communication.one_way(part.to_master, ranks) - return_s - receive_s)
    duplex = None if communication.platform is None else communication.platform.network.duplex
    inward = "out" if duplex == "half" else "in"
    to_worker = {
        "medium": communication.on_medium(1, part.to_worker, ranks),
        "out": communication.through_nic(part.to_worker, ranks),
    }
    to_master = {
        "medium": communication.on_medium(1, part.to_master, ranks),
        inward: communication.through_nic(part.to_master, ranks),
    }
    master, free = float(now[0]), dict.fromkeys(("medium", "out", "in"), 0.0)
    tasks: Iterator[float] = iter(part.seconds)
    events: list[tuple[float, int, str, int, float]] = []
    order = count()

    def at(time: float, event: str, worker: int, seconds: float = 0.0) -> None:
        heapq.heappush(events, (time, next(order), event, worker, seconds))

    def give(worker: int) -> None:
        nonlocal master
        if (seconds := next(tasks, None)) is not None:
            master += send_s
            at(master, "task sent", worker, seconds)

    def passes(time: float, occupied_s: Mapping[str, float]) -> float:
        """When a message that is sent now has what it occupies."""
        occupied = {where: seconds for where, seconds in occupied_s.items() if seconds}
        start = max((time, *(free[where] for where in occupied)))
        for where, seconds in occupied.items():
            free[where] = start + seconds
        return start

    for worker in range(1, ranks):
        give(worker)
    while events:
        time, _, event, worker, seconds = heapq.heappop(events)
        if event == "task sent":
            arrival = passes(time, to_worker) + to_s
            now[worker] = max(now[worker], arrival) + accept_s + seconds + return_s
            at(now[worker], "result sent", worker)
        elif event == "result sent":
            at(passes(time, to_master) + from_s, "result arrived", worker)
        else:
            master = max(master, time) + receive_s
            give(worker)
    now[0] = master
