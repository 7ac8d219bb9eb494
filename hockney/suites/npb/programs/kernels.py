# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of all eight kernels, by their names in the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hockney.core.case import Case
from hockney.models.programs.program import Program
from hockney.suites.npb.programs import bt, cg, ep, ft, integer_sort, lu, mg, sp

_MODULES = {"bt": bt, "cg": cg, "ep": ep, "ft": ft, "is": integer_sort, "lu": lu, "mg": mg, "sp": sp}
PROGRAMS: Mapping[str, Callable[..., Program]] = {name: module.program for name, module in _MODULES.items()}
SIZES: Mapping[str, tuple[str, ...]] = {name: tuple(module.SIZES) for name, module in _MODULES.items()}
"""Classes."""


PIPELINED = ("lu", "bt", "sp")
"""Those whose messages depend on the rate of computing and on the startup of a message."""


def program(kernel: str, size: str, ranks: int, *, rate: float = 0.0, startup: float = 0.0) -> Program:
    """What a kernel does, with its parameters of these names. Raises Indivisible."""
    timing = {"rate": rate, "startup": startup} if kernel in PIPELINED else {}
    return PROGRAMS[kernel](size, ranks, **timing)


def of_case(case: Case) -> Program:
    """What a case of a kernel does. Raises Indivisible."""
    timing = {name: case.number(name) for name in ("rate", "startup") if name in case}
    if "planes" in case:
        return lu.program(str(case["class"]), case.ranks, planes=int(case.number("planes")), **timing)
    return program(case.workload, str(case["class"]), case.ranks, **timing)
