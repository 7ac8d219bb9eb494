# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fits the laws of a structure: sizes of messages, and numbers of iterations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from hockney.extrapolation.alternatives import GuardedCount, fit_guard
from hockney.extrapolation.arrangements import Arrangement
from hockney.extrapolation.folding import Folded, Loop, Node
from hockney.extrapolation.iteration_counts import CountRule, LoopCount, count_rules, exact_count_laws
from hockney.extrapolation.laws import (
    CONSTANT,
    Law,
    fit_count_law,
    fit_law,
    fit_rough_law,
    transferred_law,
)
from hockney.extrapolation.observations import CallKinds, ObservedRun
from hockney.extrapolation.partners import OPEN, Ranks
from hockney.extrapolation.placements import Role
from hockney.extrapolation.structure import (
    Donor,
    SizeKey,
    Structure,
    distinct_rows,
    has_size,
    part_labels,
    size_label,
)


def arranged_structure(
    runs: Sequence[ObservedRun],
    kinds: CallKinds,
    arrangement: Arrangement,
    features: tuple[str, ...],
    folded: dict[tuple[int, int], Folded],
    ruled: frozenset[int] = frozenset(),
) -> Structure:
    """The structure of runs whose ranks are known to be arranged like this."""
    by_ranks = {run.ranks: run for run in runs}
    structure = Structure(kinds, by_ranks, arrangement, features, folded, ruled=ruled)
    fit(structure)
    return structure


def fit(structure: Structure) -> None:
    """Fits the laws of a structure, and notes the call sites without one."""
    _find_different(structure)
    _fit_sizes(structure)
    # A loop of a role that few runs have may be that of another role.
    known: dict[frozenset[int], LoopCount] = {}
    for role in sorted(structure.donors, key=lambda role: -len(structure.donors[role])):
        structure.loops[role] = loop_counts(structure, role, known)


def _find_different(structure: Structure) -> None:
    """Note call sites at which ranks differ from others with their role."""
    for ranks, run in structure.runs.items():
        first: dict[Role, int] = {}
        for rank, role in enumerate(structure.roles(structure.place(ranks))):
            other = first.setdefault(role, rank)
            if structure.folded[ranks, rank].symbols == structure.folded[ranks, other].symbols:
                continue
            size = len(structure.kinds.kinds)
            counts = [np.bincount(run.sequences[k].kinds, minlength=size) for k in (rank, other)]
            unequal = np.flatnonzero(counts[0] != counts[1])
            if not len(unequal):
                unequal = np.unique(run.sequences[rank].kinds)
            for kind in unequal.tolist():
                structure.add_misfit(
                    kind, f"rank {rank} of {ranks} differs from rank {other} without a pattern"
                )


def _count_label(relation: str, label: Sequence[int]) -> tuple[int, ...]:
    """At the ends of an open grid ranks have partners in one direction only."""
    return tuple(label) if relation == OPEN else size_label(relation, label)


def _fit_sizes(structure: Structure) -> None:
    means: dict[SizeKey, dict[int, float]] = defaultdict(dict)
    for ranks, run in structure.runs.items():
        sums: dict[SizeKey, np.ndarray] = defaultdict(lambda: np.zeros(2))
        for sequence in run.sequences:
            sized = has_size(sequence.parts)
            owners = np.repeat(sequence.kinds, np.diff(sequence.first))[sized]
            parts = sequence.parts[sized]
            label = part_labels(structure, ranks, sequence.rank, owners, parts)
            distinct, inverse = distinct_rows(np.column_stack([owners, parts["what"], label]))
            totals = np.bincount(inverse.reshape(-1), parts["bytes"].astype(float))
            counts = np.bincount(inverse.reshape(-1))
            own: dict[SizeKey, int] = defaultdict(int)
            for (kind, what, *each), total, count in zip(
                distinct.tolist(), totals.tolist(), counts.tolist(), strict=True
            ):
                relation = structure.relations[kind]
                sums[SizeKey(kind, what, size_label(relation, each))] += (total, count)
                own[SizeKey(kind, what, _count_label(relation, each))] += count
            for key, count in own.items():
                by_run = structure.part_counts.setdefault(key, {})
                by_run[ranks] = max(by_run.get(ranks, 0), count)
        for key, (total, count) in sums.items():
            means[key][ranks] = total / count
    dims = structure.arrangement.dims
    # The surface in one direction does not depend on the size in this direction.
    laws = {
        key: fit_law(values, dims, unlikely=[axis for axis, offset in enumerate(key.label) if offset])
        for key, values in means.items()
    }
    exact = {law.text: law for law in laws.values() if law is not None and law.basis.powers and law.is_exact}
    for key, values in means.items():
        law = laws[key]
        if law is None or not law.is_exact:
            law = transferred_law(values, dims, list(exact.values())) or law or fit_rough_law(values, dims)
        if law is not None:
            structure.size_laws[key] = law


# Loops


