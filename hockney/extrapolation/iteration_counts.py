# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of iterations in loops, as functions of a rank's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from hockney.extrapolation.grids import Dims
from hockney.extrapolation.laws import Law, count_laws
from hockney.extrapolation.partners import Lines, Ranks, all_ranks, along, from_root
from hockney.extrapolation.placements import Place
from hockney.extrapolation.trees import ROOTS, TREES, bit_length, children


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
    places: list[tuple[str, Lines]] = [("", all_ranks)]
    if dimensions > 1:
        places += [(f" along {'xyz'[k]}", along(k)) for k in range(dimensions)]
    if by_rank:
        places += [(f" from rank {root.text}", from_root(root)) for root in ROOTS[1:]]
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


@dataclass(frozen=True)
class LoopCount:
    """The number of iterations of a loop that depends on the number of ranks, or on the rank (a rule). Nested
    loops with nothing else in the outer one's body are one loop here, which repeats the inner one a fixed
    number of times. `others` are further laws that give the same numbers in all runs."""

    law: Law | CountRule
    others: tuple[Law | CountRule, ...] = ()

    def at(self, rank: int, place: Place) -> int:
        return count_at(self.law, rank, place)

    def changed(self, text: str, other: str) -> LoopCount:
        """With the other law, if this one has this text."""
        laws = [law for law in self.others if law.text == other] if self.law.text == text else []
        return LoopCount(laws[0]) if laws else self

    @property
    def is_exact(self) -> bool:
        return isinstance(self.law, CountRule) or self.law.error == 0.0

    @property
    def repeats(self) -> int:
        factor = round(self.law.factor)
        is_whole = self.law.offset == 0 and factor > 1 and abs(self.law.factor - factor) < 1e-6
        return factor if is_whole else 1

    def inner(self, k: int, iterations: int) -> tuple[int, int]:
        """The iteration and the number of iterations of the inner loop."""
        count = iterations // self.repeats
        return (k % count, count) if count and iterations % self.repeats == 0 else (k, iterations)


def count_at(law: Law | CountRule, rank: int, place: Place) -> int:
    if isinstance(law, Law):
        return max(0, round(law.at(place.ranks, place.dims)))
    of = Ranks.of(np.array([rank]), np.array([place.ranks]), {place.ranks: place.dims})
    return max(0, int(law.at(of)[0]))


def exact_count_laws(counts: Mapping[int, int], dims: Mapping[int, Dims]) -> list[Law | CountRule]:
    """The laws that give numbers of iterations, by number of ranks, exactly, the most likely one first."""
    exact: list[Law | CountRule] = [*count_laws(counts, dims)]
    if len(counts) > 2:
        ranks = np.array(list(counts))
        of = Ranks.of(np.zeros(len(ranks), dtype=np.int64), ranks, dims)
        exact += count_rules(of, np.array(list(counts.values())), by_rank=False)
    # Of equally simple ones, whole coefficients come first.
    exact.sort(key=lambda law: (law.offset != 0, law.factor != round(law.factor)))
    return exact
