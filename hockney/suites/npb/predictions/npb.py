# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted performance of the NAS Parallel Benchmarks: the rate of one rank from a run, or as given, and
messages and collectives from a survey or a machine's description."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hockney import measurement
from hockney.api import find_runs
from hockney.api.predictions import KernelOptions, PredictedKernel, kernel_catalog
from hockney.api.programs import CommunicationSource, communication_source
from hockney.api.run_contents import caveats_of
from hockney.core.case import parse_canonical
from hockney.core.catalog import Catalog
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Cost
from hockney.core.notice import Notice
from hockney.core.paths import RUNS, AnyPath, to_path
from hockney.core.platform import Platform
from hockney.core.units import doubling_series
from hockney.core.wording import option
from hockney.draw.page import Caveat, Table
from hockney.machines import simulated
from hockney.measurement import Listener, Status
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.programs.forecast import KernelForecast, KernelMachine, KernelRow, forecast
from hockney.models.programs.prediction import Rates, RateSource, described_rate, measured_rates, uniform
from hockney.models.programs.program import Indivisible, Program
from hockney.pages import grain_prediction, program_prediction
from hockney.pages.caveats.predictions import CostsOrigin, cost_caveats
from hockney.store import Reading, RunFolder
from hockney.suites.npb.programs import PROGRAMS, program, program_of

OPTIONS = ("machine", "rate", "larger")
STUDIES = ("npb", "cases")
"""Studies that measure the benchmarks on one rank."""


@dataclass(frozen=True)
class NpbForecast:
    """A predicted benchmark: `prediction` has all numbers, from the costs of `messages` and from `rates`;
    `origin` is where the costs come from."""

    prediction: KernelForecast
    messages: PointToPointCosts
    rates: RateSource
    origin: CostsOrigin

    @property
    def rows(self) -> tuple[KernelRow, ...]:
        """One for each number of ranks."""
        return self.prediction.rows

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        return cost_caveats(self, self.origin)


def predict_npb(text: str, options: KernelOptions) -> NpbForecast:
    """`text` is a benchmark and its class, such as "cg class=B"; by default predicted for powers of two up to
    the cores.

    The rate of one rank in each phase comes from the run of the options, or else from the newest run of the
    benchmark on one rank, if possible in the same class; `rate` replaces it. The cost of messages and
    collectives comes from the same run, or else from the newest survey, or from the description of `machine`,
    which also has a rate. Nothing is measured. Raises UsageError for ranks among which the benchmark cannot
    be divided or that the machine does not have, Inconclusive if no run has its rate or the cost of messages.
    """
    run, machine, cost, listen = options.run, options.machine, options.cost, options.listen
    case = kernel_catalog().case(f"{text} ranks=1")
    kernel, size = case.workload, str(case["class"])
    platform = simulated.platform(measurement.description_name(machine)) if machine else None
    rates, source, caveats = _rates(kernel, size, run, options.rate, platform, cost, listen)
    communication = _communication(run or source.run, machine, cost, listen)
    rank_counts = options.ranks or doubling_series(1, communication.default_max_ranks)
    if platform is not None and not options.larger:
        simulated.check_ranks(platform, rank_counts[-1])
    cores = None if options.larger else communication.cores
    kernel_machine = KernelMachine(rates, communication.costs, cores, platform, source.operations_per_second)

    def make_program(ranks: int, rate: float, startup: float) -> Program:
        return program(kernel, size, ranks, rate=rate, startup=startup)

    try:
        kernel_forecast = forecast(make_program, rank_counts, kernel_machine)
    except Indivisible as error:
        raise UsageError(
            f"{kernel} of class {size} cannot be divided among {error.ranks} ranks",
            "each rank needs a part of the problem",
            f"use {option('ranks', error.most)}",
            code="indivisible",
            ranks=error.ranks,
            most=error.most,
        ) from None
    if kernel_forecast.indivisible:
        listen(
            Notice(
                f"{kernel} of class {size} cannot be divided among "
                f"{', '.join(map(str, kernel_forecast.indivisible))} "
                "ranks",
                "ranks-left-out",
            )
        )
    by_code = {caveat.code: caveat for caveat in (*communication.origin.run, *caveats)}
    origin = replace(communication.origin, run=tuple(by_code.values()))
    return NpbForecast(kernel_forecast, communication.messages, source, origin)


