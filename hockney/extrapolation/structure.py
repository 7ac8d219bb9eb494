# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The structure of a program's communication over numbers of ranks: which ranks behave alike, how often
loops repeat, who communicates with whom, and how much.

Ranks are grouped into roles: those at the same border of the program's grid make the same calls. A rank of a
larger run makes the calls of a traced rank with its role, with partners at the same offsets in the grid, and
with sizes and numbers of iterations that follow laws over the number of ranks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hockney.extrapolation.alternatives import Alternatives, GuardedCount
from hockney.extrapolation.arrangements import Arrangement, Partners, arrangements
from hockney.extrapolation.folding import Folded, Loop, Node, fold
from hockney.extrapolation.grids import Dims
from hockney.extrapolation.iteration_counts import LoopCount, count_at
from hockney.extrapolation.laws import (
    Law,
)
from hockney.extrapolation.observations import (
    CallKinds,
    ObservedRun,
    asks_for_nodes,
    partners_by_site,
    with_partner,
)
from hockney.extrapolation.partners import ABSOLUTE, OPEN, PERIODIC, labels
from hockney.extrapolation.placements import (
    COMBINATIONS,
    NODE_COMBINATIONS,
    RARE_COMBINATIONS,
    GroupRule,
    Place,
    Role,
    derived_rules,
    group_rules,
    roles,
)
from hockney.profiles import trace as records

MIN_RUNS = 3
MAX_COMPARED = 8
"""Ranks of a role in a run whose tags are compared."""


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


@dataclass(frozen=True)
class RoughLoop:
    """A loop whose number of iterations differs slightly between runs, without a law. `site` is that of its
    first collective, `iterations` are all iterations of a rank, by number of ranks, and `error` is their
    relative difference."""

    site: str
    iterations: Mapping[int, int]
    error: float


