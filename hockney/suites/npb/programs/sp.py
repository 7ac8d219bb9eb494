# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SP: scalar pentadiagonal systems along lines."""

from __future__ import annotations

from hockney.models.programs.program import Program
from hockney.suites.npb.programs import line_solves
from hockney.suites.npb.programs.line_solves import Solver

SIZES = {"S": (12, 100), "W": (36, 400), "A": (64, 400), "B": (102, 400), "C": (162, 400), "tiny": (9, 5)}
"""Points of a side, and time steps."""
SOLVER = Solver("sp", depth=2, row=11, residual=0.4, sweep=0.2)


def program(size: str, ranks: int, *, rate: float = 0.0, startup: float = 0.0) -> Program:
    """`rate` and `startup` as in the engine's parameters of these names."""
    n, steps = SIZES[size]
    per_step = 881.174 * n**3 - 4683.91 * n**2 + 11484.5 * n - 19272.4
    return line_solves.program(SOLVER, size, ranks, n, steps, per_step, rate, startup)
