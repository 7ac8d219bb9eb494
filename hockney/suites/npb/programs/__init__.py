# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks as data: the work and the messages of every rank, by the benchmarks' names
in the engine."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from hockney.core.case import Case
from hockney.suites.npb.programs.applications import bt_program, lu_program, sp_program
from hockney.suites.npb.programs.kernels import cg_program, ep_program, ft_program, is_program, mg_program
from hockney.suites.npb.programs.program import NpbProgram

PROGRAMS: Mapping[str, Callable[..., NpbProgram]] = {
    "bt": bt_program,
    "cg": cg_program,
    "ep": ep_program,
    "ft": ft_program,
    "is": is_program,
    "lu": lu_program,
    "mg": mg_program,
    "sp": sp_program,
}
PIPELINED = ("lu", "bt", "sp")
"""Benchmarks whose messages depend on the rate of computation and on the startup of a message."""


@functools.lru_cache(maxsize=64)
def program(kernel: str, size: str, ranks: int, *, rate: float = 0.0, startup: float = 0.0) -> NpbProgram:
    """Returns the program of a benchmark of class `size`. `rate` and `startup` are the parameters of these
    names. Raises Indivisible."""
    timing = {"rate": rate, "startup": startup} if kernel in PIPELINED else {}
    return PROGRAMS[kernel](size, ranks, **timing)


def program_of(case: Case) -> NpbProgram:
    """Returns the program of a benchmark's case. Raises Indivisible."""
    timing = {name: case.number(name) for name in ("rate", "startup") if name in case}
    if "planes" in case:
        return lu_program(str(case["class"]), case.ranks, planes=int(case.number("planes")), **timing)
    return program(case.workload, str(case["class"]), case.ranks, **timing)
