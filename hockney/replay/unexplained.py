# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the costs of a machine do not explain of the recorded calls: how much later each ended than its
messages explain, if all calls before began when they did. With these seconds between the calls, the
evaluated graph takes as long as the recorded run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from hockney.replay.building import RecordedTimes
from hockney.replay.evaluator import Evaluator
from hockney.replay.graph import Graph, rank_of_ops


def add_unexplained(
    graph: Graph, recorded: RecordedTimes, evaluator: Evaluator, position: np.ndarray
) -> Graph:
    """The graph of a program with what an evaluator of it does not explain. `position` is where its
    operations are in the evaluated graph, as in `collectives.PricedGraph`."""
    made, at = evaluator.graph, recorded.first_ops
    rank = rank_of_ops(graph)[at]
    position = position[at] if len(position) else at
    inside = position < made.first[rank + 1]
    unexplained = np.zeros(len(graph.ops), np.float32)
    ends_added = recorded.ends_recording_s + np.bincount(
        rank[~inside], recorded.recording_s[~inside], graph.ranks
    )
    # Calls without messages on their rank, as in a group of one, are where the next one is.
    place, first = np.unique(position[inside], return_index=True)
    last = np.append(first[1:], np.count_nonzero(inside)) - 1
    computed = graph.ops["computed_s"][at].astype(np.float64)
    own, added = made.ops["computed_s"][place].astype(np.float64), np.zeros(len(place))
    if len(place):
        own -= np.add.reduceat(computed[inside], first)
        added = np.add.reduceat(recorded.recording_s[inside], first)
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


def replace_unexplained(graph: Graph, unexplained_s: np.ndarray) -> Graph:
    """The graph with other unexplained seconds before its operations."""
    ops = graph.ops.copy()
    ops["computed_s"] += unexplained_s - graph.unexplained_s
    return replace(graph, ops=ops, unexplained_s=unexplained_s.astype(np.float32))


def _place_before(graph: Graph) -> np.ndarray:
    """The place of the operation before each one of its rank; the first ones of ranks have their own."""
    before = np.arange(len(graph.ops)) - 1
    before[graph.first[:-1][graph.first[:-1] < len(graph.ops)]] += 1
    return graph.ops["place"][before]


def unexplained_by_place(graph: Graph) -> np.ndarray:
    """Seconds over all ranks, of the calls at each place: what is before an operation is of the call before
    it."""
    if not len(graph.unexplained_s):
        return np.zeros(len(graph.places))
    return np.bincount(_place_before(graph), graph.unexplained_s, len(graph.places))


def erratic_by_place(graph: Graph) -> np.ndarray:
    """Seconds over all ranks by which calls at each place differ from the median of what is unexplained of
    them: disturbances, not a slow MPI."""
    found = np.zeros(len(graph.places))
    if not len(graph.unexplained_s):
        return found
    known = np.flatnonzero(graph.unexplained_s)
    place = _place_before(graph)[known]
    order = np.argsort(place, kind="stable")
    places, first = np.unique(place[order], return_index=True)
    for each, mine in zip(places, np.split(graph.unexplained_s[known[order]], first[1:]), strict=False):
        found[each] = np.abs(mine - np.median(mine)).sum()
    return found


def usually_unexplained(graph: Graph, called_s: np.ndarray, places: Iterable[int]) -> np.ndarray:
    """The operations before which the calls at some of the `places` end: those whose calls usually take more
    than twice as long as explained, by the median. `called_s` are the seconds in the calls of each place."""
    place, unexplained = _place_before(graph), graph.unexplained_s
    sums = unexplained_by_place(graph)
    found = np.zeros(len(place), dtype=bool)
    for each in places:
        mine = (place == each) & (unexplained != 0)
        if mine.any() and np.median(unexplained[mine]) * mine.sum() > called_s[each] - sums[each]:
            found |= mine
    return found
