# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The times of a run for the index of an archive: computed once, from its records."""

from __future__ import annotations

from hockney.api.run_contents import Run
from hockney.comparison.environment import facts
from hockney.comparison.side import MeasuredRun, Side, completed
from hockney.core.catalog import Catalog
from hockney.lab.stored_fits import program
from hockney.models.history import CaseTime, RunTimes
from hockney.models.statistics import observe
from hockney.store import RunFolder
from hockney.system.bundled import bundled_catalog


def computed_by() -> str:
    """What identifies the sources that compute times."""
    return program().decode()[:16]


def catalog_of(folder: RunFolder) -> Catalog:
    """The catalog of the run's engine, with the workloads it lacks taken from this version's catalog."""
    bundled, kept = bundled_catalog(), folder.catalog()
    return bundled if kept is None else kept.filled_from(bundled)


def run_times(folder: RunFolder) -> RunTimes:
    """Raises EnvironmentProblem if the run is damaged."""
    run, catalog = Run(folder), catalog_of(folder)
    measured = MeasuredRun(str(folder.path), run.machine, run.reading.run, run.settings, catalog)
    levels = Side("", (measured,)).levels(catalog)
    times = []
    for seen in observe(measured.run, catalog):
        value, low, high = seen.interval()
        known = low == low and high == high and 0 < low <= high < float("inf")
        if run.machine.exact:
            low = high = value
            known = True
        case = completed(seen.case, catalog)
        times.append(
            CaseTime(
                case.line,
                levels.get(case, ""),
                len(seen.launches),
                float(value),
                float(low) if known else None,
                float(high) if known else None,
            )
        )
    return RunTimes(computed_by(), times, facts(measured))
