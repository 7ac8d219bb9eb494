# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Rates of memory on a node with one and more busy cores: from a run of `node_memory`, or from a machine's
description."""

from __future__ import annotations

import math
from pathlib import Path

from hockney import measurement
from hockney.api import find_runs
from hockney.core.case import parse_canonical
from hockney.core.errors import UsageError, printable
from hockney.core.fit import Cost
from hockney.core.paths import AnyPath, to_path
from hockney.core.wording import option
from hockney.extrapolation.memory import MemoryRates
from hockney.machines import simulated
from hockney.measurement import Listener, Status
from hockney.store import Reading, RunFolder

TRIAD = "node_memory"
MEASURE = f"hockney run {TRIAD} ranks=1,2"
STUDIES = ("cases",)
"""The study of cases that are named one by one."""


def rates_of_description(machine: str) -> MemoryRates | None:
    """Those of a described machine; None if it has none."""
    platform = simulated.platform(measurement.description_name(machine))
    return MemoryRates(dict(platform.memory), machine) if platform.memory else None


def rates_of_machine(machine: str, cost: Cost) -> MemoryRates | None:
    """Those of a described machine, or of the run in a folder; None if it has none."""
    if not Path(machine).is_dir():
        return rates_of_description(machine)
    folder = RunFolder.open(to_path(machine))
    return rates_of_run(folder, folder.read(), cost)


def find_rates(run: AnyPath | None, cost: Cost, listen: Listener) -> MemoryRates | None:
    """Those of the folder `run`, or by default of the newest run of this machine that has any; None without
    one. Raises UsageError if that run has none."""
    if run is None:
        for folder, reading in find_runs.runs_of_this_machine(STUDIES):
            rates = rates_of_run(folder, reading, cost)
            if rates is not None:
                listen(Status(f"rates of memory from {rates.source}"))
                return rates
        return None
    folder = RunFolder.open(to_path(run))
    rates = rates_of_run(folder, folder.read(), cost)
    if rates is None:
        raise UsageError(
            f"{printable(str(run))} has no rates of memory",
            f"{TRIAD} on one rank and on several ranks of a node shows them",
            f"measure them with '{MEASURE}', or leave out {option('memory')}",
            code="run-without-memory-rates",
            path=str(run),
        )
    return rates


def rates_of_run(folder: RunFolder, reading: Reading, cost: Cost) -> MemoryRates | None:
    """Those of the largest arrays that a run measured on one rank and on several ranks of one node."""
    cases = [parse_canonical(line) for line in reading.run.by_case() if line.split(" ", 1)[0] == TRIAD]
    sizes = [case["bytes"] for case in cases if case.ranks == 1]
    if not sizes or any(len(set(launch.hosts)) > 1 for launch in reading.run.launches):
        return None
    used = {case.line: case for case in cases if case["bytes"] == max(sizes)}
    results = measurement.load_results(
        folder, reading=reading, cost=cost, is_relevant=lambda workload: workload.name == TRIAD
    )
    times = {
        used[summary.case].ranks: summary.cost(cost)
        for summary in results.fits.summaries
        if summary.case in used
    }
    if 1 not in times or len(times) < 2:
        return None
    # The size cancels in the ratios.
    size = 3 * float(max(sizes))
    widths = [math.log(each.high / each.low) / 2 for each in times.values() if each.low and each.high]
    rates = {ranks: size / each.value for ranks, each in times.items()}
    return MemoryRates(rates, printable(str(folder.path)), math.hypot(*sorted(widths)[-2:]))
