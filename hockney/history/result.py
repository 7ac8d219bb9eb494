# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The results of `hockney history show` and `check`."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.draw.page import Caveat
from hockney.models.history import CheckedOperation, CheckedSeries, CheckState, FactChange, Trend


@dataclass(frozen=True)
class CheckedRun:
    """The run `name` of a `machine`, measured at `at_s` (s since 1970), against `earlier` runs before it.
    `failed` are its cases without a result, with the reason; `changes` what differs from the environment of
    the run before it; `wrong` in how many of its records data arrived wrong. `missing` are cases that it
    should have measured (`hockney.comparison.expected`), and `absent` the operations that it lacks and the
    last run of its study has."""

    name: str
    label: str
    machine: str
    at_s: float
    earlier: int
    tolerance: float
    operations: tuple[CheckedOperation, ...]
    failed: tuple[tuple[str, str], ...]
    changes: tuple[FactChange, ...]
    caveats: tuple[Caveat, ...] = ()
    wrong: int = 0
    missing: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the answer is no: an operation is slower, or data arrived wrong."""
        return self.state == "slower" or self.wrong > 0

    @property
    def state(self) -> CheckState:
        """slower if an operation is; otherwise unknown or undecided if one is, or undecided if a case failed
        or is missing; otherwise faster if one is."""
        states: set[CheckState] = {operation.state for operation in self.operations}
        if self.failed or self.missing:
            states.add("undecided")
        order: tuple[CheckState, ...] = ("slower", "unknown", "undecided", "faster", "usual")
        return next((state for state in order if state in states), "unknown")

    @property
    def cases(self) -> tuple[CheckedSeries, ...]:
        return tuple(case for operation in self.operations for case in operation.cases)

    @property
    def several_levels(self) -> bool:
        return len({operation.level for operation in self.operations}) > 1


@dataclass(frozen=True)
class ShownHistory:
    """Trends of the series that were asked for, on each machine. `facts` are changes of the environment by
    machine, `labels` of runs by name."""

    asked: str
    machines: tuple[tuple[str, tuple[Trend, ...]], ...]
    facts: dict[str, tuple[FactChange, ...]]
    runs: int
    labels: dict[str, str]

    @property
    def trends(self) -> list[tuple[str, Trend]]:
        return [(machine, trend) for machine, trends in self.machines for trend in trends]
