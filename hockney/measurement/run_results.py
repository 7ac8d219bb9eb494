# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From records to models: reads the records, computes summaries and fits or uses the stored ones, and saves
them.

The fits in a run's `fits.json` can be used if this user's hockney computed them from the same records,
machine and catalog with the same statistics and models, and if no byte of them has changed. The seal in the
file certifies that: it is an HMAC of all of these with this user's key. Otherwise (an edited file, different
records, another version of hockney, a folder from another user, no key) the fits are computed again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hockney import __version__, models
from hockney.core.case import parse_canonical
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Cost, Fits
from hockney.core.machine import Machine
from hockney.core.notice import Notice
from hockney.core.record import RunRecords
from hockney.models.exact import mark_exact
from hockney.store import Reading, RunFolder
from hockney.system import trust
from hockney.system.bundled import bundled_catalog

if TYPE_CHECKING:
    from hockney.models.statistics import LaunchTimesCache


@dataclass(frozen=True)
class Results:
    """The records and fits of a run. `basis` identifies the inputs of the fits, if the fits can be stored."""

    run: RunRecords
    fits: Fits
    machine: Machine
    notices: tuple[Notice, ...]
    times: LaunchTimesCache | None
    basis: str = ""

    def save(self, folder: RunFolder) -> None:
        """Write `fits.json` into the run's folder, unless it contains these fits already. Only complete fits
        of the typical cost are written. Fits of a run without records are not, because the records may have
        been lost."""
        if self.basis and self.run.records and stored_fits(folder, self.basis, self.machine) is None:
            save_fits(folder, self.fits, self.basis, self.machine)


def load_results(
    folder: RunFolder,
    *,
    reading: Reading | None = None,
    cost: Cost = "typical",
    is_relevant: Callable[[Workload], bool] | None = None,
) -> Results:
    """Return the fits of a run, from its `fits.json` if they belong to the same records (`stored_fits`),
    otherwise computed. `reading` avoids reading the records again. `is_relevant` restricts summaries and fits
    to some workloads. `fits.json` contains fits of the typical cost only."""
    reading = reading or folder.read()
    machine = folder.machine()
    stored_catalog = folder.catalog()
    catalog = bundled_catalog() if stored_catalog is None else stored_catalog.merged_with(bundled_catalog())
    basis = fit_basis(reading, machine, catalog) if cost == "typical" else ""
    fits = stored_fits(folder, basis, machine)
    times = None
    if fits is None:
        from hockney.models.statistics import LaunchTimesCache

        times = LaunchTimesCache()
        run = _restrict_run(reading.run, catalog, is_relevant)
        fits = models.fit_all(run, catalog, cores=reading.run.cores(machine), cost=cost, times=times)
        fits = restore_exact(machine, fits)
    elif is_relevant is not None:
        fits = _restrict_fits(fits, is_relevant)
    if is_relevant is not None:
        basis = ""
    return Results(reading.run, fits, machine, reading.notices, times, basis)


def _restrict_run(
    run: RunRecords, catalog: Catalog, is_relevant: Callable[[Workload], bool] | None
) -> RunRecords:
    if is_relevant is None:
        return run
    records = (record for record in run.records if is_relevant(catalog.entry(record.parse_case().workload)))
    return replace(run, records=tuple(records))


def _restrict_fits(fits: Fits, is_relevant: Callable[[Workload], bool]) -> Fits:
    workloads = [item for item in fits.workloads if is_relevant(item)]
    names = {item.name for item in workloads}
    return msgspec.structs.replace(
        fits,
        workloads=workloads,
        summaries=[item for item in fits.summaries if parse_canonical(item.case).workload in names],
        fits=[item for item in fits.fits if item.subject.workload in names],
    )


PACKAGE_FOLDER = Path(__file__).resolve().parents[1]
FIT_SOURCES = (
    "core/**/*.py", "models/**/*.py", "suites/*/fits/**/*.py", "suites/*/models/**/*.py",
    "measurement/run_results.py",
)  # fmt: skip
"""The sources that determine the fits for given records."""


def fit_basis(reading: Reading, machine: Machine, catalog: Catalog) -> str:
    """Return a digest of all inputs of the fits of the typical cost; "" if unknown."""
    if not reading.digest:
        return ""
    inputs = (reading.digest.encode(), msgspec.json.encode(machine), msgspec.json.encode(catalog))
    return _digest(program_digest(), *inputs)


def stored_fits(folder: RunFolder, basis: str, machine: Machine) -> Fits | None:
    """Return the fits in the folder's `fits.json`, if they were computed from inputs with this `basis`."""

    def is_certified(text: bytes, seal: str) -> bool:
        return trust.is_marked(_certified_text(text, basis), seal, os.environ)

    fits = folder.sealed_fits(is_certified) if basis else None
    return None if fits is None else restore_exact(machine, fits)


def save_fits(folder: RunFolder, fits: Fits, basis: str, machine: Machine) -> None:
    """Write `fits.json`, without a seal if the fits cannot be read back unchanged."""

    def seal(text: bytes) -> str:
        try:
            is_lossless = restore_exact(machine, msgspec.json.decode(text, type=Fits)) == fits
        except msgspec.MsgspecError:  # a number that JSON does not have
            is_lossless = False
        return trust.mark(_certified_text(text, basis), os.environ) if basis and is_lossless else ""

    folder.save_fits(fits, seal)


def restore_exact(machine: Machine, fits: Fits) -> Fits:
    """Return the fits, with exact values for a simulated machine without noise; the file contains only their
    numbers."""
    return mark_exact(fits) if machine.is_exact and machine.traits.simulated else fits


def _certified_text(text: bytes, basis: str) -> str:
    return f"fits.json {basis} {_digest(text)}"


@cache
def program_digest() -> bytes:
    """Return a digest of hockney's version and of the sources that compute fits, which may have been
    edited."""
    paths = sorted(path for pattern in FIT_SOURCES for path in PACKAGE_FOLDER.glob(pattern))
    contents = (
        part for path in paths for part in (str(path.relative_to(PACKAGE_FOLDER)).encode(), path.read_bytes())
    )
    return _digest(__version__.encode(), *contents).encode()


def _digest(*parts: bytes) -> str:
    """Return a digest of the parts and their lengths."""
    digest = hashlib.blake2b(digest_size=32)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
