# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of an iteration of a program, with a clock for each rank, and the parts of this time.

Computation takes the described time. Messages and collective operations are simulated with the costs of a
machine. On a real machine, these are the measured costs between two ranks (`measured_costs`) and the
collectives that were measured on the same number of ranks. On a described machine, they follow from the
description, with the links that messages share, if any (`network_sim`). Iterations follow each other without
a barrier until their times no longer change.

A part's own time is its duration if all ranks begin it together; the additional time is waiting.
"""

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
from hockney.core.smpi_algorithms import unknown_algorithm
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
    measured_operation,
    noise_factors,
    step_in_groups,
)
from hockney.models.routes import shares_links
from hockney.models.schedules import (
    CLOSED_FORMS,
    SCHEDULES,
    Layer,
    Mode,
    NotModelled,
    Step,
    algorithm_names,
    collectives,
)
from hockney.models.schedules.blocks import shift
from hockney.models.schedules.schedule import Schedule
from hockney.models.schedules.smpi import smpi_schedules

TimeKind = Literal["computation", "messages", "collectives", "waiting"]
AlgorithmBasis = Literal["measured", "described", "assumed", "requested"]

ROUNDING = 1e-9
"""Parts of a time that are smaller than this fraction are considered to be 0."""
PACE_TOLERANCE = 1e-3
MAX_ITERATIONS = 24
VARIED_ITERATIONS = 64
"""The number of simulated iterations of a program with noise; the first ones are discarded."""
DISCARDED_ITERATIONS = 4
SEED = 1998
MIN_LINK_ITERATIONS = 3
MAX_LINK_ITERATIONS = 10
FEW_LINK_MESSAGES = 1_000
"""Up to this number of messages, more than the minimum number of iterations are simulated with shared
links."""
MAX_LINK_MESSAGES = 4_000
"""The maximum number of messages in a simulation with shared links, which takes about a millisecond per
message."""
MAX_LAYERS = 64
"""The maximum number of simulated messages per rank if each rank posts messages to very many others at
once."""
MAX_STEPS = 256
"""The maximum number of simulated steps of a collective's schedule. If it has more similar steps, the time is
scaled up."""
SYNCHRONIZING_OPERATIONS = ("allreduce", "allgather", "alltoall", "barrier", "reduce_scatter_block", "scan")
"""Operations that no rank leaves before all ranks have entered."""
BARRIER_ALGORITHM = "dissemination"
WORK_SUFFIX = ": work"
"""The suffix of part names for the computation of a phase that also has messages."""

Runner = Callable[[Iterator[Sequence[Part]]], Iterator[list[np.ndarray]]]
"""Runs iterations one after the other. For each iteration, it yields each rank's time before the first part
and after each part."""


@dataclass(frozen=True)
class ChosenAlgorithm:
    """The algorithm for which the time of a collective operation was computed ("": its time was measured).
    `basis` is the evidence for this choice."""

    operation: str
    ranks: int
    size: int
    algorithm: str
    basis: AlgorithmBasis


@dataclass(frozen=True)
class PartTime:
    """Mean seconds per rank of a part in an iteration: of computation or communication, or of waiting."""

    name: str
    kind: TimeKind
    seconds: float


@dataclass(frozen=True)
class IterationTime:
    """`seconds` of an iteration, with their standard error if the program varies (otherwise 0). `parts` are
    in the program's order, each name and kind once. The remaining time is `waiting`; `waiting_times` contains
    it by part. `contention` is False if shared links exist but were not simulated."""

    seconds: float
    error: float
    parts: tuple[PartTime, ...]
    algorithms: tuple[ChosenAlgorithm, ...] = ()
    contention: bool = True
    waiting_times: tuple[PartTime, ...] = ()

    @property
    def waiting(self) -> float:
        waiting_s = self.seconds - sum(part.seconds for part in self.parts)
        return waiting_s if waiting_s > ROUNDING * self.seconds else 0.0

    def total(self, kind: TimeKind) -> float:
        if kind == "waiting":
            return self.waiting
        return sum(part.seconds for part in self.parts if part.kind == kind)

    def part_seconds(self, name: str, *kinds: TimeKind) -> float:
        """Seconds of these kinds in a part."""
        times = (*self.parts, *self.waiting_times)
        return sum(part.seconds for part in times if part.name == name and part.kind in kinds)

    def __mul__(self, iterations: float) -> IterationTime:
        """The time of several iterations."""

        def scale(times: tuple[PartTime, ...]) -> tuple[PartTime, ...]:
            return tuple(replace(part, seconds=iterations * part.seconds) for part in times)

        return replace(
            self,
            seconds=iterations * self.seconds,
            error=iterations * self.error,
            parts=scale(self.parts),
            waiting_times=scale(self.waiting_times),
        )


def iteration_time(
    iteration: Iteration, communication: Communication, *, follow_links: bool = True
) -> IterationTime:
    """The time on a machine with these costs. `communication` is not used for a single rank. Shared links are
    simulated if `follow_links`, unless there are too many messages. Otherwise a step takes at least as long
    as the bytes through the busiest link."""
    timer = _Timer(iteration.ranks, communication, follow_links)

    def executed_parts(shares: Container[float]) -> list[Part]:
        return [
            part
            for part, part_share in zip(iteration.parts, iteration.shares, strict=True)
            if part_share in shares
        ]

    base_s, error, base_parts = timer.steady_times(executed_parts((1,)))
    seconds, parts = base_s, dict(base_parts)
    for share in sorted({share for share in iteration.shares if share < 1}):
        longer_iteration_s, _, longer_parts = timer.steady_times(executed_parts((1, share)))
        seconds += share * (longer_iteration_s - base_s)
        for key, part_s in longer_parts.items():
            parts[key] = parts.get(key, 0.0) + share * (part_s - base_parts.get(key, 0.0))
    min_seconds = ROUNDING * seconds
    times = [PartTime(name, kind, part_s) for (name, kind), part_s in parts.items() if part_s > min_seconds]
    return IterationTime(
        seconds,
        error,
        tuple(part_time for part_time in times if part_time.kind != "waiting"),
        tuple(timer.algorithms),
        timer.contention,
        tuple(part_time for part_time in times if part_time.kind == "waiting"),
    )


def call_time(
    communication: Communication, operation: str, size: int, ranks: int, *, follow_links: bool = True
) -> float:
    """Seconds from the moment when all ranks call a collective operation until the last one has left it."""
    timer, call = _Timer(ranks, communication, follow_links), CollectivePart(operation, operation, size)
    resolved = timer.resolve(call)
    if isinstance(resolved, float):
        return resolved
    marks = next(timer.choose_runner([call])(iter([[call]])))
    return float((marks[-1] - marks[0]).max())


def algorithm_time(
    communication: Communication, operation: str, size: int, ranks: int, algorithm: str
) -> float:
    """Seconds of a collective operation by an algorithm, without shared links. Infinite if the algorithm does
    not exist for this number of ranks."""
    return _Timer(ranks, communication).seconds_of(operation, ranks, size, algorithm)


def resolve_call(
    communication: Communication, operation: str, size: int, ranks: int, algorithm: str = ""
) -> tuple[tuple[Step, ...] | float, ChosenAlgorithm | None]:
    """The steps of a collective operation, or its seconds if its steps are unknown; and the chosen algorithm.
    By default, the machine's known or assumed algorithm is chosen. Raises UsageError for an algorithm that is
    unknown or does not exist for this number of ranks."""
    timer = _Timer(ranks, communication)
    resolved = timer.resolve(CollectivePart(operation, operation, size, algorithm=algorithm))
    return resolved, next(iter(timer.algorithms), None)


@dataclass
class _Timer:
    """Determines times of parts on `ranks` ranks."""

    ranks: int
    communication: Communication
    follow_links: bool = True
    algorithms: dict[ChosenAlgorithm, None] = field(default_factory=dict)
    contention: bool = True

    def __post_init__(self) -> None:
        self._collectives: dict[tuple[str, int, int, str], tuple[Step, ...] | float] = {}
        self._synchronized_times: dict[int, tuple[Part, float]] = {}

    # Iterations

    def steady_times(self, parts: Sequence[Part]) -> tuple[float, float, dict[tuple[str, TimeKind], float]]:
        """Seconds of an iteration, the standard error, and the seconds of the parts by name and kind."""
        if not parts:
            return 0.0, 0.0, {}
        noise = _has_noise(parts)
        random = np.random.default_rng(SEED) if noise else None
        max_iterations = VARIED_ITERATIONS if noise else MAX_ITERATIONS
        end_times, part_times = [0.0], []
        for marks in self.choose_runner(parts)(
            [self._with_noise(part, random) for part in parts] for _ in range(max_iterations)
        ):
            end_times.append(float(marks[-1].max()))
            part_times.append([float((after - before).mean()) for before, after in pairwise(marks)])
            durations = np.diff(end_times)
            if (
                not noise
                and len(durations) > 1
                and abs(durations[-1] - durations[-2]) <= PACE_TOLERANCE * durations[-1]
            ):
                break
        discarded = min(DISCARDED_ITERATIONS, len(part_times) - 1) if noise else len(part_times) - 1
        durations = np.diff(end_times)[discarded:]
        error = _standard_error_of_batches(durations) if noise else 0.0
        return (
            float(durations.mean()),
            error,
            self._mean_part_times(parts, np.mean(part_times[discarded:], axis=0).tolist()),
        )

    def _with_noise(self, part: Part, random: np.random.Generator | None) -> Part:
        if random is None or not isinstance(part, StepsPart) or not part.noise:
            return part
        return part.with_computation(noise_factors(part.noise, random, self.ranks))

    def _mean_part_times(
        self, parts: Sequence[Part], elapsed_times: Sequence[float]
    ) -> dict[tuple[str, TimeKind], float]:
        """The mean times of the parts. Parts with the same name and kind are added up."""
        times: dict[tuple[str, TimeKind], float] = {}
        for part, elapsed_s in zip(parts, elapsed_times, strict=True):
            computed_s = elapsed_s if self.ranks == 1 else min(self._mean_computation_s(part), elapsed_s)
            communicated_s = min(max(0.0, self._synchronized_s(part) - computed_s), elapsed_s - computed_s)
            name = part.name.removesuffix(WORK_SUFFIX)
            kind: TimeKind = "collectives" if isinstance(part, CollectivePart) else "messages"
            waited_s = elapsed_s - computed_s - communicated_s
            seconds_by_kind: dict[TimeKind, float] = {
                "computation": computed_s,
                kind: communicated_s,
                "waiting": waited_s,
            }
            for time_kind, seconds in seconds_by_kind.items():
                times[name, time_kind] = times.get((name, time_kind), 0.0) + seconds
        return times

    def _mean_computation_s(self, part: Part) -> float:
        """Mean seconds of computation per rank."""
        if isinstance(part, StepsPart):
            return float(part.computation(self.ranks).mean())
        return float(part.seconds.sum()) / self.ranks if isinstance(part, TasksPart) else 0.0

    def _synchronized_s(self, part: Part) -> float:
        """Mean seconds per rank if all ranks begin together; imbalance counts as waiting."""
        if id(part) not in self._synchronized_times:
            balanced = part
            if isinstance(part, TasksPart):
                return self._busy_s(part)
            if isinstance(part, StepsPart):
                balanced = StepsPart(part.name, tuple(map(_with_mean_computation, part.steps)))
            marks = next(iter(self.choose_runner([part])(iter([[balanced]]))))
            self._synchronized_times[id(part)] = part, float((marks[-1] - marks[0]).mean())
        return self._synchronized_times[id(part)][1]

    def _busy_s(self, part: TasksPart) -> float:
        """Mean seconds of computation, sending and receiving. Idle workers and the master wait."""
        sizes = (part.to_worker, part.to_master) if self.ranks > 1 else ()
        handling_s = sum(sum(self.communication.handling_times(size, self.ranks)) for size in sizes)
        return float(part.seconds.sum() + len(part.seconds) * handling_s) / self.ranks

    # Runs of iterations

    def choose_runner(self, parts: Sequence[Part]) -> Runner:
        platform = self.communication.platform
        if platform is None or self.ranks == 1:
            return self._run_with_clocks
        if shares_links(platform):
            return self._choose_link_runner(platform, parts)
        return partial(self._run_with_clocks_or_links, platform)

    def _choose_link_runner(self, platform: Platform, parts: Sequence[Part]) -> Runner:
        if self.follow_links and self._can_follow_links(parts):
            return self._run_with_links
        self.contention = self.contention and not (shares_links(platform) and _has_messages(parts))
        return partial(self._run_with_clocks, lenient=True)

    def _run_with_clocks_or_links(
        self, platform: Platform, iterations: Iterator[Sequence[Part]]
    ) -> Iterator[list[np.ndarray]]:
        """Run iterations with clocks if these can represent the first iteration, otherwise with links if
        possible."""
        simulator, first_parts = self._simulator(), next(iterations)
        try:
            marks = self._run_parts(simulator, first_parts)
        except NotModelled:
            yield from self._choose_link_runner(platform, first_parts)(chain([first_parts], iterations))
            return
        yield marks
        for parts in iterations:
            yield self._run_parts(simulator, parts)

    def _can_follow_links(self, parts: Sequence[Part]) -> bool:
        try:
            messages = sum(step.messages for part in parts for step in self._steps(part))
        except NotModelled:
            return False
        min_iterations = VARIED_ITERATIONS if _has_noise(parts) else MIN_LINK_ITERATIONS
        return 0 < messages * min_iterations <= MAX_LINK_MESSAGES

    def _run_with_clocks(
        self, iterations: Iterator[Sequence[Part]], *, lenient: bool = False
    ) -> Iterator[list[np.ndarray]]:
        simulator = self._simulator(lenient=lenient)
        return (self._run_parts(simulator, parts) for parts in iterations)

    def _run_with_links(self, iterations: Iterator[Sequence[Part]]) -> Iterator[list[np.ndarray]]:
        """Run a few iterations together: messages of one iteration may still be in flight in the next one and
        delay it. The last iteration is discarded because none follows it."""
        steps: list[Step] = []
        part_ends = []
        messages = 0
        for number, parts in enumerate(islice(iterations, VARIED_ITERATIONS), start=1):
            first_step = len(steps)
            for part in parts:
                steps += self._steps(part)
                part_ends.append((first_step, len(steps)))
            messages += sum(step.messages for step in steps[first_step:])
            iteration_limit = MIN_LINK_ITERATIONS if messages >= FEW_LINK_MESSAGES else MAX_LINK_ITERATIONS
            if number >= iteration_limit and not _has_noise(parts):
                break
        platform = self.communication.platform
        assert platform is not None
        simulator = NetworkSimulator(platform, self.ranks)
        simulator.run(steps)
        marks = np.vstack((np.zeros(self.ranks), simulator.ends))
        first_steps = list(dict.fromkeys(first_step for first_step, _ in part_ends))
        for first_step in first_steps[:-1] or first_steps:
            yield [
                marks[first_step],
                *(
                    marks[part_end]
                    for iteration_start, part_end in part_ends
                    if iteration_start == first_step
                ),
            ]

    def _simulator(self, *, lenient: bool = False) -> LogGPSimulator:
        costs = self.communication
        if costs.platform is not None:
            return (
                _BoundedSimulator(costs.platform, self.ranks)
                if lenient
                else LogGPSimulator(costs.platform, self.ranks)
            )
        assert costs.measured is not None or self.ranks == 1, "a run with a ping-pong, or a description"
        if costs.measured is None:
            return LogGPSimulator(None, 1, _ZeroCosts())
        by_level = CostsByLevel(costs.measured_within_node, costs.measured)
        return LenientSimulator(None, self.ranks, by_level.on(self.ranks, costs.message.per_node(self.ranks)))

    def _run_parts(self, simulator: LogGPSimulator, parts: Sequence[Part]) -> list[np.ndarray]:
        """Run the parts; return each rank's time before the first part and after each part."""
        marks = [simulator.now.copy()]
        for part in parts:
            if isinstance(part, TasksPart):
                _advance_task_farm(simulator.now, part, self.communication)
            elif isinstance(part, CollectivePart):
                self._run_call(simulator, part)
            else:
                simulator.run(part.steps)
            marks.append(simulator.now.copy())
        return marks

    def _run_call(self, simulator: LogGPSimulator, part: CollectivePart) -> None:
        resolved = self.resolve(part)
        if not isinstance(resolved, float):
            simulator.run(resolved)
            return
        groups = np.arange(self.ranks)[None, :] if part.groups is None else part.groups
        arrivals = simulator.now[groups]
        last_arrival = arrivals.max(axis=1, keepdims=True)
        if measured_operation(part.operation) in SYNCHRONIZING_OPERATIONS:
            arrivals = np.broadcast_to(last_arrival + resolved, arrivals.shape)
        elif part.operation in ("bcast", "scatter"):
            arrivals = np.maximum(arrivals, arrivals[:, :1] + resolved)
        else:
            send_s, _ = self.communication.handling_times(part.size, self.ranks)
            arrivals = np.concatenate(
                (last_arrival + resolved, arrivals[:, 1:] + min(send_s, resolved)), axis=1
            )
        simulator.now[groups] = arrivals

    # Collective operations

    def _steps(self, part: Part) -> Sequence[Step]:
        if isinstance(part, StepsPart):
            return part.steps
        if isinstance(part, CollectivePart):
            resolved = self.resolve(part)
            if isinstance(resolved, float):
                cost = np.full(self.ranks, resolved)
                return (Step((), joins=True), Step((), computed=cost))
            return resolved
        raise NotModelled("tasks that are given to idle workers")

    def resolve(self, part: CollectivePart) -> tuple[Step, ...] | float:
        """The steps of a call, or its seconds if its steps are unknown."""
        size, ranks = part.size, part.group_size(self.ranks)
        key = (part.operation, ranks, size, part.algorithm)
        if key not in self._collectives:
            self._collectives[key] = 0.0 if ranks < 2 else self._resolve(*key)
        resolved = self._collectives[key]
        if isinstance(resolved, float) or part.groups is None:
            return resolved
        return tuple(step_in_groups(step, part.groups, self.ranks) for step in resolved)

    def _resolve(self, operation: str, ranks: int, size: int, algorithm: str) -> tuple[Step, ...] | float:
        costs = self.communication
        if algorithm:
            return self._resolve_algorithm(operation, ranks, size, algorithm, "requested")
        if (measured := costs.measured_collective(measured_operation(operation), ranks, size)) is not None:
            self._note_algorithm(operation, ranks, size, "", "measured")
            return measured
        if costs.platform is not None:
            described = self._resolve_described(costs.platform, operation, ranks, size)
            if described is not None:
                return described
        operation = measured_operation(operation)
        candidates = [BARRIER_ALGORITHM] if operation == "barrier" else algorithms(operation)
        fastest = min(candidates, key=lambda name: self.seconds_of(operation, ranks, size, name))
        return self._resolve_algorithm(operation, ranks, size, fastest, "assumed")

    def _resolve_described(
        self, platform: Platform, operation: str, ranks: int, size: int
    ) -> tuple[Step, ...] | float | None:
        if operation == "barrier" and (barrier_s := platform.barrier_s(ranks)) is not None:
            self._note_algorithm(operation, ranks, size, "hardware", "described")
            return barrier_s
        found = smpi_schedules(platform.collectives, operation)
        if found is None:
            return None
        name, phases = found
        try:
            steps = self._steps_or_seconds(phases, ranks, size)
        except NotModelled:
            return None
        self._note_algorithm(operation, ranks, size, name, "described")
        call_s = collective_algorithms.call_time(platform, operation, size)
        if isinstance(steps, float):
            return call_s + steps
        return (Step((), computed=np.full(ranks, call_s)), *steps) if call_s else steps

    def _resolve_algorithm(
        self, operation: str, ranks: int, size: int, algorithm: str, basis: AlgorithmBasis
    ) -> tuple[Step, ...] | float:
        self._note_algorithm(operation, ranks, size, algorithm, basis)
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
        """The steps of the schedule, or their seconds. Raises NotModelled."""
        if (operation, algorithm) not in SCHEDULES:
            raise unknown_algorithm(algorithm, operation, algorithm_names(operation))
        return self._steps_or_seconds((SCHEDULES[operation, algorithm],), ranks, size)

    def _steps_or_seconds(
        self, phases: Sequence[Schedule], ranks: int, size: int
    ) -> tuple[Step, ...] | float:
        """The steps of consecutive schedules, or their seconds if there are too many steps. Raises
        NotModelled."""
        linear_algorithms = {collectives.linear_alltoall, collectives.linear_alltoall_in_order}
        if ranks > MAX_STEPS and linear_algorithms & set(phases):
            sample = shift(ranks, *range(1, MAX_LAYERS + 1), size=size, mode=Mode.POSTED, untouched=True)
            return self._steps_s([sample], ranks) * (ranks - 1) / MAX_LAYERS
        schedule = chain.from_iterable(phase(ranks, size) for phase in phases)
        steps = tuple(islice(schedule, MAX_STEPS + 1))
        if len(steps) <= MAX_STEPS:
            return steps
        rounds = sum(_round_count(phase, ranks) for phase in phases)
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
        """Seconds until the last of `ranks` ranks has completed the steps."""
        return float(_Timer(ranks, self.communication)._simulator(lenient=True).run(steps).max())

    def _note_algorithm(
        self, operation: str, ranks: int, size: int, algorithm: str, basis: AlgorithmBasis
    ) -> None:
        self.algorithms[ChosenAlgorithm(operation, ranks, size, algorithm, basis)] = None


