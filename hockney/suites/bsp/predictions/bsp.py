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
from hockney.suites.bsp.models.costs import BaseModel, CostModel, CostTerms, fully_repaired_model
from hockney.suites.bsp.models.costs import predict as predict_time
from hockney.suites.bsp.models.parameters import BulkCosts, MissingParameter, machine_costs, rank_counts
from hockney.suites.bsp.models.programs import PROGRAMS, Superstep, distinct_local_work, supersteps

STUDIES = ("bsp-kernels", "bsp-parameters")
"""Studies that measure the parameters."""
ROLE = "bsp-kernel"
OPTIONS = ()
"""Empty, since the parameters come from a run on this machine."""


@dataclass(frozen=True)
class Kernel:
    """A kernel as a program on the machine of the run `source`, whose `fits` contain parameters for
    `rank_choices`. On one rank, local work takes its time on the fewest of these ranks. `text` is the
    kernel's case without ranks."""

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
    def base(self) -> BaseModel:
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
        """Raises MissingParameter."""
        return machine_costs(self.fits, ranks if ranks > 1 else min(self.rank_choices), end=end)

    def interval_costs(self, ranks: int) -> Mapping[End, BulkCosts]:
        """Returns the costs at both ends of the parameters' intervals; none if one has no interval."""
        try:
            return {"low": self.costs(ranks, "low"), "high": self.costs(ranks, "high")}
        except MissingParameter:
            return {}

    def iteration(self, ranks: int, end: End = "value") -> Iteration:
        """Raises MissingParameter."""
        return described.iteration(self.supersteps(ranks), ranks, self.costs(ranks, end), self.base)

    def count(self, ranks: int) -> float:
        return 1.0

    def machine(self, ranks: int) -> ProgramMachine:
        """Returns the costs on `ranks` ranks. Raises MissingParameter."""
        packet = int(self.case(ranks).number("packet"))
        costs: dict[End, BulkCosts] = {"value": self.costs(ranks), **self.interval_costs(ranks)}
        work_s = {end: float(self.iteration(ranks, end).computation.sum()) for end in costs}
        if math.isnan(sum(work_s.values())):  # a rate of local work has no interval
            costs = {"value": costs["value"]}
        messages = {
            end: described.communication(bulk_costs, self.base, packet, self.source)
            for end, bulk_costs in costs.items()
        }
        return ProgramMachine(
            messages, computing=tuple(work_s[end] / (work_s["value"] or 1.0) for end in messages)
        )


@dataclass(frozen=True)
class KernelPrediction:
    """The times of a kernel by the formulas of its model, plain and repaired.

    `terms_by_model` are the times (s) by cause, and `estimates` their sums, with intervals from those of all
    parameters. Models with an unmeasured parameter are left out; `missing_parameter` names it.
    `interpolated_work` lists the kinds of local work whose rates were measured at other sizes only."""

    case: Case
    terms_by_model: Mapping[str, CostTerms]
    estimates: Mapping[str, Estimate]
    interpolated_work: tuple[str, ...]
    missing_parameter: str


def kernels(catalog: Catalog) -> Sequence[str]:
    return [workload.name for workload in catalog.with_role(ROLE) if workload.operation in PROGRAMS]


def predict(text: str, options: KernelOptions) -> PredictedKernel:
    """Predicts the times of a kernel for the ranks of the options, by default for those of the run.

    `text` is a case of a kernel in the style of BSP or BPRAM, such as "bitonic_sort keys=100000". Parameters
    and local rates come from the run of the options, or else from the newest run of bsp-kernels or
    bsp-parameters. Nothing is measured. Raises Inconclusive if there is no run, or if it has no parameters
    for these ranks."""
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
    predictions = [_predict_kernel(kernel, p) for p in options.ranks or rank_choices]
    if interpolated_work := dict.fromkeys(
        kind for prediction in predictions for kind in prediction.interpolated_work
    ):
        options.listen(
            Notice(
                f"local work was measured only at other sizes: {', '.join(interpolated_work)}; "
                "'hockney run bsp-kernels' measures it at the sizes of its kernels",
                "rates-of-other-sizes",
            )
        )
    for prediction in predictions:
        if prediction.missing_parameter:
            options.listen(
                Notice(
                    f"a model is left out on {prediction.case.ranks} ranks: "
                    f"{prediction.missing_parameter} was not measured",
                    "kernel-not-predicted",
                )
            )
    scaling_forecast = _forecast_scaling(kernel, predictions)
    caveats = caveats_of(folder, results)
    models = (
        f"{text}, with parameters and local rates of {kernel.source}:",
        _prediction_table(kernel.name, predictions),
        *(program_scaling.forecast_contents(*scaling_forecast) if scaling_forecast else ()),
    )
    document = program_scaling.document(*scaling_forecast) if scaling_forecast else {}
    document |= {
        "run": kernel.source,
        "predictions": list(map(_prediction_document, predictions)),
        "doubts": caveats,
    }
    return PredictedKernel(models, caveats, document)


