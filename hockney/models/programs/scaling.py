# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How a described program scales on a machine: its time by number of ranks, speed-up and efficiency, the
parts of the time, its limits, and possible improvements.

Intervals cover communication's costs and the program's variation, but not errors of the model's assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

import msgspec
import numpy as np

from hockney.core.fit import Estimate
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.measured_costs import End, MeasuredCosts
from hockney.models.programs.communication import Communication
from hockney.models.programs.description import Scaling
from hockney.models.programs.parts import CollectivePart, Iteration, Part, StepsPart
from hockney.models.programs.rank_grid import RankGrid
from hockney.models.programs.timing import IterationTime, TimeKind, algorithm_time, call_time, iteration_time
from hockney.models.schedules import SCHEDULES, Layer, Step

TIME_PARTS: tuple[TimeKind, ...] = ("computation", "messages", "collectives", "waiting")
"""The parts of a row's time."""
MIN_EFFICIENCY = 0.5
WORK_TOLERANCE = 0.01
"""Amounts of work are considered equal if their relative difference is at most this."""
MIN_GAIN = 1e-6
"""The minimum gain of efficiency that counts."""
MAX_RANKS_FOR_CHANGES = 4096
"""The maximum number of ranks for which changes are simulated; there are about a dozen changes."""
NORMAL_QUANTILE = 1.96
"""The half width of a 95% interval in standard errors."""


class ScalableProgram(Protocol):
    """A program for any number of ranks: one iteration with its seconds of computation, and the number of
    iterations."""

    @property
    def name(self) -> str: ...

    def iteration(self, ranks: int) -> Iteration: ...

    def count(self, ranks: int) -> float: ...


@dataclass(frozen=True)
class ProgramMachine:
    """The costs of communication, also at the bounds of their intervals if known. `computing` contains
    factors of the program's computing times: 1, or the bounds of their interval. More ranks than `cores`
    share them (None: each rank has its own core). For some numbers of ranks, `measured_machines` contains
    measured costs to use instead."""

    communication: Mapping[End, Communication]
    cores: int | None = None
    computing: tuple[float, ...] = (1.0,)
    measured_machines: Mapping[int, ProgramMachine] = field(default_factory=dict)

    def for_ranks(self, ranks: int) -> ProgramMachine:
        return self.measured_machines.get(ranks, self)

    def shared_by(self, ranks: int) -> float:
        """The number of ranks per core, at least 1."""
        return max(1.0, ranks / self.cores) if self.cores else 1.0


@dataclass(frozen=True)
class ProgramRow:
    """Performance on `ranks` ranks: the time (s) of all iterations, speed-up and efficiency, and the parts of
    one iteration's time (`iteration`). `shared_by` is the number of ranks per core."""

    ranks: int
    iterations: float
    time: Estimate
    speed_up: Estimate
    efficiency: Estimate
    iteration: IterationTime
    shared_by: float

    @property
    def communication(self) -> Estimate:
        """Messages and collectives as a fraction of the time."""
        seconds = self.seconds("messages") + self.seconds("collectives")
        return Estimate(seconds / self.time.value if self.time.value else 0.0, None, None)

    def seconds(self, kind: TimeKind) -> float:
        """Seconds of all iterations."""
        return self.iterations * self.iteration.total(kind)


@dataclass(frozen=True)
class ProgramChange:
    """A change of the program or of the machine, the resulting efficiency, and the gain. If it `is_bound`,
    the gain is an upper bound."""

    name: str
    description: str
    efficiency: float
    gain: float
    is_bound: bool = False


@dataclass(frozen=True)
class ProgramForecast:
    """`scaling` states whether the work of the program or the work per rank is constant. `longest_message` is
    in bytes, over all numbers of ranks. `fastest` has the largest speed-up, and `most_efficient` the most
    ranks with an efficiency of at least 50%. `changes` apply to `changed_ranks` ranks, the most effective
    first. `changed_ranks` is 0 if all requested numbers of ranks share cores or exceed
    MAX_RANKS_FOR_CHANGES."""

    name: str
    scaling: Scaling
    longest_message: float
    rows: tuple[ProgramRow, ...]
    fastest: ProgramRow
    most_efficient: ProgramRow
    changed_ranks: int
    changes: tuple[ProgramChange, ...]


