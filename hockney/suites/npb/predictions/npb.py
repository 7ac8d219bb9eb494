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
from hockney.api.find_runs import Source
from hockney.api.predictions import KernelOptions, PredictedKernel, kernel_catalog
from hockney.api.run_contents import caveats_of
from hockney.core.case import parse_canonical
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Cost
from hockney.core.notice import Notice
from hockney.core.option_names import option
from hockney.core.paths import RUNS, AnyPath, to_path
from hockney.core.platform import Platform
from hockney.core.units import doubling
from hockney.draw.page import Caveat, Table
from hockney.machines import simulated
from hockney.measurement import Listener, Status
from hockney.models.applications.message_costs import described, relevant
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.measured_costs import End
from hockney.models.programs.communication import Communication, of_fits
from hockney.models.programs.forecast import KernelForecast, KernelMachine, KernelRow, forecast
from hockney.models.programs.program import Indivisible, Program
from hockney.models.programs.rates import Rates, RateSource, described_rate, measured_rates, uniform
from hockney.pages import grain_prediction, program_prediction
from hockney.pages.grain_prediction import CostsOrigin
from hockney.store import Reading, RunFolder
from hockney.suites.npb.programs import PROGRAMS, program, program_of

OPTIONS = ("machine", "rate", "larger")
STUDIES = ("npb", "cases")
"""Studies that measure the benchmarks on one rank."""
ROLES = ("point-to-point", "stream", "train", "collective")
"""Of the workloads that give the costs of messages and collectives."""
MOST_ASKED = 16
"""The default number of ranks on a machine other than this one."""


@dataclass(frozen=True)
class NpbForecast:
    """`prediction` has all numbers; `messages` and `rates` are where they come from, and `known` those of
    messages."""

    prediction: KernelForecast
    messages: PointToPointCosts
    rates: RateSource
    known: CostsOrigin

    @property
    def rows(self) -> tuple[KernelRow, ...]:
        """One for each number of ranks."""
        return self.prediction.rows

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        return grain_prediction.caveats_of_costs(self, self.known)


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
    if platform is None:
        communication, cores, here, origin = _measured_communication(run or source.run, cost, listen)
    else:
        communication = {"value": Communication(described(platform), platform=platform)}
        cores, here, origin = (
            platform.capacity,
            False,
            CostsOrigin(platform, measurement.description_name(machine)),
        )
    costs = communication["value"].message
    wanted = options.ranks or _default(costs, here=here)
    if platform is not None and not options.larger:
        simulated.check_ranks(platform, wanted[-1])
    known = KernelMachine(
        rates, communication, None if options.larger else cores, platform, source.operations_per_second
    )

    def make(ranks: int, rate: float, startup: float) -> Program:
        return program(kernel, size, ranks, rate=rate, startup=startup)

    try:
        made = forecast(make, wanted, known)
    except Indivisible as error:
        raise UsageError(
            f"{kernel} of class {size} cannot be divided among {error.ranks} ranks",
            "each rank needs a part of the problem",
            f"use {option('ranks', error.most)}",
            code="indivisible",
            ranks=error.ranks,
            most=error.most,
        ) from None
    if made.indivisible:
        listen(
            Notice(
                f"{kernel} of class {size} cannot be divided among {', '.join(map(str, made.indivisible))} "
                "ranks",
                "ranks-left-out",
            )
        )
    by_code = {caveat.code: caveat for caveat in (*origin.run, *caveats)}
    return NpbForecast(made, costs, source, replace(origin, run=tuple(by_code.values())))


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
        found = _measured(kernel, size, [(folder, folder.read())], cost)
        if found is None:
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
        return found
    if platform is not None:
        described = described_rate(platform, kernel)
        return uniform(described), RateSource(operations_per_second=described, described=True), ()
    found = _measured(kernel, size, find_runs.runs_of_this_machine(STUDIES), cost)
    if found is None:
        raise Inconclusive(
            f"no run of {kernel} on one rank in {RUNS}",
            "the prediction is based on the rate at which one rank computes",
            f"run 'hockney run \"{kernel} class={size}\" --ranks 1' first, or give {option('rate')}",
            code="no-rate-of-one-rank",
            kernel=kernel,
            size=size,
        )
    listen(Status(f"the rate of one rank from {found[1].run!s}, which has {kernel} of class {found[1].size}"))
    return found


