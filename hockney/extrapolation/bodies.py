# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of a traced rank with other numbers of iterations, and the rules of their partners and sizes."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from hockney.extrapolation.alternatives import GuardedCount
from hockney.extrapolation.folding import Loop, Node, end_call, first_call
from hockney.extrapolation.iteration_counts import LoopCount
from hockney.extrapolation.laws import SIZE_PATTERNS, Law, SizePattern, fit_law, has_pattern
from hockney.extrapolation.partners import ALL_OTHERS, PartnerRule, Ranks, labels, partner, partner_rules
from hockney.extrapolation.placements import Place, Role
from hockney.extrapolation.structure import Donor, Structure, distinct_rows
from hockney.profiles import trace as records
from hockney.profiles.trace import concatenated_ranges

Path = tuple[int, ...]

LEVELS = 3
"""Loops around a call whose iterations may decide on its partner, from the innermost one on."""
Indices = tuple[tuple[int, int], ...]
"""The iteration and the number of iterations of the loops around a call, the innermost first."""
OUTSIDE = (-1, -1)


@dataclass(frozen=True)
class BodyRule:
    """A part of a call in the body of a loop: its partner and size by iteration of the loop at `level`.
    Without a rule of partners, those of iterations with one remainder modulo `period` are at one label
    (0: not). `pattern` is that of the sizes, relative to a law."""

    partner: PartnerRule | None
    period: int
    level: int
    pattern: SizePattern | None
    size: Law | None
    size_level: int


@dataclass(frozen=True)
class RoleCalls:
    """The calls of ranks with a role, as places of the traced rank's calls. `iteration` and `iterations`,
    (n, LEVELS), are those of the loops around a call, the innermost first (-1: none), `body` the number of
    its place in `bodies` (-1: none). `is_later`: not in the first iteration of the innermost loop
    that depends on the number of ranks or on the rank."""

    donor: Donor
    calls: np.ndarray
    iteration: np.ndarray
    iterations: np.ndarray
    body: np.ndarray
    is_later: np.ndarray
    bodies: Mapping[tuple[Path, int], int]


