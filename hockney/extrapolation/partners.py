# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where a rank's partner is: steps in lines of ranks.

A step gives the partner's number in a line from a rank's number, the size of the line and an index. At a call
site in a relation, the index is the partner's label, which is observed. In a loop it follows the iteration.
A new pattern of partners is one entry in LINES, STEPS, OWNERS, INDICES or RELATIONS."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from hockney.extrapolation.grids import MAX_DIMENSIONS, Dims
from hockney.extrapolation.trees import ROOTS, TREES, Root, bit_length, parent, power_below
from hockney.profiles import trace as records


@dataclass(frozen=True)
class Ranks:
    """Ranks on numbers of ranks, in grids of `dims` (n, dimensions): one row each."""

    rank: np.ndarray
    ranks: np.ndarray
    dims: np.ndarray

    @classmethod
    def of(cls, rank: np.ndarray, ranks: np.ndarray, dims: Mapping[int, Dims]) -> Ranks:
        """With the grids by number of ranks."""
        numbers, which = np.unique(ranks, return_inverse=True)
        rows = np.array([dims[each] for each in numbers.tolist()])
        return cls(np.asarray(rank), np.asarray(ranks), rows[which.reshape(-1)].reshape(len(rank), -1))

    @classmethod
    def in_grid(cls, rank: np.ndarray, dims: Dims) -> Ranks:
        """All in one grid."""
        return cls(rank, np.full(len(rank), math.prod(dims)), np.tile(dims, (len(rank), 1)))

    def __getitem__(self, chosen: np.ndarray) -> Ranks:
        return Ranks(self.rank[chosen], self.ranks[chosen], self.dims[chosen])


# Lines


@dataclass(frozen=True)
class Line:
    """A line in which ranks have numbers, from 0 to size - 1, and the rank with a number in it."""

    number: np.ndarray
    size: np.ndarray
    rank_at: Callable[[np.ndarray], np.ndarray]


Lines = Callable[[Ranks], Line]


def all_ranks(of: Ranks) -> Line:
    return Line(of.rank, of.ranks, lambda number: number)


def from_root(root: Root) -> Lines:
    def line(of: Ranks) -> Line:
        number = root.number(of.rank, of.ranks)
        return Line(number, of.ranks, lambda number: root.rank_at(number, of.ranks))

    return line


def _nowhere(of: Ranks) -> Line:
    return Line(of.rank, of.ranks, lambda number: np.full(len(number), -1))


def along(dimension: int) -> Lines:
    def line(of: Ranks) -> Line:
        if dimension >= of.dims.shape[1]:
            return _nowhere(of)
        stride = np.prod(of.dims[:, :dimension], axis=1, dtype=np.int64)
        size = of.dims[:, dimension]
        number = of.rank // stride % size
        return Line(number, size, lambda other: of.rank + (other - number) * stride)

    return line


