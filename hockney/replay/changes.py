# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Changes of a program that its graph can show: balanced or undisturbed computation, aggregated messages, and
waits that are hidden by computation. Each returns a new graph; `collectives.price_graph` applies other
algorithms of collectives.

The computation before an operation belongs to the operation's place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hockney.replay import graph as g
from hockney.replay.graph import Graph, rank_of_ops


def with_balanced_computation(graph: Graph) -> Graph:
    """Replace the computation at each place, and after the last operation, by its mean over the ranks that
    have the place. Unexplained time stays."""
    ops, computed_s = graph.ops.copy(), graph.computed_s
    starts_call = (ops["flags"] & g.TOGETHER) == 0
    key = rank_of_ops(graph) * max(len(graph.places), 1) + ops["place"]
    keys, key_indices = np.unique(key, return_inverse=True)
    key_indices = key_indices.reshape(-1)
    spent_s = np.bincount(key_indices, computed_s, len(keys))
    calls = np.bincount(key_indices, starts_call, len(keys))
    place = keys % max(len(graph.places), 1)
    is_called = calls > 0
    total_s = np.bincount(place, np.where(is_called, spent_s, 0.0), len(graph.places))
    ranks = np.bincount(place, is_called, len(graph.places))
    mean_s = (total_s / np.maximum(ranks, 1))[place]
    factor = np.divide(mean_s, spent_s, out=np.zeros(len(keys)), where=is_called & (spent_s > 0))
    added_s = np.where(is_called & (spent_s == 0), mean_s / np.maximum(calls, 1), 0.0)
    new_s = np.where(is_called, factor, 1.0)[key_indices] * computed_s
    ops["computed_s"] += new_s + np.where(starts_call, added_s[key_indices], 0.0) - computed_s
    tail_s = graph.tail_s
    return replace(graph, ops=ops, tail_s=np.full(len(tail_s), tail_s.mean()) if len(tail_s) else tail_s)


def without_disturbances(graph: Graph, *, outliers: bool = True) -> Graph:
    """Replace the computation before each call by the rank's median for that place, and likewise the
    unexplained time. With `outliers`, replace only values above Tukey's outer fence, three interquartile
    ranges above the upper quartile. Iterations that take longer by design count as disturbed too."""
    call_starts = np.flatnonzero((graph.ops["flags"] & g.TOGETHER) == 0)
    key = rank_of_ops(graph)[call_starts] * max(len(graph.places), 1) + graph.ops["place"][call_starts]

    def replace_by_median(seconds: np.ndarray) -> np.ndarray:
        order = np.lexsort([seconds[call_starts], key])
        values = seconds[call_starts][order].astype(np.float64)
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        counts = np.diff(np.append(starts, len(order)))

        def quantile(share: float) -> np.ndarray:
            position = share * (counts - 1)
            lower = np.floor(position).astype(np.int64)
            low, high = values[starts + lower], values[starts + np.minimum(lower + 1, counts - 1)]
            return np.repeat(low + (position - lower) * (high - low), counts)

        median = quantile(0.5)
        if outliers:
            upper = quantile(0.75)
            median = np.where(values > upper + 3 * (upper - quantile(0.25)), median, values)
        replaced = seconds.copy()
        replaced[call_starts[order]] = median
        return replaced

    ops, unexplained = graph.ops.copy(), graph.unexplained_s
    ops["computed_s"] = replace_by_median(graph.computed_s)
    if len(unexplained):
        unexplained = replace_by_median(unexplained)
        ops["computed_s"] += unexplained
    return replace(graph, ops=ops, unexplained_s=unexplained)


