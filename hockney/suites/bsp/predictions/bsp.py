# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted times of bulk synchronous kernels from the parameters and local rates of a run."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hockney import measurement
from hockney.api import find_runs
from hockney.api.predictions import KernelOptions, PredictedKernel, kernel_catalog
from hockney.api.run_contents import caveats_of
from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Estimate, Fits
from hockney.core.notice import Notice
from hockney.core.paths import to_path
from hockney.core.wording import option
from hockney.draw.page import Table
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.measured_costs import End
from hockney.models.programs.description import Scaling
from hockney.models.programs.parts import Iteration
from hockney.models.programs.scaling import ProgramForecast, ProgramMachine, forecast
from hockney.pages import program_scaling
from hockney.pages.format import quantity
from hockney.pages.grain_prediction import time_cell
from hockney.store import RunFolder
from hockney.suites.bsp.models import described
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
class Kernel:
    """A kernel as a program on the machine of the run `source`, whose `fits` have parameters on
    `rank_choices`. On one rank, local work takes what it takes on the fewest of them. `text` is the kernel's
    case without ranks."""

    text: str
    workload: Workload
    catalog: Catalog
    fits: Fits
    rank_choices: tuple[int, ...]
    source: str

    @property
    def name(self) -> str:
        return self.workload.operation

    def case(self, ranks: int) -> Case:
        return self.catalog.case(f"{self.text} ranks={ranks}")

    @property
    def base(self) -> Base:
        return "bsp" if self.case(self.rank_choices[0])["style"] == "bsp" else "bpram"

    def supersteps(self, ranks: int) -> Sequence[Superstep]:
        """Raises UsageError."""
        case = self.case(ranks)
        steps = supersteps(self.name, case)
        if steps is None:
            raise UsageError(
                f"'{case.line}' has no supersteps",
                "calls of MPI are not a style that the models describe",
                "use style=bsp or style=bpram",
                code="kernel-without-supersteps",
                case=case.line,
            )
        return steps

    def costs(self, ranks: int, end: End = "value") -> BulkCosts:
        """Raises NotMeasured."""
        return machine_costs(self.fits, ranks if ranks > 1 else min(self.rank_choices), end=end)

    def ends(self, ranks: int) -> Mapping[End, BulkCosts]:
        """The costs at both ends of the parameters' intervals; none if a parameter has no interval."""
        try:
            return {"low": self.costs(ranks, "low"), "high": self.costs(ranks, "high")}
        except NotMeasured:
            return {}

    def iteration(self, ranks: int, end: End = "value") -> Iteration:
        """Raises NotMeasured."""
        return described.iteration(self.supersteps(ranks), ranks, self.costs(ranks, end), self.base)

    def count(self, ranks: int) -> float:
        return 1.0

    def machine(self, ranks: int) -> ProgramMachine:
        """The costs on `ranks` ranks. Raises NotMeasured."""
        packet = int(self.case(ranks).number("packet"))
        costs: dict[End, BulkCosts] = {"value": self.costs(ranks), **self.ends(ranks)}
        work = {end: float(self.iteration(ranks, end).computation.sum()) for end in costs}
        if math.isnan(sum(work.values())):  # a rate of local work has no interval
            costs = {"value": costs["value"]}
        messages = {
            end: described.communication(each, self.base, packet, self.source) for end, each in costs.items()
        }
        return ProgramMachine(
            messages, computing=tuple(work[end] / (work["value"] or 1.0) for end in messages)
        )


@dataclass(frozen=True)
class KernelPrediction:
    """A kernel by the formulas of its model. `predicted` are its times (s) by model, the plain and the
    repaired one, and `times` their sums with what the intervals of all parameters allow; without a model
    whose parameter, named in `missing`, was not measured. `other_sizes` are kinds of local work whose rates
    were measured at other sizes only."""

    case: Case
    predicted: Mapping[str, CostTerms]
    times: Mapping[str, Estimate]
    other_sizes: tuple[str, ...]
    missing: str


def kernels(catalog: Catalog) -> Sequence[str]:
    return [workload.name for workload in catalog.with_role(ROLE) if workload.operation in PROGRAMS]


