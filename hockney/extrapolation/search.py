# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses the structure of a program: the first possible one whose calls are those of all traced runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from hockney.core.errors import Inconclusive
from hockney.extrapolation.alternatives import alternatives
from hockney.extrapolation.fitting import fit
from hockney.extrapolation.iterations import with_equal_iterations
from hockney.extrapolation.observations import COLLECTIVE, POINT_TO_POINT, CallKinds, ObservedRun
from hockney.extrapolation.partners import PERIODIC
from hockney.extrapolation.structure import Structure, structures
from hockney.extrapolation.synthesis import MIN_DIRECTIONS, Synthesis
from hockney.profiles import trace as records
from hockney.profiles.trace import concatenated_ranges

RECEIVES = (records.RECEIVE, records.PROBE, records.START_RECEIVE)


MANY_ROLES = 2 / 3
"""With more roles for each rank of the largest run, the roles may be those of single ranks by chance."""


MAX_UNLIKE, MAX_UNLIKE_ROUGH = 1 / 3, 2 / 3
"""The largest relative difference of the bytes of a rank at a call site from those of the pattern, and that
of sizes that follow their law only roughly."""


def find_structure(runs: Sequence[ObservedRun], kinds: CallKinds) -> Structure:
    """The first structure without misfits that is no coincidence, or else the one with the fewest calls at
    misfits. Its runs have equal numbers of iterations of rough loops."""
    runs, rough_loops = with_equal_iterations(runs, kinds)
    best = _best(structures(runs, kinds, rough_loops))
    if best.misfits:
        messages = {
            number
            for number, kind in enumerate(kinds.kinds)
            if kind.shape and all(what in POINT_TO_POINT for what, _ in kind.shape)
        }
        sequences = [[each.kinds for each in run.sequences] for run in runs]
        for choice in alternatives(sequences, messages):
            other = _best(structures(runs, kinds, rough_loops, choice))
            if not other.misfits:
                return other
    return best


def _best(possible: Iterable[Structure]) -> Structure:
    best: tuple[tuple[int, bool], Structure] | None = None
    for structure in possible:
        is_coincidence = _may_be_coincidence(structure)
        if best is not None and not best[0][0] and is_coincidence:
            continue
        structure = _fitted(structure)
        key = (_calls_at_misfits(structure), is_coincidence)
        if best is None or key < best[0]:
            best = (key, structure)
        if not any(key):
            break
    assert best is not None, "there is always a usual structure"
    return best[1]


def _fitted(structure: Structure) -> Structure:
    """The structure with its laws; with rules for the partners and sizes at call sites without a pattern, if
    they explain more calls."""
    fit(structure)
    has_counts = not structure.misfits
    if not has_counts and structure.alternatives is not None:
        return structure
    check_runs(structure)
    sites = {misfit.site for misfit in structure.misfits}
    messages = {
        number
        for number, kind in enumerate(structure.kinds.kinds)
        if kind.site in sites and any(what in POINT_TO_POINT for what, _ in kind.shape)
    }
    if not messages or not has_counts:
        return structure
    again = replace(
        structure, misfits=[], ruled=frozenset(messages), part_counts={}, loops={}, group_rules={}
    )
    fit(again)
    check_runs(again)
    return min(structure, again, key=_calls_at_misfits)


def _may_be_coincidence(structure: Structure) -> bool:
    """Whether most ranks have a role alone, or neighbors in a grid are the same rank in both directions: any
    program on few ranks can be described like this."""
    largest = max(structure.runs)
    roles = structure.roles(structure.place(largest))
    is_periodic = PERIODIC in structure.arrangement.relations.values()
    return len(set(roles)) > MANY_ROLES * largest or (
        is_periodic and min(structure.arrangement.dims[largest]) < MIN_DIRECTIONS <= largest
    )


def _calls_at_misfits(structure: Structure) -> int:
    sites = {misfit.site for misfit in structure.misfits}
    kinds = [number for number, kind in enumerate(structure.kinds.kinds) if kind.site in sites]
    largest = structure.runs[max(structure.runs)]
    return sum(int(np.isin(each.kinds, kinds).sum()) for each in largest.sequences)


