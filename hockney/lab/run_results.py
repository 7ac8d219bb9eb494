# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From records to models: read the records, summarise, fit, save the fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hockney import models
from hockney.core.catalog import Workload
from hockney.core.fit import Cost, Fits
from hockney.core.machine import Machine
from hockney.core.notice import Notice
from hockney.core.record import RunRecords
from hockney.models.exact import made_exact
from hockney.models.statistics import LaunchTimesOnce
from hockney.store import Reading, RunFolder
from hockney.system.bundled import bundled_catalog


@dataclass(frozen=True)
class Results:
    run: RunRecords
    fits: Fits
    machine: Machine
    notices: tuple[Notice, ...]
    times: LaunchTimesOnce


def results(
    folder: RunFolder,
    *,
    save: bool = True,
    reading: Reading | None = None,
    cost: Cost = "typical",
    relevant: Callable[[Workload], bool] | None = None,
) -> Results:
    """Always computed from the records; `fits.json` is for other programs. A survey's fits take 0.6 s of
    processor time, which is less than its report takes; reading them back from the file would take 3 ms, but
    after an update of hockney it would show an older version's fits. `reading` avoids reading the records
    again. `fits.json` has the fits of the typical cost; those of another `cost` are not saved.
    `relevant` restricts summaries and fits to some workloads; then they are not saved either."""
    reading = reading or folder.read()
    machine = folder.machine()
    kept = folder.catalog()
    catalog = bundled_catalog() if kept is None else kept.filled_from(bundled_catalog())
    times = LaunchTimesOnce()
    run = reading.run
    if relevant is not None:
        wanted = (r for r in run.records if relevant(catalog.entry(r.parsed_case().workload)))
        run = replace(run, records=tuple(wanted))
    fits = models.fit_all(run, catalog, cores=reading.run.cores(machine), cost=cost, times=times)
    if machine.exact and machine.traits.simulated:
        fits = made_exact(fits)
    if save and cost == "typical" and relevant is None:
        folder.save_fits(fits)
    return Results(reading.run, fits, machine, reading.notices, times)
