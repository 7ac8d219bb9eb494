# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the guidelines hold in a run.

A guideline is violated if the left side takes more than `factor` times as long as the right one. All
comparisons of a run are tested together: those reported as violated are false in at most 5% of cases on
average (`statistics.multiple_tests`), and the 95% interval of each of them lies above the factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hockney.core.case import HOT, Case
from hockney.core.catalog import Catalog
from hockney.core.fit import Estimate
from hockney.models.guidelines.matching import GuidelineComparison, comparisons
from hockney.models.guidelines.rules import EMULATIONS, RULES, Guideline
from hockney.models.statistics import NOTABLE, Observation, RatioEstimate, adjusted, ratio_to_sum

FACTOR = NOTABLE
LEVEL = 0.05

State = Literal["violated", "holds", "undecided", "unknown"]
"""holds: the interval of the ratio ends below the factor; undecided: it includes the factor, or lies above
it but not clearly enough for so many comparisons; unknown: there is no interval."""


@dataclass(frozen=True)
class Judged:
    """A comparison with the `ratio` of the left side's time to the right side's. `p` is adjusted for the
    number of comparisons, None if the ratio has no interval."""

    comparison: GuidelineComparison
    ratio: Estimate
    p: float | None
    state: State

    @property
    def rule(self) -> Guideline:
        return self.comparison.rule

    @property
    def left(self) -> Case:
        return self.comparison.left


@dataclass(frozen=True)
class Verdicts:
    """Every comparison of a run, in the order of the rules. `launches` are those of the compared cases."""

    factor: float
    judged: tuple[Judged, ...]
    launches: frozenset[str] = frozenset()

    def of(self, *states: State) -> list[Judged]:
        return [each for each in self.judged if each.state in states]

    @property
    def violated(self) -> list[Judged]:
        """The violations, by decreasing ratio."""
        return sorted(self.of("violated"), key=lambda each: -each.ratio.value)

    @property
    def worst(self) -> list[Judged]:
        """The violation with the largest ratio of each violating case, by decreasing ratio."""
        by_case: dict[Case, Judged] = {}
        for each in self.violated:
            by_case.setdefault(each.left, each)
        return list(by_case.values())

    @property
    def conclusive(self) -> bool:
        """Whether there is a violation, or else most comparisons are decided."""
        return bool(self.violated) or 2 * len(self.of("holds")) >= len(self.judged) > 0

    @property
    def lacking(self) -> list[Guideline]:
        """Emulations without a comparison."""
        rules = {each.rule for each in self.judged}
        return [rule for rule in EMULATIONS if rule not in rules]

    @property
    def rules(self) -> list[Guideline]:
        """The rules that were judged, in their order."""
        used = {each.rule for each in self.judged}
        return [rule for rule in RULES if rule in used]


def judge(
    observations: Sequence[Observation], catalog: Catalog, factor: float = FACTOR, *, exact: bool = False
) -> Verdicts:
    """The guidelines that `observations` of a run allow to judge. `exact`: its times do not vary. Where hot
    buffers were measured, others are left out: more comparisons need clearer differences."""
    by_case = {seen.case: seen for seen in _on_hot_buffers(observations)}
    found = comparisons(by_case, catalog)
    ratios = [_ratio(each, by_case, exact) for each in found]
    raw = [ratio.p_above(factor) for ratio in ratios]
    fair = iter(adjusted([p for p in raw if p is not None]))
    judged = []
    for comparison, ratio, p in zip(found, ratios, raw, strict=True):
        q = None if p is None else next(fair)
        judged.append(Judged(comparison, ratio.ratio, q, _state(ratio.ratio, q, factor)))
    compared = {case for each in found for case in (each.left, *(part.case for part in each.parts))}
    launches = frozenset(name for case in compared for name in by_case[case].launches)
    return Verdicts(factor, tuple(judged), launches)


def _on_hot_buffers(observations: Sequence[Observation]) -> list[Observation]:
    hot = [seen for seen in observations if seen.case.get("buffers", HOT) == HOT]
    return hot or list(observations)


def _ratio(comparison: GuidelineComparison, by_case: dict[Case, Observation], exact: bool) -> RatioEstimate:
    terms = [(by_case[part.case], float(part.count)) for part in comparison.parts]
    return ratio_to_sum(by_case[comparison.left], terms, exact=exact)


def _state(ratio: Estimate, p: float | None, factor: float) -> State:
    if p is None or ratio.high is None:
        return "unknown"
    if p <= LEVEL:
        return "violated"
    return "holds" if ratio.high <= factor else "undecided"
