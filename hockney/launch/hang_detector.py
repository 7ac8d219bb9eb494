# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Detects cases that take too long, and ranks that do not respond. The caller provides the time."""

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
"""Phase of a rank that does not take part in the case."""
WATCHDOG_LINE = re.compile(
    r"hockney-watchdog rank=(\d+) case=(.*) phase=(\S+) repetition=(-?\d+)(?: done=(\d+) of=(\d+) ms=(\d+))?"
)


@dataclass
class HangDetector:
    """Follows one launch. After `deadline` (seconds of the caller's clock; None for never) the launch counts
    as hung.

    Like the engine, the detector gives each case an equal share of the remaining budget. If cases have more
    than one visit, later visits may use the remaining time of the launch.
    """

    options: LaunchOptions
    cases: int
    ranks: int
    deadline: float | None = None
    case: str = ""
    phases_by_rank: dict[int, str] = field(default_factory=dict)
    run_s: float = 0.0
    """Duration of one run, extrapolated from the progress of the slowest rank that reported it; 0 if none
    did."""
    _end_s: float = 0.0

    def on_start(self, now: float) -> None:
        self._allow(now, START_SECONDS)

    def on_launch(self, now: float) -> None:
        self._end_s = now + self.options.budget_s
        self._allow(now, 0)

    def on_case_start(self, now: float, case: str, position: int) -> None:
        self.case = case
        self.phases_by_rank.clear()
        self.run_s = 0.0
        remaining_s = max(0.0, self._end_s - now)
        self._allow(
            now, remaining_s if self.options.visits > 1 else remaining_s / max(1, self.cases - position)
        )

    def on_visits(self, now: float) -> None:
        self.case = ""
        self._allow(now, max(0.0, self._end_s - now))

    def on_case_end(self, now: float) -> None:
        self.case = ""
        self._allow(now, 0)

    def take_answer(self, now: float, line: str) -> bool:
        """Return whether `line` of standard error is from a rank's watchdog. From then on, only the remaining
        ranks are awaited."""
        match = WATCHDOG_LINE.search(line)
        if not match:
            return False
        self.phases_by_rank[int(match[1])] = describe_phase(match[3], int(match[4]))
        if match[5] and int(match[5]) > 0:
            self.run_s = max(self.run_s, 1e-3 * int(match[7]) * int(match[6]) / int(match[5]))
        self.case = self.case or match[2]
        self.deadline = now if len(self.phases_by_rank) >= self.ranks else now + ANSWER_SECONDS
        return True

    def _allow(self, now: float, seconds: float) -> None:
        hang_s = self.options.hang_s
        self.deadline = None if hang_s <= 0 else now + seconds + hang_s + MARGIN_SECONDS

    def failure(self, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
        """Return the error for the detected hang."""
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
        silent = tuple(rank for rank in range(self.ranks) if rank not in self.phases_by_rank)
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
        phases = self.phases_by_rank.values()
        counts = Counter([phase for phase in phases if not phase.startswith(WAITING)] or phases)
        common_phase = counts.most_common(1)[0][0] if counts else ""
        if not phases:
            why = "no rank answered"
        elif silent:
            noun = "ranks" if len(silent) > 1 else "rank"
            why = f"{noun} {', '.join(map(str, silent))} did not answer, the others wait in {common_phase}"
        else:
            why = f"all ranks answered and wait in {common_phase}"
        return LaunchFailed(
            f"case '{self.case}' hung",
            why,
            "the job was stopped",
            code="case-hung",
            reason="hung",
            case=self.case,
            silent_ranks=silent,
            phase=common_phase,
            job_exit=job_exit,
            tail=tail,
        )


def describe_phase(name: str, repetition: int) -> str:
    """Describe the phase of a rank when a case hung."""
    return f"{name}, repetition {repetition}"
