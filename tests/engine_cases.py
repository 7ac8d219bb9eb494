# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every workload of a catalog in every way it can be run, for real and simulated machines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, product

from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.system.bundled import bundled_groups, bundled_workloads

VALUES = {
    # 0 bytes; one element; odd for a pipeline's segments; beyond every eager limit, and so long that only a
    # part is verified
    "bytes": ("0", "8", "12344", "1234568"),
    "operations": ("1", "5"),
    "window": ("1", "3"),
    "depth": ("0", "9"),
    # 0 is all there are
    "pairs": ("0", "1"),
    "senders": ("0", "1"),
    "receivers": ("0", "1"),
    "dimensions": ("1", "3"),
    "threads": ("1", "3"),
    "colors": ("1", "2"),
    "observe": ("20ms",),
    # what computes or repeats is given little to do
    "work": ("30us",),
    "serial": ("0.1",),
    "shares": ("uniform:0.2",),
    "iterations": ("3",),
    "tests": ("2",),
    "polls": ("3",),
    # kernels: fewer keys than samples, nodes that do not divide evenly, packets of several words
    "keys": ("1", "5", "3000"),
    "n": ("5", "67"),
    "m": ("0", "9"),
    "k": ("0", "300"),
    "h": ("6",),
    "packet": ("4", "8", "24"),
    "permutations": ("1", "3"),
    "samples": ("0", "7"),
    "grid": ("auto",),
}
"""Of parameters without choices; others have their default value."""

COMPUTING = (
    "availability", "compute", "granularity", "overlap", "overlap_file", "overlap_ibarrier",
    "overlap_message", "overlap_neighbor", "overlap_persistent", "overlap_vector", "put_passive",
)  # fmt: skip
"""Workloads that compute for a preset time."""
SILENT_ALONE = ("granularity", "exscan", "iexscan")
"""Workloads that bring a single rank nothing to verify."""


WITHOUT_DATA = ("barrier", "ibarrier", "barrier_persistent", "synchronisation", "compute", "fwq", "ftq")
"""Operations that bring nothing to verify."""


def brings_payload(case: Case, ranks: int) -> bool:
    """Whether there is anything to verify."""
    if ranks == 1 and case.workload in SILENT_ALONE:
        return False
    if (ranks == 1 and case.get("operation") == "iexscan") or case.get("operation") == "barrier":
        return False
    if "bytes" in case:
        return int(case["bytes"]) > 0
    return bundled_workloads()[case.workload].operation not in WITHOUT_DATA


NOT_SIMULATED: dict[str, dict[str, tuple[str | int, ...]]] = {
    "reduce_scatter": {"counts": ("skewed", "single")},
    "ireduce_scatter": {"counts": ("skewed", "single")},
    "ring_replace": {"bytes": (0,)},
    "partitioned": {},
    "pingpong_probe": {"probe": ("mprobe",)},
}
NOT_SIMULATED |= {
    workload.name: {}
    for catalog in bundled_groups()
    for workload in catalog.workloads
    if workload.group in ("hockney-io", "hockney-neighborhood", "hockney-persistent", "hockney-threads")
}
"""What SimGrid's MPI lacks or does wrongly: of a workload these values, or all of it."""


def simulated(case: Case) -> bool:
    if case.workload == "overlap_vector" and case["operation"] == "ireduce_scatter":
        return case["counts"] == "even"
    lacking = NOT_SIMULATED.get(case.workload)
    return lacking is None or (lacking != {} and all(case[name] not in lacking[name] for name in lacking))


def refused(case: Case) -> bool:
    """Combinations for which MPI has no call: nothing nonblocking is in the order of ranks; routes of a sort
    and packets of puts that the style or the number of ranks does not admit; neighbors among an odd number of
    ranks, or one after the other; and more operations back to back than buffers of any size can be written
    before."""
    if (case.get("buffers"), case.get("sync")) == ("written", "loop"):
        return True
    if packet := case.get("packet"):
        element = 8 if case.get("type") == "double" else 4
        if case.get("style", "bsp") != "bsp" or packet % element:
            return True
    if case.workload == "sample_sort" and case["route"] == "butterfly":
        return case["style"] != "bpram" or case.ranks.bit_count() != 1
    if case.get("partners") == "neighbor" and (case.ranks % 2 or case.get("at_once") == "one"):
        return True
    return case.workload == "overlap_file" and (case["pointer"], case["calls"]) == ("shared", "collective")


def whole_cycles(case: Case, repetitions: int) -> int:
    """So many repetitions, and those that complete the last tournament of a case with changing partners."""
    cycle = case.ranks + case.ranks % 2 - 1 if case.get("partners") == "all" else 1
    return -(-repetitions // max(1, cycle)) * max(1, cycle)


def fits(workload: Workload, ranks: int) -> bool:
    if workload.role in ("npb", "annealing", "program", "replay", "congestion"):
        # test_engine_npb.py, test_engine_annealing.py, test_engine_program.py, test_replayer.py,
        # test_engine_congestion.py
        return False
    of_pairs = workload.role == "one-sided" and workload.name not in ("get_many", "put_many")
    if (workload.name == "bisection" or of_pairs) and ranks % 2:
        return False
    if workload.name == "bitonic_sort" and ranks.bit_count() != 1:
        return False
    return workload.min_ranks <= ranks and (not workload.max_ranks or ranks <= workload.max_ranks)


def group_runs(*ranks: int) -> list[tuple[str, int]]:
    """Every group with each of these numbers of ranks on which some of its workloads run."""
    return [
        (catalog.workloads[0].group, count)
        for catalog in bundled_groups()
        for count in ranks
        if any(fits(workload, count) for workload in catalog.workloads)
    ]


def every_case(
    catalog: Catalog,
    ranks: int,
    sync: tuple[str, ...],
    without: tuple[str, ...] = (),
    *,
    together: int | None = 2,
) -> Iterator[Case]:
    """On `ranks` ranks, started by each of `sync`, without the choices `without`: every combination of the
    values of any `together` parameters, or of all of them (None)."""
    for workload in catalog.workloads:
        if not fits(workload, ranks):
            continue
        varied: dict[str, tuple[str, ...]] = {"ranks": (str(ranks),)}
        for parameter in workload.parameters:
            if workload.name == "granularity" and parameter.name == "buffers":
                varied["buffers"] = ("hot",)
            elif parameter.name in VALUES:
                varied[parameter.name] = VALUES[parameter.name]
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
        for values in covering(list(varied.values()), together):
            case = catalog.complete_case(workload.name, dict(zip(varied, values, strict=True)))
            if not refused(case):
                yield case


def covering(values: list[tuple[str, ...]], together: int | None) -> list[tuple[str, ...]]:
    """A part of the product that has every combination of the values of `together` parameters; the same each
    time."""
    every = list(product(*values))
    if together is None or len(values) < together:
        return every
    random.Random(1).shuffle(every)
    seen: set[tuple[tuple[int, str], ...]] = set()
    chosen = []
    for each in every:
        parts = set(combinations(enumerate(each), together))
        if not parts <= seen:
            chosen.append(each)
            seen |= parts
    return chosen
