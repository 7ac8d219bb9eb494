# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Calibrate a simulated machine from a run, and survey it."""

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
from hockney.measurement.session import begin, measure
from hockney.store import RunFolder

BUDGET_S = 600.0
"""Wall-clock time; two ranks take seconds."""


def calibration_survey(folder: RunFolder, cost: Cost = "typical") -> tuple[Survey, Results]:
    """A run prepared for calibration from its cases' `cost`, and the results that it is made from."""
    source = load_results(folder, cost=cost)
    name = folder.path.resolve().name or str(folder.path)
    return Survey(name, source.fits, source.run, source.machine), source


def twin_cases(real: Survey) -> list[Case]:
    """The cases to simulate: all cases of the run between two ranks. A simulator has no caches, so buffers
    are always hot, and one level within a node."""
    measured = (case for level in real.levels for case, _ in level.measured)
    selected = (case for case in measured if case.ranks == PAIR_RANKS and case.get("buffers", HOT) == HOT)
    return [
        case.with_parameter(PLACE, in_simulation(case.place)) if case.place else case for case in selected
    ]


def _layout(real: Survey) -> HostOptions:
    """Two ranks on a node and two nodes, as far as the run has messages within and between these."""
    if real.places == ("",):
        return THIS_HOST
    between = NETWORK in real.places
    within = len(real.places) > between
    return HostOptions(nodes=1 + between, ranks_per_node=1 + within)


def survey_twin(platform: Platform, real: Survey, notify: Notify, listen: Listener) -> Survey:
    """Survey `platform` in simulation with the cases of `real`, without noise: medians are compared."""
    quiet = msgspec.structs.replace(platform, noise=None)
    with tempfile.TemporaryDirectory(prefix="hockney-twin-") as scratch:
        description = Path(scratch) / "twin.toml"
        description.write_text(simulated.write(quiet), "utf-8")
        machine = simulated_reference(str(description))
        bench = prepare(machine, "", True, notify, hosts=_layout(real))
        available = {workload.name for workload in bench.catalog.workloads}
        cases = [case for case in twin_cases(real) if case.workload in available]
        settings = Settings(study="cases", budget_s=BUDGET_S, launches=1, seed=1, machine=machine)
        folder = begin(Path(scratch) / "twin", cases, settings, check_start(bench, cases))
        measure(folder, bench, listen)
        return calibration_survey(folder)[0]
