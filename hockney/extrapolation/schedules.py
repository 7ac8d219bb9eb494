# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Partners, numbers of iterations and sizes in loops, as functions of a rank's place and of the iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from hockney.extrapolation.grids import Dims
from hockney.extrapolation.trees import ROOTS, TREES, Root, bit_length, children, power_below
from hockney.profiles import trace as records

# Partners


@dataclass(frozen=True)
class Ranks:
    """Ranks on numbers of ranks, in grids of `dims` (n, dimensions): one row each."""

    rank: np.ndarray
    ranks: np.ndarray
    dims: np.ndarray

    @classmethod
    def of(cls, rank: np.ndarray, ranks: np.ndarray, dims: Mapping[int, Dims]) -> Ranks:
        """With the grids by number of ranks."""
        rows = np.array([dims[each] for each in np.asarray(ranks).tolist()])
        return cls(np.asarray(rank), np.asarray(ranks), rows.reshape(len(rank), -1))

    def __getitem__(self, chosen: np.ndarray) -> Ranks:
        return Ranks(self.rank[chosen], self.ranks[chosen], self.dims[chosen])


@dataclass(frozen=True)
class Line:
    """A line in which ranks have numbers, from 0 to size - 1, and the rank with a number in it."""

    number: np.ndarray
    size: np.ndarray
    rank_at: Callable[[np.ndarray], np.ndarray]


Lines = Callable[[Ranks], Line]


def _all_ranks(of: Ranks) -> Line:
    return Line(of.rank, of.ranks, lambda number: number)


def _from_root(root: Root) -> Lines:
    def line(of: Ranks) -> Line:
        number = root.number(of.rank, of.ranks)
        return Line(number, of.ranks, lambda number: root.rank_at(number, of.ranks))

    return line


def _along(dimension: int) -> Lines:
    def line(of: Ranks) -> Line:
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


def _lines(dimensions: int) -> Iterator[tuple[str, Lines]]:
    yield "", _all_ranks
    if dimensions > 1:
        for dimension in range(dimensions):
            yield f" along {'xyz'[dimension]}", _along(dimension)
    for root in ROOTS[1:]:
        yield f" from rank {root.text}", _from_root(root)
    yield " in the same half", _in_half(False)
    yield " in the same quarter", _in_quarter
    yield " in the other half", _in_half(True)
    yield " in the other half, opposed", _in_half(True, opposed=True)
    yield " in the largest power of two", _in_power_of_two
    yield " in pairs up to a power of two", _in_pairs


Step = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""The partner's number from a rank's one, the size of the line and an index."""


def _bit(index: np.ndarray) -> np.ndarray:
    return np.asarray(np.left_shift(1, np.clip(index, 0, 40)))


def _tournament(number: np.ndarray, size: np.ndarray, index: np.ndarray) -> np.ndarray:
    """By the method of the circle: the last one stays, the others move on, and meet where they add up."""
    last = np.maximum(size - 1, 1)
    other = (index - number) % last
    # The last one's opponent is the number that would meet itself: half of the index, modulo an odd number.
    opponent = index * ((last + 1) // 2) % last
    return np.where(number == last, opponent, np.where(other == number, last, other))


def _reversed(step: Step) -> Step:
    """With the first in place of the last."""
    return lambda number, size, index: size - 1 - step(size - 1 - number, size, index)


def _alternating(number: np.ndarray, size: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The two neighbors in a line by turns, as in odd-even transposition sort."""
    return number + 1 - 2 * ((number + index) % 2)


_STEPS: tuple[tuple[str, Step], ...] = (
    ("r xor 2^({})", lambda number, size, index: number ^ _bit(index)),
    ("r + 2^({}) mod P", lambda number, size, index: (number + _bit(index)) % size),
    ("r - 2^({}) mod P", lambda number, size, index: (number - _bit(index)) % size),
    ("r + 2^(bits of r + {})", lambda number, size, index: number + _bit(bit_length(number) + index)),
    ("{}", lambda number, size, index: index),
    ("{}, without r", lambda number, size, index: index + (index >= number)),
    ("r + {} mod P", lambda number, size, index: (number + index) % size),
    ("r - ({}) mod P", lambda number, size, index: (number - index) % size),
    ("r xor ({})", lambda number, size, index: number ^ index),
    ("{} - r mod P", lambda number, size, index: (index - number) % size),
    ("{} - r - 1 mod P", lambda number, size, index: (index - number - 1) % size),
    ("tournament {}", _tournament),
    ("reversed tournament {}", _reversed(_tournament)),
    ("r + (-1)^(r + {}) mod P", lambda number, size, index: _alternating(number, size, index) % size),
)
_STEPS_WITH_ENDS: tuple[tuple[str, Step], ...] = (
    ("r + (-1)^(r + {})", _alternating),
    ("r + 2^({})", lambda number, size, index: number + _bit(index)),
    ("r - 2^({})", lambda number, size, index: number - _bit(index)),
    ("r + {}", lambda number, size, index: number + index),
    ("r - ({})", lambda number, size, index: number - index),
    ("r xor 2^({})", lambda number, size, index: number ^ _bit(index)),
)
"""Those with MPI_PROC_NULL beyond the ends of the line."""
Index = Callable[[Ranks, np.ndarray, np.ndarray], np.ndarray]
"""A number from the ranks, an iteration and the number of iterations."""