def forecast(
    program: ScalableProgram, ranks: Sequence[int], machine: ProgramMachine, scaling: Scaling | None = None
) -> ProgramForecast:
    """Predict the scaling. Without `scaling`, it is inferred from the work on each number of ranks. Raises
    UsageError if a formula has no value on one of `ranks`."""
    single = program.iteration(1)
    single_rank_s = program.count(1) * iteration_time(single, machine.communication["value"]).seconds
    base = SingleRankBase(single_rank_s, program.count(1) * float(single.computation.sum()), scaling)
    iterations = {rank_count: program.iteration(rank_count) for rank_count in sorted({*ranks})}
    counts = {rank_count: program.count(rank_count) for rank_count in iterations}
    works = {
        rank_count: counts[rank_count] * float(iteration.computation.sum())
        for rank_count, iteration in iterations.items()
    }
    rows = tuple(
        _predict_row(counts[rank_count], iteration, works[rank_count], base, machine.for_ranks(rank_count))
        for rank_count, iteration in iterations.items()
    )
    own_core_ranks = [
        rank_count
        for rank_count in iterations
        if 1 < rank_count <= MAX_RANKS_FOR_CHANGES and machine.shared_by(rank_count) == 1
    ]
    changed_ranks = max(own_core_ranks, default=0)
    changed_row = next((row for row in rows if row.ranks == changed_ranks), None)
    return ProgramForecast(
        name=program.name,
        scaling=scaling or _infer_scaling(works, base),
        longest_message=max(iteration.longest_message for iteration in iterations.values()),
        rows=tuple(row for rank_count in ranks for row in rows if row.ranks == rank_count),
        fastest=max(rows, key=lambda row: (row.speed_up.value, -row.ranks)),
        most_efficient=max(
            (row for row in rows if row.efficiency.value >= MIN_EFFICIENCY),
            key=lambda row: row.ranks,
            default=min(rows, key=lambda row: row.ranks),
        ),
        changed_ranks=changed_ranks,
        changes=()
        if changed_row is None
        else _find_changes(
            changed_row,
            iterations[changed_ranks],
            works[changed_ranks],
            base,
            machine.for_ranks(changed_ranks),
        ),
    )


@dataclass(frozen=True)
class SingleRankBase:
    """Seconds of the program and of its computation on one rank, and the scaling if the program states it."""

    seconds: float
    work: float
    scaling: Scaling | None

    def relative_work(self, work: float) -> float:
        """The time of this work on one rank relative to the program's time there. If the work grows with the
        ranks, it yields the scaled speed-up of J. L. Gustafson, Comm. ACM 31 (1988) 532. It is 1 for strong
        scaling."""
        return 1.0 if self.scaling == "strong" or not self.work else work / self.work

    def speed_up(self, time_s: float, work: float) -> float:
        """The speed-up relative to one rank with the same work."""
        return self.relative_work(work) * self.seconds / time_s if time_s else float("nan")


def _infer_scaling(works: Mapping[int, float], base: SingleRankBase) -> Scaling:
    """The scaling. `works` contains the total seconds of computation by number of ranks."""
    if all(abs(work - base.work) <= WORK_TOLERANCE * base.work for work in works.values()):
        return "strong"
    if all(
        abs(work / rank_count - base.work) <= WORK_TOLERANCE * base.work for rank_count, work in works.items()
    ):
        return "weak"
    return "other"


def _predict_row(
    count: float, iteration: Iteration, work: float, base: SingleRankBase, machine: ProgramMachine
) -> ProgramRow:
    ranks = iteration.ranks
    shared_by = machine.shared_by(ranks)

    def predict_time(costs: Communication, computing: float) -> IterationTime:
        return iteration_time(iteration.with_computation(shared_by * computing), costs)

    typical = predict_time(machine.communication["value"], 1.0)
    spread = NORMAL_QUANTILE * typical.error
    times = [(typical.seconds, 1.0)]
    for end, costs in machine.communication.items():
        if end != "value":
            times += [(predict_time(costs, computing).seconds, computing) for computing in machine.computing]

    def estimate(of: Callable[[float, float], float]) -> Estimate:
        """The estimate of a function of the time (s) and of the factor of computing times."""
        value = of(count * typical.seconds, 1.0)
        if len({*times}) == 1 and not spread:
            return Estimate(value, None, None)
        bounds = [
            of(count * (time_s + error), computing)
            for time_s, computing in times
            for error in (-spread, spread)
        ]
        return Estimate(value, min(bounds), max(bounds))

    return ProgramRow(
        ranks=ranks,
        iterations=count,
        time=estimate(lambda seconds, _: seconds),
        speed_up=estimate(lambda seconds, computing: computing * base.speed_up(seconds, work)),
        efficiency=estimate(lambda seconds, computing: computing * base.speed_up(seconds, work) / ranks),
        iteration=typical,
        shared_by=shared_by,
    )


# What would help


