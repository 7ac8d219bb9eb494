# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for the algorithm of a collective by number of ranks and size. They deviate from MPI's default choice
only where another algorithm is significantly faster.

An algorithm qualifies at a measured point if the whole 95% interval of its time relative to MPI's lies below
1 - `effect`. Algorithms are compared by the upper bounds of these intervals, that is by their certain gain. A
rule covers the sizes between measured ones only if its algorithm qualifies at both, and never a size or a
number of ranks outside the measured range."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Literal, get_args

from hockney.core.fit import Estimate

HEADING = "hockney-choices 1"
"""First line of the table that hockney's library reads (engine/include/hockney/coll.hpp)."""
PLAIN = "plain"
"""The launch setting without variables. All ratios depend on the time without variables, which is therefore
measured in additional launches."""
MIN_EFFECT = 0.05
"""Minimum relative gain for choosing another algorithm."""

State = Literal["faster", "undecided", "unknown", "not faster"]
"""State of an algorithm compared with MPI's default choice. "faster": the interval of the ratio lies below 1
- effect; "not faster": above it; "undecided": the interval contains 1 - effect; "unknown": there is no
interval."""
STATES: tuple[State, ...] = get_args(State)
"""The state of a point is the first of these states among its algorithms."""


@dataclass(frozen=True)
class AlgorithmRatio:
    """An algorithm at one point; `ratio` is its time relative to MPI's default choice. If the operation was
    measured in several variants (synchronisation, buffers), the ratio with the highest upper bound is
    used."""

    algorithm: str
    ratio: Estimate

    @property
    def upper_bound(self) -> float:
        """Upper bound of the interval; infinite if unknown."""
        return math.inf if self.ratio.high is None else self.ratio.high

    def state(self, effect: float = MIN_EFFECT) -> State:
        if qualifies(self, effect):
            return "faster"
        if self.ratio.low is None or self.ratio.high is None:
            return "unknown"
        return "undecided" if self.ratio.low < 1 - effect else "not faster"


@dataclass(frozen=True)
class Point:
    """Measured algorithms of an operation on a number of ranks at one size (bytes of a block or vector)."""

    operation: str
    ranks: int
    size: int
    candidates: tuple[AlgorithmRatio, ...]

    def state(self, effect: float = MIN_EFFECT) -> State:
        """State that decides whether MPI's default choice is kept. There must be a candidate."""
        return min((candidate.state(effect) for candidate in self.candidates), key=STATES.index)

    def decisive_ratio(self, effect: float = MIN_EFFECT) -> AlgorithmRatio:
        """The fastest of the algorithms in the state of the point."""
        state = self.state(effect)
        return min(
            (candidate for candidate in self.candidates if candidate.state(effect) == state),
            key=lambda candidate: candidate.ratio.value,
        )


@dataclass(frozen=True)
class ChoiceRule:
    """Use `algorithm` for all sizes from the first to the last of `sizes`, which were measured with these
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
        """Ratio of the size with the smallest certain gain."""
        return max(self.ratios, key=lambda ratio: ratio.high or math.inf)

    @property
    def best(self) -> Estimate:
        """Ratio of the size with the largest certain gain."""
        return min(self.ratios, key=lambda ratio: ratio.high or math.inf)


def exclude_combinations(
    rules: Iterable[ChoiceRule], combinations: Collection[tuple[str, int, int]]
) -> list[ChoiceRule]:
    """Return the rules without these combinations of operation, ranks and size, and without the sizes between
    them and the nearest measured ones."""
    remaining = []
    for rule in rules:
        kept_flags = [(rule.operation, rule.ranks, size) not in combinations for size in rule.sizes]
        for is_kept, group in groupby(zip(kept_flags, rule.sizes, rule.ratios, strict=True), itemgetter(0)):
            if is_kept:
                _, sizes, ratios = zip(*group, strict=True)
                remaining.append(replace(rule, sizes=sizes, ratios=ratios))
    return remaining


def qualifies(candidate: AlgorithmRatio, effect: float = MIN_EFFECT) -> bool:
    return candidate.upper_bound < 1 - effect


def derive_rules(points: Iterable[Point], effect: float = MIN_EFFECT) -> list[ChoiceRule]:
    """Derive the rules for all points, by operation, ranks and size; they do not overlap. Every point with a
    qualifying algorithm is covered. `effect` is between 0 and 1."""
    by_kind: dict[tuple[str, int], list[Point]] = {}
    for point in sorted(points, key=lambda point: (point.operation, point.ranks, point.size)):
        by_kind.setdefault((point.operation, point.ranks), []).append(point)
    return [rule for points_of_kind in by_kind.values() for rule in _rules_of_kind(points_of_kind, effect)]


def _rules_of_kind(points: Sequence[Point], effect: float) -> list[ChoiceRule]:
    """Derive the rules for points that differ in size only: from each size on, the algorithm that is useful
    for the longest range of sizes."""
    rules = []
    index = 0
    while index < len(points):
        ratios_by_name = {
            name: _ratios_while_useful(points[index:], name, effect)
            for name in _useful_ratios(points[index], effect)
        }
        if not ratios_by_name:
            index += 1
            continue
        name, ratios = min(
            ratios_by_name.items(),
            key=lambda item: (-len(item[1]), math.prod(ratio.high or math.inf for ratio in item[1]), item[0]),
        )
        sizes = tuple(point.size for point in points[index : index + len(ratios)])
        rules.append(ChoiceRule(points[index].operation, points[index].ranks, name, sizes, ratios))
        index += len(ratios)
    return rules


def _useful_ratios(point: Point, effect: float) -> dict[str, Estimate]:
    """Ratios of the algorithms that qualify at a point and gain almost as much as the best one."""
    qualifying = [candidate for candidate in point.candidates if qualifies(candidate, effect)]
    min_bound = min((candidate.upper_bound for candidate in qualifying), default=0.0)
    return {
        candidate.algorithm: candidate.ratio
        for candidate in qualifying
        if candidate.upper_bound <= min_bound * (1 + effect)
    }


def _ratios_while_useful(points: Sequence[Point], name: str, effect: float) -> tuple[Estimate, ...]:
    ratios = []
    for point in points:
        useful = _useful_ratios(point, effect)
        if name not in useful:
            break
        ratios.append(useful[name])
    return tuple(ratios)


def format_choices(rules: Sequence[ChoiceRule], comments: Sequence[str]) -> str:
    """Text of a table; each rule is preceded by its gain."""
    lines = [HEADING, *(f"# {comment}" for comment in comments)]
    for rule in rules:
        sizes = format_sizes(rule.first, rule.last)
        lines.append(f"# {format_gain(rule)}")
        lines.append(f"{rule.operation} ranks={rule.ranks} bytes={sizes} algorithm={rule.algorithm}")
    return "\n".join(lines) + "\n"


def format_gain(rule: ChoiceRule) -> str:
    """Time relative to MPI's default choice, at the sizes with the largest and the smallest gain."""
    if len(rule.ratios) == 1:
        return f"{format_ratio(rule.worst)} of the time of MPI's own choice"
    return f"{format_ratio(rule.best)} to {format_ratio(rule.worst)} of the time of MPI's own choice"


def format_ratio(ratio: Estimate) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.2f}"
    return f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def format_sizes(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}:{last}"