def check_runs(structure: Structure) -> None:
    """Generate the calls of all traced runs, and note the call sites at which they differ from the traced
    ones."""
    if not structure.has_exact_loops:
        return
    for ranks in structure.runs:
        place = structure.place(ranks)
        try:
            made = Synthesis(structure, ranks, place.dims, place.nodes)
        except Inconclusive:
            continue
        check_run(structure, made, structure.runs[ranks])


def check_run(structure: Structure, made: Synthesis, run: ObservedRun) -> None:
    """Note the call sites at which generated calls differ from those of a run."""
    for rank in range(run.ranks):
        _check_rank(structure, made, run, rank)


def _check_rank(structure: Structure, made: Synthesis, run: ObservedRun, rank: int) -> None:
    ranks = run.ranks
    sequence = run.sequences[rank]
    kinds, first, parts, calls = made.calls_of_rank(rank)
    size = len(structure.kinds.kinds)
    if not np.array_equal(kinds[calls], sequence.kinds):
        counts = [np.bincount(each, minlength=size) for each in (kinds[calls], sequence.kinds)]
        unequal = np.flatnonzero(counts[0] != counts[1])
        for kind in (unequal if len(unequal) else np.unique(sequence.kinds)).tolist():
            structure.add_misfit(
                kind,
                f"on {ranks} ranks, rank {rank} makes {counts[1][kind]} calls, and {counts[0][kind]} or in "
                "another order by the pattern of the other runs",
            )
        return
    lengths = np.diff(first)[calls]
    generated = parts[concatenated_ranges(first[calls], lengths)]
    traced = sequence.parts
    owners = [np.repeat(sequence.kinds, each) for each in (lengths, np.diff(sequence.first))]
    pairs = zip((generated, traced), owners, strict=True)
    (sent, received), (traced_sent, traced_received) = (_partners(each, owner) for each, owner in pairs)
    # A program that does not ask who sent takes messages from anyone.
    unknown = np.unique(traced_received[traced_received[:, 2] == records.ANY, 0])
    for each in (received, traced_received):
        each[np.isin(each[:, 0], unknown), 2] = records.ANY
    sums = [
        np.bincount(each, rows["bytes"] * _has_bytes(rows), size)
        for each, rows in zip(owners, (generated, traced), strict=True)
    ]
    unlike = np.abs(sums[0] - sums[1]) / np.maximum(np.maximum(*sums), 1)
    rough = structure.rough_sizes()
    for kind in np.flatnonzero(unlike > MAX_UNLIKE).tolist():
        if unlike[kind] > MAX_UNLIKE_ROUGH or structure.kinds.kinds[kind].site not in rough:
            sent_bytes, by_pattern = (f"{each[kind]:.0f}" for each in sums[::-1])
            structure.add_misfit(
                kind,
                f"on {ranks} ranks, rank {rank} sends {sent_bytes} bytes, and {by_pattern} by the pattern of "
                "the other runs",
            )
    for kind in sorted(_unequal(sent, traced_sent) | _unequal(received, traced_received)):
        structure.add_misfit(
            kind, f"on {ranks} ranks, partners of rank {rank} are not those of the pattern of the other runs"
        )


def _has_bytes(parts: np.ndarray) -> np.ndarray:
    """Whether parts send data to another rank."""
    sends = np.isin(parts["what"], (records.SEND, records.START_SEND, records.PUT, *COLLECTIVE))
    return np.asarray(sends & (parts["peer"] != records.NO_PROCESS))


def _partners(parts: np.ndarray, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kind of call, partner and root of sends and collectives in their order, and of receives in that of
    their partners, as messages of one program come in any order."""
    columns = np.stack([owners, parts["what"], parts["peer"], parts["root"]], axis=1).astype(np.int64)
    receives = np.isin(parts["what"], RECEIVES)
    others = np.isin(parts["what"], (*POINT_TO_POINT, *COLLECTIVE)) & ~receives
    received = columns[receives]
    return columns[others], received[np.lexsort(received.T[::-1])]


def _unequal(first: np.ndarray, second: np.ndarray) -> set[int]:
    """The kinds of calls whose rows differ."""
    if first.shape == second.shape:
        return set(second[(first != second).any(axis=1), 0].tolist())
    size = int(max(first[:, 0].max(initial=0), second[:, 0].max(initial=0))) + 1
    counts = [np.bincount(each[:, 0], minlength=size) for each in (first, second)]
    return set(np.flatnonzero(counts[0] != counts[1]).tolist())
