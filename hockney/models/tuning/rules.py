# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which algorithm of a collective to use, by number of ranks and size: one other than MPI's own choice only
where it is faster beyond doubt.

An algorithm qualifies at a measured point if the whole 95% interval of its time relative to MPI's lies below
1 - `effect`. Algorithms are compared by the upper ends of these intervals: by the gain that is certain. A
rule covers the sizes between measured ones only if its algorithm qualifies at both, and never a size or a
number of ranks outside those measured.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Literal, get_args

from hockney.core.fit import Estimate

HEADING = "hockney-choices 1"
"""The first line of the table that hockney's library reads (engine/include/hockney/coll.hpp)."""
PLAIN = "plain"
"""The launch setting without variables. All ratios depend on the time without variables, which is therefore
measured in additional launches."""
EFFECT = 0.05
"""A smaller gain does not justify another algorithm."""

State = Literal["faster", "undecided", "unknown", "not faster"]
"""The state of an algorithm compared with MPI's own choice. faster: the interval of the ratio lies below 1 -
effect; not faster: it lies above; undecided: it includes that; unknown: there is no interval."""
STATES: tuple[State, ...] = get_args(State)
"""The state of a point is the first of these that one of its algorithms has."""


@dataclass(frozen=True)
class AlgorithmRatio:
    """An algorithm at one point; `ratio` is its time relative to that of MPI's own choice. If the operation
    was measured in several ways (synchronisation, buffers), it is the one with the highest upper end."""

    algorithm: str
    ratio: Estimate

    @property
    def at_most(self) -> float:
        """The upper end of the interval; infinite if it is unknown."""
        return math.inf if self.ratio.high is None else self.ratio.high

    def state(self, effect: float = EFFECT) -> State:
        if qualifies(self, effect):
            return "faster"
        if self.ratio.low is None or self.ratio.high is None:
            return "unknown"
        return "undecided" if self.ratio.low < 1 - effect else "not faster"


@dataclass(frozen=True)
class Point:
    """What was measured of an operation on a number of ranks, at one size (bytes of a block or vector)."""

    operation: str
    ranks: int
    size: int
    candidates: tuple[AlgorithmRatio, ...]

    def state(self, effect: float = EFFECT) -> State:
        """Whether MPI's own choice is kept, and why. There must be a candidate."""
        return min((each.state(effect) for each in self.candidates), key=STATES.index)

    def decisive(self, effect: float = EFFECT) -> AlgorithmRatio:
        """The fastest of the algorithms that have this state."""
        state = self.state(effect)
        return min(
            (each for each in self.candidates if each.state(effect) == state),
            key=lambda each: each.ratio.value,
        )


@dataclass(frozen=True)
class ChoiceRule:
    """`algorithm` for all sizes from the first to the last of `sizes`, which were measured with these
    `ratios`."""

    operation: str
    ranks: int
    algorithm: str
    sizes: tuple[int, ...]
    ratios: tuple[Estimate, ...]

    @property
    def first(self) -> int:
        return self.sizes[0]

    @property
    def last(self) -> int:
        return self.sizes[-1]

    @property
    def worst(self) -> Estimate:
        """The ratio of the size that gains least for certain."""
        return max(self.ratios, key=lambda ratio: ratio.high or math.inf)

    @property
    def best(self) -> Estimate:
        """The ratio of the size that gains most for certain."""
        return min(self.ratios, key=lambda ratio: ratio.high or math.inf)


def without(rules: Iterable[ChoiceRule], places: Collection[tuple[str, int, int]]) -> list[ChoiceRule]:
    """The rules without these combinations of operation, ranks and size, and without all sizes between them
    and the nearest measured ones."""
    left = []
    for rule in rules:
        kept = [(rule.operation, rule.ranks, size) not in places for size in rule.sizes]
        for is_kept, group in groupby(zip(kept, rule.sizes, rule.ratios, strict=True), itemgetter(0)):
            if is_kept:
                _, sizes, ratios = zip(*group, strict=True)
                left.append(replace(rule, sizes=sizes, ratios=ratios))
    return left


def qualifies(candidate: AlgorithmRatio, effect: float = EFFECT) -> bool:
    return candidate.at_most < 1 - effect


def rules_of(points: Iterable[Point], effect: float = EFFECT) -> list[ChoiceRule]:
    """The rules for all points, by operation, ranks and size; they do not overlap. Every point at which some
    algorithm qualifies is covered. `effect` is between 0 and 1."""
    by_kind: dict[tuple[str, int], list[Point]] = {}
    for point in sorted(points, key=lambda point: (point.operation, point.ranks, point.size)):
        by_kind.setdefault((point.operation, point.ranks), []).append(point)
    return [rule for same in by_kind.values() for rule in _rules(same, effect)]


def _rules(points: Sequence[Point], effect: float) -> list[ChoiceRule]:
    """The rules for points that differ in size only: from each size on, the algorithm that is useful for the
    longest."""
    rules = []
    at = 0
    while at < len(points):
        stretches = {name: _stretch(points[at:], name, effect) for name in _useful(points[at], effect)}
        if not stretches:
            at += 1
            continue
        name, ratios = min(
            stretches.items(),
            key=lambda item: (-len(item[1]), math.prod(r.high or math.inf for r in item[1]), item[0]),
        )
        sizes = tuple(point.size for point in points[at : at + len(ratios)])
        rules.append(ChoiceRule(points[at].operation, points[at].ranks, name, sizes, ratios))
        at += len(ratios)
    return rules


def _useful(point: Point, effect: float) -> dict[str, Estimate]:
    """The ratios of the algorithms that qualify at a point and gain hardly less than the best of them."""
    good = [each for each in point.candidates if qualifies(each, effect)]
    least = min((each.at_most for each in good), default=0.0)
    return {each.algorithm: each.ratio for each in good if each.at_most <= least * (1 + effect)}


def _stretch(points: Sequence[Point], name: str, effect: float) -> tuple[Estimate, ...]:
    ratios = []
    for point in points:
        useful = _useful(point, effect)
        if name not in useful:
            break
        ratios.append(useful[name])
    return tuple(ratios)


def format_choices(rules: Sequence[ChoiceRule], comments: Sequence[str]) -> str:
    """The text of a table; each rule is preceded by its gain."""
    lines = [HEADING, *(f"# {comment}" for comment in comments)]
    for rule in rules:
        sizes = span(rule.first, rule.last)
        lines.append(f"# {gain(rule)}")
        lines.append(f"{rule.operation} ranks={rule.ranks} bytes={sizes} algorithm={rule.algorithm}")
    return "\n".join(lines) + "\n"


def gain(rule: ChoiceRule) -> str:
    """The time relative to MPI's own choice, at the sizes that gain most and least."""
    if len(rule.ratios) == 1:
        return f"{bracketed(rule.worst)} of the time of MPI's own choice"
    return f"{bracketed(rule.best)} to {bracketed(rule.worst)} of the time of MPI's own choice"


def bracketed(ratio: Estimate) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.2f}"
    return f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}:{last}"
