# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rules that a run supports, for hockney's algorithms and for Open MPI's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hockney.core.launch_setting import LaunchSetting
from hockney.models.statistics import UNDECIDED_VERDICTS, time_to_exclude
from hockney.models.tuning import openmpi
from hockney.models.tuning.points import points_of_algorithms, points_of_settings
from hockney.models.tuning.rules import (
    MIN_EFFECT,
    STATES,
    AlgorithmRatio,
    ChoiceRule,
    Point,
    State,
    derive_rules,
)
from hockney.pages.evidence import Evidence
from hockney.studies.needed_budget import budget_multiple

HOCKNEY, OPEN_MPI = "hockney", "Open MPI"
Combination = tuple[str, int, int]
"""Operation, ranks and size."""


@dataclass(frozen=True)
class ComparedChoice:
    """A point, the owner of its candidates, its state, and the fastest algorithm with this state."""

    owner: str
    point: Point
    state: State
    closest: AlgorithmRatio

    @property
    def combination(self) -> Combination:
        return self.point.operation, self.point.ranks, self.point.size

    def algorithm_name(self, algorithm: str) -> str:
        """The name of a candidate."""
        internal = self.owner == OPEN_MPI
        return openmpi.algorithm_of(self.point.operation, algorithm) if internal else algorithm


@dataclass(frozen=True)
class Tuning:
    """Points and rules. The algorithms of the `internal` ones are settings that force Open MPI's; they are
    empty without such measurements. An algorithm is used if it gains at least `effect`. `launches` is the
    smallest number of launches of a case."""

    points: tuple[Point, ...]
    rules: tuple[ChoiceRule, ...]
    internal_points: tuple[Point, ...] = ()
    internal_rules: tuple[ChoiceRule, ...] = ()
    effect: float = MIN_EFFECT
    launches: int = 0

    def named_rules(self) -> Iterator[tuple[str, str, ChoiceRule]]:
        """Every rule with the owner and the name of its algorithm."""
        yield from ((HOCKNEY, rule.algorithm, rule) for rule in self.rules)
        for rule in self.internal_rules:
            yield OPEN_MPI, openmpi.algorithm_of(rule.operation, rule.algorithm), rule

    @cached_property
    def comparisons(self) -> tuple[ComparedChoice, ...]:
        """A comparison for each point with candidates."""
        return tuple(
            ComparedChoice(whose, point, point.state(self.effect), point.decisive_ratio(self.effect))
            for whose, points in ((HOCKNEY, self.points), (OPEN_MPI, self.internal_points))
            for point in points
            if point.candidates
        )

    @cached_property
    def deciding_choices(self) -> tuple[ComparedChoice, ...]:
        """The deciding comparison for each combination of operation, ranks and size: of hockney's algorithms
        and Open MPI's, the one with the first state, or the fastest."""
        by_state = sorted(
            self.comparisons, key=lambda each: (STATES.index(each.state), each.closest.ratio.value)
        )
        by_place: dict[Combination, ComparedChoice] = {}
        for each in by_state:
            by_place.setdefault(each.combination, each)
        return tuple(by_place[place] for place in sorted(by_place))

    def count_with_states(self, *states: State) -> int:
        """The number of combinations with one of these states."""
        return sum(each.state in states for each in self.deciding_choices)

    @property
    def conclusive(self) -> bool:
        """Whether some algorithm is faster, or most combinations are decided."""
        return bool(self.count_with_states("faster")) or 2 * self.count_with_states("not faster") >= len(
            self.deciding_choices
        )

    @property
    def budget_multiple(self) -> float:
        """The multiple of the measuring time that decides half of the undecided combinations, of which there
        is at least one."""
        needed = [
            time_to_exclude(each.closest.ratio, 1 - self.effect)
            for each in self.deciding_choices
            if each.state in UNDECIDED_VERDICTS
        ]
        return budget_multiple(needed, self.launches)


def tuning(evidence: Evidence, effect: float = MIN_EFFECT) -> Tuning:
    """The rules from a run's records. Settings only count if the run declares them as hockney does."""
    observations = evidence.observations(cost="typical")
    points = points_of_algorithms(observations)
    declared = {LaunchSetting.parse(line) for line in evidence.settings.launch_settings}
    forcing = [setting.name for setting in openmpi.forcing_settings() if setting in declared]
    internal = points_of_settings(observations, forcing) if forcing else []
    return Tuning(
        tuple(points),
        tuple(derive_rules(points, effect)),
        tuple(internal),
        tuple(derive_rules(internal, effect)),
        effect,
        min((len(observation.launches) for observation in observations), default=0),
    )
