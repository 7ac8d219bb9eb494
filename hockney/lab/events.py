# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the lab tells while it measures; whoever listens decides how to show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.core.notice import Notice
from hockney.core.record import Failure, Record, RunRecords


@dataclass(frozen=True)
class CasesChosen:
    """What will be measured, in the order asked for, and the workloads of these cases. Nothing is written
    yet: a listener that cannot use them may raise a UsageError."""

    cases: tuple[Case, ...]
    workloads: tuple[Workload, ...]


@dataclass(frozen=True)
class MeasuringBegan:
    """`measurements` are left of `planned` (pairs of case and launch). `budget_s` is from the first launch to
    the end, the waiting between `rounds` included; these begin `every_s` after one another."""

    measurements: int
    planned: int
    launches: int
    budget_s: float
    rounds: int = 1
    every_s: float = 0.0


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
class CaseSettled:
    """No further launch will measure this case, in this call of `measure`; `run` has its records, if any."""

    case: Case
    run: RunRecords


@dataclass(frozen=True)
class LaunchEnded:
    launch: str
    seconds: float


@dataclass(frozen=True)
class Waiting:
    """Told about once a second: the round `round` of `rounds` (counted from 1) begins in `seconds`."""

    seconds: float
    round: int
    rounds: int


@dataclass(frozen=True)
class Status:
    """What is being done before anything is measured, or was done, as a line of text."""

    text: str


@dataclass(frozen=True)
class Working:
    """Something begins that takes a moment and has no steps, as fitting; "" where it has ended."""

    text: str


@dataclass(frozen=True)
class Counted:
    """`done` of `total` steps of something long are over, as files compiled; `what` is done to them."""

    what: str
    done: int
    total: int


Event = (
    CasesChosen
    | MeasuringBegan
    | LaunchBegan
    | CaseBegan
    | CaseEnded
    | CaseSettled
    | LaunchEnded
    | Waiting
    | Notice
    | Status
    | Working
    | Counted
)
Listener = Callable[[Event], None]


def silent(event: Event) -> None:
    """The listener that nobody hears."""


def notifier(listen: Listener) -> Callable[[str], None]:
    """For functions that tell lines of text: each becomes a `Status`."""
    return lambda text: listen(Status(text))