def _triangular(of: Ranks, k: np.ndarray, count: np.ndarray) -> np.ndarray:
    """In stage s = 0, 1, ... of a bitonic sort the bits s, s - 1, ..., 0."""
    stage = ((np.sqrt(8 * np.maximum(k, 0) + 1) - 1) // 2).astype(np.int64)
    return np.asarray(stage * (stage + 3) // 2 - k)


_INDICES: tuple[tuple[str, Index], ...] = (
    ("k", lambda of, k, count: k),
    ("K - 1 - k", lambda of, k, count: count - 1 - k),
    ("k + 1", lambda of, k, count: k + 1),
    ("K - k", lambda of, k, count: count - k),
    ("bit k of a bitonic sort", _triangular),
)


def _indices(dimensions: int) -> Iterator[tuple[str, Index]]:
    yield from _INDICES
    if dimensions > 1:
        for dimension in range(dimensions):
            yield "xyz"[dimension], partial(_at_coordinate, dimension)


def _at_coordinate(dimension: int, of: Ranks, k: np.ndarray, count: np.ndarray) -> np.ndarray:
    return _along(dimension)(of).number


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
        number = self.step(line.number, line.size, self.index(of, k, count))
        if not self.has_ends:
            return np.asarray(line.rank_at(number))
        inside = (number >= 0) & (number < line.size)
        return np.where(inside, line.rank_at(np.where(inside, number, 0)), records.NO_PROCESS)


ALL_OTHERS = PartnerRule("k, without r", _all_ranks, _STEPS[5][1], _INDICES[0][1])


FEW = 48
"""Rows that most wrong rules do not explain."""


def partner_rule(of: Ranks, k: np.ndarray, count: np.ndarray, partner: np.ndarray) -> PartnerRule | None:
    """The rule that gives all observed partners."""
    few = np.unique(np.linspace(0, len(k) - 1, FEW).astype(np.int64))
    sample = of[few], k[few], count[few]
    has_ends = bool((partner == records.NO_PROCESS).any())
    dimensions = of.dims.shape[1]
    with np.errstate(all="ignore"):
        indices = [(text, index, index(*sample)) for text, index in _indices(dimensions)]
        for place, lines in _lines(dimensions):
            line = lines(sample[0])
            for form, step in _STEPS_WITH_ENDS if has_ends else _STEPS:
                for text, index, values in indices:
                    number = step(line.number, line.size, values)
                    if not has_ends and (line.rank_at(number) != partner[few]).any():
                        continue
                    rule = PartnerRule(form.format(text) + place, lines, step, index, has_ends)
                    if (rule.at(of, k, count) == partner).all():
                        return rule
    return None


def owner_of_uneven_block(k: np.ndarray, count: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Who has iteration k, if each of `size` has as many as the others, or the first ones have one more."""
    least, more = count // size, count % size
    return np.where(k < more * (least + 1), k // (least + 1), (k - more) // np.maximum(least, 1))


# Numbers of iterations


@dataclass(frozen=True)
class CountRule:
    """A number of iterations as a function of a rank's place: `factor` x `base` + `offset`."""

    text: str
    base: Callable[[Ranks], np.ndarray]
    factor: int = 1
    offset: int = 0

    def at(self, of: Ranks) -> np.ndarray:
        return np.asarray(self.factor * self.base(of) + self.offset)


def _size_counts(place: str, lines: Lines) -> Iterator[CountRule]:
    """Of all ranks of a line alike."""
    size = f"size{place}" if place else "P"
    yield CountRule(f"floor(log2({size}))", lambda of: bit_length(lines(of).size) - 1)
    yield CountRule(f"1 + 2 + ... + floor(log2({size}))", lambda of: _sum_to(bit_length(lines(of).size) - 1))
    for divisor in (2, 3, 4):
        yield CountRule(f"floor({size} / {divisor})", partial(_divided, lines, divisor))
        yield CountRule(f"ceil({size} / {divisor})", partial(_divided, lines, divisor, up=True))


def _sum_to(numbers: np.ndarray) -> np.ndarray:
    return numbers * (numbers + 1) // 2


def _divided(lines: Lines, divisor: int, of: Ranks, *, up: bool = False) -> np.ndarray:
    return (lines(of).size + (divisor - 1 if up else 0)) // divisor


def _rank_counts(place: str, lines: Lines) -> Iterator[CountRule]:
    """Of ranks that have different numbers of iterations."""
    for tree in TREES:
        yield CountRule(f"children by {tree} bit{place}", partial(_children, tree, lines))
    yield CountRule(f"r{place}", lambda of: lines(of).number)
    yield CountRule(f"P - 1 - r{place}", lambda of: lines(of).size - 1 - lines(of).number)
    yield CountRule(f"bits of r{place}", lambda of: bit_length(lines(of).number))


def _children(tree: str, lines: Lines, of: Ranks) -> np.ndarray:
    return children(tree, lines(of).number, lines(of).size)


def count_rules(of: Ranks, values: np.ndarray, *, by_rank: bool) -> Iterator[CountRule]:
    """The rules that give all observed numbers of iterations, which differ between ranks of a run with
    `by_rank`."""
    dimensions = of.dims.shape[1]
    places: list[tuple[str, Lines]] = [("", _all_ranks)]
    if dimensions > 1:
        places += [(f" along {'xyz'[k]}", _along(k)) for k in range(dimensions)]
    if by_rank:
        places += [(f" from rank {root.text}", _from_root(root)) for root in ROOTS[1:]]
    for place, lines in places:
        for rule in _rank_counts(place, lines) if by_rank else _size_counts(place, lines):
            base = rule.base(of)
            for offset in (0, -1, 1):
                scaled = values - offset
                largest = int(np.argmax(base))
                if base[largest] <= 0 or scaled[largest] % base[largest] or np.ptp(base) == 0:
                    continue
                factor = int(scaled[largest] // base[largest])
                if factor > 0 and (factor * base == scaled).all():
                    text = (f"{factor} * " if factor > 1 else "") + rule.text
                    text += f" {'+' if offset > 0 else '-'} 1" if offset else ""
                    yield CountRule(text, rule.base, factor, offset)
