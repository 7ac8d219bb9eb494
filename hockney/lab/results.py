# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From records to models: read what is there, summarise, fit, keep the fits."""

from __future__ import annotations

from dataclasses import dataclass

from hockney import models
from hockney.core.fit import Fits
from hockney.core.machine import Machine
from hockney.core.record import Run
from hockney.store import RunFolder
from hockney.system.bundled import bundled_catalog


@dataclass(frozen=True)
class Results:
    run: Run
    fits: Fits
    machine: Machine
    notices: tuple[str, ...]


def results(folder: RunFolder, *, save: bool = True) -> Results:
    """Always made anew from the records, which are the truth; `fits.json` is for other programs."""
    reading = folder.read()
    machine = folder.machine()
    kept = folder.catalog()
    catalog = bundled_catalog() if kept is None else kept.filled_from(bundled_catalog())
    fits = models.fit_all(reading.run, catalog, cores=_cores(reading.run, machine))
    if save:
        folder.save_fits(fits)
    return Results(reading.run, fits, machine, reading.notices)


def _cores(run: Run, machine: Machine) -> int:
    """Of all hosts of the run, taking them to be alike."""
    hosts = {rank.host for launch in run.launches for rank in launch.ranks}
    return max(1, machine.cores) * max(1, len(hosts))