def with_aggregated_messages(graph: Graph, *, eager: float, max_bytes: float = np.inf) -> tuple[Graph, int]:
    """Combine messages from one rank to another, on one communicator, if the sender does not wait between
    them and they have at most `max_bytes` together. The combined message leaves with the last of them and is
    received in place of the first. Blocking sends of more than `eager` bytes wait for their receives. Returns
    the graph, and how many messages were saved."""
    ops, messages = graph.ops, graph.messages
    size = messages["size"]
    kinds = ops["kind"]
    is_wait = (kinds == g.RECEIVED) | (kinds == g.LEAVE)
    send_ends = np.flatnonzero(kinds == g.SENT)
    is_rendezvous = (size[ops["slot"][send_ends]] > eager) & ((ops["flags"][send_ends] & g.BUFFERED) == 0)
    is_wait[send_ends] = is_rendezvous
    epoch = np.cumsum(is_wait)
    sends = np.flatnonzero((kinds == g.SEND) & ((ops["flags"] & (g.ONE_SIDED | g.SYNCHRONOUS)) == 0))
    is_received = np.zeros(len(messages), dtype=bool)
    is_received[ops["slot"][kinds == g.RECEIVED]] = True
    sends = sends[is_received[ops["slot"][sends]]]
    slot = ops["slot"][sends].astype(np.int64)
    columns = [
        messages["communicator"][slot],
        messages["target"][slot],
        epoch[sends],
        messages["source"][slot],
    ]
    order = np.lexsort([np.arange(len(sends)), *columns])
    starts_group = np.zeros(len(order), dtype=bool)
    starts_group[:1] = True
    for column in columns:
        starts_group[1:] |= column[order][1:] != column[order][:-1]
    group_indices = np.cumsum(starts_group) - 1
    count = np.bincount(group_indices)
    total = np.bincount(group_indices, size[slot[order]].astype(float))
    is_merged = (
        ((count > 1) & (total <= max_bytes))[group_indices] if len(group_indices) else np.zeros(0, dtype=bool)
    )
    if not is_merged.any():
        return graph, 0
    # The last message of a group represents the group.
    last_slots = slot[order[np.append(np.flatnonzero(starts_group)[1:], len(order)) - 1]]
    merged_slots = np.arange(len(messages))
    merged_slots[slot[order[is_merged]]] = last_slots[group_indices[is_merged]]
    sizes = np.bincount(merged_slots, size.astype(float), len(messages)).astype(np.uint64)
    is_kept = np.ones(len(ops), dtype=bool)
    is_message_op = (kinds >= g.SEND) & (kinds <= g.SENT)
    message_ops = np.flatnonzero(is_message_op)
    op_slots = ops["slot"][message_ops].astype(np.int64)
    is_merged_slot = np.zeros(len(messages), dtype=bool)
    is_merged_slot[slot[order[is_merged]]] = True
    is_sender_op = (kinds[message_ops] == g.SEND) | (kinds[message_ops] == g.SENT)
    is_kept[message_ops] = np.where(is_sender_op, merged_slots[op_slots] == op_slots, True)
    for kind in (g.RECEIVE, g.RECEIVED):
        receiver_ops = message_ops[(kinds[message_ops] == kind) & is_merged_slot[op_slots]]
        _, first = np.unique(merged_slots[ops["slot"][receiver_ops]], return_index=True)
        is_kept[receiver_ops] = False
        is_kept[receiver_ops[first]] = True
    remaining_slots = np.flatnonzero(np.bincount(merged_slots, minlength=len(messages)))
    new_slots = np.cumsum(np.bincount(merged_slots, minlength=len(messages)) > 0) - 1
    new_ops, offsets, tail, unexplained = _select_ops(graph, is_kept)
    has_message = (new_ops["kind"] >= g.SEND) & (new_ops["kind"] <= g.SENT)
    new_ops["slot"][has_message] = new_slots[merged_slots[new_ops["slot"][has_message]]]
    remaining_messages = messages[remaining_slots]
    remaining_messages["size"] = sizes[remaining_slots]
    new_graph = replace(
        graph, ops=new_ops, first=offsets, messages=remaining_messages, tail_s=tail, unexplained_s=unexplained
    )
    return new_graph, len(messages) - len(remaining_slots)


def with_overlap(graph: Graph) -> Graph:
    """Move each wait for messages behind the computation that follows it, as if that did not need the
    messages. This gives an upper bound for the gain from overlap."""
    ops = graph.ops.copy()
    is_wait = (ops["kind"] == g.RECEIVED) | (ops["kind"] == g.SENT)
    rank = rank_of_ops(graph)
    same_rank = np.zeros(len(ops), dtype=bool)
    same_rank[1:] = rank[1:] == rank[:-1]
    continues_wait = np.zeros(len(ops), dtype=bool)
    continues_wait[1:] = is_wait[1:] & is_wait[:-1] & same_rank[1:]
    wait_starts = np.flatnonzero(is_wait & ~continues_wait)
    wait_indices = np.cumsum(is_wait & ~continues_wait) - 1
    has_receive = np.bincount(wait_indices[is_wait], ops["kind"][is_wait] == g.RECEIVED, len(wait_starts)) > 0
    lengths = np.bincount(wait_indices[is_wait], minlength=len(wait_starts))
    wait_starts, lengths = wait_starts[has_receive], lengths[has_receive]
    next_ops = wait_starts + lengths
    in_rank = next_ops < len(ops)
    in_rank[in_rank] = same_rank[next_ops[in_rank]]
    wait_starts, next_ops = wait_starts[in_rank], next_ops[in_rank]
    moved_s = np.maximum(graph.computed_s[next_ops], 0).astype(np.float32)
    ops["computed_s"][next_ops] -= moved_s
    ops["computed_s"][wait_starts] += moved_s
    return replace(graph, ops=ops)


def _select_ops(graph: Graph, is_kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The selected operations, the offsets of the ranks, the tails, and the unexplained seconds. Computation
    before removed operations is added to the following one. The first selected operation of a call starts the
    call."""
    ops, first = graph.ops, graph.first
    tail = graph.tail_s.astype(float) if len(graph.tail_s) else np.zeros(graph.ranks)
    cumulative_s = np.concatenate([[0.0], np.cumsum(ops["computed_s"], dtype=np.float64)])
    kept_ops = np.flatnonzero(is_kept)
    selected = ops[kept_ops]
    counts = np.concatenate([[0], np.cumsum(is_kept)])[first]
    begins = np.concatenate([[0], kept_ops[:-1] + 1]) if len(kept_ops) else np.zeros(0, dtype=np.int64)
    begins = np.maximum(begins, first[np.repeat(np.arange(graph.ranks), np.diff(counts))])
    selected["computed_s"] = cumulative_s[kept_ops + 1] - cumulative_s[begins]
    unexplained = graph.unexplained_s
    if len(unexplained):
        sums = np.concatenate([[0.0], np.cumsum(unexplained, dtype=np.float64)])
        unexplained = (sums[kept_ops + 1] - sums[begins]).astype(np.float32)
    tail_begins = np.where(
        np.diff(counts) > 0, np.append(kept_ops, 0)[np.maximum(counts[1:] - 1, 0)] + 1, first[:-1]
    )
    tail = tail + cumulative_s[first[1:]] - cumulative_s[tail_begins]
    call = np.cumsum((ops["flags"] & g.TOGETHER) == 0)[kept_ops]
    starts_call = np.ones(len(kept_ops), dtype=bool)
    starts_call[1:] = call[1:] != call[:-1]
    selected["flags"][starts_call] &= np.uint8(0xFF ^ g.TOGETHER)
    return selected, counts, tail, unexplained
