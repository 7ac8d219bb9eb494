# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The part of recorded calls that the costs of a machine do not explain: how much later each call ended than
its messages explain, if all previous calls began as recorded. With these seconds added between the calls, the
evaluated graph takes as long as the recorded run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from hockney.replay.building import RecordedTimes
from hockney.replay.evaluator import Evaluator
from hockney.replay.graph import Graph, rank_of_ops


def add_unexplained(
    graph: Graph, recorded: RecordedTimes, evaluator: Evaluator, positions: np.ndarray
) -> Graph:
    """The graph of a program with its unexplained time. `positions` are the indices of its operations in the
    evaluated graph, see `collectives.PricedGraph`."""
    evaluated, first_ops = evaluator.graph, recorded.first_ops
    rank = rank_of_ops(graph)[first_ops]
    positions = positions[first_ops] if len(positions) else first_ops
    in_rank = positions < evaluated.first[rank + 1]
    unexplained = np.zeros(len(graph.ops), np.float32)
    ends_added = recorded.ends_recording_s + np.bincount(
        rank[~in_rank], recorded.recording_s[~in_rank], graph.ranks
    )
    # Calls without messages on their rank, as in a group of one, have the position of the next call.
    distinct_positions, first_calls = np.unique(positions[in_rank], return_index=True)
    last_calls = np.append(first_calls[1:], np.count_nonzero(in_rank)) - 1
    computed_s = graph.ops["computed_s"][first_ops].astype(np.float64)
    own_computed_s, recording_s = (
        evaluated.ops["computed_s"][distinct_positions].astype(np.float64),
        np.zeros(len(distinct_positions)),
    )
    if len(distinct_positions):
        own_computed_s -= np.add.reduceat(computed_s[in_rank], first_calls)
        recording_s = np.add.reduceat(recorded.recording_s[in_rank], first_calls)
    begins = np.full(len(evaluated.ops), np.nan)
    begins[distinct_positions] = recorded.begins_s[in_rank][last_calls] + own_computed_s
    unexplained_s, ends_s = evaluator.unexplained(begins)
    unexplained[first_ops[in_rank][last_calls]] = unexplained_s[distinct_positions] - recording_s
    ops = graph.ops.copy()
    ops["computed_s"] += unexplained
    tail = graph.tail_s if len(graph.tail_s) else np.zeros(graph.ranks)
    return replace(
        graph, ops=ops, unexplained_s=unexplained, tail_s=tail + recorded.ends_s - ends_added - ends_s
    )


def replace_unexplained(graph: Graph, unexplained_s: np.ndarray) -> Graph:
    """The graph with the unexplained seconds replaced."""
    ops = graph.ops.copy()
    ops["computed_s"] += unexplained_s - graph.unexplained_s
    return replace(graph, ops=ops, unexplained_s=unexplained_s.astype(np.float32))


def _place_before(graph: Graph) -> np.ndarray:
    """The place of the previous operation of the rank; the first operation of a rank keeps its own place."""
    previous_ops = np.arange(len(graph.ops)) - 1
    previous_ops[graph.first[:-1][graph.first[:-1] < len(graph.ops)]] += 1
    return graph.ops["place"][previous_ops]


def unexplained_by_place(graph: Graph) -> np.ndarray:
    """Unexplained seconds of the calls at each place, summed over all ranks. The seconds before an operation
    belong to the previous call."""
    if not len(graph.unexplained_s):
        return np.zeros(len(graph.places))
    return np.bincount(_place_before(graph), graph.unexplained_s, len(graph.places))


def erratic_by_place(graph: Graph) -> np.ndarray:
    """Seconds, summed over all ranks, by which the unexplained times of calls at each place differ from their
    median. They are disturbances, not a slow MPI."""
    erratic_s = np.zeros(len(graph.places))
    if not len(graph.unexplained_s):
        return erratic_s
    unexplained_ops = np.flatnonzero(graph.unexplained_s)
    op_places = _place_before(graph)[unexplained_ops]
    order = np.argsort(op_places, kind="stable")
    places, first = np.unique(op_places[order], return_index=True)
    for place, place_seconds in zip(
        places, np.split(graph.unexplained_s[unexplained_ops[order]], first[1:]), strict=False
    ):
        erratic_s[place] = np.abs(place_seconds - np.median(place_seconds)).sum()
    return erratic_s


def usually_unexplained(graph: Graph, called_s: np.ndarray, places: Iterable[int]) -> np.ndarray:
    """Mark the operations that follow calls at some of the `places`, if the calls there usually (by the
    median) take more than twice as long as explained. `called_s` are the seconds in the calls of each
    place."""
    op_places, unexplained = _place_before(graph), graph.unexplained_s
    sums = unexplained_by_place(graph)
    is_usual = np.zeros(len(op_places), dtype=bool)
    for place in places:
        at_place = (op_places == place) & (unexplained != 0)
        if (
            at_place.any()
            and np.median(unexplained[at_place]) * at_place.sum() > called_s[place] - sums[place]
        ):
            is_usual |= at_place
    return is_usual
