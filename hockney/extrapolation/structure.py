# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The structure of a program's communication over numbers of ranks: which ranks behave alike, how often
loops repeat, who communicates with whom, and how much.

Ranks are grouped into roles: those at the same border of the program's grid make the same calls. A rank of a
larger run makes the calls of a traced rank with its role, with partners at the same offsets in the grid, and
with sizes and numbers of iterations that follow laws over the number of ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hockney.extrapolation.folding import Folded, Loop, Node, fold
from hockney.extrapolation.grids import (
    ABSOLUTE,
    OPEN,
    PERIODIC,
    Arrangement,
    Dims,
    Partners,
    arrangements,
    coordinates,
    labels,
)
from hockney.extrapolation.laws import (
    CONSTANT,
    Law,
    fit_count_law,
    fit_law,
)
from hockney.extrapolation.observations import (
    CallKinds,
    ObservedRun,
    partners_by_site,
    with_partner,
)
from hockney.profiles import trace as records

Role = tuple[int, ...]
"""Numbers that ranks have in common if they make the same calls."""
MIN_RUNS = 3


@dataclass(frozen=True)
class Misfit:
    """A call site whose behaviour on other numbers of ranks is not known."""

    site: str
    reason: str


@dataclass(frozen=True)
class Donor:
    """A traced rank whose calls stand for those of all ranks with its role."""

    run: ObservedRun
    rank: int
    folded: Folded


