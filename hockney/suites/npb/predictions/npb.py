# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted performance of the NAS Parallel Benchmarks.

The rate of one rank comes from a run or an option, and the costs of messages and collectives from a survey
or a machine's description."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

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
from hockney.core.paths import RUNS_FOLDER, AnyPath, to_path
from hockney.core.platform import Platform
from hockney.core.units import doubling_series
from hockney.core.wording import join_words, option
from hockney.draw.page import Caveat
from hockney.machines import simulated
from hockney.measurement import Listener, Status
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.loggp_sim import message_startup
from hockney.models.programs.parts import Iteration
from hockney.models.programs.scaling import ProgramMachine, ProgramRow, forecast
from hockney.pages import program_scaling
from hockney.pages.caveats.predictions import cost_caveats, program_caveats
from hockney.store import Reading, RunFolder
from hockney.suites.npb.programs import PROGRAMS, program, program_of
from hockney.suites.npb.programs.program import Indivisible, NpbProgram, Rates, measured_rates, uniform_rates

OPTIONS = ("machine", "rate", "larger")
STUDIES = ("npb", "cases")
"""Studies that measure the benchmarks on one rank."""


@dataclass(frozen=True)
class RateSource:
    """The source of the rates: the `run` with one rank and the class measured in it, or operations per
    second from an option or a description."""

    run: Path | None = None
    size: str = ""
    operations_per_second: float = 0.0
    described: bool = False

    def sentence(self, size: str) -> str:
        """Returns a sentence on the source of the computation time, in a prediction of class `size`."""
        if self.run is None:
            origin = ", by the machine's description" if self.described else ""
            return f"Every rank computes at {self.operations_per_second:.3g} operations per second{origin}."
        class_note = "" if self.size == size else f", which has class {self.size} and not {size}"
        return f"Every rank computes as one rank did in each phase in {self.run}{class_note}."

    @property
    def document(self) -> dict[str, Any]:
        return {
            "run": None if self.run is None else str(self.run),
            "class": self.size or None,
            "operations_per_second": self.operations_per_second or None,
            "described": self.described,
        }


@dataclass(frozen=True)
class Benchmark:
    """A benchmark as a program for any number of ranks, at these rates. On a described machine
    (`platform`), pipelines are divided for its messages and for `rate` operations per second."""

    kernel: str
    size: str
    rates: Rates
    platform: Platform | None = None
    rate: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.kernel}, class {self.size}"

    def program(self, ranks: int) -> NpbProgram:
        """Raises Indivisible."""
        startup = 0.0 if self.platform is None else message_startup(self.platform, ranks)
        return program(self.kernel, self.size, ranks, rate=self.rate, startup=startup)

    def iteration(self, ranks: int) -> Iteration:
        return self.program(ranks).iteration(self.rates)

    def count(self, ranks: int) -> float:
        return self.program(ranks).iterations


@dataclass(frozen=True)
class ForecastRows:
    """The costs of messages, and a row for each number of ranks."""

    messages: PointToPointCosts
    rows: tuple[ProgramRow, ...]


def predict(text: str, options: KernelOptions) -> PredictedKernel:
    """Predicts the times of a benchmark for the ranks of the options, by default for powers of two up to the
    cores.

    `text` is a benchmark and its class, such as "cg class=B". The rate of one rank in each phase comes
    from the run of the options, or else from the newest run of the benchmark on one rank, if possible in
    the same class; `rate` replaces it. The costs of messages and collectives come from the same run, or
    else from the newest survey, or from the description of `machine`, which also has a rate. Nothing is
    measured. Raises UsageError for ranks among which the benchmark cannot be divided or that the machine
    does not have, and Inconclusive if no run has its rate or the cost of messages."""
    run, machine, cost, listen = options.run, options.machine, options.cost, options.listen
    case = kernel_catalog().case(f"{text} ranks=1")
    kernel, size = case.workload, str(case["class"])
    platform = simulated.platform(measurement.description_name(machine)) if machine else None
    rates, source, caveats = _find_rates(kernel, size, run, options.rate, platform, cost, listen)
    communication = _find_communication(run or source.run, options)
    rank_counts = options.ranks or doubling_series(1, communication.default_max_ranks)
    benchmark = Benchmark(kernel, size, rates, communication.origin.platform, source.operations_per_second)
    refusals = {ranks: error for ranks in rank_counts if (error := _indivisible_error(benchmark, ranks))}
    divisible = [ranks for ranks in rank_counts if ranks not in refusals]
    if not divisible:
        error = refusals[min(refusals)]
        raise UsageError(
            f"{kernel} of class {size} cannot be divided among {error.ranks} ranks",
            "each rank needs a part of the problem",
            f"use {option('ranks', error.max_ranks)}",
            code="indivisible",
            ranks=error.ranks,
            most=error.max_ranks,
        )
    if refusals:
        listen(
            Notice(
                f"{kernel} of class {size} cannot be divided among {join_words(list(refusals))} ranks",
                "ranks-left-out",
            )
        )
    cores = None if options.larger else communication.cores
    machine_costs = ProgramMachine(communication.costs, cores, (rates.low, rates.high))
    results = forecast(benchmark, divisible, machine_costs, "strong"), communication.messages
    caveats_by_code = {caveat.code: caveat for caveat in (*communication.origin.run, *caveats)}
    origin = replace(communication.origin, run=tuple(caveats_by_code.values()))
    all_caveats = (
        *cost_caveats(ForecastRows(communication.messages, results[0].rows), origin),
        *program_caveats(*results),
    )
    document = program_scaling.document(*results) | {
        "kernel": kernel,
        "class": size,
        "rate": source.document,
        "indivisible": list(refusals),
        "doubts": all_caveats,
    }
    return PredictedKernel(
        (source.sentence(size), *program_scaling.forecast_contents(*results)), all_caveats, document
    )


