# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the costs of a machine do not explain of the recorded calls: how much later each ended than its
messages explain, if all calls before began when they did. With these seconds between the calls, the
evaluated graph takes as long as the recorded run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hockney.replay.building import Recorded
from hockney.replay.evaluator import Evaluator
from hockney.replay.graph import Graph, rank_of_ops


def with_unexplained(graph: Graph, recorded: Recorded, evaluator: Evaluator, position: np.ndarray) -> Graph:
    """The graph of a program with what an evaluator of it does not explain. `position` is where its
    operations are in the evaluated graph, as in `collectives.Priced`."""
    made, at = evaluator.graph, recorded.at
    rank = rank_of_ops(graph)[at]
    position = position[at] if len(position) else at
    inside = position < made.first[rank + 1]
    unexplained = np.zeros(len(graph.ops), np.float32)
    ends_added = recorded.ends_added_s + np.bincount(rank[~inside], recorded.added_s[~inside], graph.ranks)
    # Calls without messages on their rank, as in a group of one, are where the next one is.
    place, first = np.unique(position[inside], return_index=True)
    last = np.append(first[1:], np.count_nonzero(inside)) - 1
    computed = graph.ops["computed_s"][at].astype(np.float64)
    own, added = made.ops["computed_s"][place].astype(np.float64), np.zeros(len(place))
    if len(place):
        own -= np.add.reduceat(computed[inside], first)
        added = np.add.reduceat(recorded.added_s[inside], first)
    begins = np.full(len(made.ops), np.nan)
    begins[place] = recorded.begins_s[inside][last] + own
    found, ends = evaluator.unexplained(begins)
    unexplained[at[inside][last]] = found[place] - added
    ops = graph.ops.copy()
    ops["computed_s"] += unexplained
    tail = graph.tail_s if len(graph.tail_s) else np.zeros(graph.ranks)
    return replace(
        graph, ops=ops, unexplained_s=unexplained, tail_s=tail + recorded.ends_s - ends_added - ends
    )


def without_shortfalls(graph: Graph) -> Graph:
    """The graph without the seconds that calls took less than explained."""
    ops, unexplained = graph.ops.copy(), np.maximum(graph.unexplained_s, 0)
    ops["computed_s"] += unexplained - graph.unexplained_s
    return replace(graph, ops=ops, unexplained_s=unexplained)


def unexplained_by_place(graph: Graph) -> np.ndarray:
    """Seconds over all ranks, of the calls at each place: what is before an operation is of the call before
    it."""
    if not len(graph.unexplained_s):
        return np.zeros(len(graph.places))
    before = np.arange(len(graph.ops)) - 1
    before[graph.first[:-1][graph.first[:-1] < len(graph.ops)]] += 1
    return np.bincount(graph.ops["place"][before], graph.unexplained_s, len(graph.places))
