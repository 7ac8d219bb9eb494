# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The collectives of a traced program: each with a time that is known, or as the messages of an algorithm.

Calls of one operation with equal sizes, by ranks that are equally far from each other, have the same
messages: these are made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.core.errors import UsageError
from hockney.core.smpi_algorithms import unknown_algorithm, unknown_collective
from hockney.models.loggp_sim import LayerCosts, Seconds
from hockney.models.programs.timing import AlgorithmBasis, LenientSimulator, resolve_call
from hockney.models.schedules import SCHEDULES, Layer, Mode, Step, algorithm_names
from hockney.profiles.machine_costs import OF_VECTORS
from hockney.replay import graph as g
from hockney.replay.graph import COST, MESSAGE, OP, Graph, rank_of_ops
from hockney.replay.pricing import Machine, message_costs, rows, set_byte_shares

BEST = "best"
KEPT = ("allgatherv", "alltoallv")
"""Operations of vectors that descriptions name an algorithm for."""
NEIGHBORS = "neighbor_"


@dataclass(frozen=True)
class CollectiveTiming:
    """How a collective operation is timed: by an `algorithm`, or as measured (""). `calls` of the program are
    alike."""

    operation: str
    ranks: int
    size: int
    algorithm: str
    basis: AlgorithmBasis
    calls: int


@dataclass(frozen=True)
class PricedGraph:
    """A graph whose operations have rows of `costs`; `choices` are what its collectives do. A row stands for
    so many `rounds` of messages, one after the other: several for a collective with a known time only.
    `position` is where each operation of the program is in the graph (empty: where it was): that of a
    collective which became messages, the first of its rank, or what follows."""

    graph: Graph
    costs: np.ndarray
    rounds: np.ndarray
    choices: tuple[CollectiveTiming, ...] = ()
    position: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


def modelled(operation: str) -> str:
    """The operation whose algorithms and times apply to one of a program: those that only synchronise are
    barriers."""
    plain = operation if operation in KEPT else OF_VECTORS.get(operation, operation)
    plain = {"exscan": "scan"}.get(plain, plain)
    known = {of for of, _ in SCHEDULES} | set(KEPT)
    return plain if plain in known or plain.startswith(NEIGHBORS) else "barrier"


def check_algorithms(algorithms: Mapping[str, str]) -> dict[str, str]:
    """Raises UsageError for operations and algorithms that do not exist."""
    known = sorted({of for of, _ in SCHEDULES})
    for operation, name in algorithms.items():
        if operation not in known:
            raise unknown_collective(operation, known)
        if name != BEST and name not in algorithm_names(operation):
            raise unknown_algorithm(name, operation, [BEST, *algorithm_names(operation)])
    return dict(algorithms)


@dataclass(frozen=True)
class GroupCosts:
    """The costs of messages within a group of ranks, which layers number from 0."""

    machine: Machine
    ranks: np.ndarray

    def of(self, layer: Layer, mode: Mode) -> LayerCosts:
        return self.machine.of(self._of_all(layer), mode)

    def empty(self, layer: Layer, mode: Mode) -> LayerCosts:
        """Those of messages without bytes."""
        return self.machine.uncontended(replace(self._of_all(layer), size=np.zeros(len(layer.source))), mode)

    def level(self, layer: Layer) -> np.ndarray:
        return self.machine.level(self.ranks[layer.source], self.ranks[layer.target])

    def _of_all(self, layer: Layer) -> Layer:
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
    """The operations of an algorithm: those of rank r are first[r] to first[r+1]. Their slots and costs are
    rows of `messages`, whose ranks are those of the communicator, and of `costs`."""

    ops: np.ndarray
    first: np.ndarray
    messages: np.ndarray
    costs: np.ndarray


def template(steps: Sequence[Step], costs: GroupCosts) -> Template:
    """As LogGPSimulator runs the steps."""
    return _Writer(costs).written(steps)


