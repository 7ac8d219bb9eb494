# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of a program on a number of ranks on which it was not traced."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.core.errors import Inconclusive
from hockney.extrapolation.folding import Loop, Node, end_call, first_call
from hockney.extrapolation.grids import PERIODIC, Dims, coordinates, labels, partner, spread
from hockney.extrapolation.laws import (
    ALL_OTHERS,
    SIZE_PATTERNS,
    Law,
    PartnerRule,
    fit_law,
    partner_rule,
    size_pattern,
)
from hockney.extrapolation.observations import CallKinds, ObservedRun, RankSequence
from hockney.extrapolation.structure import (
    Donor,
    LoopCount,
    Role,
    SizeKey,
    Structure,
    distinct_rows,
    has_size,
    part_labels,
    size_label,
)
from hockney.profiles import trace as records
from hockney.profiles.trace import EVENT, Call, RankTrace, concatenated_ranges
from hockney.replay.building import Job, Placement, TraceGraph, build

STARTS = (records.START_SEND, records.START_RECEIVE, records.START_COLLECTIVE)
Path = tuple[int, ...]


@dataclass(frozen=True)
class BodyRule:
    """A part of a call in the body of a loop whose number of iterations depends on the number of ranks: its
    partner and size by iteration. `keeps_label`: the partner has the label of the traced one in all
    iterations, and needs no rule; `size` is the law of the first iteration's size."""

    partner: PartnerRule | None
    keeps_label: bool
    pattern: int | None
    size: Law | None


@dataclass(frozen=True)
class RoleCalls:
    """The calls of ranks with a role, as places of the traced rank's calls. `iteration` and `iterations` are
    those of the innermost loop that depends on the number of ranks (-1: none), `body` its place."""

    donor: Donor
    calls: np.ndarray
    iteration: np.ndarray
    iterations: np.ndarray
    body: tuple[tuple[Path, int] | None, ...]


def expand(donor: Donor, counts: Mapping[Path, LoopCount], ranks: int, dims: Dims) -> RoleCalls:
    """The traced rank's calls with the numbers of iterations on another number of ranks."""
    calls: list[np.ndarray] = []
    iteration: list[np.ndarray] = []
    iterations: list[np.ndarray] = []
    bodies: list[tuple[tuple[Path, int] | None, int]] = []

    def add(first: int, end: int, k: int = -1, count: int = -1, body: tuple[Path, int] | None = None) -> None:
        if end > first:
            calls.append(np.arange(first, end))
            iteration.append(np.full(end - first, k))
            iterations.append(np.full(end - first, count))
            bodies.append((body, end - first))

    def visit(nodes: Sequence[Node], path: Path, k: int, count: int) -> None:
        for place, node in enumerate(nodes):
            own = (*path, place)
            if not isinstance(node, Loop):
                add(node, node + 1, k, count, (path, place) if k >= 0 else None)
                continue
            if own in counts:
                wanted = max(0, round(counts[own].law.at(ranks, dims)))
                for number in range(wanted):
                    inner = counts[own].inner(number, wanted)
                    visit(node.iterations[min(number, len(node.iterations) - 1)], own, *inner)
            elif any(path_of[: len(own)] == own for path_of in counts):
                for each in node.iterations:
                    visit(each, own, k, count)
            else:
                add(first_call(node), end_call(node))

    visit(donor.folded.nodes, (), -1, -1)
    empty = np.zeros(0, dtype=np.int64)
    body = tuple(each for each, number in bodies for _ in range(number))
    return RoleCalls(
        donor,
        np.concatenate(calls) if calls else empty,
        np.concatenate(iteration) if calls else empty,
        np.concatenate(iterations) if calls else empty,
        body,
    )


MAX_OBSERVED_RANKS = 64


def body_rules(
    structure: Structure, role: Role, counts: Mapping[Path, LoopCount]
) -> dict[tuple[Path, int, int], BodyRule]:
    """The rules of the parts of calls in loops that depend on the number of ranks, by place in the body and
    number of the part."""
    donor = structure.donors[role][0]
    rows: dict[tuple[Path, int, int], list[tuple[int, ...]]] = defaultdict(list)
    for ranks, members in structure.members[role].items():
        for rank in members[:MAX_OBSERVED_RANKS]:
            folded = structure.folded[ranks, rank]
            if folded.symbols == donor.folded.symbols:
                _observe_bodies(structure, ranks, rank, folded.nodes, counts, rows)
    return {key: _body_rule(structure, donor, np.array(each)) for key, each in rows.items()}


