# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Events that measuring reports to listeners, which decide how to show them, and the doctor's findings."""

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
    """The cases to be measured, in the requested order, and their workloads. Nothing is written yet: a
    listener that cannot use the cases may raise a UsageError."""

    cases: tuple[Case, ...]
    workloads: tuple[Workload, ...]


@dataclass(frozen=True)
class MeasuringBegan:
    """Of `planned` measurements (pairs of case and launch), `measurements` remain. `budget_s` is the time
    from the first launch to the end, including the pauses between `rounds`, which start every `every_s`. With
    `extend`, more measurements follow while time remains, so that their number is not known in advance."""

    measurements: int
    planned: int
    launches: int
    budget_s: float
    rounds: int = 1
    every_s: float = 0.0
    extend: bool = False


@dataclass(frozen=True)
class MeasurementsAdded:
    """The number of measurements in addition to the announced ones, because sizes were added."""

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
    """The result of a case, which is already stored. `elapsed_s` is the time since measuring started, by the
    bench's clock."""

    result: Record | Failure
    elapsed_s: float


@dataclass(frozen=True)
class CaseSettled:
    """No further launch will measure this case in this call of `measure`. `run` contains its records, if any,
    and those of all cases on which its times may depend."""

    case: Case
    run: RunRecords


@dataclass(frozen=True)
class LaunchEnded:
    launch: str
    seconds: float


@dataclass(frozen=True)
class Waiting:
    """Sent about once a second: round number `round` of `rounds` (counted from 1) starts in `seconds`."""

    seconds: float
    round: int
    rounds: int


@dataclass(frozen=True)
class Status:
    """A preparation in progress or completed, as a line of text."""

    text: str


@dataclass(frozen=True)
class Working:
    """A short operation without steps has started, such as fitting. The text is "" when it has ended."""

    text: str


@dataclass(frozen=True)
class StepDone:
    """`done` of `total` steps of a long operation are complete, such as compiled files. `what` describes the
    operation."""

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
    """Return a callback for functions that report lines of text: each line becomes a `Status`."""
    return lambda text: listen(Status(text))


@dataclass(frozen=True)
class Finding:
    """A finding of the doctor. `code` is a kebab-case identifier, `subject` and `text` are for users,
    `numbers` for programs."""

    verdict: Literal["good", "note", "bad"]
    subject: str
    text: str
    code: str
    numbers: Mapping[str, object] = field(default_factory=dict, compare=False)
