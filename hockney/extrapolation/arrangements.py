# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How a program arranges its ranks in a grid: so that few labels describe the partners of all call sites."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hockney.extrapolation.grids import MAX_DIMENSIONS, Dims, balanced, coordinates, factorizations
from hockney.extrapolation.partners import ABSOLUTE, OPEN, PERIODIC, RELATIONS, UNRELATED, labels


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


@dataclass(frozen=True)
class _Labels:
    """Distinct labels, and `signed` those in which half of a dimension is as far in either direction."""

    distinct: frozenset[tuple[int, ...]]
    signed: frozenset[tuple[int, ...]]
    is_uniform: bool


@dataclass(frozen=True, eq=False)
class Partners:
    """Who communicates with whom at a call site: distinct pairs of ranks in the run on `ranks` ranks."""

    ranks: int
    source: np.ndarray
    target: np.ndarray
    _labels: dict[tuple[str, Dims], _Labels | None] = field(default_factory=dict)

    def labels(self, relation: str, dims: Dims) -> _Labels | None:
        """Those in a relation; None if they are not in it."""
        key = relation, dims if RELATIONS[relation].needs_grid else (self.ranks,)
        if key not in self._labels:
            self._labels[key] = self._find_labels(*key)
        return self._labels[key]

    def _find_labels(self, relation: str, dims: Dims) -> _Labels | None:
        found = labels(relation, dims, self.source, self.target)
        if (found == UNRELATED).any():
            return None
        distinct = frozenset(map(tuple, found.tolist()))
        if relation != PERIODIC or self._is_uniform(found):
            return _Labels(distinct, distinct, True)
        signed = (each for row in distinct for each in itertools.product(*map(_signs, row, dims)))
        return _Labels(distinct, frozenset(signed), False)

    def _is_uniform(self, label: np.ndarray) -> bool:
        """Whether all ranks have partners at the same labels."""
        order = np.lexsort((*label.T, self.source))
        counts = np.bincount(self.source, minlength=self.ranks)
        if np.ptp(counts):
            return False
        by_rank = label[order].reshape(self.ranks, int(counts[0]), -1)
        return bool((by_rank == by_rank[0]).all())


def _signs(offset: int, size: int) -> tuple[int, ...]:
    return (offset, -offset) if offset and 2 * abs(offset) == size else (offset,)


def count_labels(relation: str, arranged: Mapping[int, Dims], observed: Sequence[Partners]) -> int:
    """How many different labels describe the partners of all runs: few if the relation is the program's."""
    found = []
    for each in observed:
        own = each.labels(relation, arranged[each.ranks])
        if own is None:
            return UNEXPLAINED
        found.append(own)
    uniform = all(each.is_uniform for each in found)
    return len({label for each in found for label in (each.distinct if uniform else each.signed)})


UNEXPLAINED = 1 << 30


@dataclass(frozen=True)
class Arrangement:
    """How a program arranges its ranks: the dimensions by number of ranks in the runs, the rule, if there is
    one, and the relation of each call site. `others` describe its partners with one label as
    well."""

    dims: Mapping[int, Dims]
    rule: Rule | None
    relations: Mapping[str, str]
    others: Mapping[str, tuple[str, ...]]

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
                total, relations, others = _described(own, each, groups)  # noqa: B023
                return (
                    total,
                    count_unlike(Arrangement(each, None, relations, others)),
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
            total, relations, others = _described(observed, dims, groups)
            yield total, Arrangement(dims, next(rules(dims), None), relations, others)


def _rule_arrangements(
    counts: Sequence[int], dimensions: int, fixed: Sequence[Mapping[int, int]]
) -> Iterator[dict[int, Dims]]:
    """The arrangements with these fixed sizes that exist on all numbers of ranks."""
    for sizes, largest_first in itertools.product(fixed, (False, True)):
        arrange = _rule_with_fixed_sizes(sizes, dimensions, largest_first)
        arranged = {ranks: dims for ranks in counts if (dims := arrange(ranks)) is not None}
        if len(arranged) == len(counts):
            yield arranged


def _described(
    observed: Mapping[str, Sequence[Partners]],
    arranged: Mapping[int, Dims],
    groups: Mapping[int, Sequence[np.ndarray]],
) -> tuple[int, dict[str, str], dict[str, tuple[str, ...]]]:
    """The cost of an arrangement, the first relation of each call site that describes its partners with the
    fewest labels, and the others."""
    total = sum(
        spread(members, ranks, dims) is None for ranks, dims in arranged.items() for members in groups[ranks]
    )
    first, others = {}, {}
    for site, partners in observed.items():
        counts = {relation: count_labels(relation, arranged, partners) for relation in RELATIONS}
        fewest = min(counts.values())
        first[site], *more = (relation for relation, count in counts.items() if count == fewest)
        # Neighbors and a fixed rank are more likely than any other relation with as few labels.
        is_usual = first[site] in (ABSOLUTE, OPEN, PERIODIC)
        others[site] = tuple(more) if fewest == 1 and not is_usual else ()
        total += fewest
    return total, first, others
