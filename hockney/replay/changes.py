# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Changes of a program that its graph can show: balanced or undisturbed computation, messages that are sent
together, and waits that computation hides. Each gives a new graph; that of other algorithms of collectives is
`collectives.priced`.

The computation before an operation belongs to the operation's place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hockney.replay import graph as g
from hockney.replay.graph import Graph, rank_of_ops


def balanced(graph: Graph) -> Graph:
    """The computation at each place, and after the last operation, becomes the mean over the ranks that have
    the place. What is unexplained stays."""
    ops, computed = graph.ops.copy(), graph.computed_s
    begins = (ops["flags"] & g.TOGETHER) == 0
    key = rank_of_ops(graph) * max(len(graph.places), 1) + ops["place"]
    keys, which = np.unique(key, return_inverse=True)
    which = which.reshape(-1)
    spent = np.bincount(which, computed, len(keys))
    calls = np.bincount(which, begins, len(keys))
    place = keys % max(len(graph.places), 1)
    able = calls > 0
    total = np.bincount(place, np.where(able, spent, 0.0), len(graph.places))
    ranks = np.bincount(place, able, len(graph.places))
    mean = (total / np.maximum(ranks, 1))[place]
    factor = np.divide(mean, spent, out=np.zeros(len(keys)), where=able & (spent > 0))
    evenly = np.where(able & (spent == 0), mean / np.maximum(calls, 1), 0.0)
    scaled = np.where(able, factor, 1.0)[which] * computed
    ops["computed_s"] += scaled + np.where(begins, evenly[which], 0.0) - computed
    tail = graph.tail_s
    return replace(graph, ops=ops, tail_s=np.full(len(tail), tail.mean()) if len(tail) else tail)


def undisturbed(graph: Graph, *, outliers: bool = True) -> Graph:
    """The computation before each call at a place becomes the median of that rank's ones there, and so does
    what is unexplained; with `outliers` only if it is above Tukey's outer fence, three interquartile ranges
    above the upper quartile. What takes longer in some iterations by design counts as a disturbance too."""
    begins = np.flatnonzero((graph.ops["flags"] & g.TOGETHER) == 0)
    key = rank_of_ops(graph)[begins] * max(len(graph.places), 1) + graph.ops["place"][begins]

    def usual(seconds: np.ndarray) -> np.ndarray:
        order = np.lexsort([seconds[begins], key])
        values = seconds[begins][order].astype(np.float64)
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        counts = np.diff(np.append(starts, len(order)))

        def quantile(share: float) -> np.ndarray:
            at = share * (counts - 1)
            below = np.floor(at).astype(np.int64)
            low, high = values[starts + below], values[starts + np.minimum(below + 1, counts - 1)]
            return np.repeat(low + (at - below) * (high - low), counts)

        median = quantile(0.5)
        if outliers:
            upper = quantile(0.75)
            median = np.where(values > upper + 3 * (upper - quantile(0.25)), median, values)
        made = seconds.copy()
        made[begins[order]] = median
        return made

    ops, unexplained = graph.ops.copy(), graph.unexplained_s
    ops["computed_s"] = usual(graph.computed_s)
    if len(unexplained):
        unexplained = usual(unexplained)
        ops["computed_s"] += unexplained
    return replace(graph, ops=ops, unexplained_s=unexplained)


