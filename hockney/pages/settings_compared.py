# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The section on the effects of launch settings, and the comparisons behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.core.launch_setting import settings_without_effect
from hockney.draw.page import Section, Table
from hockney.models.statistics import (
    UNDECIDED_VERDICTS,
    InterleavedSettings,
    Observation,
    pool_launches,
    verdict,
)
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity

NO_EFFECT = ""
"""The common name of all settings without any effect on a launch."""


@dataclass(frozen=True)
class ComparedSettings:
    """A case without its setting, and the observations of this case by setting. Settings without an effect
    count as one."""

    case: Case
    observations: Mapping[str, Sequence[Observation]]

    @cached_property
    def interleaved(self) -> InterleavedSettings:
        return InterleavedSettings.from_observations(self.observations)

    @cached_property
    def ratios(self) -> dict[str, Estimate]:
        """The time with each setting relative to the time without one, by setting."""
        return {
            name: self.interleaved.ratio(name, NO_EFFECT)
            for name in sorted(self.observations)
            if name != NO_EFFECT
        }

    @property
    def launch_deviation(self) -> float:
        """The standard deviation of the launches' log times, corrected for settings and rounds; 0 if
        unknown."""
        return 0.0 if self.interleaved.changes is None else self.interleaved.changes.standard_deviation

    @property
    def max_change(self) -> float:
        """The largest factor between launches with the same setting; 1 if unknown."""
        return (
            1.0 if self.interleaved.changes is None else math.exp(self.interleaved.changes.largest_difference)
        )

    @property
    def min_launches(self) -> int:
        """The smallest number of launches with the same setting."""
        return min(
            len(observation.launches)
            for setting_observations in self.observations.values()
            for observation in setting_observations
        )

    @property
    def undecided_count(self) -> int:
        """The number of undecided ratios."""
        return sum(verdict(ratio) in UNDECIDED_VERDICTS for ratio in self.ratios.values())


def compared_settings(evidence: Evidence) -> tuple[ComparedSettings, ...]:
    """Return all cases that were measured both with and without a setting, sorted by line."""
    return evidence.cached(_compared_settings)


def _compared_settings(evidence: Evidence) -> tuple[ComparedSettings, ...]:
    ineffective_settings = settings_without_effect(evidence.settings.launch_settings)
    by_case: dict[Case, dict[str, list[Observation]]] = {}
    for observation in evidence.observations():
        setting = NO_EFFECT if observation.case.setting in ineffective_settings else observation.case.setting
        by_case.setdefault(observation.case.with_setting(""), {}).setdefault(setting, []).append(observation)
    return tuple(
        ComparedSettings(case, observations)
        for case, observations in sorted(by_case.items(), key=lambda item: item[0].line)
        if NO_EFFECT in observations and len(observations) > 1
    )


def section(evidence: Evidence) -> Section | None:
    """Return a table of the time of each case with a setting relative to the time without it, or None if no
    case was measured both with and without a setting."""
    rows = []
    for compared in compared_settings(evidence):
        for name, ratio in compared.ratios.items():
            observations = (compared.observations[NO_EFFECT], compared.observations[name])
            times = [quantity(pool_launches(observation).interval()[0], "s") for observation in observations]
            has_bounds = ratio.low is not None and ratio.high is not None
            interval_text = f"{ratio.low:.2f} to {ratio.high:.2f}" if has_bounds else ""
            rows.append((compared.case.line, name, *times, f"{ratio.value:.2f}", interval_text))
    if not rows:
        return None
    columns = ("case", "setting", "without", "with it", "ratio", "95% interval")
    return Section(
        title="Launch settings",
        text=(
            "The table compares launches with a setting and launches without it, which alternated. A ratio "
            "whose interval includes 1 shows no effect.",
        ),
        tables=(Table("settings", "Launch settings", columns, tuple(rows), numeric=(2, 3, 4, 5)),),
    )
