# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How a described program scales on a machine: its time by number of ranks, speed-up and efficiency, where
the time goes, what limits it, and what would improve it.

Intervals are those of communication's costs and of the program's variation; they do not cover errors of the
model's assumptions."""

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
from hockney.models.programs.timing import IterationTime, Kind, algorithm_time, call_time, iteration_time
from hockney.models.schedules import SCHEDULES, Layer, Step

TIME_PARTS: tuple[Kind, ...] = ("computation", "messages", "collectives", "waiting")
"""What a row's time consists of."""
LEAST_EFFICIENCY = 0.5
EQUAL = 0.01
"""Work that differs by a smaller part is the same."""
SEEN = 1e-6
"""The minimum gain of efficiency that counts."""
MAX_CHANGED = 4096
"""The most ranks for which changes are simulated: there are about a dozen of them."""
NORMAL = 1.96
"""Standard errors of a 95% interval."""


class ScalableProgram(Protocol):
    """A program for any number of ranks: an iteration, in seconds of computation, and their `count`."""

    @property
    def name(self) -> str: ...

    def iteration(self, ranks: int) -> Iteration: ...

    def count(self, ranks: int) -> float: ...


@dataclass(frozen=True)
class ProgramMachine:
    """The costs of communication, with those at the ends of their intervals if known, and the `computing`
    times at the ends of theirs, relative to the program's. More ranks than `cores` share them; None: each
    rank has its own. On some numbers of ranks, `others` have been measured instead."""

    communication: Mapping[End, Communication]
    cores: int | None = None
    computing: tuple[float, ...] = (1.0,)
    others: Mapping[int, ProgramMachine] = field(default_factory=dict)

    def on(self, ranks: int) -> ProgramMachine:
        return self.others.get(ranks, self)

    def shared_by(self, ranks: int) -> float:
        """The number of ranks per core, at least 1."""
        return max(1.0, ranks / self.cores) if self.cores else 1.0


@dataclass(frozen=True)
class ProgramRow:
    """Performance on `ranks` ranks: the time (s) of all iterations, speed-up and efficiency, and where the
    time of one iteration goes (`iteration`). `shared_by` is the number of ranks per core."""

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

    def seconds(self, kind: Kind) -> float:
        """Seconds of all iterations."""
        return self.iterations * self.iteration.total(kind)


@dataclass(frozen=True)
class ProgramChange:
    """A change of the program or of the machine, the resulting efficiency, and its improvement. `bound`: no
    more than this can be gained."""

    name: str
    how: str
    efficiency: float
    gain: float
    bound: bool = False


@dataclass(frozen=True)
class ProgramForecast:
    """`scaling` is whether all numbers of ranks have the same work, or each rank has. `longest_message` is in
    bytes, among all numbers of ranks. `fastest` has the largest speed-up, and `thrifty` the most ranks with
    an efficiency of 50%. `changes` are for `changed` ranks, what helps most first; 0 ranks where all asked
    for share cores, or are more than MAX_CHANGED."""

    name: str
    scaling: Scaling
    longest_message: float
    rows: tuple[ProgramRow, ...]
    fastest: ProgramRow
    thrifty: ProgramRow
    changed: int
    changes: tuple[ProgramChange, ...]