def _observe_bodies(
    structure: Structure,
    ranks: int,
    rank: int,
    nodes: Sequence[Node],
    counts: Mapping[Path, LoopCount],
    rows: dict[tuple[Path, int, int], list[tuple[int, ...]]],
) -> None:
    """Adds the rank, number of ranks, iteration, iterations, partner, size, action, wildcard flag and kind of
    call of each part, in the first instance of each loop."""
    sequence = structure.runs[ranks].sequences[rank]

    def visit(nodes: Sequence[Node], path: Path) -> None:
        for place, node in enumerate(nodes):
            own = (*path, place)
            if not isinstance(node, Loop):
                continue
            if own not in counts:
                visit(node.iterations[0], own)
                continue
            for number, iteration in enumerate(node.iterations):
                k, count = counts[own].inner(number, len(node.iterations))
                for child, call in enumerate(iteration):
                    if isinstance(call, Loop):
                        continue
                    kind = int(sequence.kinds[call])
                    parts = sequence.parts[sequence.first[call] : sequence.first[call + 1]]
                    for position, part in enumerate(parts.tolist()):
                        what, flags, peer, _, _, size = part[:6]
                        rows[own, child, position].append(
                            (rank, ranks, k, count, peer, size, what, flags & records.WILDCARD, kind)
                        )
            visit(node.iterations[0], own)

    visit(nodes, ())


def _keeps_label(structure: Structure, donor: Donor, rows: np.ndarray) -> bool:
    """Whether the partner of the traced rank's first iteration is at the label of all partners."""
    arrangement = structure.arrangement
    relation = structure.relations[rows[0, -1]]
    own = rows[(rows[:, 0] == donor.rank) & (rows[:, 1] == donor.run.ranks)]
    if not relation or not len(own):
        return False
    label = labels(relation, arrangement.dims[donor.run.ranks], own[:1, 0], own[:1, 4])
    pairs, _ = distinct_rows(rows[:, [0, 1, 4]])
    return all(
        peer == partner(relation, arrangement.dims[ranks], rank, label)[0]
        for rank, ranks, peer in pairs.tolist()
    )


def _body_rule(structure: Structure, donor: Donor, rows: np.ndarray) -> BodyRule:
    rank, ranks, k, count, peer, size, what, wild, _ = rows.T
    known = peer >= 0
    rule = None
    keeps_label = known.any() and not wild.any() and _keeps_label(structure, donor, rows[known])
    if known.any() and not keeps_label:
        # The order in which messages come is not the program's, also if it probed for them before.
        orders = [_sorted_partners(rows)] if wild.any() else [peer]
        if np.isin(what, (records.RECEIVE, records.PROBE)).all() and not wild.any():
            orders.append(_sorted_partners(rows))
        found = (
            partner_rule(rank[known], ranks[known], k[known], count[known], order[known]) for order in orders
        )
        rule = next((each for each in found if each is not None), None)
    if not known.any() and wild.all() and (count == ranks - 1).all():
        # The program does not ask who sent: it takes one message from each other rank.
        rule = ALL_OTHERS
    patterns = {
        size_pattern(k[chosen], count[chosen], size[chosen].astype(float))
        for number in np.unique(ranks).tolist()
        if count[chosen := ranks == number].max() > 1
    }
    pattern = patterns.pop() if len(patterns) == 1 else None
    scaled = size / SIZE_PATTERNS[pattern or 0][1](k, count)
    first = {number: float(scaled[ranks == number].mean()) for number in np.unique(ranks).tolist()}
    return BodyRule(rule, bool(keeps_label), pattern, fit_law(first, structure.arrangement.dims))


def _sorted_partners(rows: np.ndarray) -> np.ndarray:
    """The partners of each rank, in ascending order over its iterations."""
    rank, ranks, k, _, peer = rows.T[:5]
    found = np.empty_like(peer)
    found[np.lexsort((k, rank, ranks))] = peer[np.lexsort((peer, rank, ranks))]
    return found


