# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What each launch setting changes: the section, and the ratios that a caveat judges."""

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

WITHOUT = ""
"""The name of all settings that change nothing."""


@dataclass(frozen=True)
class ComparedSettings:
    """A case without a setting, and its observations by setting; those that change nothing are together."""

    case: Case
    observed: Mapping[str, Sequence[Observation]]

    @cached_property
    def turns(self) -> InterleavedSettings:
        return InterleavedSettings.from_observations(self.observed)

    @cached_property
    def ratios(self) -> dict[str, Estimate]:
        """The time with each setting relative to the time without one, by setting."""
        return {name: self.turns.ratio(name, WITHOUT) for name in sorted(self.observed) if name != WITHOUT}

    @property
    def spread(self) -> float:
        """The standard deviation of the launches' log times, apart from settings and rounds; 0 if unknown."""
        return 0.0 if self.turns.changes is None else self.turns.changes.standard_deviation

    @property
    def largest_change(self) -> float:
        """The factor by which launches with the same setting differ at most; 1 if unknown."""
        return 1.0 if self.turns.changes is None else math.exp(self.turns.changes.largest_difference)

    @property
    def launches(self) -> int:
        """The smallest number of launches with one setting."""
        return min(len(observation.launches) for same in self.observed.values() for observation in same)

    @property
    def undecided(self) -> int:
        """The number of ratios that are undecided."""
        return sum(verdict(ratio) in UNDECIDED_VERDICTS for ratio in self.ratios.values())


def compared_settings(evidence: Evidence) -> tuple[ComparedSettings, ...]:
    """All cases that were measured both with a setting and without one, by their lines."""
    return evidence.cached(_compared_settings)


def _compared_settings(evidence: Evidence) -> tuple[ComparedSettings, ...]:
    without = settings_without_effect(evidence.settings.launch_settings)
    by_case: dict[Case, dict[str, list[Observation]]] = {}
    for observation in evidence.observed():
        setting = WITHOUT if observation.case.setting in without else observation.case.setting
        by_case.setdefault(observation.case.with_setting(""), {}).setdefault(setting, []).append(observation)
    return tuple(
        ComparedSettings(case, observed)
        for case, observed in sorted(by_case.items(), key=lambda each: each[0].line)
        if WITHOUT in observed and len(observed) > 1
    )


def section(evidence: Evidence) -> Section | None:
    """The time of each case with a setting relative to the time of the same case without. None if no case was
    measured both ways."""
    rows = []
    for each in compared_settings(evidence):
        for name, ratio in each.ratios.items():
            both = (each.observed[WITHOUT], each.observed[name])
            times = [quantity(pool_launches(observation).interval()[0], "s") for observation in both]
            has_bounds = ratio.low is not None and ratio.high is not None
            ends = f"{ratio.low:.2f} to {ratio.high:.2f}" if has_bounds else ""
            rows.append((each.case.line, name, *times, f"{ratio.value:.2f}", ends))
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