def _rates(
    kernel: str,
    size: str,
    run: AnyPath | None,
    rate: float,
    platform: Platform | None,
    cost: Cost,
    listen: Listener,
) -> tuple[Rates, RateSource, tuple[Caveat, ...]]:
    """Rates and their source, with the caveats of the run that has them."""
    if rate:
        return uniform(rate), RateSource(operations_per_second=rate), ()
    if run is not None:
        folder = RunFolder.open(to_path(run))
        measured = _measured_rates(kernel, size, [(folder, folder.read())], cost)
        if measured is None:
            raise Inconclusive(
                f"{folder.path} has no times of {kernel} on one rank",
                "the prediction is based on the rate at which one rank computes",
                f"name a run of 'hockney run \"{kernel} class={size}\" --ranks 1', or give {option('rate')} "
                f"instead of {option('run')}",
                code="run-without-one-rank",
                path=str(folder.path),
                kernel=kernel,
                size=size,
            )
        return measured
    if platform is not None:
        described_value = described_rate(platform, kernel)
        return uniform(described_value), RateSource(operations_per_second=described_value, described=True), ()
    measured = _measured_rates(kernel, size, find_runs.runs_of_this_machine(STUDIES), cost)
    if measured is None:
        raise Inconclusive(
            f"no run of {kernel} on one rank in {RUNS}",
            "the prediction is based on the rate at which one rank computes",
            f"run 'hockney run \"{kernel} class={size}\" --ranks 1' first, or give {option('rate')}",
            code="no-rate-of-one-rank",
            kernel=kernel,
            size=size,
        )
    listen(
        Status(
            f"the rate of one rank from {measured[1].run!s}, which has {kernel} of class {measured[1].size}"
        )
    )
    return measured


def _measured_rates(
    kernel: str,
    size: str,
    runs: Iterable[tuple[RunFolder, Reading]],
    cost: Cost,
) -> tuple[Rates, RateSource, tuple[Caveat, ...]] | None:
    """Rates of the same class if any run has it, otherwise of the first class that was measured."""
    other_class = None
    for folder, reading in runs:
        for rates, caveats in _rates_of_run(kernel, folder, reading, cost):
            candidate = rates, RateSource(folder.path, rates.size), caveats
            if rates.size == size:
                return candidate
            other_class = other_class or candidate
    return other_class


def _rates_of_run(
    kernel: str, folder: RunFolder, reading: Reading, cost: Cost
) -> Iterator[tuple[Rates, tuple[Caveat, ...]]]:
    """Rates of every class that was measured on one rank, with their caveats."""
    lines = [line for line in reading.run.by_case() if line.split(" ", 1)[0] == kernel]
    cases = [case for line in lines if (case := parse_canonical(line)).ranks == 1 and case.is_usual]
    if not any(case["barrier_at"] == "none" and case["fault"] == "none" for case in cases):
        return
    results = measurement.load_results(
        folder, reading=reading, cost=cost, relevant=lambda w: w.name == kernel
    )
    times = {each.case: each.cost(cost) for each in results.fits.summaries}
    records = results.run.by_case()
    for case in cases:
        if case.line in times and case["barrier_at"] == "none" and case["fault"] == "none":
            rates = measured_rates(program_of(case), records[case.line], times[case.line])
            if rates is not None:
                yield rates, caveats_of(folder, results)


def _communication(run: AnyPath | None, machine: str, cost: Cost, listen: Listener) -> CommunicationSource:
    """The costs of the machine or of the run; if the run has none, of the newest survey."""
    if machine:
        return communication_source(None, machine, cost, listen)
    if run is not None:
        with contextlib.suppress(Inconclusive):
            return communication_source(run, "", cost, listen)
    return communication_source(None, "", cost, listen)


def kernels(catalog: Catalog) -> Sequence[str]:
    return tuple(PROGRAMS)


def predict(text: str, options: KernelOptions) -> PredictedKernel:
    prediction = predict_npb(text, options)
    kernel_forecast = prediction.prediction
    contents: list[str | Table] = [
        *program_prediction.assumed(kernel_forecast, prediction.messages, prediction.rates),
        program_prediction.ranks(kernel_forecast),
        *program_prediction.best(kernel_forecast),
    ]
    if kernel_forecast.changes:
        contents += [
            grain_prediction.changes_heading(kernel_forecast),
            program_prediction.levers(kernel_forecast),
        ]
    document = program_prediction.document(kernel_forecast, prediction.messages, prediction.rates) | {
        "doubts": prediction.caveats
    }
    return PredictedKernel(tuple(contents), prediction.caveats, document)