def forecast(
    program: ScalableProgram, ranks: Sequence[int], machine: ProgramMachine, scaling: Scaling | None = None
) -> ProgramForecast:
    """Without `scaling`, the work on each number of ranks shows which it is. Raises UsageError if a formula
    has no value on one of `ranks`."""
    single = program.iteration(1)
    alone = program.count(1) * iteration_time(single, machine.communication["value"]).seconds
    base = Base(alone, program.count(1) * float(single.computation.sum()), scaling)
    iterations = {p: program.iteration(p) for p in sorted({*ranks})}
    counts = {p: program.count(p) for p in iterations}
    works = {p: counts[p] * float(each.computation.sum()) for p, each in iterations.items()}
    rows = tuple(_row(counts[p], each, works[p], base, machine.on(p)) for p, each in iterations.items())
    own = [p for p in iterations if 1 < p <= MAX_CHANGED and machine.shared_by(p) == 1]
    changed = max(own, default=0)
    now = next((row for row in rows if row.ranks == changed), None)
    return ProgramForecast(
        name=program.name,
        scaling=scaling or _scaling(works, base),
        longest_message=max(each.longest_message for each in iterations.values()),
        rows=tuple(row for p in ranks for row in rows if row.ranks == p),
        fastest=max(rows, key=lambda row: (row.speed_up.value, -row.ranks)),
        thrifty=max(
            (row for row in rows if row.efficiency.value >= LEAST_EFFICIENCY),
            key=lambda row: row.ranks,
            default=min(rows, key=lambda row: row.ranks),
        ),
        changed=changed,
        changes=()
        if now is None
        else _changes(now, iterations[changed], works[changed], base, machine.on(changed)),
    )


@dataclass(frozen=True)
class Base:
    """Seconds of the program on one rank, and of computation there, and the scaling if the program states
    it."""

    alone: float
    work: float
    scaling: Scaling | None

    def scaled(self, work: float) -> float:
        """What one rank would take with this work, relative to its own: with more work for more ranks, the
        scaled speed-up of J. L. Gustafson, Comm. ACM 31 (1988) 532. Strong scaling is never scaled."""
        return 1.0 if self.scaling == "strong" or not self.work else work / self.work

    def speed_up(self, seconds: float, work: float) -> float:
        """Relative to one rank with the same work."""
        return self.scaled(work) * self.alone / seconds if seconds else float("nan")


def _scaling(works: Mapping[int, float], base: Base) -> Scaling:
    """`works` are the seconds of computation of all ranks together, by number of ranks."""
    if all(abs(work - base.work) <= EQUAL * base.work for work in works.values()):
        return "strong"
    if all(abs(work / p - base.work) <= EQUAL * base.work for p, work in works.items()):
        return "weak"
    return "other"


def _row(count: float, iteration: Iteration, work: float, base: Base, machine: ProgramMachine) -> ProgramRow:
    ranks = iteration.ranks
    shared_by = machine.shared_by(ranks)

    def timed(costs: Communication, computing: float) -> IterationTime:
        return iteration_time(iteration.with_computation(shared_by * computing), costs)

    middle = timed(machine.communication["value"], 1.0)
    spread = NORMAL * middle.error
    times = [(middle.seconds, 1.0)]
    for end, costs in machine.communication.items():
        if end != "value":
            times += [(timed(costs, computing).seconds, computing) for computing in machine.computing]

    def estimate(of: Callable[[float, float], float]) -> Estimate:
        """The estimate of a function of the time (s), and of computing times relative to the program's."""
        value = of(count * middle.seconds, 1.0)
        if len({*times}) == 1 and not spread:
            return Estimate(value, None, None)
        bounds = [of(count * (s + more), computing) for s, computing in times for more in (-spread, spread)]
        return Estimate(value, min(bounds), max(bounds))

    return ProgramRow(
        ranks=ranks,
        iterations=count,
        time=estimate(lambda seconds, _: seconds),
        speed_up=estimate(lambda seconds, computing: computing * base.speed_up(seconds, work)),
        efficiency=estimate(lambda seconds, computing: computing * base.speed_up(seconds, work) / ranks),
        iteration=middle,
        shared_by=shared_by,
    )


# What would help