@dataclass
class Structure:
    """`runs` by number of ranks, all with the same number of iterations of `rough_loops`; `folded` the
    sequences of all their ranks. With `has_largest_sizes`,
    messages are as large as the errors of rough laws let them be."""

    kinds: CallKinds
    runs: dict[int, ObservedRun]
    arrangement: Arrangement
    features: tuple[str, ...]
    folded: dict[tuple[int, int], Folded]
    misfits: list[Misfit] = field(default_factory=list)
    size_laws: dict[SizeKey, Law] = field(default_factory=dict)
    part_counts: dict[SizeKey, dict[int, int]] = field(default_factory=dict)
    loops: dict[Role, dict[tuple[int, ...], LoopCount | GuardedCount]] = field(default_factory=dict)
    """By role, the loops whose number of iterations depends on the number of ranks, or on the rank."""
    group_rules: dict[str, GroupRule | None] = field(default_factory=dict)
    """By the call that made communicators, the rule of their members, once it is known."""
    size_errors: dict[str, float] = field(default_factory=dict)
    """By call site, the relative error with which sizes of the largest run were predicted from the others."""
    has_largest_sizes: bool = False
    rough_loops: tuple[RoughLoop, ...] = ()
    alternatives: Alternatives | None = None
    ruled: frozenset[int] = frozenset()
    """The kinds of calls whose partners and sizes follow rules also outside of loops that depend on the
    number of ranks."""
    _path_counts: dict[int, dict[tuple[int, ...], list[int]]] = field(default_factory=dict)

    @cached_property
    def known_bodies(self) -> dict[Role, Any]:
        """The rules of calls in loops by role, as far as they were asked for."""
        return {}

    @cached_property
    def relations(self) -> np.ndarray:
        """The relation of the partners of each kind of call; "" without partners."""
        found = self.arrangement.relations
        return np.array([found.get(kind.site, "") for kind in self.kinds.kinds], dtype=object)

    def add_misfit(self, kind: int, reason: str) -> None:
        self.add_site_misfit(self.kinds.kinds[kind].site, reason)

    def add_site_misfit(self, site: str, reason: str) -> None:
        """With the first reason of each call site."""
        if all(misfit.site != site for misfit in self.misfits):
            self.misfits.append(Misfit(site, reason))

    def place(self, ranks: int) -> Place:
        """That of a traced run."""
        return Place(ranks, self.arrangement.dims[ranks], self.runs[ranks].nodes)

    def roles(self, place: Place) -> list[Role]:
        return roles(place, self.features)

    @property
    def has_exact_loops(self) -> bool:
        """Whether laws give all numbers of iterations exactly."""
        return all(each.is_exact for loops in self.loops.values() for each in loops.values())

    @property
    def asks_for_nodes(self) -> bool:
        """Whether the program asks which ranks share a node."""
        return any(asks_for_nodes(origin) for run in self.runs.values() for origin in run.origins)

    def group_rule(self, origin: str) -> GroupRule | None:
        """The first rule that gives the members of all communicators that were made by a call."""
        if origin not in self.group_rules:
            self.group_rules[origin] = None
            groups = {ranks: run.groups[origin] for ranks, run in self.runs.items() if origin in run.groups}
            places = {ranks: self.place(ranks) for ranks in groups}

            def fits(rule: GroupRule) -> bool:
                return all(
                    lowest is not None and np.array_equal(rule.groups(places[ranks]), lowest)
                    for ranks, lowest in groups.items()
                )

            self.group_rules[origin] = next(filter(fits, self._candidate_groups(origin)), None)
        return self.group_rules[origin]

    def _candidate_groups(self, origin: str) -> Iterator[GroupRule]:
        yield from group_rules(_dimensions(self.arrangement), self.asks_for_nodes, asks_for_nodes(origin))
        if asks_for_nodes(origin):
            return
        for other in sorted({each for run in self.runs.values() for each in run.origins}):
            rule = self.group_rule(other)
            if rule is not None:
                yield from derived_rules(rule)

    @cached_property
    def donors(self) -> dict[Role, list[Donor]]:
        """By role, one of each run, in the middle of those with the role. First that of the run whose grid
        has the most ranks in its shortest dimension: there most directions differ."""
        found: dict[Role, list[Donor]] = defaultdict(list)
        for ranks in sorted(self.runs, key=lambda ranks: (-min(self.arrangement.dims[ranks]), -ranks)):
            by_role: dict[Role, list[int]] = defaultdict(list)
            for rank, role in enumerate(self.roles(self.place(ranks))):
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
            for rank, role in enumerate(self.roles(self.place(ranks))):
                found[role][ranks].append(rank)
        return found

    @cached_property
    def kinds_with_free_tags(self) -> frozenset[int]:
        """The kinds of calls of which ranks with one role use different tags, which then tell messages apart
        only by their order, and those that share tags with them."""
        tags: dict[int, set[int]] = defaultdict(set)
        first: dict[tuple[Role, int], bytes] = {}
        free = set()
        for role, ranks, members in ((r, p, m) for r, each in self.members.items() for p, m in each.items()):
            for rank in members[:: max(1, len(members) // MAX_COMPARED)]:
                sequence = self.runs[ranks].sequences[rank]
                owners = np.repeat(sequence.kinds, np.diff(sequence.first))
                known = with_partner(sequence.parts)
                pairs = np.unique(np.stack([owners[known], sequence.parts["tag"][known]], axis=1), axis=0)
                for kind in np.unique(pairs[:, 0]).tolist():
                    own = pairs[pairs[:, 0] == kind, 1]
                    tags[kind].update(own.tolist())
                    if first.setdefault((role, kind), own.tobytes()) != own.tobytes():
                        free.add(kind)
        before = -1
        while len(free) != before:
            before = len(free)
            used = set[int]().union(*(tags[kind] for kind in free))
            free |= {kind for kind, own in tags.items() if own & used}
        return frozenset(free)

    def path_counts(self, ranks: int, rank: int) -> dict[tuple[int, ...], list[int]]:
        """The numbers of iterations of a traced rank's loops, see loop_path_counts."""
        folded = self.folded[ranks, rank]
        key = id(folded)
        if key not in self._path_counts:
            self._path_counts[key] = loop_path_counts(folded)
        return self._path_counts[key]

    def others(self, place: Place) -> Iterator[tuple[str, Structure]]:
        """The structures, with a text, in which loops follow another law that also gives their numbers of
        iterations in all runs, if it gives other numbers at this place."""
        tried = set()
        own = self.roles(place)
        first = {role: len(own) - 1 - k for k, role in enumerate(own[::-1])}
        for role, loops in self.loops.items():
            rank = first.get(role)
            for loop in (each for each in loops.values() if isinstance(each, LoopCount)):
                for law in loop.others:
                    if rank is None or count_at(law, rank, place) == loop.at(rank, place):
                        continue
                    key = (loop.law.text, count_at(law, rank, place))
                    if key not in tried:
                        tried.add(key)
                        changed = {
                            each: {
                                path: count.changed(loop.law.text, law.text)
                                if isinstance(count, LoopCount)
                                else count
                                for path, count in own.items()
                            }
                            for each, own in self.loops.items()
                        }
                        yield f"{loop.law.text} or {law.text}", replace(self, loops=changed, misfits=[])

    def has_constant_count(self, kind: int) -> bool:
        """Whether the rank with the most parts of this kind, of partners with one label, has equally many in
        all runs."""
        return all(
            len(set(counts.values())) == 1 for key, counts in self.part_counts.items() if key.kind == kind
        )

    def rough_sizes(self) -> dict[str, float]:
        """The relative errors of sizes at call sites where they follow laws only roughly."""
        found: dict[str, float] = {}
        for key, law in self.size_laws.items():
            if law.is_rough:
                site = self.kinds.kinds[key.kind].site
                found[site] = max(found.get(site, 0.0), law.error, self.size_errors.get(site, 0.0))
        return found

    def size_error(self, kind: int, law: Law, ranks: int) -> float:
        """The relative error of sizes by a rough law. Beyond the runs it grows with the distance to them."""
        if not law.is_rough:
            return 0.0
        return self._error_beyond(
            max(law.error, self.size_errors.get(self.kinds.kinds[kind].site, 0.0)), ranks
        )

    def iteration_error(self, ranks: int) -> float:
        """The largest relative error of a number of iterations without a law. Beyond the runs it grows with
        the distance to them."""
        return self._error_beyond(max((each.error for each in self.rough_loops), default=0.0), ranks)

    def _error_beyond(self, error: float, ranks: int) -> float:
        smallest, largest = min(self.runs), max(self.runs)
        beyond = math.log(max(ranks / largest, 1.0)) / math.log(largest / smallest)
        return float((1 + error) ** max(1.0, beyond) - 1)

    def calls_of_kind(self, kind: int) -> dict[int, int]:
        """The largest number of calls of a kind by a rank, by number of ranks."""
        return {
            ranks: max(int(np.count_nonzero(each.kinds == kind)) for each in run.sequences)
            for ranks, run in self.runs.items()
        }


def structures(
    runs: Sequence[ObservedRun],
    kinds: CallKinds,
    rough_loops: tuple[RoughLoop, ...] = (),
    choice: Alternatives | None = None,
) -> Iterator[Structure]:
    """Structures that runs on different numbers of ranks may have in common, without their laws. The first
    one has the arrangement of ranks in which the fewest ranks differ from others with their role, and the
    fewest labels describe their partners; the others have roles that explain more calls."""
    observed = partners_by_site(runs, kinds)
    groups = {run.ranks: _proper_groups(run) for run in runs}
    nodes = {run.ranks: run.nodes for run in runs}
    folded = _folded(runs, choice)
    exactly = {run.ranks: _behavior(run, folded, counted=choice is None) for run in runs}
    loosely = {run.ranks: _behavior(run, folded, counted=False) for run in runs}

    on_nodes = any(asks_for_nodes(origin) for run in runs for origin in run.origins)
    usual = (*NODE_COMBINATIONS, *COMBINATIONS) if on_nodes else COMBINATIONS
    rare = RARE_COMBINATIONS
    if choice is not None:
        # All ranks make the same calls, up to their choices.
        usual, rare = ((),), ()

    def count_unlike(arranged: Arrangement) -> int:
        return _features(exactly, arranged, observed, nodes, usual)[0][0]

    possible = list(arrangements(observed, groups, count_unlike))

    def candidates(
        behavior: Mapping[int, Sequence[bytes]], combinations: Sequence[tuple[str, ...]]
    ) -> Iterator[tuple[tuple[int, ...], Arrangement, tuple[str, ...]]]:
        for cost, each in possible:
            for different, features in _features(behavior, each, observed, nodes, combinations):
                # Without ends a grid has no border.
                inconsistent = "border" in features and PERIODIC in each.relations.values()
                key = (different, cost + len(features) + inconsistent, each.rule is None)
                yield key, each, features

    def ordered(
        behavior: Mapping[int, Sequence[bytes]], combinations: Sequence[tuple[str, ...]]
    ) -> list[tuple[Arrangement, tuple[str, ...]]]:
        rows = candidates(behavior, combinations)
        return [
            row[1:] for row in sorted(rows, key=lambda row: (row[0][0], _dimensions(row[1]), *row[0][1:]))
        ]

    first = min(candidates(exactly, usual), key=lambda row: row[0])[1:]
    others = ordered(loosely, (*usual, *rare))
    # Ranks at borders may make the same calls as others, with MPI_PROC_NULL as partner.
    more = [row for row in ordered(exactly, usual) if _dimensions(row[0]) > 1]
    made: list[tuple[Mapping[int, Dims], tuple[str, ...]]] = []
    for possible_rows, limit in (
        ([first], 1),
        (others, MAX_CANDIDATES if choice is None else 1),
        (more, 2 if choice is None else 0),
    ):
        end = len(made) + limit
        for arrangement, features in possible_rows:
            if (arrangement.dims, features) not in made and len(made) < end:
                made.append((arrangement.dims, features))
                by_ranks = {run.ranks: run for run in runs}
                yield Structure(
                    kinds,
                    by_ranks,
                    arrangement,
                    features,
                    folded,
                    rough_loops=rough_loops,
                    alternatives=choice,
                    ruled=choice.kinds if choice is not None else frozenset(),
                )


MAX_CANDIDATES = 6


def _dimensions(arrangement: Arrangement) -> int:
    return len(next(iter(arrangement.dims.values())))


def _features(
    behavior: Mapping[int, Sequence[bytes]],
    found: Arrangement,
    observed: Mapping[str, Sequence[Partners]],
    nodes: Mapping[int, tuple[int, ...]],
    combinations: Sequence[tuple[str, ...]],
) -> list[tuple[int, tuple[str, ...]]]:
    """The features that may tell ranks apart, after the number of ranks that make other calls than these
    explain; the best ones first."""
    needed = set()
    if len(combinations) > 1 and not set(RARE_COMBINATIONS) <= set(combinations):
        if OPEN in found.relations.values():
            needed.add("border")
        if any(
            found.relations[site] == ABSOLUTE
            and any(len(set(each.target.tolist())) < each.ranks for each in partners)
            for site, partners in observed.items()
        ):
            needed.add("first")
    rows = []
    places = [Place(ranks, dims, nodes[ranks]) for ranks, dims in found.dims.items()]
    for features in combinations:
        if needed <= set(features):
            different = sum(
                _count_different(behavior[place.ranks], roles(place, features)) for place in places
            )
            rows.append((different, features))
    return sorted(rows, key=lambda row: row[0])


def _proper_groups(run: ObservedRun) -> list[np.ndarray]:
    """The distinct members of communicators of several ranks, but not all."""
    distinct = {tuple(sorted(each.tolist())) for each in run.communicators if 1 < len(each) < run.ranks}
    return [np.array(each) for each in sorted(distinct)]


def _folded(runs: Sequence[ObservedRun], choice: Alternatives | None) -> dict[tuple[int, int], Folded]:
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
    folded = choice.fold(sequences) if choice is not None else fold(sequences)
    return {key: folded[number] for key, number in which.items()}


def _behavior(run: ObservedRun, folded: Mapping[tuple[int, int], Folded], *, counted: bool) -> list[bytes]:
    """What the calls of each rank have in common with those of its role: their loops, and with `counted` how
    many of each kind there are."""
    found = []
    for sequence in run.sequences:
        symbols = np.array(folded[run.ranks, sequence.rank].symbols, dtype=np.int64)
        found.append(symbols.tobytes() + (np.bincount(sequence.kinds).tobytes() if counted else b""))
    return found


def _count_different(behavior: Sequence[bytes], own: Sequence[Role]) -> int:
    """How many ranks behave otherwise than the first rank of their role."""
    first: dict[Role, bytes] = {}
    return sum(first.setdefault(role, each) != each for role, each in zip(own, behavior, strict=True))


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
    """The labels of the partners of parts, (n, dimensions); 0 for parts without a partner. `owners` are the
    kinds of their calls."""
    dims = structure.arrangement.dims[ranks]
    found = np.zeros((len(parts), len(dims)), dtype=np.int64)
    known = with_partner(parts)
    relation = structure.relations[owners]
    for name in set(relation[known].tolist()):
        chosen = np.flatnonzero(known & (relation == name))
        found[chosen] = labels(name, dims, np.full(len(chosen), rank), parts["peer"][chosen])
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
    """Sizes depend on the direction in a grid, not on its sign, and not on which rank the partner is."""
    return tuple(abs(k) for k in label) if relation in (OPEN, PERIODIC) else ()


# Loops


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
