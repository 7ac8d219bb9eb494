# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of programs, whose steps are in a file next to the launch's plan: of described ones
`program description=plan:NAME`, of traced ones `replay graph=plan:NAME`."""

from __future__ import annotations

from hockney.core.case import Case

PROGRAM = "program"
"""The study, and the workload that executes the steps."""
REPLAY = "replay"
"""The workload that executes the steps of a traced program."""
REPLAY_HEADER = "8s4Q"
REPLAY_STEP = (
    ("kind", "u1"),
    ("flags", "u1"),
    ("place", "u2"),
    ("seconds", "f4"),
    ("peer", "i4"),
    ("tag", "i4"),
    ("communicator", "u4"),
    ("start", "u4"),
    ("bytes", "u8"),
)
"""The file of these steps (`engine/replayer/steps.hpp`): its first bytes (a name; the numbers of ranks,
communicators, their members and places), and a step."""
IN_PLAN = "plan:"
"""Precedes the names of programs in cases."""


def program_name(case: Case) -> str:
    """The name of a case's program among those of its plan."""
    return str(case["description"]).removeprefix(IN_PLAN)


def steps_file(name: str, ranks: int) -> str:
    """The name of the file with the steps of a program on this many ranks."""
    return f"{name}-{ranks}.txt"


def replay_file(name: str) -> str:
    """The name of the file with the steps of a traced program."""
    return f"{name}.steps"