@dataclass(frozen=True)
class _ZeroCosts:
    """The costs of a single rank, which sends no messages."""

    def of(self, layer: Layer, mode: Mode) -> LayerCosts:
        return LayerCosts(True, 0.0, 0.0, 0.0, 0.0)

    def copying(self, size: float | np.ndarray) -> float:
        return 0.0

    combining = refreshing = copying


def _has_noise(parts: Sequence[Part]) -> bool:
    return any(isinstance(part, StepsPart) and bool(part.noise) for part in parts)


def _has_messages(parts: Sequence[Part]) -> bool:
    return any(not isinstance(part, StepsPart) or part.has_messages for part in parts)


def _round_count(schedule: Schedule, ranks: int) -> float:
    """The number of similar steps of a schedule; 0 if unknown."""
    if schedule in (collectives.pairwise, collectives.pairwise_xor):
        return ranks - 1
    forms = (CLOSED_FORMS.get(key) for key, registered in SCHEDULES.items() if registered is schedule)
    form = next(filter(None, forms), None)
    return 0.0 if form is None else form.terms(ranks, 1)[0]


class LenientSimulator(LogGPSimulator):
    """A simulator in which the steps of large messages begin together if a chain of ranks passes them on, or
    if a rank sends them to several others."""

    def take(self, step: Step) -> None:
        try:
            super().take(step)
        except NotModelled:
            super().take(replace(step, mode=Mode.POSTED))


