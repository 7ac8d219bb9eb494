# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of a program on a number of ranks on which it was not traced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from hockney.core.errors import Inconclusive
from hockney.extrapolation.bodies import BodyRule, Path, RoleCalls, body_rules, expand
from hockney.extrapolation.grids import MAX_DIMENSIONS, Dims
from hockney.extrapolation.iteration_counts import LoopCount
from hockney.extrapolation.laws import SIZE_PATTERNS
from hockney.extrapolation.observations import (
    COLLECTIVE,
    STARTS,
    CallKinds,
    ObservedRun,
    RankSequence,
    are_roots,
    with_partner,
)
from hockney.extrapolation.partners import (
    PERIODIC,
    RELATIONS,
    PartnerRule,
    Ranks,
    labels,
    partner,
)
from hockney.extrapolation.placements import Place, Role
from hockney.extrapolation.regions import Calls
from hockney.extrapolation.roots import (
    are_by_number,
    by_turns,
    loop_indices,
    number_of_group,
    observed_roots,
    root_places,
)
from hockney.extrapolation.structure import (
    Donor,
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

ROW = np.dtype(
    [
        *((name, records.PART[name]) for name in records.PART.names or ()),
        ("call", "i8"),
        ("kind", "i4"),
        ("label", "i8", (MAX_DIMENSIONS,)),
        ("relation", "i2"),
        ("rule", "i2"),
        ("k", "i4"),
        ("count", "i4"),
        ("pattern", "i2"),
        ("size_k", "i4"),
        ("size_count", "i4"),
        ("scale", "f8"),
        ("origin", "i2"),
        ("place", "i4"),
        ("turns", "i1"),
    ]
)
"""A part of a call with what differs between the ranks of a role left open. `call` is the place of its call.
The partner is at `label` of a relation, or follows a rule (the place of either in a list, -1: none) in
iteration `k` of `count`. The size is `bytes`, or `scale` times a pattern (its place, -1: none) in iteration
`size_k` of `size_count`. `origin` is the place of the call that made its communicator, in which the root has
the number `place` (-1: none); with `turns` it is counted from the communicator's number."""


# The calls of a role, with what differs between its ranks left open.


@dataclass(frozen=True)
class _Template:
    """Distinct calls of a role: `kinds`, and `rows` from first[k] to first[k+1]. `rules` and `origins` are
    what the rows name by their place; `calls` has the distinct call of each call of the sequence, and
    `is_later` whether it is in a later iteration than the first one of the innermost loop that depends on the
    number of ranks or on the rank."""

    kinds: np.ndarray
    first: np.ndarray
    rows: np.ndarray
    rules: Sequence[PartnerRule]
    origins: Sequence[str]
    calls: np.ndarray
    is_later: np.ndarray


@dataclass
class _Builder:
    """Makes the calls of the ranks of a role at a place."""

    structure: Structure
    role: Role
    place: Place
    rules: list[PartnerRule] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    advises: bool = True
    """Whether errors name numbers of ranks to trace."""

    @cached_property
    def donor(self) -> Donor:
        return self.structure.donors[self.role][0]

    @cached_property
    def bodies(self) -> dict[tuple[Path, int, int], BodyRule]:
        known = self.structure.known_bodies
        if self.role not in known:
            known[self.role] = body_rules(self.structure, self.role)
        return known[self.role]

    @cached_property
    def periods(self) -> dict[Path, int]:
        """The periods of the labels in the bodies of loops."""
        found: dict[Path, int] = {}
        for (path, _, _), rule in self.bodies.items():
            found[path] = max(found.get(path, 1), rule.period)
        return found

    def counts(self, rank: int) -> tuple[int, ...]:
        """The numbers of iterations of the role's loops; the rank for those that depend on the iteration."""
        return tuple(
            each.at(rank, self.place) if isinstance(each, LoopCount) else rank
            for each in self.structure.loops[self.role].values()
        )

    def make(self, counts: Sequence[int], members: Mapping[str, int]) -> _Template:
        """`members` are the numbers of members of the communicators of such ranks, by origin."""
        structure, donor, loops = self.structure, self.donor, self.structure.loops[self.role]
        self._check_directions()
        own = dict(zip(loops, counts, strict=True))
        made = expand(donor, loops, own, self.place, structure.ruled, self.periods)
        sequence = donor.run.sequences[donor.rank]
        lengths = sequence.first[made.calls + 1] - sequence.first[made.calls]
        parts = sequence.parts[sequence.parts_of(made.calls)]
        rows = np.zeros(len(parts), ROW)
        for name in records.PART.names or ():
            rows[name] = parts[name]
        kinds = sequence.kinds[made.calls]
        rows["call"] = np.repeat(np.arange(len(kinds)), lengths)
        rows["kind"] = kinds[rows["call"]]
        label = part_labels(structure, donor.run.ranks, donor.rank, rows["kind"], parts)
        rows["label"][:, : label.shape[1]] = label
        names, relation = np.unique(structure.relations.astype(str), return_inverse=True)
        assert set(names) <= set(RELATION_NAMES)
        rows["relation"] = np.array([RELATION_NAMES.index(name) for name in names])[relation][rows["kind"]]
        rows["rule"] = rows["pattern"] = -1
        free = np.isin(rows["kind"], list(structure.kinds_with_free_tags)) & (rows["tag"] >= 0)
        rows["tag"][free] = FREE_TAG
        sized = self._apply_rules(made, rows)
        self._check_relations(rows)
        self._scale_sizes(rows, ~sized & has_size(rows))
        if loops:
            rows = _with_all_ends(sequence, made.calls, rows)
        self._set_communicators(rows)
        self._set_roots(rows, made, members)
        return self._distinct(kinds, rows, made.is_later)

    def _check_directions(self) -> None:
        """Raises Inconclusive if the traced rank's partners in a grid with connected ends do not show in
        which direction they are."""
        structure, dims = self.structure, self.place.dims
        if PERIODIC not in structure.arrangement.relations.values():
            return
        own = structure.arrangement.dims[self.donor.run.ranks]
        if any(own[k] < MIN_DIRECTIONS and own[k] != dims[k] for k in range(len(dims))):
            trace = enough_ranks(structure, self.place) if self.advises else []
            raise Inconclusive(
                f"the partners on {self.place.ranks} ranks are not known",
                f"in the traced grid of {' x '.join(map(str, own))}, both neighbors in a dimension are one "
                "rank",
                trace_more(trace),
                code="unknown-direction",
                ranks=self.place.ranks,
                dims=list(dims),
                trace=trace,
            )

    @cached_property
    def sample(self) -> np.ndarray:
        """Some of the ranks with the role; none on a traced number of ranks."""
        own = self.structure.roles(self.place) if self.place.ranks not in self.structure.runs else ()
        members = np.array([rank for rank, role in enumerate(own) if role == self.role], dtype=np.int64)
        return members[np.unique(np.linspace(0, len(members) - 1, SAMPLE).astype(int))] if own else members

    def _check_relations(self, rows: np.ndarray) -> None:
        """Raises Inconclusive if several relations describe the partners in all runs, but not here."""
        structure, donor = self.structure, self.donor
        named = with_partner(rows) & (rows["rule"] < 0)
        dims = structure.arrangement.dims[donor.run.ranks]
        for kind in np.unique(rows["kind"][named]).tolist() if len(self.sample) else ():
            site = structure.kinds.kinds[kind].site
            peers = np.unique(rows["peer"][named & (rows["kind"] == kind)])
            found: set[bytes] = set()
            for relation in (structure.relations[kind], *structure.arrangement.others[site]):
                label = labels(relation, dims, np.full(len(peers), donor.rank), peers)
                if not found or self._agrees(kind, relation, label):
                    partners = [partner(relation, self.place.dims, rank, label) for rank in self.sample]
                    found.add(np.sort(partners, axis=1).tobytes())
            if len(found) > 1:
                trace = deciding_ranks(structure, self.place) if self.advises else []
                raise Inconclusive(
                    f"the partners on {self.place.ranks} ranks are not known",
                    f"{len(found)} patterns give those at {site} in all traced runs, but other ones here",
                    trace_more(trace),
                    code="ambiguous-partners",
                    ranks=self.place.ranks,
                    site=site,
                    trace=trace,
                )

    def _agrees(self, kind: int, relation: str, label: np.ndarray) -> bool:
        """Whether the partners at a label are those of the role's ranks in all runs."""
        structure = self.structure
        for ranks, members in structure.members[self.role].items():
            for rank in members[:: max(1, len(members) // SAMPLE)]:
                sequence = structure.runs[ranks].sequences[rank]
                parts = sequence.parts[np.repeat(sequence.kinds == kind, np.diff(sequence.first))]
                peers = np.unique(parts["peer"][with_partner(parts)])
                own = partner(relation, structure.arrangement.dims[ranks], rank, label)
                if not np.array_equal(np.unique(own), peers):
                    return False
        return True

    def _apply_rules(self, made: RoleCalls, rows: np.ndarray) -> np.ndarray:
        """Sets the partner rules and sizes of parts in loops that depend on the number of ranks or on the
        rank. Returns which parts have their size."""
        structure, place = self.structure, self.place
        sized = np.zeros(len(rows), dtype=bool)
        body = made.body[rows["call"]]
        number = np.arange(len(rows)) - np.searchsorted(rows["call"], rows["call"])
        for (path, child, part), rule in self.bodies.items():
            chosen = np.flatnonzero((body == made.bodies.get((path, child), -2)) & (number == part))
            if not len(chosen):
                continue
            kind = int(rows["kind"][chosen[0]])
            call = rows["call"][chosen]
            if rule.partner is not None:
                if rule.partner not in self.rules:
                    self.rules.append(rule.partner)
                rows["rule"][chosen] = self.rules.index(rule.partner)
                rows["k"][chosen] = made.iteration[call, rule.level]
                rows["count"][chosen] = made.iterations[call, rule.level]
            elif (
                not rule.period
                and ((rows["peer"][chosen] >= 0) & (rows["what"][chosen] != records.END)).any()
            ):
                structure.add_misfit(kind, "the partners in a loop have no pattern")
            sized[chosen] = True
            if (rows["what"][chosen] == records.END).all():
                continue
            if rule.size is None and rule.pattern is SIZE_PATTERNS[0]:
                # One run has the loop: the law of all ranks applies.
                sized[chosen] = False
            elif rule.size is None or rule.pattern is None:
                structure.add_misfit(kind, "the sizes of messages in a loop have no pattern")
            else:
                rows["pattern"][chosen] = SIZE_PATTERNS.index(rule.pattern)
                rows["size_k"][chosen] = made.iteration[call, rule.size_level]
                rows["size_count"][chosen] = made.iterations[call, rule.size_level]
                rows["scale"][chosen] = rule.size.at(place.ranks, place.dims)
        return sized

    def _scale_sizes(self, rows: np.ndarray, chosen: np.ndarray) -> None:
        """Sets the sizes of the chosen parts that the laws give, or the largest within their errors."""
        structure, run = self.structure, self.donor.run
        own_dims = structure.arrangement.dims[run.ranks]
        columns = np.column_stack([rows["kind"], rows["what"], rows["label"]])
        distinct, inverse = distinct_rows(columns[chosen])
        ratio = np.ones(len(distinct))
        for number, (kind, what, *each) in enumerate(distinct.tolist()):
            label = size_label(structure.relations[kind], each[: len(own_dims)])
            law = structure.size_laws.get(SizeKey(kind, what, label))
            if law is None:
                structure.add_misfit(kind, "the sizes of messages have no pattern over the number of ranks")
            elif (before := law.at(run.ranks, own_dims)) > 0:
                ratio[number] = law.at(self.place.ranks, self.place.dims) / before
                if structure.has_largest_sizes:
                    ratio[number] *= 1 + structure.size_error(kind, law, self.place.ranks)
        factor = np.maximum(ratio[inverse], 0.0)
        rows["bytes"][chosen] = np.rint(rows["bytes"][chosen] * factor).astype(np.uint64)

    def _set_communicators(self, rows: np.ndarray) -> None:
        structure = self.structure
        origins = self.donor.run.origins
        for number in np.unique(rows["communicator"]).tolist():
            chosen = rows["communicator"] == number
            origin = origins[number]
            if structure.group_rule(origin) is None:
                collective = np.isin(rows["what"][chosen], COLLECTIVE)
                for kind in np.unique(rows["kind"][chosen][collective]).tolist():
                    structure.add_misfit(kind, "its communicator has no pattern over the number of ranks")
                # The partners of messages are ranks of all, whatever the communicator.
                origin = ""
            if origin not in self.origins:
                self.origins.append(origin)
            rows["origin"][chosen] = self.origins.index(origin)

    def _set_roots(self, rows: np.ndarray, made: RoleCalls, members: Mapping[str, int]) -> None:
        """Sets the numbers of the roots among the members of their communicators."""
        structure, donor = self.structure, self.donor
        rows["place"] = -1
        rooted = rows["root"] >= 0
        if not rooted.any():
            return
        indices = loop_indices(made, donor, structure.loops[self.role])
        pairs = {*zip(rows["kind"][rooted].tolist(), rows["origin"][rooted].tolist(), strict=True)}
        for kind, origin in pairs:
            chosen = np.flatnonzero(rooted & (rows["kind"] == kind) & (rows["origin"] == origin))
            observed = observed_roots(structure, self.role, donor, kind)
            call = rows["call"][chosen]
            k, count = indices.iteration[call], indices.iterations[call]
            size = members[self.origins[origin]]
            places = None
            if not are_by_number(observed):
                places = root_places(observed, np.arange(len(chosen)), k, count, size)
            if places is None:
                places = root_places(by_turns(observed), np.arange(len(chosen)), k, count, size)
                rows["turns"][chosen] = 1
            if places is None:
                structure.add_misfit(kind, "the roots of its collectives have no pattern")
                places = np.zeros(len(chosen), dtype=np.int64)
            rows["place"][chosen] = places

    def _distinct(self, kinds: np.ndarray, rows: np.ndarray, is_later: np.ndarray) -> _Template:
        keys = rows.copy()
        keys["call"] = keys["peer"] = keys["communicator"] = keys["root"] = 0
        content = np.ascontiguousarray(keys).view(f"V{ROW.itemsize}")
        lengths = np.bincount(rows["call"], minlength=len(kinds))
        bounds = np.concatenate([[0], np.cumsum(lengths)]).tolist()
        numbers: dict[bytes, int] = {}
        calls = np.empty(len(kinds), dtype=np.int64)
        chosen: list[int] = []
        for k, kind in enumerate(kinds.tolist()):
            key = content[bounds[k] : bounds[k + 1]].tobytes() or bytes(str(kind), "ascii")
            number = numbers.setdefault(key, len(numbers))
            if number == len(chosen):
                chosen.append(k)
            calls[k] = number
        picked = np.array(chosen, dtype=np.int64)
        at = concatenated_ranges(np.array(bounds)[picked], lengths[picked])
        first = np.concatenate([[0], np.cumsum(lengths[picked])])
        return _Template(kinds[picked], first, rows[at], self.rules, self.origins, calls, is_later)


RELATION_NAMES = ("", *RELATIONS)
FREE_TAG = 0
MIN_DIRECTIONS = 3
"""With fewer ranks in a dimension with connected ends, both neighbors are the same rank."""
MAX_REMEDY = 4096
SAMPLE = 8
"""Ranks with a role whose partners are compared."""


def enough_ranks(structure: Structure, place: Place) -> list[int]:
    """Which numbers of ranks to trace: the two smallest ones whose grids have all roles, and neighbors in all
    directions."""
    needed = set(structure.roles(place))
    is_periodic = PERIODIC in structure.arrangement.relations.values()
    enough: list[int] = []
    for ranks in range(2, min(place.ranks, MAX_REMEDY)):
        dims = structure.arrangement.of(ranks)
        directions = all(
            own >= MIN_DIRECTIONS or own == asked for own, asked in zip(dims, place.dims, strict=True)
        )
        if (directions or not is_periodic) and needed <= set(structure.roles(Place(ranks, dims))):
            enough.append(ranks)
        if len(enough) == 2:
            break
    return enough


def deciding_ranks(structure: Structure, place: Place) -> list[int]:
    """The two smallest numbers of ranks, of the form of the traced ones, on which patterns of partners that
    give those of all runs differ."""
    traced = np.array(list(structure.runs))
    forms: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
        lambda ranks: ranks & (ranks - 1) == 0,
        lambda ranks: np.sqrt(ranks) % 1 == 0,
        lambda ranks: ranks % 2 == 0,
        lambda ranks: ranks > 0,
    )
    form = next(each for each in forms if each(traced).all())
    possible = np.arange(2, min(place.ranks, MAX_REMEDY))
    deciding: list[int] = []
    for ranks in possible[form(possible) & ~np.isin(possible, traced)].tolist():
        own = Place(ranks, structure.arrangement.of(ranks))
        try:
            for role in {*structure.roles(own)} & {*structure.donors}:
                builder = _Builder(replace(structure, misfits=[]), role, own, advises=False)
                members = {origin: ranks for run in structure.runs.values() for origin in run.origins}
                builder.make(builder.counts(int(builder.sample[0])), members)
        except Inconclusive as error:
            if error.code == "ambiguous-partners":
                deciding.append(ranks)
        if len(deciding) == 2:
            break
    return deciding


def trace_more(ranks: Sequence[int]) -> str:
    """The remedy for predictions that need traces on one of these numbers of ranks."""
    number = f"{' or '.join(map(str, ranks))} ranks as well" if ranks else "more ranks"
    return f"trace the program on {number}; they may share cores"


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


def _with_all_ends(sequence: RankSequence, calls: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows in which calls that completed all pending requests do so with the requests there are now."""
    original_all = _completes_all(sequence)
    kept: list[int] = []
    ages: list[int] = []
    requests = _Requests()
    what, flags, age = (rows[name].tolist() for name in ("what", "flags", "age"))
    bounds = np.searchsorted(rows["call"], np.arange(len(calls) + 1)).tolist()
    for k, call in enumerate(calls.tolist()):
        span = range(bounds[k], bounds[k + 1])
        ends = [at for at in span if what[at] == records.END]
        if len(ends) > 1 and original_all[call] is not None:
            order = requests.pending if original_all[call] > 0 else requests.pending[::-1]
            for number, request in enumerate(order):
                kept.append(ends[min(number, len(ends) - 1)])
                ages.append(requests.started - request)
            requests.pending = []
            continue
        for at in span:
            kept.append(at)
            ages.append(age[at])
            requests.make(what[at], flags[at], age[at])
    made = rows[kept]
    made["age"] = ages
    return made


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


# The calls of ranks


Seconds = Callable[[int], np.ndarray]
"""Seconds of computation of a rank before each call, and after the last one."""


class Synthesis:
    """The program on `ranks` ranks in a grid of `dims`, on nodes (by rank; all on one if empty). Raises
    Inconclusive if no traced rank stands for some rank."""

    def __init__(self, structure: Structure, ranks: int, dims: Dims, nodes: Sequence[int] = ()) -> None:
        self.structure, self.ranks = structure, ranks
        self.place = Place(ranks, dims, tuple(nodes))
        roles = structure.roles(self.place)
        missing = sorted(set(roles) - set(structure.donors))
        if missing:
            trace = enough_ranks(structure, self.place)
            raise Inconclusive(
                f"no traced rank is like rank {roles.index(missing[0])} of {ranks}",
                f"in a grid of {' x '.join(map(str, dims))} its partners are in other directions",
                trace_more(trace),
                code="unknown-role",
                ranks=ranks,
                dims=list(dims),
                trace=trace,
            )
        traced_nodes = max(len(set(run.nodes)) for run in structure.runs.values())
        if structure.asks_for_nodes and traced_nodes == 1 and len(set(self.place.nodes)) > 1:
            raise Inconclusive(
                f"the communicators on {ranks} ranks are not known",
                "the program asks which ranks share a node, and all traced ranks do",
                "trace the program on two or more nodes, such as hosts of an emulated network",
                code="traced-on-one-node",
                ranks=ranks,
            )
        self._groups: dict[str, np.ndarray] = {"": np.zeros(ranks, dtype=np.int64)}
        self._sizes: dict[str, np.ndarray] = {"": np.full(ranks, ranks)}
        for origin in {origin for run in structure.runs.values() for origin in run.origins}:
            rule = structure.group_rule(origin)
            if rule is not None:
                self._groups[origin] = lowest = rule.groups(self.place)
                sizes = np.bincount(lowest[lowest >= 0], minlength=ranks)
                self._sizes[origin] = np.where(lowest >= 0, sizes[lowest], 0)
        self._templates = self._make_templates(roles)
        self._communicators: list[np.ndarray] = []
        self._numbers: dict[tuple[str, int], int] = {}
        self.parts = [self._parts_of_rank(rank) for rank in range(ranks)]

    def _make_templates(self, roles: Sequence[Role]) -> list[_Template]:
        """That of each rank: the same one for ranks with equal roles, loops and sizes of communicators."""
        builders = {role: _Builder(self.structure, role, self.place) for role in set(roles)}
        made: dict[tuple[object, ...], _Template] = {}
        found = []
        names = sorted(self._sizes)
        sizes = np.stack([self._sizes[name] for name in names], axis=1).tolist()
        for rank, role in enumerate(roles):
            counts = builders[role].counts(rank)
            key = (role, counts, *sizes[rank])
            if key not in made:
                made[key] = builders[role].make(counts, dict(zip(names, sizes[rank], strict=True)))
            found.append(made[key])
        return found

    def _parts_of_rank(self, rank: int) -> np.ndarray:
        """The rows of the rank's distinct calls with their partners, communicators and roots."""
        template, place = self._templates[rank], self.place
        rows = template.rows.copy()
        named = (rows["peer"] >= 0) & (rows["rule"] < 0) & (rows["relation"] > 0)
        for relation in np.unique(rows["relation"][named]).tolist():
            chosen = np.flatnonzero(named & (rows["relation"] == relation))
            label = rows["label"][chosen, : len(place.dims)]
            rows["peer"][chosen] = partner(RELATION_NAMES[relation], place.dims, rank, label)
        for number, rule in enumerate(template.rules):
            chosen = np.flatnonzero(rows["rule"] == number)
            if len(chosen):
                size = len(chosen)
                of = Ranks.of(np.full(size, rank), np.full(size, place.ranks), {place.ranks: place.dims})
                rows["peer"][chosen] = rule.at(of, rows["k"][chosen].astype(int), rows["count"][chosen])
        for number in np.unique(rows["pattern"]).tolist():
            chosen = np.flatnonzero(rows["pattern"] == number)
            if number >= 0:
                of_rank = np.full(len(chosen), rank), np.full(len(chosen), place.ranks)
                indices = (rows[name][chosen].astype(int) for name in ("size_k", "size_count"))
                size = rows["scale"][chosen] * SIZE_PATTERNS[number].at(*of_rank, *indices)
                rows["bytes"][chosen] = np.rint(np.maximum(size, 0)).astype(np.uint64)
        for number, origin in enumerate(template.origins):
            chosen = np.flatnonzero(rows["origin"] == number)
            if not len(chosen):
                continue
            lowest = int(self._groups[origin][rank])
            if lowest < 0:
                for kind in np.unique(rows["kind"][chosen]).tolist():
                    self.structure.add_misfit(kind, f"rank {rank} of {place.ranks} has no such communicator")
                lowest, origin = 0, ""
            own = self._numbers.setdefault((origin, lowest), len(self._numbers))
            if own == len(self._communicators):
                self._communicators.append(np.flatnonzero(self._groups[origin] == lowest))
            rows["communicator"][chosen] = own
            members = self._communicators[own]
            root = rows["place"][chosen]
            if rows["turns"][chosen].any():
                turn = number_of_group(self._groups[origin], lowest)
                root = np.where(rows["turns"][chosen] > 0, root + turn, root)
            rows["root"][chosen] = np.where(root < 0, rows["root"][chosen], members[root % len(members)])
        return rows

    def _calls(self, rank: int) -> tuple[Call, ...]:
        template = self._templates[rank]
        parts = np.empty(len(template.rows), records.PART)
        for name in records.PART.names or ():
            parts[name] = self.parts[rank][name]
        kinds = self.structure.kinds.kinds
        bounds = template.first.tolist()
        return tuple(
            Call(kinds[kind].function, kind, kinds[kind].misses, parts[bounds[k] : bounds[k + 1]])
            for k, kind in enumerate(template.kinds.tolist())
        )

    def calls_of_rank(self, rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The kinds of the rank's distinct calls, their first parts, their parts, and the distinct call of
        each call."""
        template = self._templates[rank]
        return template.kinds, template.first, self.parts[rank], template.calls

    def calls_by_role(self) -> tuple[list[Calls], list[int]]:
        """The distinct calls of ranks, and those of each rank among them. Roots differ from others."""
        calls: list[Calls] = []
        places: dict[tuple[int, bytes], int] = {}
        found = []
        for rank, (template, parts) in enumerate(zip(self._templates, self.parts, strict=True)):
            is_root = are_roots(rank, template.first, parts)
            key = id(template), is_root.tobytes()
            if key not in places:
                places[key] = len(calls)
                own = template.calls
                calls.append(Calls(template.kinds[own], is_root[own], template.is_later))
            found.append(places[key])
        return calls, found

    def build(self, seconds: Seconds) -> TraceGraph:
        """The graph with this computation."""
        traces, ends = [], np.zeros(self.ranks)
        for rank, template in enumerate(self._templates):
            computed = seconds(rank)
            events = np.zeros(len(template.calls), EVENT)
            events["call"] = template.calls
            events["enter"] = events["leave"] = np.cumsum(computed[:-1])
            ends[rank] = computed.sum()
            traces.append(RankTrace(rank, self._calls(rank), events, True))
        identity = {number: number for number in range(len(self._communicators))}
        job = Job(
            communicators=tuple(self._communicators),
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
        ranks_of: dict[int, list[int]] = defaultdict(list)
        for rank, template in enumerate(self._templates):
            ranks_of[id(template)].append(rank)
        for ranks in ranks_of.values():
            template = self._templates[ranks[0]]
            lengths = np.diff(template.first)
            kinds = np.repeat(template.kinds, lengths)
            times = np.repeat(np.bincount(template.calls, minlength=len(template.kinds)), lengths)
            # With a pattern, sizes differ between the ranks.
            alike = 1 if (template.rows["pattern"] >= 0).any() else len(ranks)
            for rank in ranks[::alike]:
                add_volumes(found, self.structure.kinds, kinds, self.parts[rank], times * alike)
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
