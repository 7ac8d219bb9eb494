# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of described programs: `program description=plan:NAME`, with the steps of NAME in a file next to the
launch's plan."""

from __future__ import annotations

from hockney.core.case import Case

PROGRAM = "program"
"""The study, and the workload that executes the steps."""
IN_PLAN = "plan:"
"""Precedes the names of programs in cases."""


def program_name(case: Case) -> str:
    """The name of a case's program among those of its plan."""
    return str(case["description"]).removeprefix(IN_PLAN)


def steps_file(name: str, ranks: int) -> str:
    """The name of the file with the steps of a program on this many ranks."""
    return f"{name}-{ranks}.txt"
