# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Grids of ranks: how a program arranges a number of ranks, and where a rank's partners are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hockney.extrapolation.trees import ROOTS, TREES, parent, power_below

MAX_DIMENSIONS = 3
Dims = tuple[int, ...]


def coordinates(dims: Dims, ranks: np.ndarray) -> np.ndarray:
    """The coordinates of ranks, (n, dimensions). The first dimension varies fastest."""
    found, left = [], np.asarray(ranks)
    for size in dims:
        found.append(left % size)
        left = left // size
    return np.stack(found, axis=-1)


def rank_at(dims: Dims, position: np.ndarray) -> np.ndarray:
    """The rank at coordinates (n, dimensions)."""
    strides = np.cumprod((1, *dims[:-1]))
    return np.asarray(position @ strides)


@lru_cache
def factorizations(ranks: int, dimensions: int) -> tuple[Dims, ...]:
    """All ordered ways to write a number of ranks as a product."""
    if dimensions == 1:
        return ((ranks,),)
    return tuple(
        (size, *rest)
        for size in range(1, ranks + 1)
        if ranks % size == 0
        for rest in factorizations(ranks // size, dimensions - 1)
    )


@lru_cache
def balanced(ranks: int, dimensions: int) -> Dims:
    """Sizes as equal as possible, the largest first, as MPI_Dims_create makes them."""
    ordered = (dims for dims in factorizations(ranks, dimensions) if list(dims) == sorted(dims, reverse=True))
    return min(ordered, key=lambda dims: (dims[0] - dims[-1], dims))


@dataclass(frozen=True)
class Rule:
    """How a program arranges any number of ranks; None for numbers that it cannot arrange."""

    text: str
    arrange: Callable[[int], Dims | None]


def _rule_with_fixed_sizes(
    sizes: Mapping[int, int], dimensions: int, largest_first: bool
) -> Callable[[int], Dims | None]:
    """Some dimensions (by number) of fixed sizes, the others as equal as possible."""

    def arrange(ranks: int) -> Dims | None:
        fixed = math.prod(sizes.values())
        if ranks % fixed:
            return None
        others = list(balanced(ranks // fixed, dimensions - len(sizes)))
        if not largest_first:
            others.reverse()
        return tuple(sizes[k] if k in sizes else others.pop(0) for k in range(dimensions))

    return arrange


def rules(arranged: Mapping[int, Dims]) -> Iterator[Rule]:
    """The rules that give these arrangements, by number of ranks; the usual ones first."""
    dimensions = len(next(iter(arranged.values())))
    if dimensions == 1:
        yield Rule("a line", lambda ranks: (ranks,))
        return
    shape = f"a grid of {dimensions} dimensions"
    candidates = [
        Rule(f"{shape}, as equal as possible", _rule_with_fixed_sizes({}, dimensions, largest_first))
        for largest_first in (False, True)
    ]
    constant = {
        k: sizes.pop()
        for k in range(dimensions)
        if len(sizes := {dims[k] for dims in arranged.values()}) == 1
    }
    for count in range(1, min(len(constant), dimensions - 1) + 1):
        for chosen in itertools.combinations(constant, count):
            fixed = {k: constant[k] for k in chosen}
            text = " x ".join(str(fixed.get(k, "n")) for k in range(dimensions))
            candidates += [
                Rule(f"{shape}, {text}", _rule_with_fixed_sizes(fixed, dimensions, largest_first))
                for largest_first in (False, True)
            ]
    for rule in candidates:
        if all(rule.arrange(ranks) == dims for ranks, dims in arranged.items()):
            yield rule


# Where a partner is, relative to a rank.

ABSOLUTE, OPEN, PERIODIC, XOR, MIRROR, OPPOSITE = "rank", "grid", "torus", "xor", "mirror", "opposite"
TRANSPOSED, TRANSPOSED_PAIRS = "transposed", "transposed pairs"
FOLDED = "folded"
PARENTS = {f"parent by {tree} bit from {root.text}": (tree, root) for tree in TREES for root in ROOTS}
ONE_PARTNER = (MIRROR, OPPOSITE, TRANSPOSED, TRANSPOSED_PAIRS, FOLDED, *PARENTS)
RELATIONS = (ABSOLUTE, OPEN, PERIODIC, XOR, *ONE_PARTNER)
"""The partner is one rank for all; it is at an offset in a grid without or with connected ends; its number
differs in some bits; it is as far from the last rank as this one is from the first; it is half of all ranks
away; it has the coordinates of this one in another order (grids of two dimensions); the same for pairs of
ranks that are a square, if the grid is twice as long as high; it is the largest power of two away; it is the
parent in a binomial tree."""


def labels(relation: str, dims: Dims, ranks: np.ndarray, partners: np.ndarray) -> np.ndarray:
    """Where the partners of ranks are, as rows of integers (n, dimensions); -1000000 if they are not in the
    relation. In a dimension with connected ends and an even size, the offset of half of it is positive."""
    made = np.zeros((len(ranks), max(len(dims), 1)), dtype=np.int64)
    if relation == ABSOLUTE:
        made[:, 0] = partners
    elif relation in (OPEN, PERIODIC):
        made = coordinates(dims, partners) - coordinates(dims, ranks)
        if relation == PERIODIC:
            sizes = np.array(dims)
            made = made % sizes
            made = np.where(2 * made > sizes, made - sizes, made)
    elif relation == XOR:
        made[:, 0] = ranks ^ partners
    elif relation in ONE_PARTNER:
        made[partners != _one_partner(relation, dims, ranks)] = UNRELATED
    return made


UNRELATED = -1000000


def _one_partner(relation: str, dims: Dims, ranks: np.ndarray) -> np.ndarray:
    """The only partner of each rank; -1 if the relation does not exist in the grid."""
    count = math.prod(dims)
    if relation == MIRROR:
        return count - 1 - ranks
    if relation == OPPOSITE:
        return (ranks + count // 2) % count
    if relation == FOLDED:
        power = int(power_below(np.array(count)))
        return np.where(ranks < power, ranks + power, ranks - power)
    if relation in PARENTS:
        tree, root = PARENTS[relation]
        other = parent(tree, root.number(ranks, np.array(count)))
        return np.where(other >= 0, root.rank_at(other, np.array(count)), -1)
    if len(dims) != 2:
        return np.full(len(ranks), -1)
    if relation == TRANSPOSED_PAIRS and dims[0] != dims[1]:
        if dims[0] != 2 * dims[1]:
            return np.full(len(ranks), -1)
        square = (dims[1], dims[1])
        return 2 * rank_at(square, coordinates(square, ranks // 2)[:, ::-1]) + ranks % 2
    position = coordinates(dims, ranks)
    return rank_at(dims[::-1], position[:, ::-1])


def partner(relation: str, dims: Dims, rank: int, label: np.ndarray) -> np.ndarray:
    """The partners at labels (n, dimensions) of one rank; -1 where there is none."""
    ranks = math.prod(dims)
    if relation == ABSOLUTE:
        found = label[:, 0]
    elif relation == XOR:
        found = rank ^ label[:, 0]
    elif relation in ONE_PARTNER:
        found = np.repeat(_one_partner(relation, dims, np.array([rank])), len(label))
    else:
        position = coordinates(dims, np.array([rank])) + label
        sizes = np.array(dims)
        if relation == PERIODIC:
            return rank_at(dims, position % sizes)
        inside = ((position >= 0) & (position < sizes)).all(axis=1)
        return np.where(inside, rank_at(dims, position), -1)
    return np.where((found >= 0) & (found < ranks), found, -1)


@dataclass(frozen=True)
class Partners:
    """Who communicates with whom at a call site: distinct pairs of ranks in the run on `ranks` ranks."""

    ranks: int
    source: np.ndarray
    target: np.ndarray


def count_labels(relation: str, arranged: Mapping[int, Dims], observed: Sequence[Partners]) -> int:
    """How many different labels describe the partners of all runs: few if the relation is the program's."""
    if relation in (TRANSPOSED, TRANSPOSED_PAIRS) and any(
        len(arranged[each.ranks]) != 2 for each in observed
    ):
        return UNEXPLAINED
    found = [labels(relation, arranged[each.ranks], each.source, each.target) for each in observed]
    if any((each == UNRELATED).any() for each in found):
        return UNEXPLAINED
    distinct = {tuple(row) for each in found for row in np.unique(each, axis=0).tolist()}
    if relation != PERIODIC or all(map(_is_uniform, observed, found)):
        return len(distinct)
    return len(
        {
            signed
            for each, rows in zip(observed, found, strict=True)
            for row in np.unique(rows, axis=0).tolist()
            for signed in itertools.product(*map(_signs, row, arranged[each.ranks]))
        }
    )


def _is_uniform(observed: Partners, label: np.ndarray) -> bool:
    """Whether all ranks have partners at the same labels."""
    order = np.lexsort((*label.T, observed.source))
    counts = np.bincount(observed.source, minlength=observed.ranks)
    if np.ptp(counts):
        return False
    by_rank = label[order].reshape(observed.ranks, int(counts[0]), -1)
    return bool((by_rank == by_rank[0]).all())


def _signs(offset: int, size: int) -> tuple[int, ...]:
    """Half of a dimension with connected ends is as far in either direction."""
    return (offset, -offset) if offset and 2 * abs(offset) == size else (offset,)


UNEXPLAINED = 1 << 30


@dataclass(frozen=True)
class Arrangement:
    """How a program arranges its ranks: the dimensions by number of ranks in the runs, the rule, if there is
    one, and the relation of each call site."""

    dims: Mapping[int, Dims]
    rule: Rule | None
    relations: Mapping[str, str]

    def of(self, ranks: int) -> Dims:
        """As the rule arranges them, or else as equal as possible."""
        if ranks in self.dims:
            return self.dims[ranks]
        found = self.rule.arrange(ranks) if self.rule is not None else None
        if found is not None:
            return found
        largest = self.dims[max(self.dims)]
        equal = balanced(ranks, len(largest))
        return equal if largest[0] >= largest[-1] else equal[::-1]

    def is_assumed(self, ranks: int) -> bool:
        """Whether no rule gives the arrangement on this number of ranks."""
        known = ranks in self.dims or (self.rule is not None and self.rule.arrange(ranks) is not None)
        return not known and len(set(self.of(ranks))) > 1


def spread(members: np.ndarray, ranks: int, dims: Dims) -> tuple[int, ...] | None:
    """The dimensions of the grid along which the members of a group of ranks are spread; None if they are no
    part of the grid."""
    if len(members) == ranks:
        return tuple(range(len(dims)))
    position = coordinates(dims, np.sort(members))
    free = tuple(k for k in range(len(dims)) if np.ptp(position[:, k]) > 0)
    return free if math.prod(dims[k] for k in free) == len(members) else None


def arrangements(
    observed: Mapping[str, Sequence[Partners]],
    groups: Mapping[int, Sequence[np.ndarray]],
    count_unlike: Callable[[Arrangement], int],
) -> Iterator[tuple[int, Arrangement]]:
    """Possible arrangements, and their cost: how many labels describe the partners of all call sites in all
    runs, and how many groups of ranks (by number of ranks) are no part of the grid. `count_unlike` gives the
    number of ranks that do not behave like others at the same border."""
    counts = list(groups)
    for dimensions in range(1, MAX_DIMENSIONS + 1):
        arranged: dict[int, Dims] = {}
        for ranks in sorted(counts, reverse=True):
            known = {*arranged, ranks}
            own = {
                site: [each for each in partners if each.ranks in known]
                for site, partners in observed.items()
            }

            def cost(dims: Dims) -> tuple[int, int, bool, int]:
                each = {**arranged, ranks: dims}  # noqa: B023
                relations = _relations(each, own)  # noqa: B023
                return (
                    _total(own, each, groups),  # noqa: B023
                    count_unlike(Arrangement(each, None, relations)),
                    PERIODIC in relations.values(),
                    dims[0] - dims[-1],
                )

            arranged[ranks] = min(factorizations(ranks, dimensions), key=cost)
        fixed = [{k: size} for k, size in enumerate(arranged[max(counts)])] if dimensions > 1 else []
        for dims in [
            *_rule_arrangements(counts, dimensions, [{}]),
            arranged,
            *_rule_arrangements(counts, dimensions, fixed),
        ]:
            yield (
                _total(observed, dims, groups),
                Arrangement(dims, next(rules(dims), None), _relations(dims, observed)),
            )


def _rule_arrangements(
    counts: Sequence[int], dimensions: int, fixed: Sequence[Mapping[int, int]]
) -> Iterator[dict[int, Dims]]:
    """The arrangements with these fixed sizes that exist on all numbers of ranks."""
    for sizes, largest_first in itertools.product(fixed, (False, True)):
        arrange = _rule_with_fixed_sizes(sizes, dimensions, largest_first)
        arranged = {ranks: dims for ranks in counts if (dims := arrange(ranks)) is not None}
        if len(arranged) == len(counts):
            yield arranged


def _relations(arranged: Mapping[int, Dims], observed: Mapping[str, Sequence[Partners]]) -> dict[str, str]:
    """The relation of each call site that describes its partners with the fewest labels."""
    return {
        site: min(RELATIONS, key=lambda relation: count_labels(relation, arranged, partners))
        for site, partners in observed.items()
    }


def _total(
    observed: Mapping[str, Sequence[Partners]],
    arranged: Mapping[int, Dims],
    groups: Mapping[int, Sequence[np.ndarray]],
) -> int:
    others = sum(
        spread(members, ranks, dims) is None for ranks, dims in arranged.items() for members in groups[ranks]
    )
    return others + sum(
        min(count_labels(relation, arranged, partners) for relation in RELATIONS)
        for partners in observed.values()
        if partners
    )