def _forecast_scaling(
    kernel: Kernel, predictions: Sequence[KernelPrediction]
) -> tuple[ProgramForecast, PointToPointCosts] | None:
    """Returns the forecast for the ranks for which the model has all parameters, and the costs of its
    messages; None if there are no such ranks."""
    ranks = tuple(
        prediction.case.ranks for prediction in predictions if kernel.base in prediction.terms_by_model
    )
    if not ranks:
        return None
    modelled_kernel = replace(kernel, rank_choices=ranks)
    machines = {p: modelled_kernel.machine(p) for p in ranks}
    machine = replace(machines[ranks[0]], measured_machines=machines)
    scaling: Scaling | None = "strong" if kernel.workload.size == "n" else None  # keys are those of a rank
    return forecast(modelled_kernel, ranks, machine, scaling), machine.communication["value"].message


def _predict_kernel(kernel: Kernel, ranks: int) -> KernelPrediction:
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
    interval_costs = kernel.interval_costs(ranks).values()
    missing_parameter, terms_by_model, estimates = "", {}, {}
    for model in (CostModel(kernel.base), fully_repaired_model(kernel.base)):
        try:
            terms_by_model[model.name] = predict_time(steps, costs, model)
            estimates[model.name] = _time_estimate(
                steps, model, terms_by_model[model.name].total, interval_costs
            )
        except MissingParameter as error:
            missing_parameter = str(error)
    kinds = (work.operation for work in distinct_local_work(steps) if not costs.rates.exact_rate(work))
    return KernelPrediction(
        kernel.case(ranks), terms_by_model, estimates, tuple(dict.fromkeys(kinds)), missing_parameter
    )


def _time_estimate(
    steps: Sequence[Superstep], model: CostModel, value: float, interval_costs: Collection[BulkCosts]
) -> Estimate:
    """Returns the predicted time, with an interval from all parameters at their low ends to all at their high
    ends."""
    interval_times = [predict_time(steps, costs, model).total for costs in interval_costs]
    if not interval_costs or math.isnan(sum(interval_times)):
        return Estimate(value, None, None)
    return Estimate(value, min(value, *interval_times), max(value, *interval_times))


TERMS = ("work", "copies", "data", "messages")
TERM_MEANINGS = {
    "work": "local work of the busiest rank",
    "copies": "copies in its memory",
    "data": "bytes and packets",
    "messages": "startups and synchronisation",
}


def _prediction_table(title: str, predictions: Sequence[KernelPrediction]) -> Table:
    """Returns a table with a row for each case and model."""
    columns = ("ranks", "model", "time, model only", *TERMS)
    rows = tuple(
        (
            str(prediction.case.ranks),
            model,
            time_cell(prediction.estimates[model]),
            *(quantity(getattr(terms, name), "s") for name in TERMS),
        )
        for prediction in predictions
        for model, terms in prediction.terms_by_model.items()
    )
    caption = "; ".join(f"{name}: {meaning}" for name, meaning in TERM_MEANINGS.items())
    return Table("kernel-prediction", title, columns, rows, (0, 2, 3, 4, 5, 6), f"{caption}.")


def _prediction_document(prediction: KernelPrediction) -> dict[str, Any]:
    """Returns the seconds by model and cause, and the ends of the interval of each time (null if unknown)."""
    return {
        "case": prediction.case.line,
        "ranks": prediction.case.ranks,
        "models": {
            model: {
                "time_s": terms.total,
                "time_low_s": prediction.estimates[model].low,
                "time_high_s": prediction.estimates[model].high,
                **{f"{name}_s": getattr(terms, name) for name in TERMS},
            }
            for model, terms in prediction.terms_by_model.items()
        },
    }
