# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The budget with which a run would probably answer a question that it leaves open."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median_low

from hockney.core.settings import Settings

MIN_RELIABLE_LAUNCHES = 6
"""With this many launches, a single bad one does not dominate an interval."""
MIN_MULTIPLE = 2.0
MAX_MULTIPLE = 20
"""The largest suggested multiple of the budget. If more is necessary, the machine is too busy."""
BUDGETS_S = (5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)


def budget_multiple(times: Iterable[float], launches: int) -> float:
    """The multiple of the measuring time that decides half of the comparisons, each of which needs one of
    `times`. `launches` is the smallest number of launches of a case. Comparisons without an interval, whose
    time is infinite, need more launches."""
    known_times = [time if time < math.inf else MIN_RELIABLE_LAUNCHES / max(1, launches) for time in times]
    return min(MAX_MULTIPLE, max(MIN_MULTIPLE, median_low(known_times)))


def remedy(times: float, launches: int, settings: Settings) -> str:
    """A sentence with the command line options for `times` the measuring time."""
    if settings.every_s:
        return f"Measure more rounds, for example with --repeat {math.ceil(times * settings.launches)}."
    options = f"--budget {suggested_budget(times * settings.budget_s)}"
    if not settings.extend and launches >= settings.launches:
        options = f"--launches {math.ceil(times * settings.launches)} and {options}"
    return f"Measure again on a quiet machine with {options} or more."


def suggested_budget(seconds: float) -> str:
    """The smallest common budget that suffices, as typed after --budget."""
    suggested_s = next(
        (budget_s for budget_s in BUDGETS_S if budget_s >= seconds), math.ceil(seconds / 3600) * 3600
    )
    return f"{suggested_s // 60}m" if suggested_s >= 120 else f"{suggested_s}s"
