# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Prices the collectives of a traced program: each takes a known time, or is expanded to the messages of an
algorithm.

Calls of one operation with equal sizes, by ranks with equal distances, have the same messages. Templates of
these messages are built once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.core.errors import UsageError
from hockney.core.smpi_algorithms import unknown_algorithm, unknown_collective
from hockney.models.loggp_sim import LayerCosts, Seconds
from hockney.models.programs.parts import step_in_groups
from hockney.models.programs.timing import AlgorithmBasis, LenientSimulator, resolve_call
from hockney.models.schedules import SCHEDULES, Layer, Mode, Step, algorithm_names
from hockney.models.schedules.smpi import smpi_schedules
from hockney.profiles.machine_costs import SCALAR_OPERATIONS
from hockney.replay import graph as g
from hockney.replay.graph import COST, MESSAGE, OP, Graph, rank_of_ops
from hockney.replay.pricing import Machine, cost_rows, message_costs, set_byte_shares

BEST = "best"
NONBLOCKING, UNFINISHED = 1, 2
"""Collectives that are not blocking: ranks wait for them, or some ranks never do."""
MODELLED_VECTOR_OPERATIONS = ("allgatherv", "alltoallv")
"""Operations on vectors for which machine descriptions name an algorithm."""
NEIGHBOR_PREFIX = "neighbor_"
DUPLICATE, SPLIT = "new communicator", "split communicator"
"""Operations that make communicators, which consist of other collectives."""
COMMUNICATOR_OPERATIONS = {
    **dict.fromkeys(
        ("comm_dup", "comm_dup_with_info", "comm_create", "cart_create", "graph_create"), DUPLICATE
    ),
    **dict.fromkeys(("comm_split", "comm_split_type"), SPLIT),
}
CALLS_OF_MPI: dict[str, tuple[tuple[str, int], ...]] = {
    DUPLICATE: (("allreduce", 4),),
    SPLIT: (("allgather", 8), ("allreduce", 4)),
}
"""The collectives, with their bytes, by which implementations make communicators: all ranks agree on the
number of a communicator, and exchange colors and keys. MPICH: MPIR_Comm_split_impl and
MPIR_Get_contextid_sparse_group; Open MPI: ompi_comm_split and ompi_comm_nextcid."""
CALLS_OF_SIMGRID: dict[str, tuple[tuple[str, int], ...]] = {
    DUPLICATE: (("bcast", 4),),
    SPLIT: (("igather", 8), ("iscatter", 8)),
}
"""The same for simulated machines: smpi::Comm::split of SimGrid, in which rank 0 sends each rank its new
communicator, and the constructor of smpi::Comm. After a split, each new communicator has the broadcast of
`DUPLICATE`."""
_TWO_BARRIERS = (("barrier of a window", 0), ("barrier of a window", 0))
WINDOW_CALLS: dict[str, tuple[tuple[str, int], ...]] = {
    "win_create": (("allgather", 8),),
    "win_allocate": (("allgather", 8),),
    "win_fence": _TWO_BARRIERS,
    "win_free": _TWO_BARRIERS,
}
"""The collectives of windows on simulated machines (smpi::Win). Pending one-sided operations complete between
the two barriers."""


@dataclass(frozen=True)
class CollectiveTiming:
    """How a collective operation is timed: by an `algorithm`, or as measured (""). `calls` is the number of
    calls of the program to which this applies."""

    operation: str
    ranks: int
    size: int
    algorithm: str
    basis: AlgorithmBasis
    calls: int

    def models(self, operation: str) -> bool:
        """Whether the algorithms of an operation apply to it."""
        return model_operation(self.operation) == operation


@dataclass(frozen=True)
class PricedGraph:
    """A graph whose operations refer to rows of `costs`. `choices` tells how its collectives are timed.
    `rounds` is the number of successive messages for which a row stands; it exceeds 1 only for collectives
    with a known time. `position` maps the operations of the program to their indices in the graph (empty:
    unchanged); an expanded collective maps to its first operation on that rank, or to the following
    operation."""

    graph: Graph
    costs: np.ndarray
    rounds: np.ndarray
    choices: tuple[CollectiveTiming, ...] = ()
    position: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


def model_operation(operation: str) -> str:
    """The operation whose algorithms and times apply to an operation of a program. Operations that only
    synchronise are modelled as barriers."""
    if operation in COMMUNICATOR_OPERATIONS:
        return COMMUNICATOR_OPERATIONS[operation]
    base_operation = (
        operation if operation in MODELLED_VECTOR_OPERATIONS else SCALAR_OPERATIONS.get(operation, operation)
    )
    base_operation = {"exscan": "scan"}.get(base_operation, base_operation)
    known_operations = {name for name, _ in SCHEDULES} | set(MODELLED_VECTOR_OPERATIONS)
    return (
        base_operation
        if base_operation in known_operations or base_operation.startswith(NEIGHBOR_PREFIX)
        else "barrier"
    )