class _Writer:
    def __init__(self, costs: GroupCosts) -> None:
        self.costs = costs
        ranks = len(costs.ranks)
        self.ranks = ranks
        self.computed = np.zeros(ranks)
        """What each rank computes before its next operation."""
        self.wrote = np.zeros(ranks, dtype=bool)
        self.ops: list[np.ndarray] = []
        self.of_ranks: list[np.ndarray] = []
        self.messages: list[np.ndarray] = []
        self.rows: list[np.ndarray] = []
        self.slots = self.cost_rows = 0

    def written(self, steps: Sequence[Step]) -> Template:
        for step in steps:
            self._step(step)
        self._add(np.flatnonzero(self.computed), g.COMPUTE, 0, 0, 0)
        of_ranks = np.concatenate(self.of_ranks)
        order = np.argsort(of_ranks, kind="stable")
        counts = np.bincount(of_ranks, minlength=self.ranks)
        return Template(
            np.concatenate(self.ops)[order],
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate(self.messages) if self.messages else np.zeros(0, MESSAGE),
            np.concatenate(self.rows) if self.rows else np.zeros(0, COST),
        )

    def _add(
        self, ranks: np.ndarray, kind: int, flags: int, slot: np.ndarray | int, cost: np.ndarray | int
    ) -> None:
        ops = np.zeros(len(ranks), OP)
        ops["kind"], ops["flags"], ops["slot"], ops["cost"] = kind, flags, slot, cost
        ops["computed_s"] = self.computed[ranks]
        self.computed[ranks] = 0.0
        self.ops.append(ops)
        self.of_ranks.append(ranks)

    def _step(self, step: Step) -> None:
        if step.copied is not None:
            ranks, size = step.copied
            self.computed[ranks] += self.costs.copying(size)
            self.wrote[ranks] = True
        if not step.layers:
            if step.computed is not None:
                self.computed += step.computed
            return
        mode, priced = step.mode, [self.costs.of(layer, step.mode) for layer in step.layers]
        large = not all(np.all(each.eager) for each in priced)
        one = step.layers[0]
        if large and (
            len(step.layers) > 1 or (mode is Mode.BLOCKING and np.isin(one.source, one.target).any())
        ):
            # Ranks that would wait for each other post these messages instead.
            mode = Mode.POSTED
            priced = [self.costs.of(layer, mode) for layer in step.layers]
        if not step.untouched:
            priced = [self._refreshed(*each) for each in zip(step.layers, priced, strict=True)]
        self._messages(step, mode, priced)
        for layer in step.layers:
            self.wrote[layer.target] = True
            if step.combine:
                self.computed[layer.target] += self.costs.combining(layer.size)

    def _refreshed(self, layer: Layer, cost: LayerCosts) -> LayerCosts:
        more = np.where(self.wrote[layer.source], self.costs.refreshing(layer.size), 0.0)
        return replace(cost, flight=cost.flight + more)

    def _messages(self, step: Step, mode: Mode, priced: list[LayerCosts]) -> None:
        sources = np.concatenate([layer.source for layer in step.layers])
        begun = []
        for layer, cost in zip(step.layers, priced, strict=True):
            count = len(layer.source)
            slot = self.slots + np.arange(count)
            made = np.zeros(count, MESSAGE)
            made["source"], made["target"], made["size"] = layer.source, layer.target, layer.size
            self.messages.append(made)
            self.slots += count
            level, empty = self.costs.level(layer), self.costs.empty(layer, mode)
            table = rows(cost, level, count, empty.flight)
            if self.costs.machine.waits_for_bytes:
                set_byte_shares(table, cost, empty)
            # A rank that sends nothing in this step has no message that crosses.
            table["exchange"] *= np.isin(layer.target, sources)
            self.rows.append(table)
            row = self.cost_rows + np.arange(count)
            self.cost_rows += count
            begun.append((layer, slot, row, table["eager"] == 0))
        blocking = g.BLOCKING if mode is Mode.BLOCKING else 0
        if mode is Mode.POSTED:
            for layer, slot, row, _ in begun:
                self._add(layer.target, g.RECEIVE, 0, slot, row)
        for layer, slot, row, large in begun:
            self._add(
                layer.source, g.SEND, blocking or (g.BLOCKING if mode is Mode.EXCHANGE else 0), slot, row
            )
            if blocking and large.any():
                self._add(layer.source[large], g.SENT, g.TOGETHER, slot[large], row[large])
        if mode is not Mode.POSTED:
            for layer, slot, row, _ in begun:
                self._add(layer.target, g.RECEIVE, blocking or g.TOGETHER, slot, row)
        if step.computed is not None:
            self.computed += step.computed
        ended = np.zeros(self.ranks, dtype=bool)
        for layer, slot, row, _ in begun:
            together = np.where(ended[layer.target], g.TOGETHER, 0)
            self._add(layer.target, g.RECEIVED, 0, slot, row)
            self.ops[-1]["flags"] = together
            ended[layer.target] = True
        for layer, slot, row, large in begun:
            if not blocking and large.any():
                who = layer.source[large]
                self._add(who, g.SENT, 0, slot[large], row[large])
                self.ops[-1]["flags"] = np.where(ended[who], g.TOGETHER, 0)
                ended[who] = True


