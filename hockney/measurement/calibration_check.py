# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration of a simulated machine from a run, and the survey of that machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from hockney.core.case import HOT, PLACE, Case
from hockney.core.fit import Cost
from hockney.core.layout import NETWORK, PAIR_RANKS, THIS_HOST, HostOptions
from hockney.core.platform import Platform
from hockney.core.settings import Settings
from hockney.machines import simulated
from hockney.machines.simulated.calibrate import Survey
from hockney.machines.simulated.calibrate.survey import in_simulation
from hockney.measurement.bench import Notify, check_start
from hockney.measurement.events import Listener
from hockney.measurement.kinds import prepare
from hockney.measurement.kinds.sim import simulated_reference
from hockney.measurement.run_results import Results, load_results
from hockney.measurement.session import create_run, measure
from hockney.store import RunFolder

SIMULATION_BUDGET_S = 600.0
"""Budget in wall-clock time; two ranks take seconds."""


def calibration_survey(folder: RunFolder, cost: Cost = "typical") -> tuple[Survey, Results]:
    """Return a run prepared for calibration from its cases' `cost`, and the results on which it is based."""
    results = load_results(folder, cost=cost)
    name = folder.path.resolve().name or str(folder.path)
    return Survey(name, results.fits, results.run, results.machine), results


def twin_cases(survey: Survey) -> list[Case]:
    """Return the cases to simulate: all cases of the run between two ranks. A simulator has no caches, so
    buffers are always hot, and one level within a node."""
    measured_cases = (case for level in survey.levels for case, _ in level.measured)
    pair_cases = (
        case for case in measured_cases if case.ranks == PAIR_RANKS and case.get("buffers", HOT) == HOT
    )
    return [
        case.with_parameter(PLACE, in_simulation(case.place)) if case.place else case for case in pair_cases
    ]


def _layout(survey: Survey) -> HostOptions:
    """Return a layout of up to two ranks on a node and two nodes, depending on whether the run contains
    messages within and between nodes."""
    if survey.places == ("",):
        return THIS_HOST
    has_network = NETWORK in survey.places
    has_node = len(survey.places) > has_network
    return HostOptions(nodes=1 + has_network, ranks_per_node=1 + has_node)


def survey_twin(platform: Platform, survey: Survey, notify: Notify, listen: Listener) -> Survey:
    """Survey `platform` in simulation with the cases of `survey`. The simulation has no noise, because
    medians are compared."""
    noiseless = msgspec.structs.replace(platform, noise=None, detours=())
    with tempfile.TemporaryDirectory(prefix="hockney-twin-") as scratch:
        description = Path(scratch) / "twin.toml"
        description.write_text(simulated.write(noiseless), "utf-8")
        machine = simulated_reference(str(description))
        bench = prepare(machine, "", True, notify, hosts=_layout(survey))
        workload_names = {workload.name for workload in bench.catalog.workloads}
        cases = [case for case in twin_cases(survey) if case.workload in workload_names]
        settings = Settings(study="cases", budget_s=SIMULATION_BUDGET_S, launches=1, seed=1, machine=machine)
        folder = create_run(Path(scratch) / "twin", cases, settings, check_start(bench, cases))
        measure(folder, bench, listen)
        return calibration_survey(folder)[0]
