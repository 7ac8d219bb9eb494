# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where ranks are on a number of ranks, and the sets of ranks that programs single out by that: roles, whose
ranks make the same calls, and communicators."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hockney.extrapolation.grids import Dims, coordinates
from hockney.extrapolation.trees import ROOTS, TREES, Root, children, power_below

Role = tuple[int, ...]
"""Numbers that ranks have in common if they make the same calls."""


@dataclass(frozen=True)
class Place:
    """Where `ranks` ranks are: in a grid of `dims`, and on nodes (by rank; one node if empty)."""

    ranks: int
    dims: Dims
    nodes: tuple[int, ...] = ()

    @cached_property
    def rank(self) -> np.ndarray:
        return np.arange(self.ranks)

    @cached_property
    def position(self) -> np.ndarray:
        """The coordinates of all ranks."""
        return coordinates(self.dims, self.rank)

    @cached_property
    def node(self) -> np.ndarray:
        return np.array(self.nodes) if self.nodes else np.zeros(self.ranks, dtype=np.int64)

    @cached_property
    def number_on_node(self) -> np.ndarray:
        """How many lower ranks are on the node of each rank."""
        order = np.argsort(self.node, kind="stable")
        sizes = np.unique(self.node, return_counts=True)[1]
        number = np.empty(self.ranks, dtype=np.int64)
        number[order] = np.arange(self.ranks) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return number


# Roles

Feature = Callable[[Place], np.ndarray]


def _border(place: Place) -> np.ndarray:
    return (place.position == 0).astype(int) + 2 * (place.position == np.array(place.dims) - 1)


def _tree_feature(tree: str, root: Root) -> Feature:
    def feature(place: Place) -> np.ndarray:
        relative = root.number(place.rank, np.array(place.ranks))
        return (relative > 0) + 2 * (children(tree, relative, np.array(place.ranks)) > 0)

    return feature


def _folded_feature(pairs: bool) -> Feature:
    def feature(place: Place) -> np.ndarray:
        power = int(power_below(np.array(place.ranks)))
        rest = place.ranks - power
        if pairs:
            return np.where(place.rank < 2 * rest, place.rank % 2, 2)
        return (place.rank < rest) + 2 * (place.rank >= power)

    return feature


def _diagonal(place: Place) -> np.ndarray:
    """Whether all coordinates are equal, in a grid."""
    return np.ptp(place.position, axis=1) == 0 if len(place.dims) > 1 else np.zeros(place.ranks)


FEATURES: dict[str, Feature] = {
    "border": _border,
    "parity of the grid": lambda place: place.position.sum(axis=1) % 2,
    "diagonal": _diagonal,
    "first": lambda place: place.rank == 0,
    "last": lambda place: place.rank == place.ranks - 1,
    "second": lambda place: place.rank == 1,
    "parity": lambda place: place.rank % 2,
    "half": lambda place: place.rank < place.ranks // 2,
    "quarter": lambda place: place.rank < place.ranks // 4,
    "node": lambda place: place.number_on_node == 0,
    **{f"tree by {tree} bit from {root.text}": _tree_feature(tree, root) for tree in TREES for root in ROOTS},
    "ranks beyond a power of two": _folded_feature(False),
    "pairs beyond a power of two": _folded_feature(True),
}
"""What ranks may have in common."""

COMBINATIONS: tuple[tuple[str, ...], ...] = (
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
    ("diagonal",),
    ("border", "diagonal"),
)
RARE_COMBINATIONS: tuple[tuple[str, ...], ...] = (
    *((name,) for name in FEATURES if " from " in name),
    ("ranks beyond a power of two",),
    ("pairs beyond a power of two",),
    ("half",),
    ("quarter",),
    ("last",),
    ("half", "parity"),
    ("parity", "first", "last"),
    ("second", "first"),
    ("border", "first", "last"),
)
"""Which are considered only if no usual combination explains all calls."""


NODE_COMBINATIONS: tuple[tuple[str, ...], ...] = ((), ("node",), ("node", "first"), ("node", "border"))
"""Which come first if the program asks which ranks share a node."""


def roles(place: Place, features: Sequence[str]) -> list[Role]:
    """The role of each rank."""
    if not features:
        return [()] * place.ranks
    columns = [FEATURES[feature](place).astype(int).reshape(place.ranks, -1) for feature in features]
    return [tuple(row) for row in np.concatenate(columns, axis=1).tolist()]


# Communicators