def _find_changes(
    row: ProgramRow, iteration: Iteration, work: float, base: SingleRankBase, machine: ProgramMachine
) -> tuple[ProgramChange, ...]:
    communication = machine.communication["value"]

    def seconds(changed: Iteration, costs: Communication) -> float:
        return iteration_time(changed, costs, follow_links=False).seconds

    def change(name: str, description: str, ratio: float, *, bound: bool = False) -> ProgramChange:
        efficiency = base.speed_up(row.iterations * ratio * row.iteration.seconds, work) / row.ranks
        return ProgramChange(name, description, efficiency, efficiency - row.efficiency.value, bound)

    def find_all() -> Iterator[ProgramChange]:
        now_s = seconds(iteration, communication)
        per_node = communication.message.per_node(row.ranks)
        changes = _program_changes(iteration), _placement_changes(iteration, per_node)
        for name, description, changed in chain(*changes):
            yield change(name, description, seconds(changed, communication) / now_s)
        # measured times of collectives would not become shorter
        modelled = replace(communication, collectives={})
        modelled_s = seconds(iteration, modelled) if communication.collectives else now_s
        for name, description, faster_network in _network_changes(modelled):
            yield change(name, description, seconds(iteration, faster_network) / modelled_s)
        for name, description, saved_s in _algorithm_changes(iteration, row.iteration, communication):
            yield change(name, description, 1 - saved_s / row.iteration.seconds)
        hidden_already_s = sum(
            row.iteration.part_seconds(name, "messages") for name in _overlapped_parts(iteration)
        )
        hidden_s = min(row.iteration.total("messages") - hidden_already_s, row.iteration.total("computation"))
        ratio = 1 - hidden_s / row.iteration.seconds
        yield change("overlap", "hide messages behind computation", ratio, bound=True)

    best_by_name: dict[str, ProgramChange] = {}
    for candidate in find_all():
        if candidate.gain > MIN_GAIN and (
            candidate.name not in best_by_name or best_by_name[candidate.name].gain < candidate.gain
        ):
            best_by_name[candidate.name] = candidate
    return tuple(sorted(best_by_name.values(), key=lambda candidate: -candidate.gain))


def _overlapped_parts(iteration: Iteration) -> set[str]:
    """The names of parts with messages that overlap computation."""
    steps = (
        (part.name, step) for part in iteration.parts if isinstance(part, StepsPart) for step in part.steps
    )
    return {name for name, step in steps if step.layers and step.computed is not None}


def _program_changes(iteration: Iteration) -> Iterator[tuple[str, str, Iteration]]:
    yield "less imbalance", "give every rank the same work, without variation", _with_even_work(iteration)
    yield (
        "aggregation",
        "exchange half as often, with messages twice as long",
        _with_half_frequency(
            iteration, lambda part: isinstance(part, StepsPart) and _has_only_messages(part)
        ),
    )
    yield (
        "fewer collectives",
        "call half as many, with twice the data",
        _with_half_frequency(iteration, lambda part: isinstance(part, CollectivePart) and part.size > 0),
    )
    yield (
        "shorter messages",
        "send half the bytes",
        _with_steps(iteration, lambda part: _resize_messages(part, 0.5)),
    )
    if any(isinstance(part, StepsPart) and part.serial for part in iteration.parts):
        yield (
            "less serial work",
            "halve the serial part",
            _with_steps(iteration, lambda part: part.with_computation(0.5 if part.serial else 1.0)),
        )


def _algorithm_changes(
    iteration: Iteration, time: IterationTime, costs: Communication
) -> Iterator[tuple[str, str, float]]:
    """Alternative algorithms of each operation, with the seconds that they save per iteration."""
    calls = [
        (part, share)
        for part, share in zip(iteration.parts, iteration.shares, strict=True)
        if isinstance(part, CollectivePart)
    ]
    for operation in dict.fromkeys(part.operation for part, _ in calls):
        algorithms_in_use = {choice.algorithm for choice in time.algorithms if choice.operation == operation}
        if "" in algorithms_in_use:  # measured: a modelled time could differ by the model's error alone
            continue
        for algorithm in sorted(
            other_algorithm
            for other_operation, other_algorithm in SCHEDULES
            if other_operation == operation and other_algorithm not in algorithms_in_use
        ):
            saved_s = sum(
                share
                * (
                    _call_s(part, part.algorithm, iteration.ranks, costs)
                    - _call_s(part, algorithm, iteration.ranks, costs)
                )
                for part, share in calls
                if part.operation == operation
            )
            yield f"another {operation}", f"by {algorithm}", saved_s


def _call_s(part: CollectivePart, algorithm: str, ranks: int, costs: Communication) -> float:
    """Seconds of a call by an algorithm, or by the part's own one ("")."""
    group_size = part.group_size(ranks)
    if algorithm:
        return algorithm_time(costs, part.operation, part.size, group_size, algorithm)
    return call_time(costs, part.operation, part.size, group_size, follow_links=False)