def check_algorithms(algorithms: Mapping[str, str]) -> dict[str, str]:
    """Raises UsageError for unknown operations and algorithms."""
    known_operations = sorted({known_operation for known_operation, _ in SCHEDULES})
    for operation, algorithm in algorithms.items():
        if operation not in known_operations:
            raise unknown_collective(operation, known_operations)
        if algorithm != BEST and algorithm not in algorithm_names(operation):
            raise unknown_algorithm(algorithm, operation, [BEST, *algorithm_names(operation)])
    return dict(algorithms)


@dataclass(frozen=True)
class GroupCosts:
    """The costs of messages within a group of ranks. Layers number the ranks of the group from 0."""

    machine: Machine
    ranks: np.ndarray

    def of(self, layer: Layer, mode: Mode) -> LayerCosts:
        return self.machine.of(self._world_layer(layer), mode)

    def empty_costs(self, layer: Layer, mode: Mode) -> LayerCosts:
        """The costs of the same messages without bytes."""
        return self.machine.uncontended_costs(
            replace(self._world_layer(layer), size=np.zeros(len(layer.source))), mode
        )

    def level(self, layer: Layer) -> np.ndarray:
        return self.machine.level(self.ranks[layer.source], self.ranks[layer.target])

    def _world_layer(self, layer: Layer) -> Layer:
        return Layer(self.ranks[layer.source], self.ranks[layer.target], layer.size)

    def copying(self, size: float | np.ndarray) -> Seconds:
        return self.machine.copying(size)

    def combining(self, size: float | np.ndarray) -> Seconds:
        return self.machine.combining(size)

    def refreshing(self, size: float | np.ndarray) -> Seconds:
        return self.machine.refreshing(size)

    def seconds(self, steps: Sequence[Step]) -> float:
        return float(LenientSimulator(None, len(self.ranks), self).run(steps).max())


@dataclass(frozen=True)
class Template:
    """The operations of an algorithm: those of rank r are first[r] to first[r+1], of which those from
    first_end[r] belong to the end of a call that consists of a start and an end. Their slots and costs refer
    to rows of `messages`, whose ranks are numbered within the communicator, and to rows of `costs`."""

    ops: np.ndarray
    first: np.ndarray
    first_end: np.ndarray
    messages: np.ndarray
    costs: np.ndarray


def build_template(steps: Sequence[Step], costs: GroupCosts, starting_steps: int | None = None) -> Template:
    """Build the operations that LogGPSimulator would run for these steps. The first `starting_steps` (None:
    all) belong to the start of a call. Without any, its messages start there, and it waits for them at the
    end."""
    return _TemplateWriter(costs).write(steps, len(steps) if starting_steps is None else starting_steps)