@dataclass(frozen=True)
class GroupRule:
    """The communicators that one call makes: ranks with the same number are in one, those with -1 in none."""

    text: str
    numbers: Callable[[Place], np.ndarray]

    def groups(self, place: Place) -> np.ndarray:
        """The lowest rank in the communicator of each rank; -1 without one."""
        return lowest_members(self.numbers(place))


def lowest_members(numbers: np.ndarray) -> np.ndarray:
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    return np.where(numbers >= 0, first[inverse.reshape(-1)], -1)


def _in_grid(free: tuple[int, ...]) -> Callable[[Place], np.ndarray]:
    def numbers(place: Place) -> np.ndarray:
        fixed = [k for k in range(len(place.dims)) if k not in free]
        strides = np.cumprod((1, *place.dims))
        return np.asarray(place.position[:, fixed] @ strides[fixed])

    return numbers


Chosen = Callable[[Place], np.ndarray]


def _only(chosen: Chosen) -> Chosen:
    return lambda place: np.where(chosen(place), 0, -1)


def _but(chosen: Chosen) -> Chosen:
    return lambda place: np.where(chosen(place), -1, 0)


def _both(chosen: Chosen) -> Chosen:
    return lambda place: np.where(chosen(place), 0, 1)


def _leads(place: Place) -> np.ndarray:
    return place.number_on_node == 0


def _by_blocks(count: int) -> Iterator[GroupRule]:
    yield GroupRule(f"blocks of {count}", lambda place: place.rank // count)
    yield GroupRule(f"ranks modulo {count}", lambda place: place.rank % count)
    yield GroupRule(f"every {count}th rank", _only(lambda place: place.rank % count == 0))
    yield GroupRule(f"{count} blocks", lambda place: place.rank * count // place.ranks)


NODES = "a node"


def group_rules(dimensions: int, on_nodes: bool, nodes_only: bool) -> Iterator[GroupRule]:
    """The usual ones first. `on_nodes`: the program asks which ranks share a node, with `nodes_only` by the
    call that made these communicators."""
    if nodes_only:
        yield GroupRule(NODES, lambda place: place.node)
        return
    yield GroupRule("all ranks", _in_grid(tuple(range(dimensions))))
    for count in range(dimensions - 1, -1, -1):
        for free in itertools.combinations(range(dimensions), count):
            yield GroupRule(f"dimensions {free} of the grid", _in_grid(free))
    if on_nodes:
        yield GroupRule(NODES, lambda place: place.node)
        yield GroupRule("the first ranks of nodes", _only(_leads))
        yield GroupRule("other ranks of nodes", _but(_leads))
        yield GroupRule("first and other ranks of nodes", _both(_leads))
        yield GroupRule("ranks with one number on their node", lambda place: place.number_on_node)
    singled: tuple[tuple[str, Chosen], ...] = (
        ("the first rank", lambda place: place.rank == 0),
        ("the last rank", lambda place: place.rank == place.ranks - 1),
        ("even ranks", lambda place: place.rank % 2 == 0),
        ("the lower half", lambda place: place.rank < place.ranks // 2),
        ("the lower half, rounded up", lambda place: place.rank < (place.ranks + 1) // 2),
        ("a power of two", lambda place: place.rank < power_below(np.array(place.ranks))),
        ("the first two ranks", lambda place: place.rank < 2),
        ("the first quarter", lambda place: place.rank < place.ranks // 4),
    )
    for text, chosen in singled:
        yield GroupRule(f"all but {text}", _but(chosen))
        yield GroupRule(f"only {text}", _only(chosen))
        yield GroupRule(f"{text}, and the others", _both(chosen))
    for count in range(2, MAX_BLOCK + 1):
        yield from _by_blocks(count)


MAX_BLOCK = 8


def derived_rules(groups: GroupRule) -> Iterator[GroupRule]:
    """Communicators of ranks in the same position in those of another rule."""

    def leads(place: Place) -> np.ndarray:
        return groups.groups(place) == place.rank

    def position(place: Place) -> np.ndarray:
        lowest = groups.groups(place)
        order = np.argsort(lowest, kind="stable")
        first = np.searchsorted(lowest[order], lowest)
        number = np.empty(place.ranks, dtype=np.int64)
        number[order] = np.arange(place.ranks)
        return np.where(lowest >= 0, number - first, -1)

    yield GroupRule(f"the first ranks of {groups.text}", _only(leads))
    yield GroupRule(f"all but the first ranks of {groups.text}", _but(leads))
    yield GroupRule(f"ranks with one number in {groups.text}", position)
