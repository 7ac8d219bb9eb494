# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a job gets, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.batch.request import EARLY_S, NOTICE_S
from hockney.core.errors import UsageError
from hockney.core.notice import Notice
from hockney.core.settings import Settings
from hockney.core.units import format_seconds, typed_seconds

BESIDES_S = 60.0
"""What a job does besides measuring: it starts Python, finds the MPI, fits, and writes the report."""
RESERVE = 1.1
"""A scheduler may be slow to start processes on the nodes."""


@dataclass(frozen=True)
class BatchOptions:
    """`account` and `partition` (a queue of PBS) as the scheduler calls them, `time` the job's limit in
    seconds (0: as long as the run needs), `lines` further ones for the scheduler. With `tasks` the job is an
    array of so many, each of which measures a share of the launches; the run's folder then needs locks
    (flock) that hold between hosts."""

    account: str = ""
    partition: str = ""
    time: float = 0.0
    lines: tuple[str, ...] = ()
    tasks: int = 0

    def limit_s(self, budget_s: float) -> float:
        """The time limit of a job that measures for `budget_s`. Raises UsageError for one that leaves no time
        to measure."""
        besides_s = NOTICE_S + BESIDES_S
        if self.time and self.time <= besides_s:
            raise UsageError(
                f"a job of {typed_seconds(self.time)} leaves no time to measure",
                f"starting, fitting and ending take {typed_seconds(besides_s)}",
                "use a longer --time",
                code="job-too-short",
                seconds=self.time,
                besides_s=besides_s,
            )
        return self.time or RESERVE * budget_s + besides_s + EARLY_S + BESIDES_S

    def warning(self, budget_s: float) -> Notice | None:
        """A warning if the job may end before its budget is used."""
        needed_s = budget_s + NOTICE_S + EARLY_S + BESIDES_S
        return (
            Notice(
                f"the job's limit of {format_seconds(self.time)} may end the job before the budget of "
                f"{format_seconds(budget_s)} is used: --time {typed_seconds(round(needed_s))} would be "
                "enough, or 'hockney resume RUN --submit' measures what is left",
                "job-shorter-than-budget",
            )
            if 0 < self.time < needed_s
            else None
        )


def total_s(settings: Settings) -> float:
    """The time from the first launch to the end."""
    waiting = settings.every_s * settings.launches if settings.every_s else 0.0
    return max(settings.total_s, settings.through_s, waiting)
