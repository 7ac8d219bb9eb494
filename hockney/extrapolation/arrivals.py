# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Receives from any rank in the order in which messages arrive.

A traced rank received messages in the order of its run, which generated calls repeat, such as from the first
rank to the last one. On another number of ranks, and another machine, messages arrive in another order. What
a rank does after such a receive, such as the answer to the sender, moves with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from hockney.core.errors import HockneyError
from hockney.extrapolation.structure import Structure
from hockney.models.measured_costs import End
from hockney.profiles import trace as records
from hockney.replay import graph as g
from hockney.replay.building import TraceGraph
from hockney.replay.evaluator import Evaluator
from hockney.replay.graph import Graph, rank_of_ops
from hockney.replay.pricing import Machine
from hockney.replay.scenarios import TracedProgram

Price = Callable[[TraceGraph], Mapping[End, Machine]]
"""The costs between the ranks of a program."""
MAX_ROUNDS = 8
"""Another order of receives changes when later messages arrive, which rarely takes more rounds to settle."""


def in_order_of_arrival(built: TraceGraph, price: Price) -> TracedProgram:
    """The program with its blocking receives from any rank in the order of arrival."""
    program = TracedProgram(built, price(built))
    graph = built.graph
    stretches = list(_stretches(graph))
    if not stretches:
        return program
    best, seen = program, {_key(graph)}
    for _ in range(MAX_ROUNDS):
        arrivals = _arrivals(program)
        ops = graph.ops.copy()
        for blocks in stretches:
            slots = graph.ops["slot"][blocks[:, 0]]
            order = np.argsort(arrivals[slots], kind="stable")
            ops[blocks] = graph.ops[blocks[order]]
            # Computation does not depend on who sent.
            ops["computed_s"][blocks] = graph.ops["computed_s"][blocks]
        graph = replace(graph, ops=ops)
        if _key(graph) in seen:
            break
        seen.add(_key(graph))
        built = replace(built, graph=graph)
        program = TracedProgram(built, price(built))
        try:
            program.costs_only_program.value_s  # noqa: B018
        except HockneyError as error:
            if error.code != "replay-deadlock":
                raise
            return best
        best = program
    return best


def _key(graph: Graph) -> bytes:
    return graph.ops["slot"].tobytes()


def _arrivals(program: TracedProgram) -> np.ndarray:
    """When each message arrives at its receiver, or asks for its receive."""
    priced = program.costs_only_program.priced_graphs["value"]
    own, evaluated = program.trace_graph.graph, priced.graph
    begins_s = Evaluator(evaluated, priced.costs).begins_s()
    sends = np.flatnonzero(own.ops["kind"] == g.SEND)
    position = priced.position[sends] if len(priced.position) else sends
    costs = priced.costs[evaluated.ops["cost"][position]]
    found = np.zeros(len(own.messages))
    flight = costs["overhead"] + costs["latency"] + np.where(costs["eager"] != 0, costs["transfer"], 0.0)
    found[own.ops["slot"][sends]] = begins_s[position] + flight
    return found


def _stretches(graph: Graph) -> Iterator[np.ndarray]:
    """Operations of consecutive blocking receives from any rank on one rank that get similar messages: one
    row for each, with what follows if that concerns the same sender. None if messages follow to other ranks,
    which the program may choose by the sender."""
    ops, kind, flags = graph.ops, graph.ops["kind"], graph.ops["flags"]
    starts = np.flatnonzero((kind[:-1] == g.RECEIVE) & (flags[:-1] & g.WILDCARD != 0))
    starts = starts[(kind[starts + 1] == g.RECEIVED) & (ops["slot"][starts + 1] == ops["slot"][starts])]
    if len(starts) < 2:
        return
    rank = rank_of_ops(graph)
    messages = graph.messages[ops["slot"][starts]]
    lengths = np.append(np.diff(starts), 0)
    # Receives are similar if the same number of similar operations follows each but the last one.
    for first, end in _equal(
        np.stack([rank[starts], ops["place"][starts], messages["tag"], messages["communicator"]], axis=1)
    ):
        at = first
        while at < end - 1:
            length = int(lengths[at])
            last = at + 1
            while (
                last < end
                and lengths[last - 1] == length
                and _similar(graph, starts[at], starts[last], length)
            ):
                last += 1
            if last > at + 1:
                blocks = starts[at:last, None] + np.arange(length)
                if _concerns_sender(graph, blocks):
                    yield blocks
                elif not np.isin(ops["kind"][blocks[:, 2:]], (g.SEND, g.SENT)).any():
                    yield blocks[:, :2]
            at = max(last, at + 1)


def _equal(rows: np.ndarray) -> Iterator[tuple[int, int]]:
    """The spans of equal rows."""
    bounds = [0, *(np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)) + 1).tolist(), len(rows)]
    yield from pairwise(bounds)


def _similar(graph: Graph, one: int, other: int, length: int) -> bool:
    """Whether as many operations from these on do the same, on the same rank."""
    ops = graph.ops
    if other + length > len(ops) or length < 2:
        return False
    first, second = ops[one : one + length], ops[other : other + length]
    return all(bool((first[name] == second[name]).all()) for name in ("kind", "place", "flags"))


def _peers(graph: Graph, blocks: np.ndarray) -> np.ndarray:
    """The other rank of each operation on a message."""
    ops = graph.ops[blocks]
    messages = graph.messages[np.minimum(ops["slot"], max(len(graph.messages) - 1, 0))]
    sends = np.isin(ops["kind"], (g.SEND, g.SENT))
    return np.asarray(np.where(sends, messages["target"], messages["source"]))


def _concerns_sender(graph: Graph, blocks: np.ndarray) -> bool:
    """Whether all operations of each row are on messages from and to one rank."""
    if not np.isin(graph.ops["kind"][blocks], (g.SEND, g.SENT, g.RECEIVE, g.RECEIVED)).all():
        return False
    peers = _peers(graph, blocks)
    return bool((peers == peers[:, :1]).all())


def sites_with_tasks(structure: Structure) -> dict[str, str]:
    """The call sites at which ranks with one role make other numbers of calls in the same run, and all ranks
    together equally many in all runs, of a program with receives from any rank; with the reason why their
    numbers have no pattern."""
    runs = structure.runs.values()
    if not any((each.parts["flags"] & records.WILDCARD).any() for run in runs for each in run.sequences):
        return {}
    size = len(structure.kinds.kinds)
    uneven, totals = np.zeros(size, dtype=bool), []
    for ranks, run in structure.runs.items():
        counts = np.array([np.bincount(each.kinds, minlength=size) for each in run.sequences])
        own = structure.roles(structure.place(ranks))
        for role in set(own):
            uneven |= np.ptp(counts[[other == role for other in own]], axis=0) > 0
        totals.append(counts.sum(axis=0))
    is_constant = np.ptp(totals, axis=0) <= max(structure.runs)
    return {
        structure.kinds.kinds[kind].site: (
            f"the {totals[-1][kind]} calls of all ranks are distributed dynamically, so the number on each "
            "rank depends on timing"
        )
        for kind in np.flatnonzero(uneven & is_constant).tolist()
    }
