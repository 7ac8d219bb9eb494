# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From records to models: read the records, summarise and fit, or use the stored fits, and save them.

The fits in a run's `fits.json` may be used if this user's hockney computed them from the same records,
machine and catalog with the same statistics and models, and if no byte of them has changed. The seal in the
file certifies that: an HMAC, with this user's key, of all of these. Otherwise (an edited file, another
record, another version of hockney, a folder from another user, no key) the fits are computed."""

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
from hockney.models.exact import made_exact
from hockney.store import Reading, RunFolder
from hockney.system import trust
from hockney.system.bundled import bundled_catalog

if TYPE_CHECKING:
    from hockney.models.statistics import LaunchTimesCache


@dataclass(frozen=True)
class Results:
    """`basis` identifies what the fits were computed from, if they can be stored."""

    run: RunRecords
    fits: Fits
    machine: Machine
    notices: tuple[Notice, ...]
    times: LaunchTimesCache | None
    basis: str = ""

    def save(self, folder: RunFolder) -> None:
        """Write `fits.json` into the run's folder, unless it has these fits. Only fits of all workloads'
        typical cost are written, and none of a run without records, which may have lost them."""
        if self.basis and self.run.records and stored_fits(folder, self.basis, self.machine) is None:
            save_fits(folder, self.fits, self.basis, self.machine)


def load_results(
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
    stored_catalog = folder.catalog()
    catalog = bundled_catalog() if stored_catalog is None else stored_catalog.merged_with(bundled_catalog())
    basis = fit_basis(reading, machine, catalog) if cost == "typical" else ""
    fits = stored_fits(folder, basis, machine)
    times = None
    if fits is None:
        from hockney.models.statistics import LaunchTimesCache

        times = LaunchTimesCache()
        run = _restrict(reading.run, catalog, relevant)
        fits = models.fit_all(run, catalog, cores=reading.run.cores(machine), cost=cost, times=times)
        fits = restore_exact(machine, fits)
    elif relevant is not None:
        fits = _restrict_fits(fits, relevant)
    if relevant is not None:
        basis = ""
    return Results(reading.run, fits, machine, reading.notices, times, basis)


def _restrict(run: RunRecords, catalog: Catalog, relevant: Callable[[Workload], bool] | None) -> RunRecords:
    if relevant is None:
        return run
    records = (r for r in run.records if relevant(catalog.entry(r.parse_case().workload)))
    return replace(run, records=tuple(records))


def _restrict_fits(fits: Fits, relevant: Callable[[Workload], bool]) -> Fits:
    workloads = [each for each in fits.workloads if relevant(each)]
    names = {each.name for each in workloads}
    return msgspec.structs.replace(
        fits,
        workloads=workloads,
        summaries=[each for each in fits.summaries if parse_canonical(each.case).workload in names],
        fits=[each for each in fits.fits if each.subject.workload in names],
    )


PACKAGE = Path(__file__).resolve().parents[1]
FIT_SOURCES = (
    "core/**/*.py", "models/**/*.py", "suites/*/fits/**/*.py", "suites/*/models/**/*.py",
    "measurement/run_results.py",
)  # fmt: skip
"""The sources that decide what is fitted to given records."""


def fit_basis(reading: Reading, machine: Machine, catalog: Catalog) -> str:
    """A digest of everything from which fits of the typical cost are computed; "" if it is not known."""
    if not reading.digest:
        return ""
    inputs = (reading.digest.encode(), msgspec.json.encode(machine), msgspec.json.encode(catalog))
    return _digest(program_digest(), *inputs)


def stored_fits(folder: RunFolder, basis: str, machine: Machine) -> Fits | None:
    """The fits in the folder's `fits.json`, if they were computed from what has this `basis`."""

    def matches(text: bytes, seal: str) -> bool:
        return trust.is_marked(_certified_text(text, basis), seal, os.environ)

    fits = folder.sealed_fits(matches) if basis else None
    return None if fits is None else restore_exact(machine, fits)


def save_fits(folder: RunFolder, fits: Fits, basis: str, machine: Machine) -> None:
    """Write `fits.json`; without a seal if the fits cannot be read back as they are."""

    def seal(text: bytes) -> str:
        try:
            kept = restore_exact(machine, msgspec.json.decode(text, type=Fits)) == fits
        except msgspec.MsgspecError:  # a number that JSON does not have
            kept = False
        return trust.mark(_certified_text(text, basis), os.environ) if basis and kept else ""

    folder.save_fits(fits, seal)


def restore_exact(machine: Machine, fits: Fits) -> Fits:
    """The fits, with exact values for a simulated machine whose times do not vary; the file has only their
    numbers."""
    return made_exact(fits) if machine.is_exact and machine.traits.simulated else fits


def _certified_text(text: bytes, basis: str) -> str:
    return f"fits.json {basis} {_digest(text)}"


@cache
def program_digest() -> bytes:
    """Hockney's version, and the sources that compute fits, which may have been edited."""
    paths = sorted(path for pattern in FIT_SOURCES for path in PACKAGE.glob(pattern))
    parts = (part for path in paths for part in (str(path.relative_to(PACKAGE)).encode(), path.read_bytes()))
    return _digest(__version__.encode(), *parts).encode()


def _digest(*parts: bytes) -> str:
    """Digest of the parts and of where each begins."""
    digest = hashlib.blake2b(digest_size=32)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
