# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""BT: block tridiagonal systems along lines."""

from __future__ import annotations

from hockney.models.programs.program import Program
from hockney.suites.npb.programs import line_solves
from hockney.suites.npb.programs.line_solves import Solver

SIZES = {"S": (12, 60), "W": (24, 200), "A": (64, 200), "B": (102, 200), "C": (162, 200), "tiny": (9, 5)}
"""Points of a side, and time steps."""
SOLVER = Solver("bt", depth=1, row=30, residual=0.28, sweep=0.24)


def program(size: str, ranks: int, *, rate: float = 0.0, startup: float = 0.0) -> Program:
    """`rate` and `startup` as in the engine's parameters of these names."""
    n, steps = SIZES[size]
    per_step = 3478.8 * n**3 - 17655.7 * n**2 + 28023.7 * n
    return line_solves.program(SOLVER, size, ranks, n, steps, per_step, rate, startup)