def _changes(
    row: ProgramRow, iteration: Iteration, work: float, base: Base, machine: ProgramMachine
) -> tuple[ProgramChange, ...]:
    communication = machine.communication["value"]

    def seconds(changed: Iteration, costs: Communication) -> float:
        return iteration_time(changed, costs, follow_links=False).seconds

    def change(name: str, how: str, ratio: float, *, bound: bool = False) -> ProgramChange:
        efficiency = base.speed_up(row.iterations * ratio * row.iteration.seconds, work) / row.ranks
        return ProgramChange(name, how, efficiency, efficiency - row.efficiency.value, bound)

    def made() -> Iterator[ProgramChange]:
        now_s = seconds(iteration, communication)
        per_node = communication.message.per_node(row.ranks)
        changes = _changed_programs(iteration), _placements(iteration, per_node)
        for name, how, changed in chain(*changes):
            yield change(name, how, seconds(changed, communication) / now_s)
        # measured times of collectives would not become shorter
        modelled = replace(communication, collectives={})
        modelled_s = seconds(iteration, modelled) if communication.collectives else now_s
        for name, how, faster in _faster_networks(modelled):
            yield change(name, how, seconds(iteration, faster) / modelled_s)
        for name, how, saved_s in _other_algorithms(iteration, row.iteration, communication):
            yield change(name, how, 1 - saved_s / row.iteration.seconds)
        hidden_already = sum(row.iteration.of_part(name, "messages") for name in _overlapped(iteration))
        hidden = min(row.iteration.total("messages") - hidden_already, row.iteration.total("computation"))
        ratio = 1 - hidden / row.iteration.seconds
        yield change("overlap", "hide messages behind computation", ratio, bound=True)

    best: dict[str, ProgramChange] = {}
    for each in made():
        if each.gain > SEEN and (each.name not in best or best[each.name].gain < each.gain):
            best[each.name] = each
    return tuple(sorted(best.values(), key=lambda each: -each.gain))


def _overlapped(iteration: Iteration) -> set[str]:
    """The parts whose messages are under way during computation."""
    steps = (
        (part.name, step) for part in iteration.parts if isinstance(part, StepsPart) for step in part.steps
    )
    return {name for name, step in steps if step.layers and step.computed is not None}


def _changed_programs(iteration: Iteration) -> Iterator[tuple[str, str, Iteration]]:
    yield "less imbalance", "give every rank the same work, without variation", _balanced(iteration)
    yield (
        "aggregation",
        "exchange half as often, with messages twice as long",
        _halved(iteration, lambda part: isinstance(part, StepsPart) and _only_messages(part)),
    )
    yield (
        "fewer collectives",
        "call half as many, with twice the data",
        _halved(iteration, lambda part: isinstance(part, CollectivePart) and part.size > 0),
    )
    yield (
        "shorter messages",
        "send half the bytes",
        _with_steps(iteration, lambda part: _resized(part, 0.5)),
    )
    if any(isinstance(part, StepsPart) and part.serial for part in iteration.parts):
        yield (
            "less serial work",
            "halve the serial part",
            _with_steps(iteration, lambda part: part.with_computation(0.5 if part.serial else 1.0)),
        )


def _other_algorithms(
    iteration: Iteration, time: IterationTime, costs: Communication
) -> Iterator[tuple[str, str, float]]:
    """Algorithms that each operation could use instead, with the seconds of an iteration that they save."""
    calls = [
        (p, s)
        for p, s in zip(iteration.parts, iteration.shares, strict=True)
        if isinstance(p, CollectivePart)
    ]
    for operation in dict.fromkeys(part.operation for part, _ in calls):
        used = {each.algorithm for each in time.algorithms if each.operation == operation}
        if "" in used:  # measured: a modelled time could differ by the model's error alone
            continue
        for algorithm in sorted(name for of, name in SCHEDULES if of == operation and name not in used):
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
    """Seconds of a call by an algorithm, or by the one in use ("")."""
    among = part.group_size(ranks)
    if algorithm:
        return algorithm_time(costs, part.operation, part.size, among, algorithm)
    return call_time(costs, part.operation, part.size, among, follow_links=False)