# Communicators


@dataclass
class _Communicators:
    """The communicators on a number of ranks, numbered as they are found."""

    ranks: int
    dims: Dims
    members: list[np.ndarray] = field(default_factory=list)
    numbers: dict[tuple[int, tuple[int, ...], tuple[int, ...]], int] = field(default_factory=dict)

    def number(self, place: int, shape: tuple[int, ...], rank: int) -> int:
        position = coordinates(self.dims, np.array([rank]))[0]
        fixed = [k for k in range(len(self.dims)) if k not in shape]
        key = (place, shape, tuple(int(position[k]) for k in fixed))
        if key not in self.numbers:
            all_positions = coordinates(self.dims, np.arange(self.ranks))
            same = (all_positions[:, fixed] == position[fixed]).all(axis=1)
            self.numbers[key] = len(self.members)
            self.members.append(np.flatnonzero(same))
        return self.numbers[key]


# The calls of a role, with what differs between its ranks left open.


@dataclass
class _Template:
    """Distinct calls of a role. `parts` are those of all distinct calls, at first[k] to first[k+1]; the
    partner of a part is at a label of a relation, or follows a rule (`rule` is its place in `rules`, -1:
    none). `shape` is the place of its communicator in `shapes`: each has the
    dimensions along which a communicator is spread, and its place among the rank's communicators along these.
    `root` is the place of the root among the members."""

    kinds: np.ndarray
    first: np.ndarray
    parts: np.ndarray
    label: np.ndarray
    relation: np.ndarray
    rule: np.ndarray
    iteration: np.ndarray
    iterations: np.ndarray
    shape: np.ndarray
    root: np.ndarray
    rules: list[PartnerRule]
    shapes: list[tuple[int, tuple[int, ...]]]
    calls: np.ndarray
    """The distinct call of each call of the sequence."""


def _template(structure: Structure, role: Role, ranks: int, dims: Dims) -> _Template:
    donor = structure.donors[role][0]
    own_dims = structure.arrangement.dims[donor.run.ranks]
    sequence = donor.run.sequences[donor.rank]
    counts = structure.loops[role]
    made = expand(donor, counts, ranks, dims)
    rules = body_rules(structure, role, counts) if counts else {}
    _check_directions(structure, donor, ranks, dims)
    places = sequence.parts_of(made.calls)
    parts = sequence.parts[places].copy()
    lengths = sequence.first[made.calls + 1] - sequence.first[made.calls]
    kinds = sequence.kinds[made.calls]
    owners = np.repeat(kinds, lengths)
    label = part_labels(structure, donor.run.ranks, donor.rank, owners, parts)
    rule = np.full(len(parts), -1)
    sized = ~has_size(parts)
    used: list[PartnerRule] = []
    iteration, iterations = np.repeat(made.iteration, lengths), np.repeat(made.iterations, lengths)
    if counts:
        _apply_rules(structure, made, rules, lengths, owners, parts, rule, sized, used, ranks, dims)
    _scale_sizes(structure, owners, parts, label, ~sized, donor.run.ranks, own_dims, ranks, dims)
    if counts:
        first = np.concatenate([[0], np.cumsum(lengths)])
        parts, keep = _with_all_ends(sequence, made.calls, first, parts)
        lengths = np.bincount(keep[1], minlength=len(lengths))
        owners, label, rule = owners[keep[0]], label[keep[0]], rule[keep[0]]
        iteration, iterations = iteration[keep[0]], iterations[keep[0]]
    shape, shapes = _communicators_of(structure, donor, owners, parts, own_dims)
    indices = _loop_indices(made, donor, counts)
    calls = np.repeat(np.arange(len(lengths)), lengths)
    root = _roots(structure, role, donor, indices, calls, owners, parts, shape, shapes, dims)
    return _distinct_calls(
        kinds,
        lengths,
        parts,
        label,
        structure.relations[owners],
        rule,
        iteration,
        iterations,
        shape,
        root,
        used,
        shapes,
    )