def _measured(
    kernel: str,
    size: str,
    runs: Iterable[tuple[RunFolder, Reading]],
    cost: Cost,
) -> tuple[Rates, RateSource, tuple[Caveat, ...]] | None:
    """Rates of the same class if any run has it, otherwise of the first class that was measured."""
    other = None
    for folder, reading in runs:
        for rates, caveats in _of_run(kernel, folder, reading, cost):
            found = rates, RateSource(folder.path, rates.size), caveats
            if rates.size == size:
                return found
            other = other or found
    return other


def _of_run(
    kernel: str, folder: RunFolder, reading: Reading, cost: Cost
) -> Iterator[tuple[Rates, tuple[Caveat, ...]]]:
    """Rates of every class that was measured on one rank, with their caveats."""
    lines = [line for line in reading.run.by_case() if line.split(" ", 1)[0] == kernel]
    cases = [case for line in lines if (case := parse_canonical(line)).ranks == 1 and case.is_usual]
    if not any(case["barrier_at"] == "none" and case["fault"] == "none" for case in cases):
        return
    results = measurement.results(folder, reading=reading, cost=cost, relevant=lambda w: w.name == kernel)
    times = {each.case: each.cost(cost) for each in results.fits.summaries}
    records = results.run.by_case()
    for case in cases:
        if case.line in times and case["barrier_at"] == "none" and case["fault"] == "none":
            rates = measured_rates(program_of(case), records[case.line], times[case.line])
            if rates is not None:
                yield rates, caveats_of(folder, results)


def _measured_communication(
    run: AnyPath | None, cost: Cost, listen: Listener
) -> tuple[dict[End, Communication], int | None, bool, CostsOrigin]:
    """Communication costs, with the number of cores, whether they are those of this machine, and the
    origin."""
    source = _source(run, cost, listen)
    ends: tuple[End, ...] = ("value", "low", "high") if source.messages.band else ("value",)
    communication = {end: of_fits(source.fits, source.messages, end) for end in ends}
    machine = source.machine.traits
    return communication, source.messages.most_ranks, not machine.described, source.origin


def _source(run: AnyPath | None, cost: Cost, listen: Listener) -> Source:
    if run is not None:
        with contextlib.suppress(Inconclusive):
            return find_runs.named_source(run, listen, cost, _wanted)
    return find_runs.newest_source(listen, cost, _wanted)


def _wanted(workload: Workload) -> bool:
    return relevant(workload) or workload.role in ROLES


def _default(costs: PointToPointCosts, *, here: bool) -> tuple[int, ...]:
    room = costs.most_ranks or MOST_ASKED
    most = max(2, room if here else min(room, MOST_ASKED))
    return tuple(doubling(1, 1 << (most.bit_length() - 1)))


def kernels(catalog: Catalog) -> Sequence[str]:
    return tuple(PROGRAMS)


def predict(text: str, options: KernelOptions) -> PredictedKernel:
    found = predict_npb(text, options)
    made = found.prediction
    shown: list[str | Table] = [
        *program_prediction.assumed(made, found.messages, found.rates),
        program_prediction.ranks(made),
        *program_prediction.best(made),
    ]
    if made.changes:
        shown += [grain_prediction.changed(made), program_prediction.levers(made)]
    document = program_prediction.document(made, found.messages, found.rates) | {"doubts": found.caveats}
    return PredictedKernel(tuple(shown), found.caveats, document)