class _TemplateWriter:
    def __init__(self, costs: GroupCosts) -> None:
        self.costs = costs
        ranks = len(costs.ranks)
        self.ranks = ranks
        self.computed_s = np.zeros(ranks)
        """Seconds that each rank computes before its next operation."""
        self.has_written = np.zeros(ranks, dtype=bool)
        self.ops: list[np.ndarray] = []
        self.op_ranks: list[np.ndarray] = []
        self.end_counts = np.zeros(ranks, dtype=np.int64)
        """The number of operations of each rank at the end of the call."""
        self.at_end = False
        self.messages: list[np.ndarray] = []
        self.rows: list[np.ndarray] = []
        self.slot_count = self.row_count = 0

    def write(self, steps: Sequence[Step], starting_steps: int) -> Template:
        self.waits_at_end = not starting_steps
        for number, step in enumerate(steps):
            self.at_end = self.at_end or 0 < starting_steps <= number
            self._add_step(step)
        self._add(np.flatnonzero(self.computed_s), g.COMPUTE, 0, 0, 0)
        op_ranks = np.concatenate(self.op_ranks)
        order = np.argsort(op_ranks, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(op_ranks, minlength=self.ranks))])
        return Template(
            np.concatenate(self.ops)[order],
            first,
            first[1:] - self.end_counts,
            np.concatenate(self.messages) if self.messages else np.zeros(0, MESSAGE),
            np.concatenate(self.rows) if self.rows else np.zeros(0, COST),
        )

    def _add(
        self, ranks: np.ndarray, kind: int, flags: int, slot: np.ndarray | int, cost: np.ndarray | int
    ) -> None:
        ops = np.zeros(len(ranks), OP)
        ops["kind"], ops["flags"], ops["slot"], ops["cost"] = kind, flags, slot, cost
        ops["computed_s"] = self.computed_s[ranks]
        self.computed_s[ranks] = 0.0
        self.ops.append(ops)
        self.op_ranks.append(ranks)
        if self.at_end:
            np.add.at(self.end_counts, ranks, 1)

    def _add_step(self, step: Step) -> None:
        if step.copied is not None:
            ranks, size = step.copied
            self.computed_s[ranks] += self.costs.copying(size)
            self.has_written[ranks] = True
        if not step.layers:
            if step.computed is not None:
                self.computed_s += step.computed
            return
        mode, layer_costs = step.mode, [self.costs.of(layer, step.mode) for layer in step.layers]
        has_large = not all(np.all(costs.eager) for costs in layer_costs)
        first_layer = step.layers[0]
        if has_large and (
            len(step.layers) > 1
            or (mode is Mode.BLOCKING and np.isin(first_layer.source, first_layer.target).any())
        ):
            # Blocking calls would deadlock here, so these messages are posted.
            mode = Mode.POSTED
            layer_costs = [self.costs.of(layer, mode) for layer in step.layers]
        if not step.untouched:
            layer_costs = [
                self._with_refreshing(*costs) for costs in zip(step.layers, layer_costs, strict=True)
            ]
        self._messages(step, mode, layer_costs)
        for layer in step.layers:
            self.has_written[layer.target] = True
            if step.combine:
                self.computed_s[layer.target] += self.costs.combining(layer.size)

    def _with_refreshing(self, layer: Layer, cost: LayerCosts) -> LayerCosts:
        refreshing_s = np.where(self.has_written[layer.source], self.costs.refreshing(layer.size), 0.0)
        return replace(cost, flight=cost.flight + refreshing_s)

    def _messages(self, step: Step, mode: Mode, layer_costs: list[LayerCosts]) -> None:
        sources = np.concatenate([layer.source for layer in step.layers])
        posted = []
        for layer, cost in zip(step.layers, layer_costs, strict=True):
            count = len(layer.source)
            slot = self.slot_count + np.arange(count)
            messages = np.zeros(count, MESSAGE)
            messages["source"], messages["target"], messages["size"] = layer.source, layer.target, layer.size
            self.messages.append(messages)
            self.slot_count += count
            level, empty_costs = self.costs.level(layer), self.costs.empty_costs(layer, mode)
            table = cost_rows(cost, level, count, empty_costs.flight)
            if self.costs.machine.waits_for_bytes:
                set_byte_shares(table, cost, empty_costs)
            # Messages cross only if the receiver also sends in this step.
            table["exchange"] *= np.isin(layer.target, sources)
            self.rows.append(table)
            row = self.row_count + np.arange(count)
            self.row_count += count
            posted.append((layer, slot, row, table["eager"] == 0))
        blocking = g.BLOCKING if mode is Mode.BLOCKING else 0
        if mode is Mode.POSTED and not step.interleaved:
            for layer, slot, row, _ in posted:
                self._add(layer.target, g.RECEIVE, 0, slot, row)
        for layer, slot, row, large in posted:
            self._add(
                layer.source, g.SEND, blocking or (g.BLOCKING if mode is Mode.EXCHANGE else 0), slot, row
            )
            if mode is Mode.POSTED and step.interleaved:
                self._add(layer.target, g.RECEIVE, 0, slot, row)
            if blocking and large.any():
                self._add(layer.source[large], g.SENT, g.TOGETHER, slot[large], row[large])
        if mode is not Mode.POSTED:
            for layer, slot, row, _ in posted:
                self._add(layer.target, g.RECEIVE, blocking or g.TOGETHER, slot, row)
        if step.computed is not None:
            self.computed_s += step.computed
        self.at_end = self.at_end or self.waits_at_end
        has_ended = np.zeros(self.ranks, dtype=bool)
        for layer, slot, row, _ in posted:
            together = np.where(has_ended[layer.target], g.TOGETHER, 0)
            self._add(layer.target, g.RECEIVED, 0, slot, row)
            self.ops[-1]["flags"] = together
            has_ended[layer.target] = True
        for layer, slot, row, large in posted:
            if not blocking and large.any():
                senders = layer.source[large]
                self._add(senders, g.SENT, 0, slot[large], row[large])
                self.ops[-1]["flags"] = np.where(has_ended[senders], g.TOGETHER, 0)
                has_ended[senders] = True


