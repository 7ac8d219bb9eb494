# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions of collectives next to their measured times, for every layout of ranks that a run has."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from hockney.core.case import ALGORITHM, MPI, Case
from hockney.core.errors import HockneyError
from hockney.core.fit import Fits
from hockney.core.machine import Machine
from hockney.models import collective_costs


@dataclass(frozen=True)
class LayoutErrors:
    """The relative errors of predictions of one operation, with one algorithm, on `ranks` ranks of `nodes`
    nodes. The algorithm is `predicted_as`, also where MPI's own was measured."""

    operation: str
    algorithm: str
    predicted_as: str
    ranks: int
    nodes: int
    errors: tuple[float, ...]

    @property
    def typical(self) -> float:
        """The median of their absolute values."""
        return median(map(abs, self.errors))

    @property
    def worst(self) -> float:
        """The largest, with its sign."""
        return max(self.errors, key=abs)


def errors_by_layout(
    fits: Fits, machine: Machine, *, where: str = "this run", hosts: int = 1
) -> list[LayoutErrors]:
    """The prediction errors of all measured cases that are spread over a number of nodes, except empty ones,
    which may return at once. MPI's own algorithm is unknown: the prediction is for a tree
    (`collective_costs.tree`)."""
    groups: dict[tuple[str, str, int, int, bool], list[tuple[int, float]]] = {}
    for workload, case, summary in fits.measured("collective"):
        if not _compared(case) or not workload.size:
            continue
        after_barrier = case.get("sync") == "barrier"
        key = workload.operation, str(case.get(ALGORITHM, MPI)), case.ranks, case.nodes, after_barrier
        size, time = int(case.number(workload.size)), summary.cost(fits.cost).value
        if size > 0 and time > 0:
            groups.setdefault(key, []).append((size, time))
    found = []
    for (operation, algorithm, ranks, nodes, after_barrier), cases in sorted(groups.items()):
        try:
            known = collective_costs.tree(operation) if algorithm == MPI else algorithm
            times = collective_costs.predict(
                fits, machine, operation, known, ranks, [size for size, _ in cases],
                where=where, hosts=hosts, nodes=nodes, after_barrier=after_barrier,
            )  # fmt: skip
        except HockneyError:  # no schedule of this algorithm on so many ranks, or no cost of messages
            continue
        off = tuple(p.time.value / measured - 1 for p, (_, measured) in zip(times, cases, strict=True))
        found.append(LayoutErrors(operation, algorithm, known, ranks, nodes, off))
    return found


def _compared(case: Case) -> bool:
    usual = case.with_parameter(ALGORITHM, MPI).is_usual if ALGORITHM in case else case.is_usual
    return case.ranks > 1 and case.nodes > 0 and usual and not case.setting and case.get("sync") != "loop"
