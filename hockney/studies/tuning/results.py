# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rules that a run supports: of hockney's algorithms, and of Open MPI's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hockney.core.launch_setting import LaunchSetting
from hockney.models.statistics import UNDECIDED_VERDICTS, time_to_exclude
from hockney.models.tuning import openmpi
from hockney.models.tuning.points import points_of_algorithms, points_of_settings
from hockney.models.tuning.rules import EFFECT, STATES, AlgorithmRatio, ChoiceRule, Point, State, rules_of
from hockney.pages.evidence import Evidence
from hockney.studies.needed_budget import multiple

HOCKNEY, OPEN_MPI = "hockney", "Open MPI"
Place = tuple[str, int, int]
"""Operation, ranks and size."""


@dataclass(frozen=True)
class ComparedChoice:
    """A point with whose algorithms its candidates are, its state, and the fastest algorithm that has it."""

    whose: str
    point: Point
    state: State
    closest: AlgorithmRatio

    @property
    def place(self) -> Place:
        return self.point.operation, self.point.ranks, self.point.size

    def name(self, algorithm: str) -> str:
        """The name of a candidate."""
        internal = self.whose == OPEN_MPI
        return openmpi.algorithm_of(self.point.operation, algorithm) if internal else algorithm


@dataclass(frozen=True)
class Tuning:
    """`internal` are the points and rules whose algorithms are settings that force Open MPI's, empty if there
    are no such measurements. An algorithm is used if it gains at least `effect`. `launches` are the fewest
    that measured a case."""

    points: tuple[Point, ...]
    rules: tuple[ChoiceRule, ...]
    internal_points: tuple[Point, ...] = ()
    internal_rules: tuple[ChoiceRule, ...] = ()
    effect: float = EFFECT
    launches: int = 0

    def named(self) -> Iterator[tuple[str, str, ChoiceRule]]:
        """Every rule with whose algorithm it is, and its name."""
        yield from ((HOCKNEY, rule.algorithm, rule) for rule in self.rules)
        for rule in self.internal_rules:
            yield OPEN_MPI, openmpi.algorithm_of(rule.operation, rule.algorithm), rule

    @cached_property
    def comparisons(self) -> tuple[ComparedChoice, ...]:
        """A comparison for each point that has candidates."""
        return tuple(
            ComparedChoice(whose, point, point.state(self.effect), point.decisive(self.effect))
            for whose, points in ((HOCKNEY, self.points), (OPEN_MPI, self.internal_points))
            for point in points
            if point.candidates
        )

    @cached_property
    def deciding(self) -> tuple[ComparedChoice, ...]:
        """The comparison that decides each combination of operation, ranks and size: of hockney's
        algorithms and Open MPI's, those whose state comes first, or the fastest."""
        by_state = sorted(
            self.comparisons, key=lambda each: (STATES.index(each.state), each.closest.ratio.value)
        )
        by_place: dict[Place, ComparedChoice] = {}
        for each in by_state:
            by_place.setdefault(each.place, each)
        return tuple(by_place[place] for place in sorted(by_place))

    def count(self, *states: State) -> int:
        """Combinations with one of these states."""
        return sum(each.state in states for each in self.deciding)

    @property
    def conclusive(self) -> bool:
        """Whether some algorithm is faster, or else most combinations are decided."""
        return bool(self.count("faster")) or 2 * self.count("not faster") >= len(self.deciding)

    @property
    def times(self) -> float:
        """The multiple of the measuring time that decides half of the combinations that are not decided, of
        which there is one at least."""
        needed = [
            time_to_exclude(each.closest.ratio, 1 - self.effect)
            for each in self.deciding
            if each.state in UNDECIDED_VERDICTS
        ]
        return multiple(needed, self.launches)


def tuning(evidence: Evidence, effect: float = EFFECT) -> Tuning:
    """The rules of a run's records. Only those settings count that the run declares as hockney does."""
    observations = evidence.observations(cost="typical")
    points = points_of_algorithms(observations)
    declared = {LaunchSetting.parse(line) for line in evidence.settings.launch_settings}
    forcing = [setting.name for setting in openmpi.forcing() if setting in declared]
    internal = points_of_settings(observations, forcing) if forcing else []
    return Tuning(
        tuple(points),
        tuple(rules_of(points, effect)),
        tuple(internal),
        tuple(rules_of(internal, effect)),
        effect,
        min((len(observation.launches) for observation in observations), default=0),
    )
