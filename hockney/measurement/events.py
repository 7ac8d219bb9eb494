# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What measuring reports while it goes on: events, which listeners decide how to show, and the doctor's
findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.core.notice import Notice
from hockney.core.record import Failure, Record, RunRecords


@dataclass(frozen=True)
class CasesChosen:
    """The cases to be measured, in the order requested, and their workloads. Nothing is written yet: a
    listener that cannot use them may raise a UsageError."""

    cases: tuple[Case, ...]
    workloads: tuple[Workload, ...]


@dataclass(frozen=True)
class MeasuringBegan:
    """`measurements` are left of `planned` (pairs of case and launch). `budget_s` is the time from the first
    launch to the end, including the waiting between `rounds`, which begin every `every_s`. With `extend`,
    more follow while time is left, so their number is not known in advance."""

    measurements: int
    planned: int
    launches: int
    budget_s: float
    rounds: int = 1
    every_s: float = 0.0
    extend: bool = False


@dataclass(frozen=True)
class MeasurementsAdded:
    """The number of measurements beyond those announced, because sizes were added."""

    measurements: int


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
    """The result is already stored. `elapsed_s` is the time since measuring began, by the bench's clock."""

    result: Record | Failure
    elapsed_s: float


@dataclass(frozen=True)
class CaseSettled:
    """No further launch will measure this case in this call of `measure`; `run` has its records, if any, and
    those of all cases on which its times may depend."""

    case: Case
    run: RunRecords


@dataclass(frozen=True)
class LaunchEnded:
    launch: str
    seconds: float


@dataclass(frozen=True)
class Waiting:
    """Sent about once a second: the round `round` of `rounds` (counted from 1) begins in `seconds`."""

    seconds: float
    round: int
    rounds: int


@dataclass(frozen=True)
class Status:
    """A preparation in progress or completed, as a line of text."""

    text: str


@dataclass(frozen=True)
class Working:
    """A short operation without steps has begun, such as fitting; "" when it has ended."""

    text: str


@dataclass(frozen=True)
class StepDone:
    """`done` of `total` steps of a long operation are complete, such as files compiled; `what` describes
    it."""

    what: str
    done: int
    total: int


Event = (
    CasesChosen
    | MeasurementsAdded
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
    | StepDone
)
Listener = Callable[[Event], None]


def ignore_event(event: Event) -> None:
    """A listener that ignores all events."""


def notifier(listen: Listener) -> Callable[[str], None]:
    """A callback for functions that report lines of text: each line becomes a `Status`."""
    return lambda text: listen(Status(text))


@dataclass(frozen=True)
class Finding:
    """`code` is a kebab-case identifier, `subject` and `text` are for users, `numbers` for programs."""

    verdict: Literal["good", "note", "bad"]
    subject: str
    text: str
    code: str
    numbers: Mapping[str, object] = field(default_factory=dict, compare=False)
