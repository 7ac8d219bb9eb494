# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of a budget that is below its minimum."""

from __future__ import annotations

import math

from hockney.core.errors import UsageError
from hockney.core.notice import Notice
from hockney.core.units import format_seconds
from hockney.core.wording import plural


def budget_far_too_small(budget_s: float, least_s: float, cases: int) -> UsageError:
    return UsageError(
        f"--budget {format_seconds(budget_s)} is far too small",
        f"{plural(cases, 'case')} need{'s' if cases == 1 else ''} at least {format_seconds(least_s, 2)}",
        f"use --budget {_round_seconds(least_s).replace(' ', '')} or more, or fewer cases",
        code="budget-far-too-small",
        budget_s=budget_s,
        least_s=least_s,
    )


def budget_raised(budget_s: float, least_s: float, cases: int) -> Notice:
    """`least_s` is used instead of `budget_s`."""
    return Notice(
        f"--budget {format_seconds(budget_s)} is below the minimum of about {_round_seconds(least_s)} for "
        f"{plural(cases, 'case')}, which is used instead",
        "budget-raised",
    )


def _round_seconds(seconds: float) -> str:
    """Rounded up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(seconds)) - 1)
    return format_seconds(math.ceil(seconds / unit) * unit, 2)
