# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted times of bulk synchronous kernels from the parameters and local rates of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney import lab
from hockney.api import find_runs
from hockney.api.run_contents import caveats_of
from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Cost, Estimate, Fits
from hockney.core.option_names import option
from hockney.core.paths import AnyPath, to_path
from hockney.draw.page import Caveat
from hockney.lab import Listener, silent
from hockney.models.bsp.costs import Base, CostModel, CostTerms, NotMeasured, predict, repaired
from hockney.models.bsp.measured import machine_costs, rank_counts
from hockney.models.bsp.parameters import BulkCosts
from hockney.models.bsp.programs import PROGRAMS, supersteps
from hockney.models.bsp.superstep import Superstep, works_of
from hockney.models.measured_costs import End
from hockney.store import RunFolder
from hockney.system.bundled import bundled_workloads

STUDIES = ("bsp-kernels", "bsp-parameters")
"""Studies that measure the parameters."""
ROLE = "bsp-kernel"


@dataclass(frozen=True)
class KernelPrediction:
    """A kernel on the machine of `run`. `predicted` are its times (s) by model, the plain and the repaired
    one, and `times` their sums with what the intervals of all parameters allow; empty with the reason in
    `lacking`, if a parameter was not measured. `other_sizes` are kinds of local work whose rates were
    measured at other sizes only; `caveats` are those of the run."""

    case: Case
    kernel: str
    run: Path
    predicted: Mapping[str, CostTerms]
    times: Mapping[str, Estimate]
    other_sizes: tuple[str, ...] = ()
    lacking: str = ""
    caveats: tuple[Caveat, ...] = ()


def kernel_of(text: str) -> tuple[Workload, Catalog]:
    """The kernel that a case names, and the catalog with it. Raises UsageError for anything else."""
    catalog = Catalog(schema=1, engine="", workloads=list(bundled_workloads().values()))
    workload = catalog.workload(text.split(" ", 1)[0])
    kernels = [w.name for w in catalog.of_role(ROLE) if w.operation in PROGRAMS]
    if workload.name not in kernels:
        raise UsageError(
            f"{workload.name} is not a kernel",
            "only kernels state their supersteps",
            f"predict one of {', '.join(kernels)}",
            code="not-a-kernel",
            kernels=list(kernels),
        )
    return workload, catalog


def predict_kernel(
    text: str,
    *,
    ranks: tuple[int, ...] = (),
    run: AnyPath | None = None,
    cost: Cost = "typical",
    listen: Listener = silent,
) -> list[KernelPrediction]:
    """`text` is a case of a kernel, such as "bitonic_sort keys=100000", in the style of BSP or BPRAM,
    predicted for `ranks` (default: those of the run).

    Parameters and local rates come from the folder `run`, or else from the newest run of bsp-kernels or
    bsp-parameters. Nothing is measured. Raises UsageError for anything but a kernel, Inconclusive if there is
    no run, or if it has no parameters for these ranks.
    """
    workload, catalog = kernel_of(text)
    folder = find_runs.newest_of(STUDIES, listen) if run is None else RunFolder.open(to_path(run))
    results = lab.results(folder, cost=cost)
    known = rank_counts(results.fits)
    if not known:
        raise Inconclusive(
            f"{folder.path} has no parameters of bulk synchronous models",
            "they are fitted to h-relations and block permutations",
            "name a run of bsp-kernels or bsp-parameters",
            code="no-bulk-parameters",
            path=str(folder.path),
        )
    caveats = caveats_of(folder, results)
    made = []
    for p in ranks or known:
        case = catalog.case(f"{text} ranks={p}")
        steps = supersteps(workload.operation, case)
        if steps is None:
            raise UsageError(
                f"'{case.line}' has no supersteps",
                "calls of MPI are not a style that the models describe",
                "use style=bsp or style=bpram",
                code="kernel-without-supersteps",
                case=case.line,
            )
        if p not in known:
            raise Inconclusive(
                f"{folder.path} has no parameters for {p} ranks",
                f"it has those for {', '.join(map(str, known))}",
                f"use {option('ranks', known[0])}, or measure with {option('ranks', p)}",
                code="ranks-without-parameters",
                ranks=p,
                known=list(known),
            )
        costs = machine_costs(results.fits, p)
        ends = [_ends(results.fits, p, end) for end in ("low", "high")]
        base: Base = "bsp" if case["style"] == "bsp" else "bpram"
        lacking, predicted, times = "", {}, {}
        for model in (CostModel(base), repaired(base)):
            try:
                predicted[model.name] = predict(steps, costs, model)
                times[model.name] = _time(steps, model, predicted[model.name].total, ends)
            except NotMeasured as error:
                lacking = str(error)
        kinds = (work.operation for work in works_of(steps) if not costs.rates.exact(work))
        other = tuple(dict.fromkeys(kinds))
        made.append(
            KernelPrediction(case, workload.operation, folder.path, predicted, times, other, lacking, caveats)
        )
    return made


def _ends(fits: Fits, ranks: int, end: End) -> BulkCosts | None:
    """The costs at one end of the parameters' intervals; None if a parameter has no interval."""
    try:
        return machine_costs(fits, ranks, end=end)
    except NotMeasured:
        return None


def _time(
    steps: Sequence[Superstep], model: CostModel, value: float, ends: Sequence[BulkCosts | None]
) -> Estimate:
    """The predicted time, with an interval from all parameters at their low ends to all at their high
    ends."""
    known = [predict(steps, costs, model).total for costs in ends if costs is not None]
    if len(known) < len(ends) or math.isnan(sum(known)):
        return Estimate(value, None, None)
    return Estimate(value, min(value, *known), max(value, *known))
