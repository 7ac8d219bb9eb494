# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the lab tells while it measures; whoever listens decides how to show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hockney.core.record import Failure, Record


@dataclass(frozen=True)
class MeasuringBegan:
    """`measurements` are left of `planned` (pairs of case and launch)."""

    measurements: int
    planned: int
    launches: int
    budget_s: float


@dataclass(frozen=True)
class LaunchBegan:
    launch: str
    ranks: int
    cases: int
    budget_s: float


@dataclass(frozen=True)
class CaseBegan:
    case: str


@dataclass(frozen=True)
class CaseEnded:
    """Stored already. `elapsed_s` since measuring began, by the bench's clock."""

    result: Record | Failure
    elapsed_s: float


@dataclass(frozen=True)
class LaunchEnded:
    launch: str
    seconds: float


@dataclass(frozen=True)
class Notice:
    """Something the user should know now, in the errors' grammar."""

    text: str


Event = MeasuringBegan | LaunchBegan | CaseBegan | CaseEnded | LaunchEnded | Notice
Listener = Callable[[Event], None]