def _inner(
    loops: Mapping[Path, LoopCount | GuardedCount], path: Path, k: int, length: int, outer: Indices
) -> Indices:
    """The indices in iteration k of a loop."""
    loop = loops.get(path)
    if not isinstance(loop, LoopCount) or loop.repeats == 1:
        return ((k, length), *outer)
    own, count = loop.inner(k, length)
    return ((own, count), (k // max(count, 1), loop.repeats), *outer)


def _padded(indices: Indices) -> list[int]:
    rows = [*indices[:LEVELS], *[OUTSIDE] * (LEVELS - len(indices))]
    return [k for k, _ in rows] + [count for _, count in rows]


def expand(
    donor: Donor,
    loops: Mapping[Path, LoopCount | GuardedCount],
    counts: Mapping[Path, int],
    place: Place,
    ruled: Collection[int] = (),
    periods: Mapping[Path, int] | None = None,
) -> RoleCalls:
    """The traced rank's calls with these numbers of iterations. Calls of `ruled` kinds have rules in all
    loops; the bodies of loops with a period are those of iterations with the same remainder."""
    spans: list[list[int]] = []
    bodies: dict[tuple[Path, int], int] = {}
    kinds = donor.run.sequences[donor.rank].kinds
    is_ruled = np.concatenate([[0], np.cumsum(np.isin(kinds, list(ruled)))])

    periods = periods or {}
    stock = _first_of_choices(donor.folded.nodes) if any_guarded(loops) else {}

    def visit(nodes: Sequence[Node], path: Path, indices: Indices, k: int) -> None:
        for number, node in enumerate(nodes):
            own = (*path, number)
            is_empty = isinstance(node, Loop) and not node.iterations
            first, end = (0, 0) if is_empty else (first_call(node), end_call(node))
            has_rules = is_ruled[end] > is_ruled[first]
            if not isinstance(node, Loop):
                has_body = k >= 0 or has_rules
                body = bodies.setdefault((path, number), len(bodies)) if has_body else -1
                spans.append([node, end, body, k > 0, *_padded(indices)])
            elif own in counts:
                count, loop, donors = counts[own], loops[own], node.iterations
                if isinstance(loop, GuardedCount):
                    # The count is the rank's number.
                    count = loop.in_iteration(count, place.ranks, place.dims, *(indices or ((0, 1),))[0])
                    donors = donors or stock.get(own, ())
                length, period = len(donors), periods.get(own, 1)
                for each in range(count if length else 0):
                    donated = each if each < length else length - 1 - (length - 1 - each) % period
                    inner = _inner(loops, own, each, count, indices)
                    visit(donors[donated], own, inner, inner[0][0])
            elif node.is_choice:
                visit(node.iterations[0], own, indices, k)
            elif has_rules or any(path_of[: len(own)] == own for path_of in counts):
                for each, iteration in enumerate(node.iterations):
                    visit(iteration, own, ((each, len(node.iterations)), *indices), k)
            else:
                spans.append([first, end, -1, 0, *_padded(())])

    visit(donor.folded.nodes, (), (), -1)
    rows = np.array(spans, dtype=np.int64).reshape(-1, 4 + 2 * LEVELS)
    first, end = rows[:, :2].T
    columns = np.repeat(rows[:, 2:], end - first, axis=0)
    calls = concatenated_ranges(first, end - first)
    iteration, iterations = columns[:, 2 : 2 + LEVELS], columns[:, 2 + LEVELS :]
    return RoleCalls(donor, calls, iteration, iterations, columns[:, 0], columns[:, 1] > 0, bodies)


def any_guarded(loops: Mapping[Path, LoopCount | GuardedCount]) -> bool:
    return any(isinstance(each, GuardedCount) for each in loops.values())


def _first_of_choices(nodes: Sequence[Node]) -> dict[Path, tuple[tuple[Node, ...], ...]]:
    """The first iterations of each loop of which ranks make one in an iteration."""
    found: dict[Path, tuple[tuple[Node, ...], ...]] = {}

    def visit(nodes: Sequence[Node], path: Path) -> None:
        for number, node in enumerate(nodes):
            if isinstance(node, Loop):
                own = (*path, number)
                for iteration in node.iterations:
                    if node.is_choice:
                        for place, loop in enumerate(iteration):
                            if isinstance(loop, Loop) and loop.iterations:
                                found.setdefault((*own, place), loop.iterations)
                    else:
                        visit(iteration, own)

    visit(nodes, ())
    return found


def later_iterations(structure: Structure) -> dict[tuple[int, int], np.ndarray]:
    """Whether each call of the traced ranks is in a later iteration than the first one of the innermost loop
    that depends on the number of ranks or on the rank; by number of ranks and rank, without ranks that have
    no such loops."""
    made: dict[tuple[int, Role], np.ndarray] = {}
    found = {}
    for ranks, run in structure.runs.items():
        for rank, role in enumerate(structure.roles(structure.place(ranks))):
            loops, folded = structure.loops.get(role, {}), structure.folded[ranks, rank]
            if not loops or any_guarded(loops) or folded.symbols != structure.donors[role][0].folded.symbols:
                continue
            key = (id(folded), role)
            if key not in made:
                counts = {path: own[0] for path, own in structure.path_counts(ranks, rank).items()}
                own_counts = {path: counts[path] for path in loops if path in counts}
                made[key] = expand(
                    Donor(run, rank, folded), loops, own_counts, structure.place(ranks)
                ).is_later
            if len(made[key]) == len(run.sequences[rank].kinds):
                found[ranks, rank] = made[key]
    return found


MAX_OBSERVED_RANKS = 64
MAX_OBSERVED_ITERATIONS = 24
"""Of loops that are the same in all runs; all of the innermost ones."""


@dataclass(frozen=True)
class _Rows:
    """Observations of a part of a call: of which rank, in which run, with the indices of LEVELS loops."""

    rank: np.ndarray
    ranks: np.ndarray
    peer: np.ndarray
    size: np.ndarray
    what: np.ndarray
    wild: np.ndarray
    kind: np.ndarray
    k: np.ndarray
    count: np.ndarray

    def __getitem__(self, chosen: np.ndarray) -> _Rows:
        return replace(self, **{each.name: getattr(self, each.name)[chosen] for each in fields(self)})


def body_rules(structure: Structure, role: Role) -> dict[tuple[Path, int, int], BodyRule]:
    """The rules of the parts of calls in loops that depend on the number of ranks or on the rank, and of
    those of ruled kinds, by place in the body and number of the part."""
    donor, loops = structure.donors[role][0], structure.loops[role]
    rows: dict[tuple[Path, int, int], list[list[int]]] = defaultdict(list)
    if loops or structure.ruled:
        for ranks, members in structure.members[role].items():
            for rank in members[:MAX_OBSERVED_RANKS]:
                folded = structure.folded[ranks, rank]
                if folded.symbols == donor.folded.symbols:
                    _observe_bodies(structure, ranks, rank, folded.nodes, loops, rows)
    rules = {}
    for key, each in rows.items():
        columns = np.array(each).T
        rank, ranks, peer, size, what, wild, kind = columns[:7]
        k, count = columns[7 : 7 + LEVELS].T, columns[7 + LEVELS :].T
        observed = _Rows(rank, ranks, peer, size, what, wild, kind, k, count)
        rules[key] = _body_rule(structure, donor, observed)
    return rules


def _observe_bodies(
    structure: Structure,
    ranks: int,
    rank: int,
    nodes: Sequence[Node],
    loops: Mapping[Path, LoopCount | GuardedCount],
    rows: dict[tuple[Path, int, int], list[list[int]]],
) -> None:
    """Adds the observations of a rank in a run: rank, number of ranks, partner, size, action, wildcard flag,
    kind of call, iterations and numbers of iterations."""
    sequence = structure.runs[ranks].sequences[rank]
    kinds, bounds, parts = sequence.kinds, sequence.first, sequence.parts

    def visit(nodes: Sequence[Node], path: Path, indices: Indices, in_loop: bool) -> None:
        for place, node in enumerate(nodes):
            own = (*path, place)
            if isinstance(node, Loop) and node.is_choice:
                visit(node.iterations[0], own, indices, in_loop)
            elif isinstance(node, Loop):
                length = len(node.iterations)
                chosen: Sequence[int] = range(length)
                if own not in loops and length and any(isinstance(each, Loop) for each in node.iterations[0]):
                    chosen = np.unique(
                        np.linspace(0, length - 1, MAX_OBSERVED_ITERATIONS).astype(int)
                    ).tolist()
                for k in chosen:
                    inner = _inner(loops, own, k, length, indices)
                    visit(node.iterations[k], own, inner, in_loop or own in loops)
            elif in_loop or int(kinds[node]) in structure.ruled:
                of_call = parts[bounds[node] : bounds[node + 1]].tolist()
                for position, (what, flags, peer, _, _, size, *_) in enumerate(of_call):
                    wild, kind = flags & records.WILDCARD, int(kinds[node])
                    rows[path, place, position].append(
                        [rank, ranks, peer, size, what, wild, kind, *_padded(indices)]
                    )

    visit(nodes, (), (), False)


PERIODS = (1, 2, 3, 4, 6)
"""Numbers of partners that a call site in a loop may cycle through."""


def _label_period(structure: Structure, donor: Donor, rows: _Rows) -> int:
    """The shortest period after which the partners of all ranks are at the same labels; 0 without one."""
    arrangement = structure.arrangement
    relation = structure.relations[rows.kind[0]]
    own = (rows.rank == donor.rank) & (rows.ranks == donor.run.ranks)
    if not relation or not own.any():
        return 0
    label = labels(relation, arrangement.dims[donor.run.ranks], rows.rank[own], rows.peer[own])
    for period in PERIODS:
        if period > 1 and rows.count[own, 0].max() < 2 * period:
            break
        first = {k: each for k, each in zip((rows.k[own, 0] % period).tolist(), label, strict=True)}
        keys = np.column_stack([rows.rank, rows.ranks, rows.k[:, 0] % period, rows.peer])
        if all(
            k in first and peer == partner(relation, arrangement.dims[ranks], rank, first[k][None])[0]
            for rank, ranks, k, peer in distinct_rows(keys)[0].tolist()
        ):
            return period
    return 0


def _body_rule(structure: Structure, donor: Donor, rows: _Rows) -> BodyRule:
    known = (rows.peer >= 0) | (rows.peer == records.NO_PROCESS)
    rule, level = None, 0
    is_wild = bool(rows.wild.any())
    period = _label_period(structure, donor, rows[known]) if known.any() and not is_wild else 0
    of = Ranks.of(rows.rank, rows.ranks, structure.arrangement.dims)
    if known.any() and not period:
        # The order in which messages come is not the program's, also if it probed for them before.
        orders = [_sorted_partners(rows)] if is_wild else [rows.peer]
        if np.isin(rows.what, (records.RECEIVE, records.PROBE)).all() and not is_wild:
            orders.append(_sorted_partners(rows))
        for order in orders:
            for level in range(LEVELS):
                if rule is None and (level == 0 or rows.k[:, level].max() > 0):
                    k, count = rows.k[known, level], rows.count[known, level]
                    rule = next(partner_rules(of[known], k, count, order[known]), None)
                if rule is not None:
                    break
            if rule is not None:
                break
    if not known.any() and rows.wild.all() and (rows.count[:, 0] == rows.ranks - 1).all():
        # The program does not ask who sent: it takes one message from each other rank.
        rule = ALL_OTHERS
    sized = (rows.what != records.END) & (rows.peer != records.NO_PROCESS)
    sizes = _body_sizes(structure, rows[sized])
    return BodyRule(rule, period, level if rule is not None else 0, *sizes)


def _body_sizes(structure: Structure, rows: _Rows) -> tuple[SizePattern | None, Law | None, int]:
    """The first pattern of sizes over ranks and iterations that all runs have, the law of what it is relative
    to, and the level of the loop."""
    if not len(rows.rank):
        return None, None, 0
    dims = structure.arrangement.dims
    of = Ranks.of(rows.rank, rows.ranks, dims)
    runs = np.unique(rows.ranks).tolist()
    for level, pattern in itertools.product(range(LEVELS), SIZE_PATTERNS):
        if level > 0 and rows.count[:, level].min() < 0:
            continue
        k = np.maximum(rows.k[:, level], 0)
        scaled = rows.size / pattern.at(of.rank, of.ranks, k, rows.count[:, level])
        if all(has_pattern(scaled[rows.ranks == number]) for number in runs):
            first = {number: float(scaled[rows.ranks == number].mean()) for number in runs}
            return pattern, fit_law(first, dims), level
    return None, None, 0


def _sorted_partners(rows: _Rows) -> np.ndarray:
    """The partners of each rank, in ascending order over its iterations."""
    found = np.empty_like(rows.peer)
    order = np.lexsort((rows.k[:, 0], rows.rank, rows.ranks))
    found[order] = rows.peer[np.lexsort((rows.peer, rows.rank, rows.ranks))]
    return found
