# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From records to models: read the records, summarise and fit, or use the stored fits, and save them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from hockney import models
from hockney.core.case import parse_canonical
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Cost, Fits
from hockney.core.machine import Machine
from hockney.core.notice import Notice
from hockney.core.record import RunRecords
from hockney.measurement.stored_fits import as_of, basis_of, save_fits, stored_fits
from hockney.store import Reading, RunFolder
from hockney.system.bundled import bundled_catalog

if TYPE_CHECKING:
    from hockney.models.statistics import LaunchTimesOnce


@dataclass(frozen=True)
class Results:
    """`basis` identifies what the fits were computed from, if they can be stored."""

    run: RunRecords
    fits: Fits
    machine: Machine
    notices: tuple[Notice, ...]
    times: LaunchTimesOnce | None
    basis: str = ""

    def save(self, folder: RunFolder) -> None:
        """Write `fits.json` into the run's folder, unless it has these fits. Only fits of all workloads'
        typical cost are written, and none of a run without records, which may have lost them."""
        if self.basis and self.run.records and stored_fits(folder, self.basis, self.machine) is None:
            save_fits(folder, self.fits, self.basis, self.machine)


def results(
    folder: RunFolder,
    *,
    reading: Reading | None = None,
    cost: Cost = "typical",
    relevant: Callable[[Workload], bool] | None = None,
) -> Results:
    """The fits of a run, from its `fits.json` if that has those of the same records (`stored_fits`),
    otherwise computed. `reading` avoids reading the records again. `relevant` restricts summaries and fits to
    some workloads. `fits.json` only has fits of the typical cost."""
    reading = reading or folder.read()
    machine = folder.machine()
    kept = folder.catalog()
    catalog = bundled_catalog() if kept is None else kept.filled_from(bundled_catalog())
    basis = basis_of(reading, machine, catalog) if cost == "typical" else ""
    fits = stored_fits(folder, basis, machine)
    times = None
    if fits is None:
        from hockney.models.statistics import LaunchTimesOnce

        times = LaunchTimesOnce()
        run = _restricted(reading.run, catalog, relevant)
        fits = models.fit_all(run, catalog, cores=reading.run.cores(machine), cost=cost, times=times)
        fits = as_of(machine, fits)
    elif relevant is not None:
        fits = _of_workloads(fits, relevant)
    if relevant is not None:
        basis = ""
    return Results(reading.run, fits, machine, reading.notices, times, basis)


def _restricted(run: RunRecords, catalog: Catalog, relevant: Callable[[Workload], bool] | None) -> RunRecords:
    if relevant is None:
        return run
    wanted = (r for r in run.records if relevant(catalog.entry(r.parsed_case().workload)))
    return replace(run, records=tuple(wanted))


def _of_workloads(fits: Fits, relevant: Callable[[Workload], bool]) -> Fits:
    workloads = [each for each in fits.workloads if relevant(each)]
    names = {each.name for each in workloads}
    return msgspec.structs.replace(
        fits,
        workloads=workloads,
        summaries=[each for each in fits.summaries if parse_canonical(each.case).workload in names],
        fits=[each for each in fits.fits if each.subject.workload in names],
    )
