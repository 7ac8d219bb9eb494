# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The budget with which a run would probably give an answer that it does not give."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median_low

from hockney.core.settings import Settings

LAUNCHES = 6
"""With this many, one bad launch does not decide an interval."""
MIN_MULTIPLE = 2.0
MAX_MULTIPLE = 20
"""No larger multiple of the budget is suggested: then the machine is too busy."""
BUDGETS_S = (5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)


def multiple(times: Iterable[float], launches: int) -> float:
    """The multiple of the measuring time for many comparisons, of which each needs one of `times`, at least
    one: it decides half of them. `launches` is the fewest that measured a case; comparisons without an
    interval, whose time is infinite, need more launches."""
    each = [time if time < math.inf else LAUNCHES / max(1, launches) for time in times]
    return min(MAX_MULTIPLE, max(MIN_MULTIPLE, median_low(each)))


def remedy(times: float, launches: int, settings: Settings) -> str:
    """The command line options with `times` the measuring time, as a sentence."""
    if settings.every_s:
        return f"Measure more rounds, for example with --repeat {math.ceil(times * settings.launches)}."
    options = f"--budget {suggested_budget(times * settings.budget_s)}"
    if not settings.extend and launches >= settings.launches:
        options = f"--launches {math.ceil(times * settings.launches)} and {options}"
    return f"Measure again on a quiet machine with {options} or more."


def suggested_budget(seconds: float) -> str:
    """The next usual budget, as typed after --budget."""
    usual = next((each for each in BUDGETS_S if each >= seconds), math.ceil(seconds / 3600) * 3600)
    return f"{usual // 60}m" if usual >= 120 else f"{usual}s"