def _check_directions(structure: Structure, donor: Donor, ranks: int, dims: Dims) -> None:
    """Raises Inconclusive if the traced rank's partners in a grid with connected ends do not show in which
    direction they are."""
    if PERIODIC not in structure.arrangement.relations.values():
        return
    own = structure.arrangement.dims[donor.run.ranks]
    unknown = [k for k in range(len(dims)) if own[k] < MIN_DIRECTIONS and own[k] != dims[k]]
    if unknown:
        raise Inconclusive(
            f"the partners on {ranks} ranks are not known",
            f"in the traced grid of {' x '.join(map(str, own))}, both neighbors in a dimension are one rank",
            "trace the program on more ranks, at least 3 in each direction; they may share cores",
            code="unknown-direction",
            ranks=ranks,
            dims=list(own),
        )


MIN_DIRECTIONS = 3
"""With fewer ranks in a dimension with connected ends, both neighbors are the same rank."""


def _scale_sizes(
    structure: Structure,
    owners: np.ndarray,
    parts: np.ndarray,
    label: np.ndarray,
    chosen: np.ndarray,
    own_ranks: int,
    own_dims: Dims,
    ranks: int,
    dims: Dims,
) -> None:
    """Sets the sizes of the chosen parts that the laws give."""
    distinct, inverse = distinct_rows(np.column_stack([owners, parts["what"], label])[chosen])
    ratio = np.ones(len(distinct))
    for number, (kind, what, *each) in enumerate(distinct.tolist()):
        name = structure.relations[kind]
        law = structure.size_laws.get(SizeKey(kind, what, size_label(name, each)))
        if law is None:
            structure.add_misfit(kind, "the sizes of messages have no pattern over the number of ranks")
        elif (before := law.at(own_ranks, own_dims)) > 0:
            ratio[number] = law.at(ranks, dims) / before
    factor = np.maximum(ratio[inverse], 0.0)
    parts["bytes"][chosen] = np.rint(parts["bytes"][chosen] * factor).astype(np.uint64)


def _apply_rules(
    structure: Structure,
    made: RoleCalls,
    rules: Mapping[tuple[Path, int, int], BodyRule],
    lengths: np.ndarray,
    owners: np.ndarray,
    parts: np.ndarray,
    rule: np.ndarray,
    sized: np.ndarray,
    used: list[PartnerRule],
    ranks: int,
    dims: Dims,
) -> None:
    """Sets the partner rules and sizes of parts in loops that depend on the number of ranks."""
    at = 0
    for body, k, count, length in zip(
        made.body, made.iteration.tolist(), made.iterations.tolist(), lengths.tolist(), strict=True
    ):
        for number in range(length):
            found = rules.get((*body, number)) if body is not None else None
            if found is not None:
                if found.partner is not None:
                    if found.partner not in used:
                        used.append(found.partner)
                    rule[at] = used.index(found.partner)
                elif (
                    not found.keeps_label
                    and parts["peer"][at] >= 0
                    and parts["what"][at] != records.END
                    and body is not None
                ):
                    structure.add_misfit(int(owners[at]), "the partners in a loop have no pattern")
                if found.size is None or found.pattern is None:
                    structure.add_misfit(int(owners[at]), "the sizes of messages in a loop have no pattern")
                else:
                    factor = SIZE_PATTERNS[found.pattern][1](np.array(k), np.array(count))
                    parts["bytes"][at] = max(0, round(found.size.at(ranks, dims) * float(factor)))
                sized[at] = True
            at += 1


@dataclass
class _Requests:
    """The requests of a rank that are pending, by the number of their start."""

    pending: list[int] = field(default_factory=list)
    started: int = 0

    def make(self, what: int, flags: int, age: int) -> None:
        """Makes a part, which may start or complete a request."""
        if what in STARTS or (what in (records.PUT, records.GET) and flags & records.REQUEST):
            self.pending.append(self.started)
            self.started += 1
        elif what == records.END and self.started - age in self.pending:
            self.pending.remove(self.started - age)


