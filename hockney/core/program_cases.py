# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of programs. The steps are in a file next to the launch's plan: `program description=plan:NAME` for
described programs, `replay graph=plan:NAME` for traced ones."""

from __future__ import annotations

from hockney.core.case import Case

PROGRAM = "program"
"""Name of the study, and of the workload that executes the steps."""
REPLAY = "replay"
"""Workload that executes the steps of a traced program."""
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
"""Format of the file of steps (`engine/replayer/steps.hpp`): its header (a name; the numbers of ranks,
communicators, their members and places), and a step."""
PLAN_PREFIX = "plan:"
"""Prefix of the names of programs in cases."""


def program_name(case: Case) -> str:
    """Return the name of a case's program among those of its plan."""
    return str(case["description"]).removeprefix(PLAN_PREFIX)


def steps_file(name: str, ranks: int) -> str:
    """Return the name of the file with the steps of a program on this many ranks."""
    return f"{name}-{ranks}.txt"


def replay_file(name: str) -> str:
    """Return the name of the file with the steps of a traced program."""
    return f"{name}.steps"
