# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Loops whose number of iterations differs slightly between the runs and follows no law, as in iterative
solvers with a tolerance: sums are rounded otherwise on other numbers of ranks.

Such a loop contains collectives of all ranks, which decide when it ends. Before their structures are
compared, all runs get the number of iterations of the largest one: whole iterations are removed from the end
of the loop, or repeated there. All else must agree without such changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.extrapolation.folding import Loop, Node, end_call, first_call, fold
from hockney.extrapolation.grids import MAX_DIMENSIONS, balanced
from hockney.extrapolation.iteration_counts import exact_count_laws
from hockney.extrapolation.observations import (
    COLLECTIVE,
    CallKinds,
    ObservedRun,
    RankSequence,
    starts_request,
)
from hockney.extrapolation.structure import MIN_RUNS, RoughLoop
from hockney.profiles import trace as records

MAX_DIFFERENCE = 0.05
"""The largest relative difference of the number of iterations between runs."""
MAX_NESTING = 4
"""Loops within each other whose numbers of iterations differ."""


@dataclass(frozen=True)
class _Collectives:
    """The collectives of all ranks of a run. `calls` are their places in the calls of each rank, (ranks, n),
    `kinds` their kinds, and `inside` the kinds of calls, by any rank, between them and the one before."""

    run: ObservedRun
    calls: np.ndarray
    kinds: np.ndarray
    inside: tuple[frozenset[int], ...]


@dataclass(frozen=True)
class _Change:
    """Collectives `first` to `end` are iterations at the end of a loop, which the run lacks or has in
    addition."""

    first: int
    end: int
    is_removal: bool


def with_equal_iterations(
    runs: Sequence[ObservedRun], kinds: CallKinds
) -> tuple[list[ObservedRun], tuple[RoughLoop, ...]]:
    """The runs with as many iterations of such loops as the largest run has, and these loops."""
    made, loops = list(runs), list[RoughLoop]()
    for _ in range(MAX_NESTING if len(runs) >= MIN_RUNS else 0):
        collectives = _collectives(made, kinds)
        before = len(loops)
        for loop, changes in _rough_loops(collectives, kinds):
            if all(map(_is_regular, collectives, changes)):
                made = [_changed(each, own) for each, own in zip(collectives, changes, strict=True)]
                loops.append(loop)
                break
        if len(loops) == before:
            break
    return made, tuple(loops)


def _collectives(runs: Sequence[ObservedRun], kinds: CallKinds) -> list[_Collectives]:
    """Those that all ranks make in all runs, in one order; empty if there are none."""
    collective = [
        number for number, kind in enumerate(kinds.kinds) if any(what in COLLECTIVE for what, _ in kind.shape)
    ]
    common = set(collective).intersection(*(_of_all_ranks(run, collective) for run in runs))
    if not common:
        return []
    everywhere = set.intersection(
        *({kind for each in run.sequences for kind in np.unique(each.kinds).tolist()} for run in runs)
    )
    return [_collectives_of(run, sorted(common), sorted(everywhere), len(kinds.kinds)) for run in runs]


def _of_all_ranks(run: ObservedRun, collective: Sequence[int]) -> set[int]:
    """The kinds of collectives that all ranks make together, in the same order."""
    sizes = np.array([len(members) for members in run.communicators])
    partial: set[int] = set()
    for each in run.sequences:
        owners = np.repeat(each.kinds, np.diff(each.first))
        own = np.isin(each.parts["what"], COLLECTIVE)
        fewer = sizes[each.parts["communicator"][own]] < run.ranks
        partial |= set(owners[own][fewer].tolist())
    chosen = set(collective) - partial
    orders = {each.kinds[np.isin(each.kinds, list(chosen))].tobytes() for each in run.sequences}
    return chosen if len(orders) == 1 else set()


