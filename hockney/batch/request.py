# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a job is to be given, and the state that a scheduler reports of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Phase = Literal["waiting", "running", "ended", "unknown"]

NOTICE_S = 30
"""A scheduler that can do so sends SIGTERM this long before the time limit, so that hockney ends the launch
itself."""
EARLY_S = 60
"""Slurm may send a signal up to so much earlier than asked (sbatch(1), --signal)."""


LOGS = "job-*.log"
"""The names of files with the output of jobs."""


@dataclass(frozen=True)
class JobRequest:
    """`command` is run in the folder `cwd` on the first of `nodes` nodes, each with room for `ranks_per_node`
    ranks (0: as many as it has processors). `seconds` is the job's time limit; 0 leaves it to the scheduler.
    `lines` are the user's for the scheduler, after hockney's, so that they replace them. With `tasks` the job
    is an array of so many. The output goes to a file in `folder` that matches `LOGS`. `name` belongs to jobs
    of one run only, and has at most 15 characters (PBS)."""

    name: str
    nodes: int
    ranks_per_node: int
    seconds: float
    folder: Path
    command: tuple[str, ...]
    cwd: Path
    account: str = ""
    partition: str = ""
    lines: tuple[str, ...] = ()
    tasks: int = 0


@dataclass(frozen=True)
class State:
    """`text` is the scheduler's own word, perhaps with its reason."""

    phase: Phase
    text: str


def clock_time(seconds: float) -> str:
    """HH:MM:SS, rounded up to whole minutes, which is what Slurm counts in."""
    minutes = -(-int(seconds) // 60) if seconds == int(seconds) else int(seconds // 60) + 1
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"