def _indivisible_error(benchmark: Benchmark, ranks: int) -> Indivisible | None:
    try:
        benchmark.program(ranks)
    except Indivisible as error:
        return error
    return None


def _find_rates(
    kernel: str,
    size: str,
    run: AnyPath | None,
    rate: float,
    platform: Platform | None,
    cost: Cost,
    listen: Listener,
) -> tuple[Rates, RateSource, tuple[Caveat, ...]]:
    """Returns the rates and their source, with the caveats of the run from which they come."""
    if rate:
        return uniform_rates(rate), RateSource(operations_per_second=rate), ()
    if run is not None:
        folder = RunFolder.open(to_path(run))
        measured_source = _measured_rates(kernel, size, [(folder, folder.read())], cost)
        if measured_source is None:
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
        return measured_source
    if platform is not None:
        described_rate = platform.rate(kernel)
        return (
            uniform_rates(described_rate),
            RateSource(operations_per_second=described_rate, described=True),
            (),
        )
    measured_source = _measured_rates(kernel, size, find_runs.runs_of_this_machine(STUDIES), cost)
    if measured_source is None:
        raise Inconclusive(
            f"no run of {kernel} on one rank in {RUNS_FOLDER}",
            "the prediction is based on the rate at which one rank computes",
            f"run 'hockney run \"{kernel} class={size}\" --ranks 1' first, or give {option('rate')}",
            code="no-rate-of-one-rank",
            kernel=kernel,
            size=size,
        )
    listen(
        Status(
            f"the rate of one rank from {measured_source[1].run!s}, which has {kernel} of class "
            f"{measured_source[1].size}"
        )
    )
    return measured_source


def _measured_rates(
    kernel: str,
    size: str,
    runs: Iterable[tuple[RunFolder, Reading]],
    cost: Cost,
) -> tuple[Rates, RateSource, tuple[Caveat, ...]] | None:
    """Returns rates of the same class if any run has them, otherwise of the first measured class."""
    fallback = None
    for folder, reading in runs:
        for rates, caveats in _rates_of_run(kernel, folder, reading, cost):
            candidate = rates, RateSource(folder.path, rates.size), caveats
            if rates.size == size:
                return candidate
            fallback = fallback or candidate
    return fallback


def _rates_of_run(
    kernel: str, folder: RunFolder, reading: Reading, cost: Cost
) -> Iterator[tuple[Rates, tuple[Caveat, ...]]]:
    """Yields the rates of every class that was measured on one rank, with their caveats."""
    lines = [line for line in reading.run.by_case() if line.split(" ", 1)[0] == kernel]
    cases = [case for line in lines if (case := parse_canonical(line)).ranks == 1 and case.is_usual]
    if not any(case["barrier_at"] == "none" and case["fault"] == "none" for case in cases):
        return
    results = measurement.load_results(
        folder, reading=reading, cost=cost, is_relevant=lambda workload: workload.name == kernel
    )
    times = {summary.case: summary.cost(cost) for summary in results.fits.summaries}
    records = results.run.by_case()
    for case in cases:
        if case.line in times and case["barrier_at"] == "none" and case["fault"] == "none":
            rates = measured_rates(program_of(case), records[case.line], times[case.line])
            if rates is not None:
                yield rates, caveats_of(folder, results)


def _find_communication(run: AnyPath | None, options: KernelOptions) -> CommunicationSource:
    """Returns the costs of the machine or of the run, or else of the newest survey."""
    find_source = partial(
        communication_source,
        machine=options.machine,
        cost=options.cost,
        listen=options.listen,
        ranks=options.ranks,
        larger=options.larger,
    )
    if run is not None and not options.machine:
        with contextlib.suppress(Inconclusive):
            return find_source(run)
    return find_source(None)


def kernels(catalog: Catalog) -> Sequence[str]:
    return tuple(PROGRAMS)
