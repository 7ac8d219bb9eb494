# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of a budget that is below its minimum."""

from __future__ import annotations

from hockney.core.errors import UsageError
from hockney.core.notice import Notice
from hockney.core.units import format_seconds, typed_seconds
from hockney.core.wording import plural


def budget_far_too_small(budget_s: float, least_s: float, cases: int) -> UsageError:
    return UsageError(
        f"--budget {typed_seconds(budget_s)} is far too small",
        f"{plural(cases, 'case')} need{'s' if cases == 1 else ''} at least {format_seconds(least_s, 2)}",
        f"use --budget {typed_seconds(least_s)} or more, or fewer cases",
        code="budget-far-too-small",
        budget_s=budget_s,
        least_s=least_s,
    )


def budget_raised(budget_s: float, least_s: float, cases: int) -> Notice:
    """`least_s` is used instead of `budget_s`."""
    return Notice(
        f"--budget {typed_seconds(budget_s)} is below the minimum of about {typed_seconds(least_s)} for "
        f"{plural(cases, 'case')}, which is used instead",
        "budget-raised",
    )
