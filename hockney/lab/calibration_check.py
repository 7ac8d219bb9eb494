# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From a run to the simulated machine calibrated from it, and a survey of that machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from hockney import simulated
from hockney.core.case import Case, parse_canonical
from hockney.core.fit import Cost
from hockney.core.notice import Notice
from hockney.core.platform import Platform
from hockney.core.settings import Settings
from hockney.lab.bench import Tell, check
from hockney.lab.events import Listener
from hockney.lab.kinds import prepare
from hockney.lab.kinds.simulated import simulated_reference
from hockney.lab.run_results import results
from hockney.lab.session import begin, measure
from hockney.simulated.calibrate import Survey
from hockney.simulated.calibrate.survey import PAIR
from hockney.store import RunFolder

BUDGET_S = 600.0
"""Wall-clock time; two ranks take seconds."""


def surveyed(folder: RunFolder, cost: Cost = "typical") -> tuple[Survey, tuple[Notice, ...]]:
    """A run prepared for calibration from its cases' `cost`, and the notices of reading it."""
    source = results(folder, cost=cost)
    name = folder.path.resolve().name or str(folder.path)
    return Survey(name, source.fits, source.run, source.machine), source.notices


def twin_cases(real: Survey) -> list[Case]:
    """The cases to simulate: all cases of the run between two ranks. A simulator has no caches, so buffers
    are never cold."""
    cases = (parse_canonical(summary.case) for summary in real.fits.summaries)
    return [case for case in cases if case.ranks == PAIR and case.get("buffers") != "cold"]


def survey_twin(platform: Platform, real: Survey, notify: Tell, listen: Listener) -> Survey:
    """Survey `platform` in simulation with the cases of `real`, without noise: medians are compared."""
    quiet = msgspec.structs.replace(platform, noise=None)
    with tempfile.TemporaryDirectory(prefix="hockney-twin-") as place:
        description = Path(place) / "twin.toml"
        description.write_text(simulated.write(quiet), "utf-8")
        machine = simulated_reference(str(description))
        bench = prepare(machine, "", True, notify)
        available = {workload.name for workload in bench.catalog.workloads}
        cases = [case for case in twin_cases(real) if case.workload in available]
        settings = Settings(study="cases", budget_s=BUDGET_S, launches=1, seed=1, machine=machine)
        folder = begin(Path(place) / "twin", cases, settings, check(bench, cases))
        measure(folder, bench, listen)
        return surveyed(folder)[0]
