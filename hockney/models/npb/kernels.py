# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of all eight kernels, by their names in the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from hockney.core.case import Case
from hockney.models.npb import bt, cg, ep, ft, integer_sort, lu, mg, sp
from hockney.models.npb.program import Program

PROGRAMS: Mapping[str, Callable[[str, int], Program]] = {
    "bt": bt.program,
    "cg": cg.program,
    "ep": ep.program,
    "ft": ft.program,
    "is": integer_sort.program,
    "lu": lu.program,
    "mg": mg.program,
    "sp": sp.program,
}
SIZES: Mapping[str, tuple[str, ...]] = {
    "bt": tuple(bt.SIZES),
    "cg": tuple(cg.SIZES),
    "ep": tuple(ep.PAIRS),
    "ft": tuple(ft.SIZES),
    "is": tuple(integer_sort.SIZES),
    "lu": tuple(lu.SIZES),
    "mg": tuple(mg.SIZES),
    "sp": tuple(sp.SIZES),
}
"""Classes."""


def of_case(case: Case) -> Program:
    """What a case of a kernel does. Raises Indivisible."""
    made = PROGRAMS[case.workload]
    if case.workload == "lu":
        made = partial(lu.program, planes=int(case.number("planes")), rate=case.number("rate"))
    return made(str(case["class"]), case.ranks)