def _in_half(other: bool, opposed: bool = False) -> Lines:
    """`opposed`: the upper half is numbered in the opposite direction, so that both shift towards each
    other."""

    def line(of: Ranks) -> Line:
        half = np.maximum(of.ranks // 2, 1)
        upper = of.rank >= half

        def turned(number: np.ndarray) -> np.ndarray:
            return np.where(upper & opposed, -number, number) % half

        return Line(turned(of.rank), half, lambda number: turned(number) + half * (upper ^ other))

    return line


def _in_quarter(of: Ranks) -> Line:
    size = np.maximum(of.ranks // 4, 1)
    return Line(of.rank % size, size, lambda number: of.rank // size * size + number)


def _in_power_of_two(of: Ranks) -> Line:
    return Line(of.rank, power_below(of.ranks), lambda number: number)


def _in_pairs(of: Ranks) -> Line:
    power = power_below(of.ranks)
    rest = of.ranks - power
    number = np.where(of.rank < 2 * rest, of.rank // 2, of.rank - rest)
    return Line(number, power, lambda other: np.where(other < rest, 2 * other + 1, other + rest))


def _transposed(block: int) -> Lines:
    """In a grid of two dimensions, with coordinates in another order; of blocks of ranks in a square."""

    def line(of: Ranks) -> Line:
        if of.dims.shape[1] != 2:
            return _nowhere(of)
        x, y = of.dims.T
        is_square = x == y if block > 1 else np.ones(len(x), dtype=bool)
        exists = is_square | (x == block * y)
        own = np.where(is_square, 1, block)
        width = np.maximum(x // own, 1)

        def rank_at(number: np.ndarray) -> np.ndarray:
            row, column = number // own // width, number // own % width
            return np.where(exists, own * (column * y + row) + number % own, -1)

        return Line(of.rank, of.ranks, rank_at)

    return line


def _lines(dimensions: int) -> Iterator[tuple[str, Lines]]:
    yield "", all_ranks
    if dimensions > 1:
        for dimension in range(dimensions):
            yield f" along {'xyz'[dimension]}", along(dimension)
    for root in ROOTS[1:]:
        yield f" from rank {root.text}", from_root(root)
    yield " in the same half", _in_half(False)
    yield " in the same quarter", _in_quarter
    yield " in the other half", _in_half(True)
    yield " in the other half, opposed", _in_half(True, opposed=True)
    yield " in the largest power of two", _in_power_of_two
    yield " in pairs up to a power of two", _in_pairs


# Steps

Numbers = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Step:
    """`to` gives the partner's number from a rank's one, the size of the line and an index. With
    `is_shift`, the partner may be beyond the ends of the line, which are connected or not. `index_of` gives
    the index from a rank's number, the size and the partner's number."""

    text: str
    to: Numbers
    is_shift: bool = False
    index_of: Numbers | None = None


def _bit(index: np.ndarray) -> np.ndarray:
    return np.asarray(np.left_shift(1, np.clip(index, 0, 40)))


def _tournament(number: np.ndarray, size: np.ndarray, index: np.ndarray) -> np.ndarray:
    """By the method of the circle: the last one stays, the others move on, and meet where they add up."""
    last = np.maximum(size - 1, 1)
    other = (index - number) % last
    # The last one's opponent is the number that would meet itself: half of the index, modulo an odd number.
    opponent = index * ((last + 1) // 2) % last
    return np.where(number == last, opponent, np.where(other == number, last, other))


def _reversed(step: Numbers) -> Numbers:
    """With the first in place of the last."""
    return lambda number, size, index: size - 1 - step(size - 1 - number, size, index)


def _folded(number: np.ndarray, size: np.ndarray, index: np.ndarray) -> np.ndarray:
    power = power_below(size)
    return np.where(number < power, number + power, number - power)


def _parent_in(tree: str) -> Numbers:
    return lambda number, size, index: parent(tree, number)


BY_INDEX = Step("{}", lambda number, size, index: index, index_of=lambda number, size, other: other)
WITHOUT_ITSELF = Step("{}, without r", lambda number, size, index: index + (index >= number))
SHIFT = Step(
    "r + {}",
    lambda number, size, index: number + index,
    is_shift=True,
    index_of=lambda number, size, other: other - number,
)
EXCLUSIVE_OR = Step(
    "r xor ({})",
    lambda number, size, index: number ^ index,
    index_of=lambda number, size, other: number ^ other,
)
ITSELF = Step("r", lambda number, size, index: number)
MIRRORED = Step("P - 1 - r", lambda number, size, index: size - 1 - number)
OPPOSED = Step("r + P / 2", lambda number, size, index: (number + size // 2) % size)
FOLDED = Step("r +- power of two", _folded)
STEPS: tuple[Step, ...] = (
    Step("r xor 2^({})", lambda number, size, index: number ^ _bit(index)),
    Step("r + 2^({})", lambda number, size, index: number + _bit(index), is_shift=True),
    Step("r - 2^({})", lambda number, size, index: number - _bit(index), is_shift=True),
    Step("r + 2^(bits of r + {})", lambda number, size, index: number + _bit(bit_length(number) + index)),
    BY_INDEX,
    WITHOUT_ITSELF,
    SHIFT,
    Step("r - ({})", lambda number, size, index: number - index, is_shift=True),
    EXCLUSIVE_OR,
    Step("{} - r", lambda number, size, index: index - number, is_shift=True),
    Step("{} - r - 1", lambda number, size, index: index - number - 1, is_shift=True),
    Step("tournament {}", _tournament),
    Step("reversed tournament {}", _reversed(_tournament)),
    Step("r + (-1)^(r + {})", lambda number, size, k: number + 1 - 2 * ((number + k) % 2), is_shift=True),
)


@dataclass(frozen=True)
class Relation:
    """Of the partners at a call site: one step in a line of all ranks, or in each dimension of their grid.
    `has_ends`: nobody is beyond the ends of a line. Without `needs_grid`, it is the same in any grid."""

    step: Step
    lines: Lines | None = all_ranks
    has_ends: bool = False
    needs_grid: bool = False

    def lines_in(self, dimensions: int) -> list[Lines]:
        return [self.lines] if self.lines is not None else [along(k) for k in range(dimensions)]


ABSOLUTE, OPEN, PERIODIC = "rank", "grid", "torus"
RELATIONS: dict[str, Relation] = {
    ABSOLUTE: Relation(BY_INDEX),
    OPEN: Relation(SHIFT, None, has_ends=True, needs_grid=True),
    PERIODIC: Relation(SHIFT, None, needs_grid=True),
    "xor": Relation(EXCLUSIVE_OR),
    "xor in the grid": Relation(EXCLUSIVE_OR, None, needs_grid=True),
    "mirror": Relation(MIRRORED),
    "opposite": Relation(OPPOSED),
    **{
        f"{text} along {'xyz'[k]}": Relation(step, along(k), needs_grid=True)
        for text, step in (("mirror", MIRRORED), ("opposite", OPPOSED))
        for k in range(MAX_DIMENSIONS)
    },
    "transposed": Relation(ITSELF, _transposed(1), needs_grid=True),
    "transposed pairs": Relation(ITSELF, _transposed(2), needs_grid=True),
    "folded": Relation(FOLDED),
    **{
        f"parent by {tree} bit from {root.text}": Relation(Step("parent", _parent_in(tree)), from_root(root))
        for tree in TREES
        for root in ROOTS
    },
}
"""The ones that come first are preferred."""
UNRELATED = -1000000


def labels(relation: str, dims: Dims, ranks: np.ndarray, partners: np.ndarray) -> np.ndarray:
    """Where the partners of ranks are, as rows of integers (n, dimensions); UNRELATED if they are not in the
    relation. In a dimension with connected ends and an even size, the offset of half of it is positive."""
    rule = RELATIONS[relation]
    of, others = Ranks.in_grid(ranks, dims), Ranks.in_grid(partners, dims)
    made = np.zeros((len(ranks), len(dims)), dtype=np.int64)
    for axis, lines in enumerate(rule.lines_in(len(dims))):
        line = lines(of)
        if rule.step.index_of is None:
            only = line.rank_at(rule.step.to(line.number, line.size, made[:, 0]))
            made[partners != only] = UNRELATED
            continue
        index = rule.step.index_of(line.number, line.size, lines(others).number)
        if rule.step.is_shift and not rule.has_ends:
            index = index % line.size
            index = np.where(2 * index > line.size, index - line.size, index)
        made[:, axis] = index
    return made


def partner(relation: str, dims: Dims, rank: int, label: np.ndarray) -> np.ndarray:
    """The partners at labels (n, dimensions) of one rank; -1 where there is none."""
    rule = RELATIONS[relation]
    found = np.full(len(label), rank)
    exists = np.ones(len(label), dtype=bool)
    for axis, lines in enumerate(rule.lines_in(len(dims))):
        line = lines(Ranks.in_grid(found, dims))
        number = rule.step.to(line.number, line.size, label[:, axis])
        if rule.step.is_shift and not rule.has_ends:
            number = number % line.size
        exists &= (number >= 0) & (number < line.size)
        found = np.where(exists, line.rank_at(np.where(exists, number, 0)), rank)
        exists &= found >= 0
    return np.where(exists, found, -1)


# Indices

Owner = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Which of `size` members has iteration k of `count`, from k, count and size."""


def owner_of_uneven_block(k: np.ndarray, count: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Each has as many as the others, or the first ones have one more."""
    least, more = count // size, count % size
    return np.where(k < more * (least + 1), k // (least + 1), (k - more) // np.maximum(least, 1))


OWNERS: tuple[tuple[str, Owner], ...] = (
    ("k mod P", lambda k, count, size: k % size),
    ("(P - 1 - k) mod P", lambda k, count, size: (size - 1 - k) % size),
    ("(K - 1 - k) mod P", lambda k, count, size: (count - 1 - k) % size),
    ("floor(k P / K)", lambda k, count, size: k * size // np.maximum(count, 1)),
    ("(k + 1) mod P", lambda k, count, size: (k + 1) % size),
    ("owner of k", owner_of_uneven_block),
    ("floor(k / ceil(K / P))", lambda k, count, size: k // np.maximum(-(-count // size), 1)),
    (
        "floor(k / floor(K / P))",
        lambda k, count, size: np.minimum(k // np.maximum(count // size, 1), size - 1),
    ),
    ("owner of K - 1 - k", lambda k, count, size: owner_of_uneven_block(count - 1 - k, count, size)),
)
"""With blocks of iterations, the first members have one more if the division has a remainder, all but the
last one have equally many, or the last one has what remains."""
Index = Callable[[Ranks, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""A number from the ranks, the size of their line, an iteration and the number of iterations."""


def _triangular(of: Ranks, size: np.ndarray, k: np.ndarray, count: np.ndarray) -> np.ndarray:
    """In stage s = 0, 1, ... of a bitonic sort the bits s, s - 1, ..., 0."""
    stage = ((np.sqrt(8 * np.maximum(k, 0) + 1) - 1) // 2).astype(np.int64)
    return np.asarray(stage * (stage + 3) // 2 - k)


INDICES: tuple[tuple[str, Index], ...] = (
    ("k", lambda of, size, k, count: k),
    ("K - 1 - k", lambda of, size, k, count: count - 1 - k),
    ("k + 1", lambda of, size, k, count: k + 1),
    ("K - k", lambda of, size, k, count: count - k),
    ("bit k of a bitonic sort", _triangular),
)


def _indices(dimensions: int) -> Iterator[tuple[str, Index]]:
    yield from INDICES
    for dimension in range(dimensions if dimensions > 1 else 0):
        yield "xyz"[dimension], partial(_at_coordinate, dimension)


def _at_coordinate(
    dimension: int, of: Ranks, size: np.ndarray, k: np.ndarray, count: np.ndarray
) -> np.ndarray:
    return along(dimension)(of).number


def _owned(owner: Owner, of: Ranks, size: np.ndarray, k: np.ndarray, count: np.ndarray) -> np.ndarray:
    return owner(k, count, size)


def _owners() -> Iterator[tuple[str, Index]]:
    for text, owner in OWNERS:
        yield text, partial(_owned, owner)


# Partners in loops


@dataclass(frozen=True)
class PartnerRule:
    """The partner of rank r of P in iteration k of K, from 0 on. `has_ends`: beyond the ends of the line is
    MPI_PROC_NULL."""

    text: str
    lines: Lines
    step: Step
    index: Index
    has_ends: bool = False

    def at(self, of: Ranks, k: np.ndarray, count: np.ndarray) -> np.ndarray:
        line = self.lines(of)
        return _partner_in(line, self.step, self.index(of, line.size, k, count), self.has_ends)


def _partner_in(line: Line, step: Step, index: np.ndarray, has_ends: bool) -> np.ndarray:
    number = step.to(line.number, line.size, index)
    if not has_ends:
        return np.asarray(line.rank_at(number % line.size if step.is_shift else number))
    inside = (number >= 0) & (number < line.size)
    return np.where(inside, line.rank_at(np.where(inside, number, 0)), records.NO_PROCESS)


ALL_OTHERS = PartnerRule("k, without r", all_ranks, WITHOUT_ITSELF, INDICES[0][1])
FEW = 48
"""Rows that most wrong rules do not explain."""


def partner_rules(of: Ranks, k: np.ndarray, count: np.ndarray, partner: np.ndarray) -> Iterator[PartnerRule]:
    """The rules that give all observed partners."""
    few = np.unique(np.linspace(0, len(k) - 1, FEW).astype(np.int64))
    sample, sampled = of[few], partner[few]
    has_ends = bool((partner == records.NO_PROCESS).any())
    dimensions = of.dims.shape[1]
    indices, owners = list(_indices(dimensions)), list(_owners())
    with np.errstate(all="ignore"):
        for place, lines in _lines(dimensions):
            line = lines(sample)
            found = [each(sample, line.size, k[few], count[few]) for _, each in (*indices, *owners)]
            pairs = list(zip((*indices, *owners), found, strict=True))
            for step, ((text, index), values) in (
                *itertools.product(STEPS, pairs[: len(indices)]),
                *itertools.product((BY_INDEX,), pairs[len(indices) :]),
            ):
                if (_partner_in(line, step, values, has_ends) == sampled).all():
                    rule = PartnerRule(step.text.format(text) + place, lines, step, index, has_ends)
                    if (rule.at(of, k, count) == partner).all():
                        yield rule