class _BoundedSimulator(LenientSimulator):
    """A simulator in which a step takes at least as long as its bytes through the busiest NIC or bus, and as
    its messages on a medium. Cables of a torus or mesh are ignored."""

    def __init__(self, platform: Platform, ranks: int) -> None:
        super().__init__(with_processor_time_as_latency(platform), ranks)
        self._network = platform.network
        self._node = nodes_of(platform, ranks)

    def take(self, step: Step) -> None:
        start = self.now.copy()
        super().take(step)
        if step.layers:
            self._apply_bound(step.layers, start)

    def _apply_bound(self, layers: tuple[Layer, ...], start: np.ndarray) -> None:
        source = np.concatenate([self._node[layer.source] for layer in layers])
        target = np.concatenate([self._node[layer.target] for layer in layers])
        size = np.concatenate([np.broadcast_to(layer.size, layer.source.shape) for layer in layers])
        is_between_nodes = source != target
        if not is_between_nodes.any():
            return
        network, nodes = self._network, int(self._node[-1]) + 1
        sent = np.bincount(source[is_between_nodes], size[is_between_nodes], nodes)
        received = np.bincount(target[is_between_nodes], size[is_between_nodes], nodes)
        busiest = sent + received if network.duplex == "half" else np.maximum(sent, received)
        receivers = np.unique(np.concatenate([layer.target for layer in layers]))
        medium_s = (
            is_between_nodes.sum() * network.medium_message_s
            + size[is_between_nodes].sum() * network.medium_s_per_byte
        )
        if network.shape == "bus":
            medium_s = max(medium_s, size[is_between_nodes].sum() / network.link)
        limit = start + np.maximum(busiest / network.nic, medium_s)[self._node]
        self.now[receivers] = np.maximum(self.now, limit)[receivers]