def _placement_changes(iteration: Iteration, per_node: int) -> Iterator[tuple[str, str, Iteration]]:
    """Iterations with other ranks on the same node."""
    if not 1 < per_node < iteration.ranks or iteration.ranks % per_node:
        return
    name, ranks_by_node = "placement on nodes", np.arange(iteration.ranks).reshape(-1, per_node)
    yield (
        name,
        "number the ranks round robin over the nodes",
        iteration.with_placement(ranks_by_node.T.ravel()),
    )
    grid = RankGrid(iteration.extents)
    if len(grid.extents) > 1 and (tile := grid.best_tile(per_node)) is not None:
        block = " x ".join(map(str, tile))
        yield (
            name,
            f"give each node a block of {block} ranks of the grid",
            iteration.with_placement(grid.ranks_by_tile(tile)),
        )


def _with_parts(iteration: Iteration, change: Callable[[Part], Part]) -> Iteration:
    return replace(iteration, parts=tuple(map(change, iteration.parts)))


def _with_steps(iteration: Iteration, change: Callable[[StepsPart], StepsPart]) -> Iteration:
    return _with_parts(iteration, lambda part: change(part) if isinstance(part, StepsPart) else part)


def _resize_messages(part: StepsPart, factor: float) -> StepsPart:
    """Copy of the part with message sizes multiplied by `factor`."""

    def resized_layers(step: Step) -> tuple[Layer, ...]:
        return tuple(
            Layer(layer.source, layer.target, factor * np.asarray(layer.size)) for layer in step.layers
        )

    return replace(part, steps=tuple(replace(step, layers=resized_layers(step)) for step in part.steps))


def _has_only_messages(part: StepsPart) -> bool:
    return part.has_messages and all(step.computed is None for step in part.steps)


def _with_half_frequency(iteration: Iteration, is_chosen: Callable[[Part], bool]) -> Iteration:
    """Copy of the iteration with the chosen parts executed half as often, with twice the bytes."""

    def double_size(part: Part) -> Part:
        if isinstance(part, CollectivePart):
            return replace(part, size=2 * part.size)
        assert isinstance(part, StepsPart)
        return _resize_messages(part, 2.0)

    flags = [is_chosen(part) for part in iteration.parts]
    return replace(
        iteration,
        parts=tuple(
            double_size(part) if flag else part for part, flag in zip(iteration.parts, flags, strict=True)
        ),
        shares=tuple(
            share / 2 if flag else share for share, flag in zip(iteration.shares, flags, strict=True)
        ),
    )


def _with_even_work(iteration: Iteration) -> Iteration:
    def balance(part: StepsPart) -> StepsPart:
        if part.has_messages or part.serial:
            return replace(part, noise=0.0)
        mean = part.computation(iteration.ranks).mean()
        return replace(part, noise=0.0, steps=(Step((), computed=np.full(iteration.ranks, mean)),))

    return _with_steps(iteration, balance)


def _network_changes(costs: Communication) -> Iterator[tuple[str, str, Communication]]:
    yield (
        "lower latency",
        "halve the time of an empty message on its way",
        with_faster_network(costs, 0.5, 1.0),
    )
    yield "more bandwidth", "double the bandwidth", with_faster_network(costs, 1.0, 0.5)


def with_faster_network(costs: Communication, latency: float, per_byte: float) -> Communication:
    """Copy of the costs with the time of an empty message in the network and the time per byte multiplied by
    these factors."""
    if costs.platform is not None:
        network = costs.platform.network
        segments = tuple(
            msgspec.structs.replace(
                segment, latency_s=latency * segment.latency_s, per_byte_s=per_byte * segment.per_byte_s
            )
            for segment in costs.platform.segments
        )
        network = msgspec.structs.replace(
            network,
            nic=network.nic / per_byte,
            link=network.link / per_byte,
            hop_s=latency * network.hop_s,
            medium_message_s=latency * network.medium_message_s,
            medium_s_per_byte=per_byte * network.medium_s_per_byte,
        )
        platform = msgspec.structs.replace(costs.platform, segments=segments, network=network)
        return replace(costs, platform=platform)
    assert costs.measured is not None
    return replace(costs, measured=_with_faster_messages(costs.measured, latency, per_byte))


def _with_faster_messages(costs: MeasuredCosts, latency: float, per_byte: float) -> MeasuredCosts:
    def faster_level(level: PointToPointCosts) -> PointToPointCosts:
        pieces = tuple(
            replace(piece, latency_s=latency * piece.latency_s, per_byte_s=per_byte * piece.per_byte_s)
            for piece in level.pieces
        )
        return replace(level, pieces=pieces)

    return replace(
        costs,
        message=faster_level(costs.message),
        crossing=None if costs.crossing is None else faster_level(costs.crossing),
        stream=None if costs.stream is None else faster_level(costs.stream),
    )