def loop_counts(
    structure: Structure, role: Role, known: dict[frozenset[int], LoopCount]
) -> dict[tuple[int, ...], LoopCount | GuardedCount]:
    """Of the role's loops those whose number of iterations depends on the number of ranks, or on the rank.
    `known` has those of other roles, by the kinds of calls in the loop."""
    donor = structure.donors[role][0]
    counts = {
        (ranks, rank): structure.path_counts(ranks, rank)
        for ranks, members in structure.members[role].items()
        for rank in members
        if structure.folded[ranks, rank].symbols == donor.folded.symbols
    }
    runs = {ranks for ranks, _ in counts}
    kinds_in = _kinds_in_loops(donor)
    found: dict[tuple[int, ...], LoopCount | GuardedCount] = {}
    explained: set[int] = set()
    choices, guarded = _choice_paths(donor)
    # Inner loops come first.
    for path in sorted(
        structure.path_counts(donor.run.ranks, donor.rank), key=lambda path: (-len(path), path)
    ):
        by_rank = {key: each[path] for key, each in counts.items()}
        if path in choices:
            continue
        if path in guarded:
            guard = _fit_guard(structure, path, counts)
            if guard is not None:
                found[path] = guard
                explained |= kinds_in[path]
            else:
                for kind in kinds_in[path]:
                    structure.add_misfit(
                        kind, "the ranks that make such calls in an iteration have no pattern"
                    )
            continue
        flat = {key: values[0] for key, values in by_rank.items() if len(set(values)) == 1}
        is_constant = all(structure.has_constant_count(kind) for kind in kinds_in[path])
        other = known.get(frozenset(kinds_in[path]))
        if (
            len(runs) < len(structure.runs)
            and other is not None
            and len(flat) == len(by_rank)
            and all(other.at(rank, structure.place(ranks)) == value for (ranks, rank), value in flat.items())
        ):
            found[path] = other
            explained |= kinds_in[path]
            continue
        if len(flat) < len(by_rank) or len(runs) == 1:
            # Other numbers in each instance of the loop, or a single run that has it.
            if not is_constant and (len(runs) == 1 or len(set(map(tuple, by_rank.values()))) > 1):
                for kind in kinds_in[path] - explained:
                    if not structure.has_constant_count(kind):
                        structure.add_misfit(
                            kind,
                            f"the number of calls has no pattern: {_listed(structure.calls_of_kind(kind))}",
                        )
            continue
        by_run = {ranks: {value for (each, _), value in flat.items() if each == ranks} for ranks in runs}
        differs = any(len(values) > 1 for values in by_run.values())
        if len(set(flat.values())) == 1 and is_constant:
            continue
        laws = _count_laws(structure, flat, differs)
        first = laws[0] if laws else None
        constant = isinstance(first, Law) and first.basis is CONSTANT
        if not differs and is_constant and (not laws or (constant and len(runs) < len(structure.runs))):
            continue
        if first is None:
            largest = {ranks: max(values) for ranks, values in by_run.items()}
            for kind in kinds_in[path]:
                structure.add_misfit(kind, f"the number of iterations has no pattern: {_listed(largest)}")
        elif not constant:
            # A second coefficient explains more by chance.
            others = tuple(law for law in laws[1:] if law.offset == 0 or first.offset != 0)
            count = LoopCount(first, others)
            found[path] = count
            known.setdefault(frozenset(kinds_in[path]), count)
    return dict(sorted(found.items()))


def _choice_paths(donor: Donor) -> tuple[set[tuple[int, ...]], set[tuple[int, ...]]]:
    """The choices, and the loops of which a rank makes one in an iteration."""
    choices: set[tuple[int, ...]] = set()
    found: set[tuple[int, ...]] = set()

    def visit(nodes: Sequence[Node], path: tuple[int, ...]) -> None:
        for k, node in enumerate(nodes):
            if isinstance(node, Loop):
                inner = (*path, k)
                if node.is_choice:
                    choices.add(inner)
                    found.update((*inner, place) for place in range(len(node.iterations[0])))
                elif node.iterations:
                    visit(node.iterations[0], inner)

    visit(donor.folded.nodes, ())
    return choices, found


def _fit_guard(
    structure: Structure,
    path: tuple[int, ...],
    counts: Mapping[tuple[int, int], Mapping[tuple[int, ...], Sequence[int]]],
) -> GuardedCount | None:
    """From the numbers of iterations of all loops by number of ranks and rank."""
    rows = []
    for (ranks, rank), own in counts.items():
        outer = own.get(path[:-2], [1] * len(own[path]))
        indices = [(k, length) for length in outer for k in range(length)]
        if len(indices) != len(own[path]):
            return None
        rows += [(rank, ranks, *index, made) for index, made in zip(indices, own[path], strict=True)]
    rank, ranks, k, count, made = np.array(rows).T
    return fit_guard(rank, ranks, k, count, made, structure.arrangement.dims)


def _count_laws(
    structure: Structure, counts: Mapping[tuple[int, int], int], differs: bool
) -> list[Law | CountRule]:
    """The laws of numbers of iterations by number of ranks and rank, the most likely one first. `differs`:
    ranks of one run have other numbers."""
    dims = structure.arrangement.dims
    ranks, rank = np.array(list(counts)).T
    of, values = Ranks.of(rank, ranks, dims), np.array(list(counts.values()))
    if differs:
        return list(count_rules(of, values, by_rank=True))
    by_run = {each: counts[each, one] for each, one in counts}
    if len(set(by_run.values())) == 1:
        law = fit_count_law(by_run, dims)
        return [law] if law is not None else []
    if exact := exact_count_laws(by_run, dims):
        return exact
    law = fit_count_law(by_run, dims)
    return [law] if law is not None else []


def _listed(values: Mapping[int, int]) -> str:
    return ", ".join(f"{value} on {ranks}" for ranks, value in sorted(values.items())) + " ranks"


def _kinds_in_loops(donor: Donor) -> dict[tuple[int, ...], set[int]]:
    kinds = donor.run.sequences[donor.rank].kinds
    found: dict[tuple[int, ...], set[int]] = defaultdict(set)

    def visit(nodes: Sequence[Node], path: tuple[int, ...], loops: tuple[tuple[int, ...], ...]) -> None:
        for k, node in enumerate(nodes):
            if isinstance(node, Loop):
                inner = (*path, k)
                for iteration in node.iterations:
                    visit(iteration, inner, (*loops, inner))
            else:
                for loop in loops:
                    found[loop].add(int(kinds[node]))

    visit(donor.folded.nodes, (), ())
    return found
