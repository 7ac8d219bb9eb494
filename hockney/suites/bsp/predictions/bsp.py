# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted times of bulk synchronous kernels from the parameters and local rates of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hockney import measurement
from hockney.api import find_runs
from hockney.api.predictions import KernelOptions, PredictedKernel, kernel_catalog
from hockney.api.run_contents import caveats_of
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Estimate, Fits
from hockney.core.notice import Notice
from hockney.core.paths import to_path
from hockney.core.wording import option
from hockney.draw.page import Caveat, Table
from hockney.models.measured_costs import End
from hockney.pages.format import quantity
from hockney.pages.grain_prediction import time_cell
from hockney.store import RunFolder
from hockney.suites.bsp.models.costs import Base, CostModel, CostTerms, repaired
from hockney.suites.bsp.models.costs import predict as predict_time
from hockney.suites.bsp.models.parameters import BulkCosts, NotMeasured, machine_costs, rank_counts
from hockney.suites.bsp.models.programs import PROGRAMS, Superstep, local_works, supersteps

STUDIES = ("bsp-kernels", "bsp-parameters")
"""Studies that measure the parameters."""
ROLE = "bsp-kernel"
OPTIONS = ()
"""A run on this machine has the parameters."""


@dataclass(frozen=True)
class KernelPrediction:
    """A kernel on the machine of `run`. `predicted` are its times (s) by model, the plain and the repaired
    one, and `times` their sums with what the intervals of all parameters allow; without a model whose
    parameter, named in `missing`, was not measured. `other_sizes` are kinds of local work whose rates were
    measured at other sizes only; `caveats` are those of the run."""

    case: Case
    kernel: str
    run: Path
    predicted: Mapping[str, CostTerms]
    times: Mapping[str, Estimate]
    other_sizes: tuple[str, ...] = ()
    missing: str = ""
    caveats: tuple[Caveat, ...] = ()


def kernels(catalog: Catalog) -> Sequence[str]:
    return [workload.name for workload in catalog.with_role(ROLE) if workload.operation in PROGRAMS]


def predict(text: str, options: KernelOptions) -> PredictedKernel:
    predictions = predict_kernel(text, options)
    if other_sizes := dict.fromkeys(kind for each in predictions for kind in each.other_sizes):
        options.listen(
            Notice(
                f"local work was measured only at other sizes: {', '.join(other_sizes)}; "
                "'hockney run bsp-kernels' measures it at the sizes of its kernels",
                "rates-of-other-sizes",
            )
        )
    for each in predictions:
        if each.missing:
            options.listen(
                Notice(
                    f"a model is left out on {each.case.ranks} ranks: {each.missing} was not measured",
                    "kernel-not-predicted",
                )
            )
    rows = [(each.case, each.predicted, each.times) for each in predictions]
    first_prediction = predictions[0]
    return PredictedKernel(
        (
            f"{text}, with parameters and local rates of {first_prediction.run!s}:",
            _prediction_table(first_prediction.kernel, rows),
        ),
        first_prediction.caveats,
        {
            "run": str(first_prediction.run),
            "predictions": [_prediction_document(*row) for row in rows],
            "doubts": first_prediction.caveats,
        },
    )


