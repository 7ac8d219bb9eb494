# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The roots of collectives: constant members of a communicator, and owners of iterations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.extrapolation.alternatives import GuardedCount
from hockney.extrapolation.bodies import Path, RoleCalls
from hockney.extrapolation.folding import Loop, Node
from hockney.extrapolation.iteration_counts import LoopCount
from hockney.extrapolation.partners import OWNERS, Owner
from hockney.extrapolation.placements import Role
from hockney.extrapolation.structure import Donor, Structure


@dataclass(frozen=True)
class _Indices:
    """Of each call of a sequence the iteration and the number of iterations of the innermost loop."""

    iteration: np.ndarray
    iterations: np.ndarray


def _innermost(
    nodes: Sequence[Node], calls: int, counts: Mapping[Path, LoopCount | GuardedCount]
) -> _Indices:
    iteration, iterations = np.zeros(calls, dtype=np.int64), np.ones(calls, dtype=np.int64)

    def visit(nodes: Sequence[Node], path: Path, k: int, count: int) -> None:
        for place, node in enumerate(nodes):
            if not isinstance(node, Loop):
                iteration[node], iterations[node] = k, count
                continue
            own = (*path, place)
            length = len(node.iterations)
            for number, each in enumerate(node.iterations):
                loop = counts.get(own)
                inner = loop.inner(number, length) if isinstance(loop, LoopCount) else (number, length)
                visit(each, own, *((k, count) if node.is_choice else inner))

    visit(nodes, (), 0, 1)
    return _Indices(iteration, iterations)


def loop_indices(made: RoleCalls, donor: Donor, counts: Mapping[Path, LoopCount | GuardedCount]) -> _Indices:
    traced = _innermost(donor.folded.nodes, len(donor.run.sequences[donor.rank].kinds), counts)
    changed = made.iteration[:, 0] >= 0
    return _Indices(
        np.where(changed, made.iteration[:, 0], traced.iteration[made.calls]),
        np.where(changed, made.iterations[:, 0], traced.iterations[made.calls]),
    )


ROOT_RULES: tuple[Owner, ...] = (
    lambda k, count, size: size - 1,
    lambda k, count, size: size // 2,
    *(owner for _, owner in OWNERS),
)
"""The place of the root among the members of a communicator."""


def observed_roots(structure: Structure, role: Role, donor: Donor, kind: int) -> np.ndarray:
    """The number, iteration, iterations, members, root's place and communicator's number of each call of this
    kind, for one rank of each run with the role."""
    rows = []
    for each in structure.donors[role]:
        if each.folded.symbols != donor.folded.symbols:
            continue
        sequence = each.run.sequences[each.rank]
        indices = _innermost(each.folded.nodes, len(sequence.kinds), structure.loops[role])
        owner = np.repeat(np.arange(len(sequence.kinds)), np.diff(sequence.first))
        rooted = (sequence.kinds[owner] == kind) & (sequence.parts["root"] >= 0)
        for number, at in enumerate(np.flatnonzero(rooted).tolist()):
            part = sequence.parts[at]
            members = np.sort(each.run.communicators[int(part["communicator"])])
            place = np.flatnonzero(members == part["root"])
            k, count = indices.iteration[owner[at]], indices.iterations[owner[at]]
            lowest = each.run.groups[each.run.origins[int(part["communicator"])]]
            turn = 0 if lowest is None else number_of_group(lowest, int(members[0]))
            rows.append((number, k, count, len(members), int(place[0]) if len(place) else 0, turn))
    return np.array(rows, dtype=np.int64).reshape(-1, 6)


def number_of_group(lowest: np.ndarray, group: int) -> int:
    """The place of a communicator among those that one call made, by their lowest ranks."""
    return int(np.searchsorted(np.unique(lowest[lowest >= 0]), group))


def are_by_number(rows: np.ndarray) -> bool:
    """Whether the root's place is the communicator's number, as on the diagonal of a grid."""
    return bool(rows[:, 5].any() and (rows[:, 4] == rows[:, 5]).all())


def by_turns(rows: np.ndarray) -> np.ndarray:
    """With the roots' places counted from the communicator's number, as in Fox's algorithm."""
    made = rows.copy()
    made[:, 4] = (rows[:, 4] - rows[:, 5]) % np.maximum(rows[:, 3], 1)
    return made


def root_places(
    rows: np.ndarray, number: np.ndarray, k: np.ndarray, count: np.ndarray, size: int
) -> np.ndarray | None:
    """The places of the roots of calls on a communicator of `size` members; None if those of the traced calls
    have no pattern."""
    numbers, iteration, iterations, sizes, places, _ = rows[rows[:, 3] > 1].T
    if not len(places) or (places == places[0]).all():
        return np.full(len(number), min(int(places[0]) if len(places) else 0, size - 1))
    # By the iteration, or by how many calls on the communicator precede this one.
    for rule, (of, own) in itertools.product(ROOT_RULES, ((iteration, k), (numbers, number))):
        if (rule(of, iterations, sizes) == places).all():
            return np.asarray(rule(own, count, np.full(len(number), size)))
    by_number: dict[int, int] = {}
    for each, place in zip(numbers.tolist(), places.tolist(), strict=True):
        if by_number.setdefault(each, place) != place:
            return None
    if size < max(by_number.values()) + 1 or not set(number.tolist()) <= set(by_number):
        return None
    return np.array([by_number[each] for each in number.tolist()])
