# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Resources requested for a job, and the job's state as reported by a scheduler."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hockney.core.errors import UsageError, printable

Phase = Literal["waiting", "running", "ended", "unknown"]

NOTICE_S = 30
"""A scheduler that can do so sends SIGTERM this long before the time limit, so that hockney ends the launch
itself."""
EARLY_S = 60
"""Slurm may send a signal up to so much earlier than asked (sbatch(1), --signal)."""


LOGS = "job-*.log"
"""The names of files with the output of jobs."""
NOT_IN_NAMES = re.compile(r"[\s\"'\\]")
"""Would end the value of an option in a script."""
NOT_IN_FOLDERS = re.compile(r"[\"\\]")
"""Would end the value inside double quotes. A backslash in the name of its output has a meaning for Slurm."""


@dataclass(frozen=True)
class JobRequest:
    """A request for a job. `command` runs in the folder `cwd` on the first of `nodes` nodes, each with room
    for `ranks_per_node` ranks (0 for its number of processors). `seconds` is the job's time limit; 0 leaves
    it to the scheduler. `lines` are the user's lines for the scheduler; they follow hockney's and override
    them. With `tasks` the job is an array of this number of tasks. The output goes to a file in `folder` that
    matches `LOGS`. `name` belongs to jobs of one run only, and has at most 15 characters (PBS).

    Raises UsageError for text that is not safe in a script: control characters anywhere, and characters that
    end a value in `account`, `partition` and `folder`.
    """

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

    def __post_init__(self) -> None:
        for text in (self.account, self.partition):
            if not text.isprintable() or NOT_IN_NAMES.search(text):
                raise _not_for_scripts(text)
        if NOT_IN_FOLDERS.search(str(self.folder)):
            raise _not_for_scripts(str(self.folder))
        for text in (self.name, str(self.folder), str(self.cwd), *self.command):
            if not text.isprintable():
                raise _not_for_scripts(text)


@dataclass(frozen=True)
class State:
    """State of a job. `text` is the scheduler's term, possibly with its reason."""

    phase: Phase
    text: str


def clock_time(seconds: float) -> str:
    """HH:MM:SS, rounded up to whole minutes, which is what Slurm counts in."""
    minutes = -(-int(seconds) // 60) if seconds == int(seconds) else int(seconds // 60) + 1
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def _not_for_scripts(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' cannot be written into a job script",
        "it has control characters, or quotes, backslashes or blanks that would end its value there",
        "use a folder or a name without them",
        code="not-for-scripts",
        text=text,
    )