def with_processor_time_as_latency(platform: Platform) -> Platform:
    """Copy of the platform with the processors' work included in the latency of their messages."""
    if not platform.processors_work:
        return platform
    segments = tuple(
        msgspec.structs.replace(
            segment,
            latency_s=segment.latency_s + segment.processor_s,
            per_byte_s=segment.per_byte_s + segment.processor_s_per_byte,
            processor_s=0.0,
            processor_s_per_byte=0.0,
        )
        for segment in platform.segments
    )
    return msgspec.structs.replace(platform, segments=segments)


def _with_mean_computation(step: Step) -> Step:
    if step.computed is None:
        return step
    return Step(step.layers, step.mode, computed=np.full(step.computed.shape, step.computed.mean()))


def _standard_error_of_batches(durations: np.ndarray) -> float:
    """The standard error of the mean of correlated times, from the means of batches."""
    batches = np.array([batch.mean() for batch in np.array_split(durations, 10)])
    return float(batches.std(ddof=1) / np.sqrt(len(batches)))


def _advance_task_farm(rank_times: np.ndarray, part: TasksPart, communication: Communication) -> None:
    """Advance `rank_times` for a master (rank 0) that serves workers in the order in which their results
    arrive. On a shared medium, and through the master's NIC, messages follow each other."""
    ranks = len(rank_times)
    if ranks == 1:
        rank_times[0] += part.seconds.sum()
        return
    master_send_s, worker_receive_s = communication.handling_times(part.to_worker, ranks)
    worker_send_s, master_receive_s = communication.handling_times(part.to_master, ranks)
    to_worker_latency_s = max(
        0.0, communication.one_way(part.to_worker, ranks) - master_send_s - worker_receive_s
    )
    to_master_latency_s = max(
        0.0, communication.one_way(part.to_master, ranks) - worker_send_s - master_receive_s
    )
    duplex = None if communication.platform is None else communication.platform.network.duplex
    receiving_side = "out" if duplex == "half" else "in"
    to_worker_occupancy_s = {
        "medium": communication.medium_time(1, part.to_worker, ranks),
        "out": communication.nic_time(part.to_worker, ranks),
    }
    to_master_occupancy_s = {
        "medium": communication.medium_time(1, part.to_master, ranks),
        receiving_side: communication.nic_time(part.to_master, ranks),
    }
    master_time, free_at = float(rank_times[0]), dict.fromkeys(("medium", "out", "in"), 0.0)
    tasks: Iterator[float] = iter(part.seconds)
    events: list[tuple[float, int, str, int, float]] = []
    event_numbers = count()

    def schedule(time: float, event: str, worker: int, seconds: float = 0.0) -> None:
        heapq.heappush(events, (time, next(event_numbers), event, worker, seconds))

    def give_task(worker: int) -> None:
        nonlocal master_time
        if (seconds := next(tasks, None)) is not None:
            master_time += master_send_s
            schedule(master_time, "task sent", worker, seconds)

    def reserve(time: float, occupied_s: Mapping[str, float]) -> float:
        """Occupy the resources as soon as all are free; return when that is."""
        occupied_resources = {resource: seconds for resource, seconds in occupied_s.items() if seconds}
        start_time = max((time, *(free_at[resource] for resource in occupied_resources)))
        for resource, seconds in occupied_resources.items():
            free_at[resource] = start_time + seconds
        return start_time

    for worker in range(1, ranks):
        give_task(worker)
    while events:
        time, _, event, worker, seconds = heapq.heappop(events)
        if event == "task sent":
            arrival = reserve(time, to_worker_occupancy_s) + to_worker_latency_s
            rank_times[worker] = max(rank_times[worker], arrival) + worker_receive_s + seconds + worker_send_s
            schedule(rank_times[worker], "result sent", worker)
        elif event == "result sent":
            schedule(reserve(time, to_master_occupancy_s) + to_master_latency_s, "result arrived", worker)
        else:
            master_time = max(master_time, time) + master_receive_s
            give_task(worker)
    rank_times[0] = master_time