def aggregated(graph: Graph, *, eager: float, most: float = np.inf) -> tuple[Graph, int]:
    """Messages from one rank to another, on one communicator, between which the sender waits for nothing,
    become one message of all their bytes, up to `most`; and how many messages fewer there are. It leaves with
    the last of them, and is received where the first was. Sends of more than `eager` bytes that block wait
    for their receives."""
    ops, messages = graph.ops, graph.messages
    size = messages["size"]
    kinds = ops["kind"]
    waits = (kinds == g.RECEIVED) | (kinds == g.LEAVE)
    sent = np.flatnonzero(kinds == g.SENT)
    leaves = (size[ops["slot"][sent]] > eager) & ((ops["flags"][sent] & g.BUFFERED) == 0)
    waits[sent] = leaves
    epoch = np.cumsum(waits)
    sends = np.flatnonzero((kinds == g.SEND) & ((ops["flags"] & (g.ONE_SIDED | g.SYNCHRONOUS)) == 0))
    ended = np.zeros(len(messages), dtype=bool)
    ended[ops["slot"][kinds == g.RECEIVED]] = True
    sends = sends[ended[ops["slot"][sends]]]
    slot = ops["slot"][sends].astype(np.int64)
    columns = [
        messages["communicator"][slot],
        messages["target"][slot],
        epoch[sends],
        messages["source"][slot],
    ]
    order = np.lexsort([np.arange(len(sends)), *columns])
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[order][1:] != column[order][:-1]
    group = np.cumsum(new) - 1
    count = np.bincount(group)
    total = np.bincount(group, size[slot[order]].astype(float))
    merges = ((count > 1) & (total <= most))[group] if len(group) else np.zeros(0, dtype=bool)
    if not merges.any():
        return graph, 0
    # Of each group the last message stands for all.
    last = slot[order[np.append(np.flatnonzero(new)[1:], len(order)) - 1]]
    stands = np.arange(len(messages))
    stands[slot[order[merges]]] = last[group[merges]]
    sizes = np.bincount(stands, size.astype(float), len(messages)).astype(np.uint64)
    keep = np.ones(len(ops), dtype=bool)
    of_message = (kinds >= g.SEND) & (kinds <= g.SENT)
    at = np.flatnonzero(of_message)
    own = ops["slot"][at].astype(np.int64)
    moved = np.zeros(len(messages), dtype=bool)
    moved[slot[order[merges]]] = True
    of_sender = (kinds[at] == g.SEND) | (kinds[at] == g.SENT)
    keep[at] = np.where(of_sender, stands[own] == own, True)
    for kind in (g.RECEIVE, g.RECEIVED):
        mine = at[(kinds[at] == kind) & moved[own]]
        _, first = np.unique(stands[ops["slot"][mine]], return_index=True)
        keep[mine] = False
        keep[mine[first]] = True
    left = np.flatnonzero(np.bincount(stands, minlength=len(messages)))
    number = np.cumsum(np.bincount(stands, minlength=len(messages)) > 0) - 1
    made, first_of_rank, tail, unexplained = _kept(graph, keep)
    renamed = (made["kind"] >= g.SEND) & (made["kind"] <= g.SENT)
    made["slot"][renamed] = number[stands[made["slot"][renamed]]]
    fewer = messages[left]
    fewer["size"] = sizes[left]
    changed = replace(
        graph, ops=made, first=first_of_rank, messages=fewer, tail_s=tail, unexplained_s=unexplained
    )
    return changed, len(messages) - len(left)


def overlapped(graph: Graph) -> Graph:
    """An upper bound of what overlap brings: each wait for messages moves behind the following computation,
    as if none of that needed them."""
    ops = graph.ops.copy()
    ends = (ops["kind"] == g.RECEIVED) | (ops["kind"] == g.SENT)
    rank = rank_of_ops(graph)
    same = np.zeros(len(ops), dtype=bool)
    same[1:] = rank[1:] == rank[:-1]
    continues = np.zeros(len(ops), dtype=bool)
    continues[1:] = ends[1:] & ends[:-1] & same[1:]
    begins = np.flatnonzero(ends & ~continues)
    run = np.cumsum(ends & ~continues) - 1
    of_receives = np.bincount(run[ends], ops["kind"][ends] == g.RECEIVED, len(begins)) > 0
    lengths = np.bincount(run[ends], minlength=len(begins))
    begins, lengths = begins[of_receives], lengths[of_receives]
    after = begins + lengths
    inside = after < len(ops)
    inside[inside] = same[after[inside]]
    begins, after = begins[inside], after[inside]
    moved = np.maximum(graph.computed_s[after], 0).astype(np.float32)
    ops["computed_s"][after] -= moved
    ops["computed_s"][begins] += moved
    return replace(graph, ops=ops)


def _kept(graph: Graph, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The kept operations, where those of each rank begin, the tails, and what is unexplained: computation
    before others is added to what follows. The first kept operation of a call begins it."""
    ops, first = graph.ops, graph.first
    tail = graph.tail_s.astype(float) if len(graph.tail_s) else np.zeros(graph.ranks)
    before = np.concatenate([[0.0], np.cumsum(ops["computed_s"], dtype=np.float64)])
    at = np.flatnonzero(keep)
    made = ops[at]
    counts = np.concatenate([[0], np.cumsum(keep)])[first]
    begin = np.concatenate([[0], at[:-1] + 1]) if len(at) else np.zeros(0, dtype=np.int64)
    begin = np.maximum(begin, first[np.repeat(np.arange(graph.ranks), np.diff(counts))])
    made["computed_s"] = before[at + 1] - before[begin]
    unexplained = graph.unexplained_s
    if len(unexplained):
        sums = np.concatenate([[0.0], np.cumsum(unexplained, dtype=np.float64)])
        unexplained = (sums[at + 1] - sums[begin]).astype(np.float32)
    last = np.where(np.diff(counts) > 0, np.append(at, 0)[np.maximum(counts[1:] - 1, 0)] + 1, first[:-1])
    tail = tail + before[first[1:]] - before[last]
    call = np.cumsum((ops["flags"] & g.TOGETHER) == 0)[at]
    alone = np.ones(len(at), dtype=bool)
    alone[1:] = call[1:] != call[:-1]
    made["flags"][alone] &= np.uint8(0xFF ^ g.TOGETHER)
    return made, counts, tail, unexplained