def _collectives_of(
    run: ObservedRun, common: Sequence[int], everywhere: Sequence[int], number_of_kinds: int
) -> _Collectives:
    calls = np.stack([np.flatnonzero(np.isin(each.kinds, common)) for each in run.sequences])
    inside: dict[int, set[int]] = defaultdict(set)
    for each, own in zip(run.sequences, calls, strict=True):
        segment = np.searchsorted(own, np.arange(len(each.kinds)))
        known = np.isin(each.kinds, everywhere)
        pairs = np.unique(segment[known] * number_of_kinds + each.kinds[known])
        for key in pairs.tolist():
            inside[key // number_of_kinds].add(key % number_of_kinds)
    kinds = run.sequences[0].kinds[calls[0]]
    return _Collectives(run, calls, kinds, tuple(frozenset(inside[k]) for k in range(len(kinds))))


def _rough_loops(
    collectives: Sequence[_Collectives], kinds: CallKinds
) -> Iterator[tuple[RoughLoop, list[list[_Change]]]]:
    """The loops with slightly different numbers of iterations, and the changes of each run, outer loops
    first."""
    number_of: dict[tuple[int, frozenset[int]], int] = {}
    folded = fold(
        [
            np.array(
                [
                    number_of.setdefault(each, len(number_of))
                    for each in zip(one.kinds.tolist(), one.inside, strict=True)
                ],
                dtype=np.int64,
            )
            for one in collectives
        ]
    )
    if len({each.symbols for each in folded}) != 1:
        return
    ranks = [each.run.ranks for each in collectives]
    largest = int(np.argmax(ranks))
    for places in _instances([each.nodes for each in folded]):
        instances = [loops for at_place in places for loops in at_place]
        without_law = [loops for at_place in places if not _has_law(ranks, at_place) for loops in at_place]
        if not without_law:
            continue
        totals = _iterations(instances).sum(axis=0)
        error = float(np.ptp(_iterations(without_law), axis=1).sum() / totals[largest])
        if not 0 < error <= MAX_DIFFERENCE:
            continue
        pairs = [
            [(loops[k], len(loops[largest].iterations)) for loops in without_law] for k in range(len(ranks))
        ]
        changes = [
            [_change(loop, count) for loop, count in each if len(loop.iterations) != count] for each in pairs
        ]
        first = int(collectives[largest].kinds[first_call(without_law[0][largest])])
        iterations = dict(zip(ranks, totals.tolist(), strict=True))
        yield RoughLoop(kinds.kinds[first].site, iterations, error), changes


Instance = tuple[Loop, ...]
"""A loop in all runs."""


def _iterations(instances: Sequence[Instance]) -> np.ndarray:
    """The numbers of iterations, (instances, runs)."""
    return np.array([[len(each.iterations) for each in loops] for loops in instances])


def _instances(nodes: Sequence[Sequence[Node]]) -> list[list[list[Instance]]]:
    """Of each loop, outer ones first, and of each of its places in the nesting, the instances in the order in
    which they run. Loops with equal bodies are one. Those inside loops with different numbers of iterations
    cannot be compared."""
    places: dict[int, dict[tuple[int, ...], list[Instance]]] = defaultdict(lambda: defaultdict(list))

    def visit(nodes: Sequence[Sequence[Node]], path: tuple[int, ...]) -> None:
        for k, of_runs in enumerate(zip(*nodes, strict=True)):
            loops = tuple(each for each in of_runs if isinstance(each, Loop))
            if not loops:
                continue
            own = (*path, k)
            places[loops[0].symbol][own].append(loops)
            if len({len(each.iterations) for each in loops}) == 1:
                for iterations in zip(*(each.iterations for each in loops), strict=True):
                    visit(iterations, own)

    visit(nodes, ())
    ordered = sorted(places.values(), key=lambda each: min((len(path), path) for path in each))
    return [list(each.values()) for each in ordered]


def _has_law(ranks: Sequence[int], instances: Sequence[Instance]) -> bool:
    """Whether a law gives the number of iterations exactly, if it is the same one in each instance."""
    counts = _iterations(instances)
    if np.ptp(counts, axis=0).any():
        return False
    by_run = dict(zip(ranks, counts[0].tolist(), strict=True))
    return any(
        exact_count_laws(by_run, {each: balanced(each, dimensions)[::-1] for each in ranks})
        for dimensions in range(1, MAX_DIMENSIONS + 1)
    )


def _change(loop: Loop, count: int) -> _Change:
    """What gives a loop another number of iterations."""
    more = len(loop.iterations) - count
    first = first_call(loop.iterations[-abs(more)][0])
    return _Change(first, end_call(loop), more > 0)


def _span(collectives: _Collectives, rank: int, first: int, end: int) -> tuple[int, int]:
    """The calls of a rank after collective `first` - 1, up to `end` - 1."""
    own = collectives.calls[rank]
    return int(own[first - 1]) + 1 if first else 0, int(own[end - 1]) + 1


def _is_regular(collectives: _Collectives, changes: Sequence[_Change]) -> bool:
    """Whether the iterations are the calls of those before them, with the same partners and sizes, and no
    later call completes a request from before them."""
    for change in changes:
        length = change.end - change.first
        if change.first < length:
            return False
        for rank, sequence in enumerate(collectives.run.sequences):
            own, before = (
                _span(collectives, rank, first, first + length)
                for first in (change.first, change.first - length)
            )
            if not _are_equal(sequence, range(*own), range(*before)) or _is_bridged(sequence, *own):
                return False
    return True


COMPARED = [name for name in records.PART.names or () if name != "tag"]


def _are_equal(sequence: RankSequence, first: range, second: range) -> bool:
    rows = []
    for calls in first, second:
        chosen = np.arange(calls.start, calls.stop)
        parts = sequence.parts[sequence.parts_of(chosen)].copy()
        # Messages from any rank come in any order.
        parts["peer"][parts["flags"] & records.WILDCARD > 0] = records.ANY
        lengths = np.diff(sequence.first)[chosen]
        rows.append((sequence.kinds[chosen], lengths, *(parts[name] for name in COMPARED)))
    return all(np.array_equal(*each) for each in zip(*rows, strict=True))


def _is_bridged(sequence: RankSequence, first: int, end: int) -> bool:
    """Whether a request from before the call `first` is completed by the call `end` or a later one."""
    started = np.concatenate([[0], np.cumsum(starts_request(sequence.parts))])
    later = np.arange(sequence.first[end], len(sequence.parts))
    later = later[sequence.parts["what"][later] == records.END]
    request = started[later] - sequence.parts["age"][later]
    return bool((request < started[sequence.first[first]]).any())


def _changed(collectives: _Collectives, changes: Sequence[_Change]) -> ObservedRun:
    sequences = []
    for rank, sequence in enumerate(collectives.run.sequences):
        order = []
        last = 0
        for change in sorted(changes, key=lambda each: each.first):
            first, end = _span(collectives, rank, change.first, change.end)
            order.append(np.arange(last, first if change.is_removal else end))
            last = end if change.is_removal else first
        order.append(np.arange(last, len(sequence.kinds)))
        sequences.append(sequence.with_calls(np.concatenate(order)))
    return replace(collectives.run, sequences=tuple(sequences))
