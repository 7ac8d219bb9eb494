# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a case needs another launch: by the interval that is printed, not by that of one launch."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import Case
from hockney.core.settings import Settings
from hockney.lab.bench import Bench
from hockney.models.statistics import Observation, precision_of


def still_wanted(
    cases: Sequence[Case], observations: Sequence[Observation], settings: Settings, bench: Bench
) -> tuple[Case, ...]:
    """Of the cases that are not as precise as wanted those that one launch can measure: of the rank count and
    executable that have most of them. Empty where all are precise, or none was measured."""
    imprecise: dict[tuple[int, str], list[Case]] = {}
    known = set(cases)
    for seen in observations:
        precision = precision_of(seen)
        if seen.case in known and (precision is None or precision > settings.precision):
            imprecise.setdefault((seen.case.ranks, bench.group_of(seen.case)), []).append(seen.case)
    return tuple(max(imprecise.values(), key=len, default=()))