def predict(text: str, options: KernelOptions) -> PredictedKernel:
    """`text` is a case of a kernel, such as "bitonic_sort keys=100000", in the style of BSP or BPRAM; by
    default predicted for the numbers of ranks of the run.

    Parameters and local rates come from the run of the options, or else from the newest run of bsp-kernels or
    bsp-parameters. Nothing is measured. Raises Inconclusive if there is no run, or if it has no parameters
    for these ranks.
    """
    catalog = kernel_catalog()
    workload = catalog.workload(text.split(" ", 1)[0])
    if options.run is None:
        folder = find_runs.newest_run_of_studies(STUDIES, options.listen)
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
    kernel = Kernel(text, workload, catalog, results.fits, rank_choices, str(folder.path))
    predictions = [_prediction(kernel, p) for p in options.ranks or rank_choices]
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
    scaled = _scaled(kernel, predictions)
    caveats = caveats_of(folder, results)
    models = (
        f"{text}, with parameters and local rates of {kernel.source}:",
        _prediction_table(kernel.name, predictions),
        *(program_scaling.contents(*scaled) if scaled else ()),
    )
    document = program_scaling.document(*scaled) if scaled else {}
    document |= {
        "run": kernel.source,
        "predictions": list(map(_prediction_document, predictions)),
        "doubts": caveats,
    }
    return PredictedKernel(models, caveats, document)


def _scaled(
    kernel: Kernel, predictions: Sequence[KernelPrediction]
) -> tuple[ProgramForecast, PointToPointCosts] | None:
    """How the kernel scales on the ranks for which its model has all parameters, and the costs of its
    messages; None if there are no such ranks."""
    ranks = tuple(each.case.ranks for each in predictions if kernel.base in each.predicted)
    if not ranks:
        return None
    known = replace(kernel, rank_choices=ranks)
    machines = {p: known.machine(p) for p in ranks}
    machine = replace(machines[ranks[0]], others=machines)
    scaling: Scaling | None = "strong" if kernel.workload.size == "n" else None  # keys are those of a rank
    return forecast(known, ranks, machine, scaling), machine.communication["value"].message


def _prediction(kernel: Kernel, ranks: int) -> KernelPrediction:
    steps = kernel.supersteps(ranks)
    if ranks not in kernel.rank_choices:
        raise Inconclusive(
            f"{kernel.source} has no parameters for {ranks} ranks",
            f"it has those for {', '.join(map(str, kernel.rank_choices))}",
            f"use {option('ranks', kernel.rank_choices[0])}, or measure with {option('ranks', ranks)}",
            code="ranks-without-parameters",
            ranks=ranks,
            known=list(kernel.rank_choices),
        )
    costs = kernel.costs(ranks)
    ends = kernel.ends(ranks).values()
    missing, predicted, times = "", {}, {}
    for model in (CostModel(kernel.base), repaired(kernel.base)):
        try:
            predicted[model.name] = predict_time(steps, costs, model)
            times[model.name] = _time_estimate(steps, model, predicted[model.name].total, ends)
        except NotMeasured as error:
            missing = str(error)
    kinds = (work.operation for work in local_works(steps) if not costs.rates.exact(work))
    return KernelPrediction(kernel.case(ranks), predicted, times, tuple(dict.fromkeys(kinds)), missing)


def _time_estimate(
    steps: Sequence[Superstep], model: CostModel, value: float, ends: Collection[BulkCosts]
) -> Estimate:
    """The predicted time, with an interval from all parameters at their low ends to all at their high
    ends."""
    end_times = [predict_time(steps, costs, model).total for costs in ends]
    if not ends or math.isnan(sum(end_times)):
        return Estimate(value, None, None)
    return Estimate(value, min(value, *end_times), max(value, *end_times))


TERMS = ("work", "copies", "data", "messages")
TERM_MEANINGS = {
    "work": "local work of the busiest rank",
    "copies": "copies in its memory",
    "data": "bytes and packets",
    "messages": "startups and synchronisation",
}


def _prediction_table(title: str, predictions: Sequence[KernelPrediction]) -> Table:
    """A row for each case and model."""
    columns = ("ranks", "model", "time, model only", *TERMS)
    cells = tuple(
        (
            str(each.case.ranks),
            model,
            time_cell(each.times[model]),
            *(quantity(getattr(terms, name), "s") for name in TERMS),
        )
        for each in predictions
        for model, terms in each.predicted.items()
    )
    caption = "; ".join(f"{name}: {words}" for name, words in TERM_MEANINGS.items())
    return Table("kernel-prediction", title, columns, cells, (0, 2, 3, 4, 5, 6), f"{caption}.")


def _prediction_document(prediction: KernelPrediction) -> dict[str, Any]:
    """Seconds by model and cause, and the ends of the interval of each time (null if unknown)."""
    return {
        "case": prediction.case.line,
        "ranks": prediction.case.ranks,
        "models": {
            model: {
                "time_s": terms.total,
                "time_low_s": prediction.times[model].low,
                "time_high_s": prediction.times[model].high,
                **{f"{name}_s": getattr(terms, name) for name in TERMS},
            }
            for model, terms in prediction.predicted.items()
        },
    }