@dataclass
class Structure:
    """`runs` by number of ranks, `folded` the sequences of all their ranks."""

    kinds: CallKinds
    runs: dict[int, ObservedRun]
    arrangement: Arrangement
    features: tuple[str, ...]
    folded: dict[tuple[int, int], Folded]
    misfits: list[Misfit] = field(default_factory=list)
    size_laws: dict[SizeKey, Law] = field(default_factory=dict)
    part_counts: dict[SizeKey, dict[int, int]] = field(default_factory=dict)
    loops: dict[Role, dict[tuple[int, ...], LoopCount]] = field(default_factory=dict)
    """By role, the loops whose number of iterations depends on the number of ranks."""

    @cached_property
    def relations(self) -> np.ndarray:
        """The relation of the partners of each kind of call; "" without partners."""
        found = self.arrangement.relations
        return np.array([found.get(kind.site, "") for kind in self.kinds.kinds], dtype=object)

    def add_misfit(self, kind: int, reason: str) -> None:
        misfit = Misfit(self.kinds.kinds[kind].site, reason)
        if misfit not in self.misfits:
            self.misfits.append(misfit)

    def roles(self, ranks: int, dims: Dims) -> list[Role]:
        return roles(ranks, dims, self.features)

    @cached_property
    def donors(self) -> dict[Role, list[Donor]]:
        """By role, one of each run, in the middle of those with the role. First that of the run whose grid
        has the most ranks in its shortest dimension: there most directions differ."""
        found: dict[Role, list[Donor]] = defaultdict(list)
        for ranks in sorted(self.runs, key=lambda ranks: (-min(self.arrangement.dims[ranks]), -ranks)):
            dims = self.arrangement.dims[ranks]
            by_role: dict[Role, list[int]] = defaultdict(list)
            for rank, role in enumerate(self.roles(ranks, dims)):
                by_role[role].append(rank)
            for role, members in by_role.items():
                rank = members[len(members) // 2]
                found[role].append(Donor(self.runs[ranks], rank, self.folded[ranks, rank]))
        return found

    @cached_property
    def members(self) -> dict[Role, dict[int, list[int]]]:
        """The ranks with a role, by number of ranks."""
        found: dict[Role, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for ranks in self.runs:
            for rank, role in enumerate(self.roles(ranks, self.arrangement.dims[ranks])):
                found[role][ranks].append(rank)
        return found

    def has_constant_count(self, kind: int) -> bool:
        """Whether the rank with the most parts of this kind, of partners with one label, has equally many in
        all runs."""
        return all(
            len(set(counts.values())) == 1 for key, counts in self.part_counts.items() if key.kind == kind
        )

    def calls_of_kind(self, kind: int) -> dict[int, int]:
        """The largest number of calls of a kind by a rank, by number of ranks."""
        return {
            ranks: max(int(np.count_nonzero(each.kinds == kind)) for each in run.sequences)
            for ranks, run in self.runs.items()
        }


def roles(ranks: int, dims: Dims, features: Sequence[str]) -> list[Role]:
    """The role of each rank."""
    number = np.arange(ranks)
    columns: list[np.ndarray] = []
    position = coordinates(dims, number)
    for feature in features:
        if feature == "border":
            columns.append((position == 0).astype(int) + 2 * (position == np.array(dims) - 1))
        elif feature == "parity of the grid":
            columns.append(position.sum(axis=1, keepdims=True) % 2)
        else:
            value = {"first": number == 0, "last": number == ranks - 1, "parity": number % 2}[feature]
            columns.append(value.astype(int)[:, None])
    if not columns:
        return [()] * ranks
    return [tuple(row) for row in np.concatenate(columns, axis=1).tolist()]


_COMBINATIONS: tuple[tuple[str, ...], ...] = (
    (),
    ("first",),
    ("first", "last"),
    ("border",),
    ("border", "first"),
    ("parity",),
    ("parity", "first"),
    ("border", "parity"),
    ("border", "parity of the grid"),
    ("border", "first", "parity"),
)


def find_structure(runs: Sequence[ObservedRun], kinds: CallKinds) -> Structure:
    """The structure that runs on different numbers of ranks have in common: the arrangement of ranks in which
    the fewest ranks differ from others with their role, and the fewest labels describe their partners."""
    observed = partners_by_site(runs, kinds)
    groups = {run.ranks: _proper_groups(run) for run in runs}
    folded = _folded(runs)
    best: tuple[tuple[int, int, bool], Arrangement, tuple[str, ...]] | None = None
    behavior = {run.ranks: _behavior(run, folded) for run in runs}

    def count_unlike(arranged: Arrangement) -> int:
        return _features(behavior, arranged, observed)[0]

    for cost, each in arrangements(observed, groups, count_unlike):
        different, features = _features(behavior, each, observed)
        # Without ends a grid has no border.
        inconsistent = "border" in features and PERIODIC in each.relations.values()
        key = (different, cost + len(features) + inconsistent, each.rule is None)
        if best is None or key < best[0]:
            best = (key, each, features)
    assert best is not None
    return arranged_structure(runs, kinds, best[1], best[2], folded)


def arranged_structure(
    runs: Sequence[ObservedRun],
    kinds: CallKinds,
    arrangement: Arrangement,
    features: tuple[str, ...],
    folded: dict[tuple[int, int], Folded],
) -> Structure:
    """The structure of runs whose ranks are known to be arranged like this."""
    structure = Structure(kinds, {run.ranks: run for run in runs}, arrangement, features, folded)
    _find_different(structure)
    _fit_sizes(structure)
    for role in structure.donors:
        structure.loops[role] = loop_counts(structure, role)
    return structure


def _features(
    behavior: Mapping[int, Sequence[bytes]], found: Arrangement, observed: Mapping[str, Sequence[Partners]]
) -> tuple[int, tuple[str, ...]]:
    """The features that tell ranks apart, and how many ranks make other calls than these explain."""
    needed = set()
    if OPEN in found.relations.values():
        needed.add("border")
    if any(
        found.relations[site] == ABSOLUTE
        and any(len(set(each.target.tolist())) < each.ranks for each in partners)
        for site, partners in observed.items()
    ):
        needed.add("first")
    best: tuple[int, tuple[str, ...]] | None = None
    for features in _COMBINATIONS:
        if not needed <= set(features):
            continue
        different = sum(
            _count_different(behavior[ranks], roles(ranks, dims, features))
            for ranks, dims in found.dims.items()
        )
        if best is None or different < best[0]:
            best = (different, features)
    assert best is not None, "a combination has all features that can be needed"
    return best


def _proper_groups(run: ObservedRun) -> list[np.ndarray]:
    """The distinct members of communicators of several ranks, but not all."""
    distinct = {tuple(sorted(each.tolist())) for each in run.communicators if 1 < len(each) < run.ranks}
    return [np.array(each) for each in sorted(distinct)]


def _folded(runs: Sequence[ObservedRun]) -> dict[tuple[int, int], Folded]:
    distinct: dict[bytes, int] = {}
    sequences: list[np.ndarray] = []
    which = {}
    for run in runs:
        for sequence in run.sequences:
            key = sequence.kinds.tobytes()
            if key not in distinct:
                distinct[key] = len(sequences)
                sequences.append(sequence.kinds)
            which[run.ranks, sequence.rank] = distinct[key]
    folded = fold(sequences)
    return {key: folded[number] for key, number in which.items()}


def _behavior(run: ObservedRun, folded: Mapping[tuple[int, int], Folded]) -> list[bytes]:
    """What the calls of each rank have in common with those of its role: their loops, and how many of each
    kind there are."""
    found = []
    for sequence in run.sequences:
        symbols = np.array(folded[run.ranks, sequence.rank].symbols, dtype=np.int64)
        found.append(symbols.tobytes() + np.bincount(sequence.kinds).tobytes())
    return found


def _count_different(behavior: Sequence[bytes], own: Sequence[Role]) -> int:
    """How many ranks behave otherwise than the first rank of their role."""
    first: dict[Role, bytes] = {}
    return sum(first.setdefault(role, each) != each for role, each in zip(own, behavior, strict=True))


def _find_different(structure: Structure) -> None:
    """Note call sites at which ranks differ from others with their role."""
    for ranks, run in structure.runs.items():
        first: dict[Role, int] = {}
        for rank, role in enumerate(structure.roles(ranks, structure.arrangement.dims[ranks])):
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


# Sizes


@dataclass(frozen=True)
class SizeKey:
    """Parts of calls whose sizes follow one law: of a kind of call, to partners with one label."""

    kind: int
    what: int
    label: tuple[int, ...]


def part_labels(
    structure: Structure, ranks: int, rank: int, owners: np.ndarray, parts: np.ndarray
) -> np.ndarray:
    """The labels of the partners of parts, (n, dimensions); the rank's own numbers of communicators for
    collectives, and 0 for other parts without a partner. `owners` are the kinds of their calls."""
    dims = structure.arrangement.dims[ranks]
    found = np.zeros((len(parts), len(dims)), dtype=np.int64)
    known = with_partner(parts)
    own_ids = structure.runs[ranks].local_ids[rank]
    collective = np.isin(parts["what"], (records.COLLECTIVE, records.START_COLLECTIVE))
    found[collective, 0] = [own_ids.get(each, 0) for each in parts["communicator"][collective].tolist()]
    relation = structure.relations[owners]
    for name in set(relation[known].tolist()):
        chosen = np.flatnonzero(known & (relation == name))
        label = labels(name, dims, np.full(len(chosen), rank), parts["peer"][chosen])
        if name == PERIODIC:
            # Half of a dimension is the same offset in both directions.
            half = 2 * np.abs(label) == np.array(dims)
            label = np.where(half, np.abs(label), label)
        found[chosen] = label
    return found


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of integers, and the place of each row among them."""
    base = rows.min(axis=0, initial=0)
    sizes = np.ptp(rows, axis=0).astype(object) + 1 if len(rows) else np.ones(rows.shape[1], dtype=object)
    if np.prod(sizes) >= 2**62:
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        return distinct, inverse.reshape(-1)
    base = rows.min(axis=0) if len(rows) else base
    keys = np.zeros(len(rows), dtype=np.int64)
    for column, size in zip((rows - base).T, sizes.tolist(), strict=True):
        keys = keys * size + column
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], inverse.reshape(-1)


def has_size(parts: np.ndarray) -> np.ndarray:
    """Whether parts have a size of their own: not ends of requests, and not messages to MPI_PROC_NULL."""
    return np.asarray((parts["what"] != records.END) & (parts["peer"] != records.NO_PROCESS))


def size_label(relation: str, label: Sequence[int]) -> tuple[int, ...]:
    """Sizes depend on the direction in a grid, not on its sign, and not on which rank the partner is; those
    of collectives on the communicator."""
    return tuple(abs(k) for k in label) if relation in (OPEN, PERIODIC, "") else ()


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
    for key, values in means.items():
        law = fit_law(values, structure.arrangement.dims)
        if law is not None:
            structure.size_laws[key] = law


# Loops


@dataclass(frozen=True)
class LoopCount:
    """The number of iterations of a loop that depends on the number of ranks. Nested loops with nothing else
    in the outer one's body are one loop here, which repeats the inner one a fixed number of times."""

    law: Law

    @property
    def repeats(self) -> int:
        factor = round(self.law.factor)
        is_whole = self.law.offset == 0 and factor > 1 and abs(self.law.factor - factor) < 1e-6
        return factor if is_whole else 1

    def inner(self, k: int, iterations: int) -> tuple[int, int]:
        """The iteration and the number of iterations of the inner loop."""
        count = iterations // self.repeats
        return (k % count, count) if count and iterations % self.repeats == 0 else (k, iterations)


def loop_path_counts(folded: Folded) -> dict[tuple[int, ...], list[int]]:
    """The numbers of iterations of all loops, by their place in the nesting, in the order in which they
    run."""
    found: dict[tuple[int, ...], list[int]] = defaultdict(list)

    def visit(nodes: Sequence[Node], path: tuple[int, ...]) -> None:
        for k, node in enumerate(nodes):
            if isinstance(node, Loop):
                inner = (*path, k)
                found[inner].append(len(node.iterations))
                for iteration in node.iterations:
                    visit(iteration, inner)

    visit(folded.nodes, ())
    return found


def loop_counts(structure: Structure, role: Role) -> dict[tuple[int, ...], LoopCount]:
    """Of the role's loops those whose number of iterations depends on the number of ranks."""
    donors = structure.donors[role]
    donor = donors[0]
    same = [each for each in donors if each.folded.symbols == donor.folded.symbols]
    counts = [loop_path_counts(each.folded) for each in same]
    kinds_in = _kinds_in_loops(donor)
    found: dict[tuple[int, ...], LoopCount] = {}
    for path in counts[0]:
        by_run = {each.run.ranks: np.array(other[path]) for each, other in zip(same, counts, strict=True)}
        flat = {ranks: int(values[0]) for ranks, values in by_run.items() if np.ptp(values) == 0}
        if len(by_run) > 1 and len(flat) == len(by_run):
            if len(set(flat.values())) == 1 and all(structure.has_constant_count(k) for k in kinds_in[path]):
                continue
            law = fit_count_law(flat, structure.arrangement.dims)
            unsupported = law is None or (law.basis is CONSTANT and len(flat) < len(structure.runs))
            if unsupported and all(structure.has_constant_count(kind) for kind in kinds_in[path]):
                continue
            if law is None:
                for kind in kinds_in[path]:
                    structure.add_misfit(kind, f"the number of iterations has no pattern: {_listed(flat)}")
            elif law.basis is not CONSTANT:
                found[path] = LoopCount(law)
            continue
        if len(by_run) > 1 and len({values.tobytes() for values in by_run.values()}) == 1:
            continue
        if all(structure.has_constant_count(kind) for kind in kinds_in[path]):
            continue
        for kind in kinds_in[path]:
            if not structure.has_constant_count(kind):
                structure.add_misfit(
                    kind, f"the number of calls has no pattern: {_listed(structure.calls_of_kind(kind))}"
                )
    return found


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