def predict_kernel(text: str, options: KernelOptions) -> list[KernelPrediction]:
    """`text` is a case of a kernel, such as "bitonic_sort keys=100000", in the style of BSP or BPRAM; by
    default predicted for the numbers of ranks of the run.

    Parameters and local rates come from the run of the options, or else from the newest run of bsp-kernels or
    bsp-parameters. Nothing is measured. Raises Inconclusive if there is no run, or if it has no parameters
    for these ranks.
    """
    catalog = kernel_catalog()
    workload = catalog.workload(text.split(" ", 1)[0])
    if options.run is None:
        folder = find_runs.newest_run_of(STUDIES, options.listen)
    else:
        folder = RunFolder.open(to_path(options.run))
    results = measurement.load_results(folder, cost=options.cost)
    rank_choices = rank_counts(results.fits)
    if not rank_choices:
        raise Inconclusive(
            f"{folder.path} has no parameters of bulk synchronous models",
            "they are fitted to h-relations and block permutations",
            "name a run of bsp-kernels or bsp-parameters",
            code="no-bulk-parameters",
            path=str(folder.path),
        )
    caveats = caveats_of(folder, results)
    predictions = []
    for p in options.ranks or rank_choices:
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
        if p not in rank_choices:
            raise Inconclusive(
                f"{folder.path} has no parameters for {p} ranks",
                f"it has those for {', '.join(map(str, rank_choices))}",
                f"use {option('ranks', rank_choices[0])}, or measure with {option('ranks', p)}",
                code="ranks-without-parameters",
                ranks=p,
                known=list(rank_choices),
            )
        costs = machine_costs(results.fits, p)
        ends = [_costs_at_end(results.fits, p, end) for end in ("low", "high")]
        base: Base = "bsp" if case["style"] == "bsp" else "bpram"
        missing, predicted, times = "", {}, {}
        for model in (CostModel(base), repaired(base)):
            try:
                predicted[model.name] = predict_time(steps, costs, model)
                times[model.name] = _time_estimate(steps, model, predicted[model.name].total, ends)
            except NotMeasured as error:
                missing = str(error)
        kinds = (work.operation for work in local_works(steps) if not costs.rates.exact(work))
        other_sizes = tuple(dict.fromkeys(kinds))
        predictions.append(
            KernelPrediction(
                case, workload.operation, folder.path, predicted, times, other_sizes, missing, caveats
            )
        )
    return predictions


def _costs_at_end(fits: Fits, ranks: int, end: End) -> BulkCosts | None:
    """The costs at one end of the parameters' intervals; None if a parameter has no interval."""
    try:
        return machine_costs(fits, ranks, end=end)
    except NotMeasured:
        return None


def _time_estimate(
    steps: Sequence[Superstep], model: CostModel, value: float, ends: Sequence[BulkCosts | None]
) -> Estimate:
    """The predicted time, with an interval from all parameters at their low ends to all at their high
    ends."""
    end_times = [predict_time(steps, costs, model).total for costs in ends if costs is not None]
    if len(end_times) < len(ends) or math.isnan(sum(end_times)):
        return Estimate(value, None, None)
    return Estimate(value, min(value, *end_times), max(value, *end_times))


TERMS = ("work", "copies", "data", "messages")
TERM_MEANINGS = {
    "work": "local work of the busiest rank",
    "copies": "copies in its memory",
    "data": "bytes and packets",
    "messages": "startups and synchronisation",
}


def _prediction_table(
    title: str, rows: Sequence[tuple[Case, Mapping[str, CostTerms], Mapping[str, Estimate]]]
) -> Table:
    """A row for each case and model."""
    columns = ("ranks", "model", "time, model only", *TERMS)
    cells = tuple(
        (
            str(case.ranks),
            model,
            time_cell(times[model]),
            *(quantity(getattr(terms, name), "s") for name in TERMS),
        )
        for case, predicted, times in rows
        for model, terms in predicted.items()
    )
    caption = "; ".join(f"{name}: {words}" for name, words in TERM_MEANINGS.items())
    return Table("kernel-prediction", title, columns, cells, (0, 2, 3, 4, 5, 6), f"{caption}.")


def _prediction_document(
    case: Case, predicted: Mapping[str, CostTerms], times: Mapping[str, Estimate]
) -> dict[str, Any]:
    """Seconds by model and cause, and the ends of the interval of each time (null if unknown)."""
    return {
        "case": case.line,
        "ranks": case.ranks,
        "models": {
            model: {
                "time_s": terms.total,
                "time_low_s": times[model].low,
                "time_high_s": times[model].high,
                **{f"{name}_s": getattr(terms, name) for name in TERMS},
            }
            for model, terms in predicted.items()
        },
    }