@dataclass
class _AlgorithmChooser:
    """Chooses the algorithms, or the measured times, of the collectives of a graph on a machine."""

    graph: Graph
    machine: Machine
    algorithms: Mapping[str, str]
    choices: dict[tuple[str, int, int, str, AlgorithmBasis], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._resolved: dict[tuple[object, ...], tuple[Sequence[Step] | float, str, AlgorithmBasis]] = {}

    def resolved(
        self, operation: str, ranks: np.ndarray, size: int
    ) -> tuple[Sequence[Step] | float, str, AlgorithmBasis]:
        """The steps or the seconds of a call, the algorithm, and the evidence for it."""
        if len(ranks) < 2:
            return 0.0, "", "measured"
        if operation.startswith(NEIGHBORS):
            return self._neighbors_s(ranks, size), "", "assumed"
        wanted = self.algorithms.get(OF_VECTORS.get(operation, operation), "")
        key = operation, len(ranks), size, wanted, self.machine.pattern(ranks) if wanted == BEST else b""
        if key not in self._resolved:
            self._resolved[key] = (
                self._best(operation, ranks, size)
                if wanted == BEST
                else self._one(operation, ranks, size, wanted)
            )
        return self._resolved[key]

    def _one(
        self, operation: str, ranks: np.ndarray, size: int, algorithm: str
    ) -> tuple[Sequence[Step] | float, str, AlgorithmBasis]:
        plain = OF_VECTORS.get(operation, operation) if algorithm else operation
        resolved, chosen = resolve_call(self.machine.communication, plain, size, len(ranks), algorithm)
        if chosen is None:
            return resolved, algorithm, "requested" if algorithm else "assumed"
        return resolved, chosen.algorithm, chosen.basis

    def _best(
        self, operation: str, ranks: np.ndarray, size: int
    ) -> tuple[Sequence[Step] | float, str, AlgorithmBasis]:
        """The algorithm with the least time among these ranks, or what the machine does if none is faster."""
        among = GroupCosts(self.machine, ranks)
        usual = self._one(operation, ranks, size, "")
        found = [(_seconds(usual[0], among), usual)]
        for name in algorithm_names(OF_VECTORS.get(operation, operation)):
            try:
                one = self._one(operation, ranks, size, name)
            except UsageError:
                continue
            found.append((_seconds(one[0], among), one))
        return min(found, key=lambda each: each[0])[1]

    def _neighbors_s(self, ranks: np.ndarray, size: int) -> float:
        """An exchange with the farthest of the ranks: whose neighbors these are is not known."""
        others = np.roll(ranks, 1)
        farthest = int(np.argmax(self.machine.level(ranks, others)))
        pair = Layer(ranks[[farthest]], others[[farthest]], np.array([float(size)]))
        costs = self.machine.uncontended(pair, Mode.POSTED)
        return float(np.sum(costs.overhead + costs.flight + costs.receive))

    def note(
        self, operation: str, ranks: int, size: int, algorithm: str, basis: AlgorithmBasis, calls: int
    ) -> None:
        key = operation, ranks, size, algorithm, basis
        self.choices[key] = self.choices.get(key, 0) + calls


def _seconds(resolved: Sequence[Step] | float, among: GroupCosts) -> float:
    return resolved if isinstance(resolved, float) else among.seconds(resolved)


def price_graph(
    graph: Graph, machine: Machine, algorithms: Mapping[str, str] | None = None, *, expand: bool = True
) -> PricedGraph:
    """Assign each operation of `graph` a row of a machine's costs, in place. Blocking collectives with a
    known or requested algorithm become its messages; others take a fixed time after the last rank enters.
    `algorithms` are by operation ("barrier", "allreduce"); "best" is the fastest one. Raises UsageError for
    algorithms that do not exist, or not for a number of ranks."""
    collectives = _AlgorithmChooser(graph, machine, check_algorithms(algorithms or {}))
    costs, of_message = message_costs(graph, machine)
    ops = graph.ops
    of_groups = (ops["kind"] == g.ENTER) | (ops["kind"] == g.LEAVE)
    of_messages = ~of_groups & (ops["kind"] != g.COMPUTE)
    if len(graph.messages):
        ops["cost"][of_messages] = of_message[ops["slot"][of_messages]]
    if not len(graph.groups):
        costs = costs if len(costs) else np.zeros(1, COST)
        return PricedGraph(graph, costs, np.ones(len(costs)))
    return _GraphPricer(collectives, costs).price(of_groups, expand)


class _GraphPricer:
    def __init__(self, collectives: _AlgorithmChooser, costs: np.ndarray) -> None:
        self.collectives, self.graph = collectives, collectives.graph
        self.machine = collectives.machine
        self.costs = [costs]
        self.next_row = len(costs)
        self.templates: list[Template] = []
        self.rounds: dict[int, int] = {}
        self._known: dict[tuple[object, ...], int] = {}

    def price(self, of_groups: np.ndarray, expand: bool) -> PricedGraph:
        graph = self.graph
        ops, groups = graph.ops, graph.groups
        at = np.flatnonzero(of_groups)
        enters = at[ops["kind"][at] == g.ENTER]
        after = ops[np.minimum(enters + 1, len(ops) - 1)]
        blocks = (ops["flags"][enters] & g.BLOCKING > 0) & (after["kind"] == g.LEAVE)
        blocks &= after["slot"] == ops["slot"][enters]
        nonblocking = np.bincount(ops["slot"][enters], ~blocks, len(groups))
        kind, which = self._kinds(nonblocking > 0)
        row_of, template_of = np.zeros(len(kind), np.int64), np.full(len(kind), -1)
        roots = np.zeros(len(kind), np.int64)
        calls = np.bincount(which, minlength=len(kind))
        for k, one in enumerate(kind):
            template_of[k], row_of[k], roots[k] = self._kind(one, int(calls[k]), expand)
        ops["cost"][at] = row_of[which][ops["slot"][at]]
        template = template_of[which]
        position = np.zeros(0, np.int64)
        if (template >= 0).any():
            expansion = _TemplateExpander(graph, self.templates, template, roots[which])
            graph, position = expansion.graph(enters)
        choices = tuple(CollectiveTiming(*key, calls) for key, calls in self.collectives.choices.items())
        costs = np.concatenate(self.costs)
        rounds = np.ones(len(costs))
        for row, count in self.rounds.items():
            rounds[row] = count
        return PricedGraph(graph, costs, rounds, choices, position)

    def _kinds(self, nonblocking: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Groups that are alike, and the kind of each group."""
        groups = self.graph.groups
        kinds = np.zeros(
            len(groups),
            [("operation", "i8"), ("communicator", "i8"), ("root", "i8"), ("size", "i8"), ("waits", "i8")],
        )
        kinds["operation"], kinds["communicator"] = groups["operation"], groups["communicator"]
        vectors = np.array([name in OF_VECTORS for name in self.graph.operations], dtype=bool)
        size = groups["size"]
        size = np.where(vectors[groups["operation"]], _to_significant_bits(size), size)
        kinds["root"], kinds["size"], kinds["waits"] = groups["root"], np.rint(size), nonblocking
        columns = [kinds[name] for name in kinds.dtype.names or ()]
        order = np.lexsort(columns)
        new = np.zeros(len(groups), dtype=bool)
        for column in columns:
            new[1:] |= column[order][1:] != column[order][:-1]
        which = np.empty(len(groups), dtype=np.int64)
        which[order] = np.cumsum(new)
        new[0] = True
        return kinds[order[new]], which

    def _kind(self, one: np.void, calls: int, expand: bool) -> tuple[int, int, int]:
        """The template (-1: none), the row of costs, and the root's place in the communicator."""
        graph, collectives = self.graph, self.collectives
        members = graph.communicators[int(one["communicator"])]
        root = int(one["root"])
        at = int(np.flatnonzero(members == root)[0]) if root >= 0 and (members == root).any() else 0
        ranks, size = np.roll(members, -at), int(one["size"])
        operation = modelled(graph.operations[int(one["operation"])])
        size = 0 if operation == "barrier" else size
        resolved, algorithm, basis = collectives.resolved(operation, ranks, size)
        collectives.note(operation, len(ranks), size, algorithm, basis, calls)
        among = GroupCosts(self.machine, ranks)
        pattern = self.machine.pattern(ranks)
        waits = bool(one["waits"])
        expands = expand and not waits and not isinstance(resolved, float)
        key = operation, size, algorithm, pattern, expands
        if key not in self._known:
            if expands:
                self._known[key] = self._template(resolved, among)  # type: ignore[arg-type]
            else:
                self._known[key] = self._row(operation, ranks, size, resolved, among)
        found = self._known[key]
        return (found, 0, at) if expands else (-1, found, at)

    def _template(self, steps: Sequence[Step], among: GroupCosts) -> int:
        made = template(steps, among)
        made.ops["cost"] += self.next_row
        made.ops["cost"][made.ops["kind"] == g.COMPUTE] = 0
        self._add(made.costs)
        self.templates.append(made)
        return len(self.templates) - 1

    def _row(
        self,
        operation: str,
        ranks: np.ndarray,
        size: int,
        resolved: Sequence[Step] | float,
        among: GroupCosts,
    ) -> int:
        seconds = _seconds(resolved, among)
        empty = seconds
        if size:
            wanted, _, _ = self.collectives.resolved(operation, ranks, 0)
            empty = min(seconds, _seconds(wanted, among))
        row = np.zeros(1, COST)
        pair = Layer(ranks[:1], ranks[1:2] if len(ranks) > 1 else ranks[:1], np.array([float(size)]))
        handling = (
            float(np.max(self.machine.uncontended(pair, Mode.BLOCKING).overhead)) if len(ranks) > 1 else 0.0
        )
        row["overhead"] = min(handling, seconds)
        row["latency"], row["transfer"] = empty, seconds - empty
        row["level"] = self.machine.level(ranks[:1], ranks).max()
        self.rounds[self.next_row] = (len(ranks) - 1).bit_length()
        self._add(row)
        return self.next_row - 1

    def _add(self, rows: np.ndarray) -> None:
        self.costs.append(rows)
        self.next_row += len(rows)


def _to_significant_bits(size: np.ndarray) -> np.ndarray:
    """To 1%: the blocks of vectors are a mean anyway, and different in each call."""
    unit = np.exp2(np.maximum(np.floor(np.log2(np.maximum(size, 1.0))) - 6, 0))
    return np.asarray(np.rint(size / unit) * unit)


class _TemplateExpander:
    """Replaces collectives of a graph with the operations of their templates."""

    def __init__(
        self, graph: Graph, templates: Sequence[Template], template: np.ndarray, root: np.ndarray
    ) -> None:
        self.old, self.template, self.root = graph, template, root
        self.ops = np.concatenate([each.ops for each in templates])
        self.messages = np.concatenate([each.messages for each in templates])
        sizes = np.array([len(each.messages) for each in templates])
        ranks = np.array([len(each.first) - 1 for each in templates])
        ops = np.array([len(each.ops) for each in templates])
        self.message_count, self.first_message = sizes, np.cumsum(sizes) - sizes
        self.first_rank = np.cumsum(ranks + 1) - (ranks + 1)
        self.first_op = np.concatenate(
            [each.first + base for each, base in zip(templates, np.cumsum(ops) - ops, strict=True)]
        )
        members = graph.communicators
        lengths = np.array([len(each) for each in members])
        self.first_member = np.cumsum(lengths) - lengths
        self.members = np.concatenate(members) if len(members) else np.zeros(0, np.int64)
        self.lengths = lengths

    def graph(self, enters: np.ndarray) -> tuple[Graph, np.ndarray]:
        """And where each operation of the old graph is in it."""
        old = self.old
        ops, groups = old.ops, old.groups
        expands = self.template >= 0
        enters = enters[expands[ops["slot"][enters]]]
        slot = ops["slot"][enters]
        rank = np.searchsorted(old.first, enters, side="right") - 1
        place = self._place(groups["communicator"][slot], rank)
        communicator = groups["communicator"][slot]
        local = (place - self.root[slot]) % self.lengths[communicator]
        at = self.first_rank[self.template[slot]] + local
        first, count = self.first_op[at], self.first_op[at + 1] - self.first_op[at]
        repeats = np.ones(len(ops), dtype=np.int64)
        repeats[enters] = count
        repeats[enters + 1] = 0  # the end of the same call
        begin = np.cumsum(repeats)
        total = int(begin[-1]) if len(begin) else 0
        begin -= repeats
        made = np.empty(total, OP)
        others = np.ones(len(ops), dtype=bool)
        others[enters] = others[enters + 1] = False
        _whole(made)[begin[others]] = _whole(ops)[others]
        # Messages of groups come after those of the program.
        instance_messages = np.where(expands, self.message_count[np.maximum(self.template, 0)], 0)
        first_slot = len(old.messages) + np.cumsum(instance_messages) - instance_messages
        base = first_slot[slot].astype(np.uint64)
        place = ops["place"][enters].astype(np.uint64) << np.uint64(16)
        for part in np.array_split(np.arange(len(enters)), int(count.sum()) // PART + 1):
            self._fill(made, begin[enters[part]], first[part], count[part], base[part], place[part])
        carried = ops["computed_s"][enters]
        empty = np.flatnonzero(count == 0)
        made["computed_s"][begin[enters[count > 0]]] += carried[count > 0]
        first_of_rank = np.append(begin, total)[old.first]
        tails = old.tail_s.copy() if len(old.tail_s) else np.zeros(old.ranks)
        _add_to_next(
            made["computed_s"], begin[enters[empty]], carried[empty], rank[empty], first_of_rank, tails
        )
        unexplained = old.unexplained_s
        if len(unexplained):
            unexplained = np.zeros(total, np.float32)
            inside = begin < first_of_rank[1:][rank_of_ops(old)]
            np.add.at(unexplained, begin[inside], old.unexplained_s[inside])
        kept = np.cumsum(~expands) - 1
        of_groups = (made["kind"] == g.ENTER) | (made["kind"] == g.LEAVE)
        made["slot"][of_groups] = kept[made["slot"][of_groups]]
        graph = replace(
            old,
            ops=made,
            first=first_of_rank,
            messages=np.concatenate([old.messages, self._messages(expands, instance_messages)]),
            groups=groups[~expands],
            tail_s=tails,
            unexplained_s=unexplained,
        )
        return graph, begin

    def _fill(
        self,
        made: np.ndarray,
        begin: np.ndarray,
        first: np.ndarray,
        count: np.ndarray,
        base: np.ndarray,
        place: np.ndarray,
    ) -> None:
        """Copies operations of templates, as two words each: the place is in the upper half of the first
        word's lower half, the slot in the lower half of the second."""
        offset = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        rows, at = np.repeat(first, count) + offset, np.repeat(begin, count) + offset
        words, into = self.ops.view(np.uint64), made.view(np.uint64)
        into[2 * at] = words[::2][rows] + np.repeat(place, count)
        into[2 * at + 1] = words[1::2][rows] + np.repeat(base, count)

    def _place(self, communicator: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """The place of ranks in their communicators."""
        number = np.repeat(np.arange(len(self.lengths)), self.lengths)
        width = int(max(self.members.max(initial=0), rank.max(initial=0))) + 1
        keys = number * width + self.members
        order = np.argsort(keys, kind="stable")
        found = order[np.searchsorted(keys[order], communicator.astype(np.int64) * width + rank)]
        return np.asarray(found - self.first_member[communicator])

    def _messages(self, expands: np.ndarray, count: np.ndarray) -> np.ndarray:
        instances = np.flatnonzero(expands)
        count = count[instances]
        offset = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        rows = np.repeat(self.first_message[self.template[instances]], count) + offset
        made = np.empty(len(rows), MESSAGE)
        communicator = self.old.groups["communicator"][instances]
        first = np.repeat(self.first_member[communicator], count)
        length, root = np.repeat(self.lengths[communicator], count), np.repeat(self.root[instances], count)
        for name in ("source", "target"):
            place = np.ascontiguousarray(self.messages[name])[rows] + root
            made[name] = self.members[first + np.where(place >= length, place - length, place)]
        made["size"] = np.ascontiguousarray(self.messages["size"])[rows]
        made["tag"] = -1
        made["communicator"] = np.repeat(communicator, count)
        return made


PART = 1 << 20
"""Operations that are copied at once, so that they stay in the cache."""


def _whole(ops: np.ndarray) -> np.ndarray:
    """Operations as numbers of the same size, which are copied faster."""
    return ops.view(np.complex128)


def _add_to_next(
    computed: np.ndarray,
    position: np.ndarray,
    seconds: np.ndarray,
    rank: np.ndarray,
    first: np.ndarray,
    tails: np.ndarray,
) -> None:
    """Computation before operations that are no more is added to the next one of the rank, or its tail."""
    last = position >= first[rank + 1]
    np.add.at(tails, rank[last], seconds[last])
    np.add.at(computed, position[~last], seconds[~last])
