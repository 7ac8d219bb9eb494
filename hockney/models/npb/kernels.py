# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of all eight kernels, by their names in the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from hockney.core.case import Case
from hockney.models.npb import bt, cg, ep, ft, integer_sort, lu, mg, sp
from hockney.models.npb.program import Program

_MODULES = {"bt": bt, "cg": cg, "ep": ep, "ft": ft, "is": integer_sort, "lu": lu, "mg": mg, "sp": sp}
PROGRAMS: Mapping[str, Callable[[str, int], Program]] = {
    name: module.program for name, module in _MODULES.items()
}
SIZES: Mapping[str, tuple[str, ...]] = {name: tuple(module.SIZES) for name, module in _MODULES.items()}
"""Classes."""


def of_case(case: Case) -> Program:
    """What a case of a kernel does. Raises Indivisible."""
    made = PROGRAMS[case.workload]
    if case.workload == "lu":
        made = partial(lu.program, planes=int(case.number("planes")), rate=case.number("rate"))
    return made(str(case["class"]), case.ranks)
