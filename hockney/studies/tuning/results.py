# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rules that a run supports: of hockney's algorithms, and of Open MPI's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney.core.launch_setting import LaunchSetting
from hockney.models.tuning import openmpi
from hockney.models.tuning.points import points_of_algorithms, points_of_settings
from hockney.models.tuning.rules import EFFECT, ChoiceRule, Point, rules_of
from hockney.pages.evidence import Evidence


@dataclass(frozen=True)
class Tuning:
    """`internal` are the points and rules whose algorithms are settings that force Open MPI's, None if there
    are no such measurements."""

    points: tuple[Point, ...]
    rules: tuple[ChoiceRule, ...]
    internal_points: tuple[Point, ...] = ()
    internal_rules: tuple[ChoiceRule, ...] = ()

    def named(self) -> Iterator[tuple[str, str, ChoiceRule]]:
        """Every rule with whose algorithm it is, and its name."""
        yield from (("hockney", rule.algorithm, rule) for rule in self.rules)
        for rule in self.internal_rules:
            yield "Open MPI", openmpi.algorithm_of(rule.operation, rule.algorithm), rule


def tuning(evidence: Evidence, effect: float = EFFECT) -> Tuning:
    """The rules of a run's records. Only those settings count that the run declares as hockney does."""
    observations = evidence.observed(cost="typical")
    points = points_of_algorithms(observations)
    declared = {LaunchSetting.parse(line) for line in evidence.settings.launch_settings}
    forcing = [setting.name for setting in openmpi.forcing() if setting in declared]
    internal = points_of_settings(observations, forcing) if forcing else []
    return Tuning(
        tuple(points), tuple(rules_of(points, effect)), tuple(internal), tuple(rules_of(internal, effect))
    )