def _with_all_ends(
    sequence: RankSequence, calls: np.ndarray, first: np.ndarray, parts: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Parts in which calls that completed all pending requests do so with the requests there are now. Also
    which part each one is made from, and to which call it belongs."""
    original_all = _completes_all(sequence)
    kept: list[int] = []
    owner: list[int] = []
    ages: list[int] = []
    requests = _Requests()
    what = parts["what"].tolist()
    flags = parts["flags"].tolist()
    age = parts["age"].tolist()
    bounds = first.tolist()
    for k, call in enumerate(calls.tolist()):
        span = range(bounds[k], bounds[k + 1])
        ends = [at for at in span if what[at] == records.END]
        if len(ends) > 1 and original_all[call] is not None:
            order = requests.pending if original_all[call] > 0 else requests.pending[::-1]
            for number, request in enumerate(order):
                kept.append(ends[min(number, len(ends) - 1)])
                owner.append(k)
                ages.append(requests.started - request)
            requests.pending = []
            continue
        for at in span:
            kept.append(at)
            owner.append(k)
            ages.append(age[at])
            requests.make(what[at], flags[at], age[at])
    made = parts[kept].copy()
    made["age"] = ages
    return made, (np.array(kept, dtype=np.int64), np.array(owner, dtype=np.int64))


def _completes_all(sequence: RankSequence) -> list[int | None]:
    """For each call whether it completes all pending requests: 1 in the order of their starts, -1 in the
    opposite order, None if it does not."""
    found: list[int | None] = []
    requests = _Requests()
    what, age, flags = (sequence.parts[name].tolist() for name in ("what", "age", "flags"))
    bounds = sequence.first.tolist()
    for k in range(len(bounds) - 1):
        span = range(bounds[k], bounds[k + 1])
        ends = [requests.started - age[at] for at in span if what[at] == records.END]
        state: int | None = None
        if len(ends) > 1 and sorted(ends) == requests.pending:
            state = -1 if ends == requests.pending[::-1] else 1
        found.append(state)
        for at in span:
            requests.make(what[at], flags[at], age[at])
    return found


def _communicators_of(
    structure: Structure, donor: Donor, owners: np.ndarray, parts: np.ndarray, own_dims: Dims
) -> tuple[np.ndarray, list[tuple[int, tuple[int, ...]]]]:
    shapes: list[tuple[int, tuple[int, ...]]] = []
    shape = np.zeros(len(parts), dtype=np.int64)
    # Only some ranks may be in a communicator, so that ranks number later ones differently.
    alike: dict[tuple[int, ...] | None, list[int]] = defaultdict(list)
    own_ids = donor.run.local_ids[donor.rank]
    for number in sorted(own_ids, key=lambda each: own_ids[each]):
        alike[spread(donor.run.communicators[number], donor.run.ranks, own_dims)].append(number)
    for number in np.unique(parts["communicator"]).tolist():
        chosen = parts["communicator"] == number
        members = donor.run.communicators[number]
        found = spread(members, donor.run.ranks, own_dims)
        if found is None:
            for kind in np.unique(owners[chosen]).tolist():
                structure.add_misfit(kind, "its communicator is no part of the grid of ranks")
            found = tuple(range(len(own_dims)))
        place = alike[found].index(number) if number in alike[found] else 0
        if (place, found) not in shapes:
            shapes.append((place, found))
        shape[chosen] = shapes.index((place, found))
    return shape, shapes


# Roots of collectives


@dataclass(frozen=True)
class _Indices:
    """Of each call of a sequence the iteration and the number of iterations of the innermost loop."""

    iteration: np.ndarray
    iterations: np.ndarray


def _innermost(nodes: Sequence[Node], calls: int, counts: Mapping[Path, LoopCount]) -> _Indices:
    iteration, iterations = np.zeros(calls, dtype=np.int64), np.ones(calls, dtype=np.int64)

    def visit(nodes: Sequence[Node], path: Path, k: int, count: int) -> None:
        for place, node in enumerate(nodes):
            if not isinstance(node, Loop):
                iteration[node], iterations[node] = k, count
                continue
            own = (*path, place)
            length = len(node.iterations)
            for number, each in enumerate(node.iterations):
                inner = counts[own].inner(number, length) if own in counts else (number, length)
                visit(each, own, *inner)

    visit(nodes, (), 0, 1)
    return _Indices(iteration, iterations)


def _loop_indices(made: RoleCalls, donor: Donor, counts: Mapping[Path, LoopCount]) -> _Indices:
    traced = _innermost(donor.folded.nodes, len(donor.run.sequences[donor.rank].kinds), counts)
    changed = made.iteration >= 0
    return _Indices(
        np.where(changed, made.iteration, traced.iteration[made.calls]),
        np.where(changed, made.iterations, traced.iterations[made.calls]),
    )


RootRule = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""The place of the root among the members, of a call: how many calls on the communicator precede it at this
call site, its iteration and number of iterations, and the number of members."""
ROOT_RULES: tuple[RootRule, ...] = (
    lambda number, k, count, size: size - 1,
    lambda number, k, count, size: size // 2,
    lambda number, k, count, size: k % size,
    lambda number, k, count, size: number % size,
    lambda number, k, count, size: (size - 1 - k) % size,
    lambda number, k, count, size: (size - 1 - number) % size,
    lambda number, k, count, size: k * size // count,
    lambda number, k, count, size: (k + 1) % size,
)


def _observed_roots(
    structure: Structure, role: Role, donor: Donor, kind: int, own_ids: set[int]
) -> np.ndarray:
    """The number, iteration, iterations, members and root's place of each call of this kind on the
    communicators with these numbers of the rank's own, for one rank of each run with the role."""
    rows = []
    for each in structure.donors[role]:
        if each.folded.symbols != donor.folded.symbols:
            continue
        sequence = each.run.sequences[each.rank]
        indices = _innermost(each.folded.nodes, len(sequence.kinds), structure.loops[role])
        owner = np.repeat(np.arange(len(sequence.kinds)), np.diff(sequence.first))
        number = 0
        for at in np.flatnonzero((sequence.kinds[owner] == kind) & (sequence.parts["root"] >= 0)).tolist():
            part = sequence.parts[at]
            communicator = int(part["communicator"])
            if each.run.local_ids[each.rank].get(communicator, 0) not in own_ids:
                continue
            members = each.run.communicators[communicator]
            place = np.flatnonzero(members == part["root"])
            k, count = indices.iteration[owner[at]], indices.iterations[owner[at]]
            rows.append((number, k, count, len(members), int(place[0]) if len(place) else 0))
            number += 1
    return np.array(rows, dtype=np.int64).reshape(-1, 5)


def _root_places(
    rows: np.ndarray, number: np.ndarray, k: np.ndarray, count: np.ndarray, size: int
) -> np.ndarray | None:
    """The places of the roots of calls on a communicator of `size` members; None if those of the traced calls
    have no pattern."""
    numbers, iteration, iterations, sizes, places = rows[rows[:, 3] > 1].T
    if not len(places) or (places == places[0]).all():
        return np.full(len(number), min(int(places[0]) if len(places) else 0, size - 1))
    for rule in ROOT_RULES:
        if (rule(numbers, iteration, iterations, sizes) == places).all():
            return np.asarray(rule(number, k, count, np.full(len(number), size)))
    by_number: dict[int, int] = {}
    for each, place in zip(numbers.tolist(), places.tolist(), strict=True):
        if by_number.setdefault(each, place) != place:
            return None
    if size < max(by_number.values()) + 1 or not set(number.tolist()) <= set(by_number):
        return None
    return np.array([by_number[each] for each in number.tolist()])


def _roots(
    structure: Structure,
    role: Role,
    donor: Donor,
    indices: _Indices,
    calls: np.ndarray,
    owners: np.ndarray,
    parts: np.ndarray,
    shape: np.ndarray,
    shapes: Sequence[tuple[int, tuple[int, ...]]],
    dims: Dims,
) -> np.ndarray:
    """The place of the root of each part among the members of its communicator; -1 without one. `calls` are
    the calls of the parts."""
    root = np.full(len(parts), -1, dtype=np.int64)
    rooted = parts["root"] >= 0
    for kind, number in {*zip(owners[rooted].tolist(), shape[rooted].tolist(), strict=True)}:
        chosen = np.flatnonzero(rooted & (owners == kind) & (shape == number))
        size = math.prod(dims[k] for k in shapes[number][1])
        own_ids = donor.run.local_ids[donor.rank]
        used = {own_ids.get(each, 0) for each in np.unique(parts["communicator"][chosen]).tolist()}
        rows = _observed_roots(structure, role, donor, kind, used)
        k, count = indices.iteration[calls[chosen]], indices.iterations[calls[chosen]]
        places = _root_places(rows, np.arange(len(chosen)), k, count, size)
        if places is None:
            structure.add_misfit(kind, "the roots of its collectives have no pattern")
            places = np.zeros(len(chosen), dtype=np.int64)
        root[chosen] = places
    return root


def _distinct_calls(
    kinds: np.ndarray,
    lengths: np.ndarray,
    parts: np.ndarray,
    label: np.ndarray,
    relation: np.ndarray,
    rule: np.ndarray,
    iteration: np.ndarray,
    iterations: np.ndarray,
    shape: np.ndarray,
    root: np.ndarray,
    rules: list[PartnerRule],
    shapes: list[tuple[int, tuple[int, ...]]],
) -> _Template:
    iteration = np.where(rule >= 0, iteration, -1)
    columns = [
        np.repeat(kinds, lengths),
        *(parts[name].astype(np.int64) for name in ("what", "flags", "tag", "bytes", "age")),
        label, rule, iteration, np.where(rule >= 0, iterations, -1), shape, root,
    ]  # fmt: skip
    rows = np.ascontiguousarray(np.column_stack(columns))
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    numbers: dict[bytes, int] = {}
    calls = np.empty(len(kinds), dtype=np.int64)
    chosen: list[int] = []
    for k in range(len(kinds)):
        key = rows[bounds[k] : bounds[k + 1]].tobytes()
        number = numbers.setdefault(key, len(numbers))
        if number == len(chosen):
            chosen.append(k)
        calls[k] = number
    picked = np.array(chosen, dtype=np.int64)
    at = concatenated_ranges(bounds[picked], lengths[picked])
    return _Template(
        kinds[picked],
        np.concatenate([[0], np.cumsum(lengths[picked])]),
        parts[at],
        label[at],
        relation[at],
        rule[at],
        iteration[at],
        iterations[at],
        shape[at],
        root[at],
        rules,
        shapes,
        calls,
    )


def _calls_of_rank(
    structure: Structure,
    template: _Template,
    rank: int,
    ranks: int,
    dims: Dims,
    communicators: _Communicators,
) -> tuple[Call, ...]:
    parts = template.parts.copy()
    named = parts["peer"] >= 0
    for relation in np.unique(template.relation[named]).tolist():
        chosen = np.flatnonzero(named & (template.relation == relation) & (template.rule < 0))
        if relation:
            parts["peer"][chosen] = partner(relation, dims, rank, template.label[chosen])
    for number, rule in enumerate(template.rules):
        chosen = np.flatnonzero(template.rule == number)
        k, count = template.iteration[chosen], template.iterations[chosen]
        parts["peer"][chosen] = rule.at(np.full(len(chosen), rank), np.full(len(chosen), ranks), k, count)
    for number, (place, shape) in enumerate(template.shapes):
        chosen = np.flatnonzero(template.shape == number)
        own = communicators.number(place, shape, rank)
        parts["communicator"][chosen] = own
        members = communicators.members[own]
        root = template.root[chosen]
        parts["root"][chosen] = np.where(root < 0, parts["root"][chosen], members[root])
    return tuple(
        Call(structure.kinds.kinds[kind].function, kind, structure.kinds.kinds[kind].misses, parts[first:end])
        for kind, first, end in zip(
            template.kinds.tolist(), template.first[:-1].tolist(), template.first[1:].tolist(), strict=True
        )
    )


Seconds = Callable[[int], np.ndarray]
"""Seconds of computation of a rank before each call, and after the last one."""


class Synthesis:
    """The program on `ranks` ranks in a grid of `dims`. Raises Inconclusive if no traced rank stands for some
    rank."""

    def __init__(self, structure: Structure, ranks: int, dims: Dims) -> None:
        roles = structure.roles(ranks, dims)
        missing = sorted(set(roles) - set(structure.donors))
        if missing:
            raise Inconclusive(
                f"no traced rank is like rank {roles.index(missing[0])} of {ranks}",
                f"in a grid of {' x '.join(map(str, dims))} its partners are in other directions",
                "trace the program on more ranks, at least 3 in each direction; they may share cores",
                code="unknown-role",
                ranks=ranks,
                dims=list(dims),
            )
        self.structure, self.ranks = structure, ranks
        templates = {role: _template(structure, role, ranks, dims) for role in set(roles)}
        self._templates = [templates[role] for role in roles]
        communicators = _Communicators(ranks, dims)
        self._calls = [
            _calls_of_rank(structure, template, rank, ranks, dims, communicators)
            for rank, template in enumerate(self._templates)
        ]
        self._communicators = tuple(communicators.members)

    def kinds_by_role(self) -> tuple[list[np.ndarray], list[int]]:
        """The kinds of calls of each role, and the place of each rank's role among these."""
        distinct = list({id(each): each for each in self._templates}.values())
        place = {id(each): k for k, each in enumerate(distinct)}
        return [each.kinds[each.calls] for each in distinct], [place[id(each)] for each in self._templates]

    def build(self, seconds: Seconds) -> TraceGraph:
        """The graph with this computation."""
        traces, ends = [], np.zeros(self.ranks)
        for rank, (template, calls) in enumerate(zip(self._templates, self._calls, strict=True)):
            computed = seconds(rank)
            events = np.zeros(len(template.calls), EVENT)
            events["call"] = template.calls
            events["enter"] = events["leave"] = np.cumsum(computed[:-1])
            ends[rank] = computed.sum()
            traces.append(RankTrace(rank, calls, events, True))
        identity = {number: number for number in range(len(self._communicators))}
        job = Job(
            communicators=self._communicators,
            communicator_by_id=(identity,) * self.ranks,
            start=np.zeros(self.ranks),
            end=ends,
            clock=np.zeros(self.ranks, dtype=np.uint64),
            placement=Placement.from_hosts(np.zeros(self.ranks, dtype=np.int64)),
            describe_place=lambda rank, function, site: self.structure.kinds.kinds[site].site,
        )
        made = build(traces, job)
        kinds = {kind.site: number for number, kind in enumerate(self.structure.kinds.kinds)}
        for each in made.unmatched:
            self.structure.add_misfit(
                kinds[each.place], f"on {self.ranks} ranks {each.kind}s have no partner"
            )
        return replace(made, recorded_times=None)

    def volumes(self) -> dict[str, Volume]:
        """The messages and collectives that start at each call site, over all ranks."""
        found: dict[str, Volume] = {}
        for template in {id(each): each for each in self._templates}.values():
            ranks = sum(each is template for each in self._templates)
            times = np.bincount(template.calls, minlength=len(template.kinds)) * ranks
            lengths = np.diff(template.first)
            kinds = np.repeat(template.kinds, lengths)
            add_volumes(found, self.structure.kinds, kinds, template.parts, np.repeat(times, lengths))
        return found


@dataclass(frozen=True)
class Volume:
    """Messages and collectives, and their bytes."""

    count: int
    size: float


def add_volumes(
    found: dict[str, Volume], kinds: CallKinds, owners: np.ndarray, parts: np.ndarray, times: np.ndarray
) -> None:
    """Adds what starts in parts of calls of these kinds, each of which is made several times."""
    starts = np.isin(parts["what"], (records.SEND, records.COLLECTIVE, records.PUT, *STARTS)) & has_size(
        parts
    )
    owners, times = owners[starts], times[starts]
    size = len(kinds.kinds)
    counts = np.bincount(owners, times, size)
    totals = np.bincount(owners, times * parts["bytes"][starts].astype(float), size)
    for kind in np.flatnonzero(counts).tolist():
        before = found.get(kinds.kinds[kind].site, Volume(0, 0.0))
        found[kinds.kinds[kind].site] = Volume(
            before.count + round(counts[kind]), before.size + float(totals[kind])
        )


def observed_volumes(run: ObservedRun, kinds: CallKinds) -> dict[str, Volume]:
    """The messages and collectives that start at each call site of a traced run."""
    found: dict[str, Volume] = {}
    for sequence in run.sequences:
        owners = np.repeat(sequence.kinds, np.diff(sequence.first))
        add_volumes(found, kinds, owners, sequence.parts, np.ones(len(owners), dtype=np.int64))
    return found
