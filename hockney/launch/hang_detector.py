# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Detects when a case has taken too long, and which ranks did not respond. Pure: time comes from the
caller."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field

from hockney.core.units import format_seconds
from hockney.launch.launcher import LaunchFailed, LaunchOptions

START_SECONDS = 120.0  # for mpiexec and MPI_Init, on large machines
MARGIN_SECONDS = 2.0  # lets the ranks' own watchdogs report first
ANSWER_SECONDS = 1.0  # between the first rank's line and the last one's
WAITING = "waiting"
"""The phase of a rank that does not take part in the case."""
LINE = re.compile(
    r"hockney-watchdog rank=(\d+) case=(.*) phase=(\S+) repetition=(-?\d+)(?: done=(\d+) of=(\d+) ms=(\d+))?"
)


@dataclass
class HangDetector:
    """Follows one launch. `deadline` is the time after which it counts as hung (seconds of the caller's
    clock), None for never.

    Like the engine, it gives each case an equal share of the remaining budget. If cases are visited several
    times, visits after the first have the launch's remaining time.
    """

    options: LaunchOptions
    cases: int
    ranks: int
    deadline: float | None = None
    case: str = ""
    answered: dict[int, str] = field(default_factory=dict)
    run_s: float = 0.0
    """What one run takes, by the progress of the slowest rank that reported any; 0 without."""
    _ends: float = 0.0

    def begun(self, now: float) -> None:
        self._allow(now, START_SECONDS)

    def launched(self, now: float) -> None:
        self._ends = now + self.options.budget_s
        self._allow(now, 0)

    def started(self, now: float, case: str, position: int) -> None:
        self.case = case
        self.answered.clear()
        self.run_s = 0.0
        left = max(0.0, self._ends - now)
        self._allow(now, left if self.options.visits > 1 else left / max(1, self.cases - position))

    def visiting(self, now: float) -> None:
        self.case = ""
        self._allow(now, max(0.0, self._ends - now))

    def finished(self, now: float) -> None:
        self.case = ""
        self._allow(now, 0)

    def take_answer(self, now: float, line: str) -> bool:
        """Whether `line` of standard error is from a rank's watchdog; then only the other ranks are waited
        for."""
        match = LINE.search(line)
        if not match:
            return False
        self.answered[int(match[1])] = phase(match[3], int(match[4]))
        if match[5] and int(match[5]) > 0:
            self.run_s = max(self.run_s, 1e-3 * int(match[7]) * int(match[6]) / int(match[5]))
        self.case = self.case or match[2]
        self.deadline = now if len(self.answered) >= self.ranks else now + ANSWER_SECONDS
        return True

    def _allow(self, now: float, seconds: float) -> None:
        hang = self.options.hang_s
        self.deadline = None if hang <= 0 else now + seconds + hang + MARGIN_SECONDS

    def failure(self, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
        """The error for the hang that was detected."""
        if not self.case:
            return LaunchFailed(
                "the engine printed nothing between two cases",
                "",
                "the job was stopped",
                code="launch-silent",
                reason="hung",
                job_exit=job_exit,
                tail=tail,
            )
        silent = tuple(rank for rank in range(self.ranks) if rank not in self.answered)
        if self.run_s and not silent:
            return LaunchFailed(
                f"case '{self.case}' does not fit its time",
                f"a repetition takes about {format_seconds(self.run_s)}, and was still in progress",
                f"give --budget {math.ceil(2.5 * self.run_s)}s or more with --launches 1, or a smaller case",
                code="case-slow",
                reason="slow",
                case=self.case,
                job_exit=job_exit,
                tail=tail,
                seconds=self.run_s,
            )
        # the phase of those that take part in the case, if any answered
        answers = self.answered.values()
        phases = Counter([each for each in answers if not each.startswith(WAITING)] or answers)
        phase = phases.most_common(1)[0][0] if phases else ""
        if not answers:
            why = "no rank answered"
        elif silent:
            noun = "ranks" if len(silent) > 1 else "rank"
            why = f"{noun} {', '.join(map(str, silent))} did not answer, the others wait in {phase}"
        else:
            why = f"all ranks answered and wait in {phase}"
        return LaunchFailed(
            f"case '{self.case}' hung",
            why,
            "the job was stopped",
            code="case-hung",
            reason="hung",
            case=self.case,
            silent_ranks=silent,
            phase=phase,
            job_exit=job_exit,
            tail=tail,
        )


def phase(name: str, repetition: int) -> str:
    """The phase in which a rank was when a case hung."""
    return f"{name}, repetition {repetition}"