@dataclass
class _AlgorithmChooser:
    """Chooses the algorithms or measured times of the collectives of a graph on a machine."""

    graph: Graph
    machine: Machine
    algorithms: Mapping[str, str]
    choices: dict[tuple[str, int, int, str, AlgorithmBasis], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._resolved: dict[tuple[object, ...], tuple[Sequence[Step] | float, str, AlgorithmBasis]] = {}

    def resolve(
        self, operation: str, ranks: np.ndarray, size: int, call: str = ""
    ) -> tuple[Sequence[Step] | float, str, AlgorithmBasis]:
        """The steps or the seconds of a call, its algorithm, and the basis of the choice. `call` is the name
        of the call on a described machine, whose steps may be those of its nonblocking form only."""
        if len(ranks) < 2:
            return 0.0, "", "measured"
        if operation.startswith(NEIGHBOR_PREFIX):
            return self._neighbors_s(ranks, size), "", "assumed"
        if call in WINDOW_CALLS and self.is_described:
            return self._consecutive_calls(WINDOW_CALLS[call], ranks), "", "described"
        if operation in (DUPLICATE, SPLIT):
            if not self.is_described:
                return self._consecutive_calls(CALLS_OF_MPI[operation], ranks), "", "assumed"
            timing = self._consecutive_calls(CALLS_OF_SIMGRID[operation], ranks)
            if operation == SPLIT and not isinstance(timing, float):
                timing = (*timing, *self._steps_in_parts(CALLS_OF_SIMGRID[DUPLICATE], ranks))
            return timing, "", "described"
        requested = self.algorithms.get(SCALAR_OPERATIONS.get(operation, operation), "")
        default = call if self.has_schedule(call) else operation
        key = (
            operation,
            default,
            len(ranks),
            size,
            requested,
            self.machine.pattern(ranks) if requested == BEST else b"",
        )
        if key not in self._resolved:
            self._resolved[key] = (
                self._resolve_best(operation, default, ranks, size)
                if requested == BEST
                else self._resolve_algorithm(operation if requested else default, ranks, size, requested)
            )
        return self._resolved[key]

    def _resolve_algorithm(
        self, operation: str, ranks: np.ndarray, size: int, algorithm: str
    ) -> tuple[Sequence[Step] | float, str, AlgorithmBasis]:
        base_operation = SCALAR_OPERATIONS.get(operation, operation) if algorithm else operation
        timing, choice = resolve_call(self.machine.communication, base_operation, size, len(ranks), algorithm)
        if choice is None:
            return timing, algorithm, "requested" if algorithm else "assumed"
        return timing, choice.algorithm, choice.basis

    def _resolve_best(
        self, operation: str, default: str, ranks: np.ndarray, size: int
    ) -> tuple[Sequence[Step] | float, str, AlgorithmBasis]:
        """The fastest algorithm for these ranks, or the machine's default if none is faster."""
        group_costs = GroupCosts(self.machine, ranks)
        by_default = self._resolve_algorithm(default, ranks, size, "")
        candidates = [(_seconds(by_default[0], group_costs), by_default)]
        for name in algorithm_names(SCALAR_OPERATIONS.get(operation, operation)):
            try:
                candidate = self._resolve_algorithm(operation, ranks, size, name)
            except UsageError:
                continue
            candidates.append((_seconds(candidate[0], group_costs), candidate))
        return min(candidates, key=lambda candidate: candidate[0])[1]

    @property
    def is_described(self) -> bool:
        return self.machine.communication.platform is not None

    def has_schedule(self, call: str) -> bool:
        """Whether the steps of a call on the described machine are known."""
        platform = self.machine.communication.platform
        return platform is not None and smpi_schedules(platform.collectives, call) is not None

    def _consecutive_calls(
        self, calls: Sequence[tuple[str, int]], ranks: np.ndarray
    ) -> tuple[Step, ...] | float:
        """The steps of several collectives; their seconds if those of one were measured."""
        timings = [self.resolve(name, ranks, size, name)[0] for name, size in calls]
        if any(isinstance(each, float) for each in timings):
            group_costs = GroupCosts(self.machine, ranks)
            return sum(_seconds(each, group_costs) for each in timings)
        return tuple(step for steps in timings if not isinstance(steps, float) for step in steps)

    def _steps_in_parts(self, calls: Sequence[tuple[str, int]], ranks: np.ndarray) -> Iterator[Step]:
        """The steps of collectives in parts of a communicator, if the program has such communicators. Which
        ranks belong to a part is not known; consecutive ones are assumed."""
        sizes = [
            len(each) for each in self.graph.communicators if len(each) > 1 and np.isin(each, ranks).all()
        ]
        size = Counter(each for each in sizes if each < len(ranks)).most_common(1)
        if not size:
            return
        count = size[0][0]
        timing = self._consecutive_calls(calls, ranks[:count])
        groups = np.arange(len(ranks) // count * count).reshape(-1, count)
        for step in () if isinstance(timing, float) else timing:
            yield step_in_groups(step, groups, len(ranks))

    def _neighbors_s(self, ranks: np.ndarray, size: int) -> float:
        """The time of an exchange with the farthest rank, because the actual neighbors are unknown."""
        neighbors = np.roll(ranks, 1)
        farthest = int(np.argmax(self.machine.level(ranks, neighbors)))
        pair = Layer(ranks[[farthest]], neighbors[[farthest]], np.array([float(size)]))
        costs = self.machine.uncontended_costs(pair, Mode.POSTED)
        return float(np.sum(costs.overhead + costs.flight + costs.receive))

    def count_calls(
        self, operation: str, ranks: int, size: int, algorithm: str, basis: AlgorithmBasis, calls: int
    ) -> None:
        key = operation, ranks, size, algorithm, basis
        self.choices[key] = self.choices.get(key, 0) + calls


def _seconds(timing: Sequence[Step] | float, group_costs: GroupCosts) -> float:
    return timing if isinstance(timing, float) else group_costs.seconds(timing)


def price_graph(
    graph: Graph, machine: Machine, algorithms: Mapping[str, str] | None = None, *, expand: bool = True
) -> PricedGraph:
    """Assign each operation of `graph` a row of a machine's costs, in place. Collectives with a known or
    requested algorithm are replaced by its messages; nonblocking ones only on described machines. Others take
    a fixed time after the last rank enters. `algorithms` maps operations ("barrier", "allreduce") to
    algorithms; "best" is the fastest one. Raises UsageError if an algorithm does not exist, or does not
    support the number of ranks."""
    if machine.communication.platform is not None:
        _complete_within_window_calls(graph)
    chooser = _AlgorithmChooser(graph, machine, check_algorithms(algorithms or {}))
    costs, message_rows = message_costs(graph, machine)
    ops = graph.ops
    is_collective = (ops["kind"] == g.ENTER) | (ops["kind"] == g.LEAVE)
    is_message_op = ~is_collective & (ops["kind"] != g.COMPUTE)
    if len(graph.messages):
        ops["cost"][is_message_op] = message_rows[ops["slot"][is_message_op]]
    if not len(graph.groups):
        costs = costs if len(costs) else np.zeros(1, COST)
        return PricedGraph(graph, costs, np.ones(len(costs)))
    return _GraphPricer(chooser, costs).price(is_collective, expand)


def _complete_within_window_calls(graph: Graph) -> None:
    """Let ranks enter the collective of a window before pending one-sided operations complete, in place."""
    ops, is_window = graph.ops, np.array([name in WINDOW_CALLS for name in graph.operations], dtype=bool)
    enters = np.flatnonzero(ops["kind"] == g.ENTER)
    enters = np.setdiff1d(enters[is_window[graph.groups["operation"][ops["slot"][enters]]]], graph.first)
    is_end = (ops["kind"] == g.RECEIVED) & (ops["flags"] & g.ONE_SIDED > 0)
    first_ends = np.maximum.accumulate(np.where(is_end, 0, np.arange(len(ops)) + 1))
    for enter in enters[is_end[enters - 1]].tolist():
        first = int(first_ends[enter - 1])
        order = [enter, *range(first, enter)]
        for name in ("kind", "flags", "place", "cost", "slot"):
            ops[name][first : enter + 1] = ops[name][order]


class _GraphPricer:
    def __init__(self, chooser: _AlgorithmChooser, costs: np.ndarray) -> None:
        self.collectives, self.graph = chooser, chooser.graph
        self.machine = chooser.machine
        self.costs = [costs]
        self.next_row = len(costs)
        self.templates: list[Template] = []
        self.rounds: dict[int, int] = {}
        self._indices_by_key: dict[tuple[object, ...], int] = {}

    def price(self, is_collective: np.ndarray, expand: bool) -> PricedGraph:
        graph = self.graph
        ops, groups = graph.ops, graph.groups
        collective_ops = np.flatnonzero(is_collective)
        enters = collective_ops[ops["kind"][collective_ops] == g.ENTER]
        next_ops = ops[np.minimum(enters + 1, len(ops) - 1)]
        is_blocking = (ops["flags"][enters] & g.BLOCKING > 0) & (next_ops["kind"] == g.LEAVE)
        is_blocking &= next_ops["slot"] == ops["slot"][enters]
        nonblocking_counts = np.bincount(ops["slot"][enters], ~is_blocking, len(groups))
        leaves = collective_ops[ops["kind"][collective_ops] == g.LEAVE]
        leave_counts = np.bincount(ops["slot"][leaves], minlength=len(groups))
        enter_counts = np.bincount(ops["slot"][enters], minlength=len(groups))
        waits = np.where(leave_counts < enter_counts, UNFINISHED, nonblocking_counts > 0)
        kinds, kind_indices = self._group_kinds(waits)
        kind_rows, kind_templates = np.zeros(len(kinds), np.int64), np.full(len(kinds), -1)
        roots = np.zeros(len(kinds), np.int64)
        calls = np.bincount(kind_indices, minlength=len(kinds))
        for k, kind in enumerate(kinds):
            kind_templates[k], kind_rows[k], roots[k] = self._price_kind(kind, int(calls[k]), expand)
        ops["cost"][collective_ops] = kind_rows[kind_indices][ops["slot"][collective_ops]]
        templates = kind_templates[kind_indices]
        positions = np.zeros(0, np.int64)
        if (templates >= 0).any():
            expander = _TemplateExpander(graph, self.templates, templates, roots[kind_indices])
            graph, positions = expander.expand(enters, leaves)
        choices = tuple(CollectiveTiming(*key, calls) for key, calls in self.collectives.choices.items())
        costs = np.concatenate(self.costs)
        rounds = np.ones(len(costs))
        for row, count in self.rounds.items():
            rounds[row] = count
        return PricedGraph(graph, costs, rounds, choices, positions)

    def _group_kinds(self, waits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distinct kinds of groups, and the kind of each group. `waits`: whether it is nonblocking."""
        groups = self.graph.groups
        kinds = np.zeros(
            len(groups),
            [("operation", "i8"), ("communicator", "i8"), ("root", "i8"), ("size", "i8"), ("waits", "i8")],
        )
        kinds["operation"], kinds["communicator"] = groups["operation"], groups["communicator"]
        is_vector = np.array([name in SCALAR_OPERATIONS for name in self.graph.operations], dtype=bool)
        size = groups["size"]
        size = np.where(is_vector[groups["operation"]], _to_significant_bits(size), size)
        kinds["root"], kinds["size"], kinds["waits"] = groups["root"], np.rint(size), waits
        columns = [kinds[name] for name in kinds.dtype.names or ()]
        order = np.lexsort(columns)
        is_first = np.zeros(len(groups), dtype=bool)
        for column in columns:
            is_first[1:] |= column[order][1:] != column[order][:-1]
        indices = np.empty(len(groups), dtype=np.int64)
        indices[order] = np.cumsum(is_first)
        is_first[0] = True
        return kinds[order[is_first]], indices

    def _price_kind(self, kind: np.void, calls: int, expand: bool) -> tuple[int, int, int]:
        """The template (-1: none), the row of costs, and the root's rank in the communicator."""
        graph, chooser = self.graph, self.collectives
        members = graph.communicators[int(kind["communicator"])]
        root = int(kind["root"])
        root_index = int(np.flatnonzero(members == root)[0]) if root >= 0 and (members == root).any() else 0
        ranks, size = np.roll(members, -root_index), int(kind["size"])
        name = graph.operations[int(kind["operation"])]
        operation = model_operation(name)
        size = 0 if operation == "barrier" else size
        waits, is_window_call = int(kind["waits"]), name in WINDOW_CALLS and chooser.is_described
        call = f"i{name}" if waits and not is_window_call else name
        timing, algorithm, basis = chooser.resolve(operation, ranks, size, call)
        chooser.count_calls(operation, len(ranks), size, algorithm, basis, calls)
        group_costs = GroupCosts(self.machine, ranks)
        pattern = self.machine.pattern(ranks)
        is_split = is_window_call or (basis == "described" and chooser.has_schedule(call))
        is_expanded = expand and not isinstance(timing, float)
        is_expanded &= is_split if waits == NONBLOCKING else not waits
        key = call, size, algorithm, pattern, is_expanded
        if key not in self._indices_by_key:
            if isinstance(timing, float) or not is_expanded:
                self._indices_by_key[key] = self._add_row(operation, ranks, size, timing, group_costs)
            else:
                starting_steps = 0 if waits else len(timing)
                if is_window_call and len(WINDOW_CALLS[name]) > 1:
                    starting_steps = len(timing) // 2
                self._indices_by_key[key] = self._add_template(timing, group_costs, starting_steps)
        index = self._indices_by_key[key]
        return (index, 0, root_index) if is_expanded else (-1, index, root_index)

    def _add_template(self, steps: Sequence[Step], group_costs: GroupCosts, starting_steps: int) -> int:
        template = build_template(steps, group_costs, starting_steps)
        template.ops["cost"] += self.next_row
        template.ops["cost"][template.ops["kind"] == g.COMPUTE] = 0
        self._add(template.costs)
        self.templates.append(template)
        return len(self.templates) - 1

    def _add_row(
        self,
        operation: str,
        ranks: np.ndarray,
        size: int,
        timing: Sequence[Step] | float,
        group_costs: GroupCosts,
    ) -> int:
        seconds = _seconds(timing, group_costs)
        empty_s = seconds
        if size:
            empty_timing, _, _ = self.collectives.resolve(operation, ranks, 0)
            empty_s = min(seconds, _seconds(empty_timing, group_costs))
        row = np.zeros(1, COST)
        pair = Layer(ranks[:1], ranks[1:2] if len(ranks) > 1 else ranks[:1], np.array([float(size)]))
        overhead_s = (
            float(np.max(self.machine.uncontended_costs(pair, Mode.BLOCKING).overhead))
            if len(ranks) > 1
            else 0.0
        )
        row["overhead"] = min(overhead_s, seconds)
        row["latency"], row["transfer"] = empty_s, seconds - empty_s
        row["level"] = self.machine.level(ranks[:1], ranks).max()
        self.rounds[self.next_row] = (len(ranks) - 1).bit_length()
        self._add(row)
        return self.next_row - 1

    def _add(self, rows: np.ndarray) -> None:
        self.costs.append(rows)
        self.next_row += len(rows)


def _to_significant_bits(size: np.ndarray) -> np.ndarray:
    """Round sizes to about 1%: block sizes of vectors are means and differ between calls."""
    unit = np.exp2(np.maximum(np.floor(np.log2(np.maximum(size, 1.0))) - 6, 0))
    return np.asarray(np.rint(size / unit) * unit)


class _TemplateExpander:
    """Replaces collectives of a graph with the operations of their templates."""

    def __init__(
        self, graph: Graph, templates: Sequence[Template], template: np.ndarray, root: np.ndarray
    ) -> None:
        self.original, self.template, self.root = graph, template, root
        self.ops = np.concatenate([item.ops for item in templates])
        self.messages = np.concatenate([item.messages for item in templates])
        sizes = np.array([len(item.messages) for item in templates])
        ranks = np.array([len(item.first) - 1 for item in templates])
        ops = np.array([len(item.ops) for item in templates])
        self.message_count, self.first_message = sizes, np.cumsum(sizes) - sizes
        self.first_rank = np.cumsum(ranks + 1) - (ranks + 1)
        bases = np.cumsum(ops) - ops
        self.first_op = np.concatenate(
            [item.first + base for item, base in zip(templates, bases, strict=True)]
        )
        self.first_end = np.concatenate(
            [np.append(item.first_end, 0) + base for item, base in zip(templates, bases, strict=True)]
        )
        members = graph.communicators
        lengths = np.array([len(item) for item in members])
        self.first_member = np.cumsum(lengths) - lengths
        self.members = np.concatenate(members) if len(members) else np.zeros(0, np.int64)
        self.lengths = lengths

    def expand(self, enters: np.ndarray, leaves: np.ndarray) -> tuple[Graph, np.ndarray]:
        """The graph with its templates expanded, and the index of each original operation in it."""
        original = self.original
        ops, groups = original.ops, original.groups
        is_expanded = self.template >= 0
        enters, leaves = (each[is_expanded[ops["slot"][each]]] for each in (enters, leaves))
        calls = np.concatenate([enters, leaves])
        """The operations that are replaced: starts and ends of collectives."""
        slot = ops["slot"][calls]
        rank = np.searchsorted(original.first, calls, side="right") - 1
        communicator = groups["communicator"][slot]
        op_places = self._local_ranks(communicator, rank)
        template_ranks = (op_places - self.root[slot]) % self.lengths[communicator]
        rank_indices = self.first_rank[self.template[slot]] + template_ranks
        is_end = np.arange(len(calls)) >= len(enters)
        first_end = self.first_end[rank_indices]
        first = np.where(is_end, first_end, self.first_op[rank_indices])
        count = np.where(is_end, self.first_op[rank_indices + 1], first_end) - first
        repeats = np.ones(len(ops), dtype=np.int64)
        repeats[calls] = count
        new_positions = np.cumsum(repeats)
        total = int(new_positions[-1]) if len(new_positions) else 0
        new_positions -= repeats
        new_ops = np.empty(total, OP)
        is_unchanged = np.ones(len(ops), dtype=bool)
        is_unchanged[calls] = False
        _as_words(new_ops)[new_positions[is_unchanged]] = _as_words(ops)[is_unchanged]
        # Messages of groups come after those of the program.
        instance_messages = np.where(is_expanded, self.message_count[np.maximum(self.template, 0)], 0)
        first_slot = len(original.messages) + np.cumsum(instance_messages) - instance_messages
        base = first_slot[slot].astype(np.uint64)
        op_places = ops["place"][calls].astype(np.uint64) << np.uint64(16)
        for chunk in np.array_split(np.arange(len(calls)), int(count.sum()) // CHUNK_SIZE + 1):
            self._fill(
                new_ops,
                new_positions[calls[chunk]],
                first[chunk],
                count[chunk],
                base[chunk],
                op_places[chunk],
            )
        has_ops = count > 0
        joined = calls[has_ops & (ops["kind"][calls] == g.LEAVE) & (ops["flags"][calls] & g.TOGETHER > 0)]
        first_ops = new_positions[joined]
        is_wait = (new_ops["kind"][first_ops] == g.RECEIVED) | (new_ops["kind"][first_ops] == g.SENT)
        new_ops["flags"][first_ops[is_wait]] |= g.TOGETHER
        carried_s = ops["computed_s"][calls]
        empty = np.flatnonzero(~has_ops & (carried_s != 0))
        new_ops["computed_s"][new_positions[calls[has_ops]]] += carried_s[has_ops]
        offsets = np.append(new_positions, total)[original.first]
        tails = original.tail_s.copy() if len(original.tail_s) else np.zeros(original.ranks)
        _add_to_next_op(
            new_ops["computed_s"],
            new_positions[calls[empty]],
            carried_s[empty],
            rank[empty],
            offsets,
            tails,
        )
        unexplained_s = original.unexplained_s
        if len(unexplained_s):
            unexplained_s = np.zeros(total, np.float32)
            in_rank = new_positions < offsets[1:][rank_of_ops(original)]
            np.add.at(unexplained_s, new_positions[in_rank], original.unexplained_s[in_rank])
        new_slots = np.cumsum(~is_expanded) - 1
        is_collective = (new_ops["kind"] == g.ENTER) | (new_ops["kind"] == g.LEAVE)
        new_ops["slot"][is_collective] = new_slots[new_ops["slot"][is_collective]]
        graph = replace(
            original,
            ops=new_ops,
            first=offsets,
            messages=np.concatenate([original.messages, self._messages(is_expanded, instance_messages)]),
            groups=groups[~is_expanded],
            tail_s=tails,
            unexplained_s=unexplained_s,
        )
        return graph, new_positions

    def _fill(
        self,
        new_ops: np.ndarray,
        new_positions: np.ndarray,
        first: np.ndarray,
        count: np.ndarray,
        base: np.ndarray,
        place: np.ndarray,
    ) -> None:
        """Copy operations of templates as two 64-bit words each. The place is in bits 16 to 31 of the first
        word, the slot in the lower half of the second word."""
        offset = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        rows, targets = np.repeat(first, count) + offset, np.repeat(new_positions, count) + offset
        words, new_words = self.ops.view(np.uint64), new_ops.view(np.uint64)
        new_words[2 * targets] = words[::2][rows] + np.repeat(place, count)
        new_words[2 * targets + 1] = words[1::2][rows] + np.repeat(base, count)

    def _local_ranks(self, communicator: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """The ranks within their communicators."""
        number = np.repeat(np.arange(len(self.lengths)), self.lengths)
        width = int(max(self.members.max(initial=0), rank.max(initial=0))) + 1
        keys = number * width + self.members
        order = np.argsort(keys, kind="stable")
        positions = order[np.searchsorted(keys[order], communicator.astype(np.int64) * width + rank)]
        return np.asarray(positions - self.first_member[communicator])

    def _messages(self, is_expanded: np.ndarray, count: np.ndarray) -> np.ndarray:
        instances = np.flatnonzero(is_expanded)
        count = count[instances]
        offset = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        rows = np.repeat(self.first_message[self.template[instances]], count) + offset
        messages = np.empty(len(rows), MESSAGE)
        communicator = self.original.groups["communicator"][instances]
        first = np.repeat(self.first_member[communicator], count)
        length, root = np.repeat(self.lengths[communicator], count), np.repeat(self.root[instances], count)
        for name in ("source", "target"):
            local_ranks = np.ascontiguousarray(self.messages[name])[rows] + root
            messages[name] = self.members[
                first + np.where(local_ranks >= length, local_ranks - length, local_ranks)
            ]
        messages["size"] = np.ascontiguousarray(self.messages["size"])[rows]
        messages["tag"] = -1
        messages["communicator"] = np.repeat(communicator, count)
        return messages


CHUNK_SIZE = 1 << 20
"""The number of operations that are copied at once, so that they stay in the cache."""


def _as_words(ops: np.ndarray) -> np.ndarray:
    """View operations as numbers of the same size, which are copied faster."""
    return ops.view(np.complex128)


def _add_to_next_op(
    computed: np.ndarray,
    positions: np.ndarray,
    seconds: np.ndarray,
    rank: np.ndarray,
    first: np.ndarray,
    tails: np.ndarray,
) -> None:
    """Add the computation before removed operations to the next operation of the rank, or to its tail."""
    is_last = positions >= first[rank + 1]
    np.add.at(tails, rank[is_last], seconds[is_last])
    np.add.at(computed, positions[~is_last], seconds[~is_last])
