# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Budgets below the minimum that the planned cases need: raised to it with a warning, or refused."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.core.notice import Notice
from hockney.core.option_names import option
from hockney.core.settings import Settings
from hockney.core.units import format_seconds, typed_seconds
from hockney.core.wording import plural
from hockney.measurement import Bench

REFUSED = 0.1
"""A budget below this fraction of the minimum is a mistake, such as 5ms for 5m."""


def least_budget_s(settings: Settings, bench: Bench, cases: Sequence[Case]) -> float:
    """The minimum for `cases`, in seconds; in rounds no longer than the time between them. 0 if there is
    none. Raises UsageError for a budget far below it."""
    least_s = bench.least_budget(settings, cases)
    if settings.budget_s < REFUSED * least_s:
        raise UsageError(
            f"{option('budget', typed_seconds(settings.budget_s))} is far too small",
            f"{plural(len(cases), 'case')} need{'s' if len(cases) == 1 else ''} at least "
            f"{format_seconds(least_s, 2)}",
            f"use {option('budget', typed_seconds(least_s))} or more, or fewer cases",
            code="budget-far-too-small",
            budget_s=settings.budget_s,
            least_s=least_s,
        )
    return min(least_s, settings.every_s or least_s)


def budget_warning(settings: Settings, least_s: float, cases: Sequence[Case]) -> Notice | None:
    """The warning that the minimum is used instead of the requested budget; None if that is enough."""
    if settings.budget_s >= least_s:
        return None
    return Notice(
        f"{option('budget', typed_seconds(settings.budget_s))} is below the minimum of about "
        f"{typed_seconds(least_s)} for {plural(len(cases), 'case')}, which is used instead",
        "budget-raised",
    )
