# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every workload of a catalog in every way it can be run, for machines real and simulated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload

# 0 bytes; one element; odd for a pipeline's segments; beyond every eager limit, and so long that only a
# part is verified.
SIZES = ("0", "8", "12344", "1234568")


# What computes is given little to do, and one way each of what other workloads vary.
LITTLE = {"work": "30us", "serial": "0.1", "shares": "uniform:0.2", "iterations": "3"}


def fits(workload: Workload, ranks: int) -> bool:
    if workload.name == "bisection" and ranks % 2:
        return False
    return workload.min_ranks <= ranks and (not workload.max_ranks or ranks <= workload.max_ranks)


def every_case(
    catalog: Catalog, ranks: int, sync: tuple[str, ...], without: tuple[str, ...] = ()
) -> Iterator[Case]:
    """On `ranks` ranks, started as `sync` says, and without the choices `without`."""
    for workload in catalog.workloads:
        if not fits(workload, ranks):
            continue
        varied: dict[str, tuple[str, ...]] = {"ranks": (str(ranks),)}
        for parameter in workload.parameters:
            if parameter.name in LITTLE:
                varied[parameter.name] = (LITTLE[parameter.name],)
            elif workload.name == "granularity" and parameter.name == "buffers":
                varied["buffers"] = ("hot",)
            elif parameter.name == "bytes":
                varied["bytes"] = SIZES
            elif parameter.name == "sync":
                varied["sync"] = tuple(s for s in sync if s in parameter.choices)
            elif parameter.name == "algorithm" and workload.role == "arrival":
                varied["algorithm"] = ("mpi", "dissemination")
            elif parameter.choices:
                varied[parameter.name] = tuple(c for c in parameter.choices if c not in without)
            elif parameter.name == "root":
                varied["root"] = (str(ranks - 1),)
            elif parameter.name == "messages":
                varied |= {"messages": ("5",), "delay": ("2us",)}
        for values in product(*varied.values()):
            yield catalog.complete(workload.name, dict(zip(varied, values, strict=True)))
