# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a case needs another launch: decided by the interval that is printed, not by that of one launch."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import Case
from hockney.core.settings import Settings
from hockney.lab.bench import Bench
from hockney.models.statistics import Observation, precision_of


def imprecise_cases(
    cases: Sequence[Case], observations: Sequence[Observation], settings: Settings
) -> tuple[Case, ...]:
    """The measured cases that are not yet precise enough."""
    known = set(cases)
    reached = {seen.case: precision_of(seen) for seen in observations if seen.case in known}
    wanted = settings.precision
    return tuple(case for case, width in reached.items() if width is None or width > wanted)


def one_launch_of(cases: Sequence[Case], bench: Bench) -> tuple[Case, ...]:
    """The cases that one launch can measure: those of the most frequent rank count,
    executable and launch setting."""
    groups: dict[tuple[int, str, str], list[Case]] = {}
    for case in cases:
        groups.setdefault(bench.launch_of(case), []).append(case)
    return tuple(max(groups.values(), key=len, default=()))