def _placements(iteration: Iteration, per_node: int) -> Iterator[tuple[str, str, Iteration]]:
    """Other ranks on the same node."""
    if not 1 < per_node < iteration.ranks or iteration.ranks % per_node:
        return
    name, numbers = "placement on nodes", np.arange(iteration.ranks).reshape(-1, per_node)
    yield name, "number the ranks round robin over the nodes", iteration.placed(numbers.T.ravel())
    grid = RankGrid(iteration.extents)
    if len(grid.extents) > 1 and (tile := grid.tile(per_node)) is not None:
        block = " x ".join(map(str, tile))
        yield name, f"give each node a block of {block} ranks of the grid", iteration.placed(grid.tiled(tile))


def _with_parts(iteration: Iteration, change: Callable[[Part], Part]) -> Iteration:
    return replace(iteration, parts=tuple(map(change, iteration.parts)))


def _with_steps(iteration: Iteration, change: Callable[[StepsPart], StepsPart]) -> Iteration:
    return _with_parts(iteration, lambda part: change(part) if isinstance(part, StepsPart) else part)


def _resized(part: StepsPart, factor: float) -> StepsPart:
    """The part with messages of `factor` times the bytes."""

    def layers(step: Step) -> tuple[Layer, ...]:
        return tuple(Layer(each.source, each.target, factor * np.asarray(each.size)) for each in step.layers)

    return replace(part, steps=tuple(replace(step, layers=layers(step)) for step in part.steps))


def _only_messages(part: StepsPart) -> bool:
    return part.has_messages and all(step.computed is None for step in part.steps)


def _halved(iteration: Iteration, chosen: Callable[[Part], bool]) -> Iteration:
    """Parts that are executed half as often, with twice the bytes."""

    def doubled(part: Part) -> Part:
        if isinstance(part, CollectivePart):
            return replace(part, size=2 * part.size)
        assert isinstance(part, StepsPart)
        return _resized(part, 2.0)

    flags = [chosen(part) for part in iteration.parts]
    return replace(
        iteration,
        parts=tuple(doubled(p) if flag else p for p, flag in zip(iteration.parts, flags, strict=True)),
        shares=tuple(s / 2 if flag else s for s, flag in zip(iteration.shares, flags, strict=True)),
    )


def _balanced(iteration: Iteration) -> Iteration:
    def even(part: StepsPart) -> StepsPart:
        if part.has_messages or part.serial:
            return replace(part, noise=0.0)
        mean = part.computation(iteration.ranks).mean()
        return replace(part, noise=0.0, steps=(Step((), computed=np.full(iteration.ranks, mean)),))

    return _with_steps(iteration, even)


def _faster_networks(costs: Communication) -> Iterator[tuple[str, str, Communication]]:
    yield "lower latency", "halve the time of an empty message on its way", faster(costs, 0.5, 1.0)
    yield "more bandwidth", "double the bandwidth", faster(costs, 1.0, 0.5)


def faster(costs: Communication, latency: float, per_byte: float) -> Communication:
    """The costs with these factors of the times of an empty message on its way, and of a byte."""
    if costs.platform is not None:
        network = costs.platform.network
        segments = tuple(
            msgspec.structs.replace(
                each, latency_s=latency * each.latency_s, per_byte_s=per_byte * each.per_byte_s
            )
            for each in costs.platform.segments
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
    return replace(costs, measured=_faster_measured(costs.measured, latency, per_byte))


def _faster_measured(costs: MeasuredCosts, latency: float, per_byte: float) -> MeasuredCosts:
    def faster(level: PointToPointCosts) -> PointToPointCosts:
        pieces = tuple(
            replace(each, latency_s=latency * each.latency_s, per_byte_s=per_byte * each.per_byte_s)
            for each in level.pieces
        )
        return replace(level, pieces=pieces)

    return replace(
        costs,
        message=faster(costs.message),
        crossing=None if costs.crossing is None else faster(costs.crossing),
        stream=None if costs.stream is None else faster(costs.stream),
    )
