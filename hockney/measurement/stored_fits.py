# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the fits in a run's `fits.json` may be used instead of computing them.

They may if this user's hockney computed them from the same records, machine and catalog with the same
statistics and models, and if no byte of them was changed since. That is what the seal in the file certifies:
an HMAC, with this user's key, of all of these. In every other case (an edited file, another record, another
version of hockney, a folder from another user, no key) the fits are computed."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

import msgspec

from hockney import __version__
from hockney.core.catalog import Catalog
from hockney.core.fit import Fits
from hockney.core.machine import Machine
from hockney.models.exact import made_exact
from hockney.store import Reading, RunFolder
from hockney.system import trust

PACKAGE = Path(__file__).resolve().parents[1]
COMPUTED_BY = (
    "core/**/*.py", "models/**/*.py", "suites/*/fits/**/*.py", "suites/*/models/**/*.py",
    "measurement/run_results.py",
)  # fmt: skip
"""The sources that decide what is fitted to given records."""


def basis_of(reading: Reading, machine: Machine, catalog: Catalog) -> str:
    """A digest of everything from which fits of the typical cost are computed; "" if it is not known."""
    if not reading.digest:
        return ""
    inputs = (reading.digest.encode(), msgspec.json.encode(machine), msgspec.json.encode(catalog))
    return _digest(program(), *inputs)


def stored_fits(folder: RunFolder, basis: str, machine: Machine) -> Fits | None:
    """The fits in the folder's `fits.json`, if they were computed from what has this `basis`."""

    def matches(text: bytes, seal: str) -> bool:
        return trust.is_marked(_certified(text, basis), seal, os.environ)

    found = folder.sealed_fits(matches) if basis else None
    return None if found is None else as_of(machine, found)


def save_fits(folder: RunFolder, fits: Fits, basis: str, machine: Machine) -> None:
    """Write `fits.json`; without a seal if the fits cannot be read back as they are."""

    def seal(text: bytes) -> str:
        try:
            kept = as_of(machine, msgspec.json.decode(text, type=Fits)) == fits
        except msgspec.MsgspecError:  # a number that JSON does not have
            kept = False
        return trust.mark(_certified(text, basis), os.environ) if basis and kept else ""

    folder.save_fits(fits, seal)


def as_of(machine: Machine, fits: Fits) -> Fits:
    """The fits, with exact values for a simulated machine whose times do not vary; the file has only their
    numbers."""
    return made_exact(fits) if machine.is_exact and machine.traits.simulated else fits


def _certified(text: bytes, basis: str) -> str:
    return f"fits.json {basis} {_digest(text)}"


@cache
def program() -> bytes:
    """Hockney's version, and the sources that compute fits, which may have been edited."""
    paths = sorted(path for pattern in COMPUTED_BY for path in PACKAGE.glob(pattern))
    parts = (part for path in paths for part in (str(path.relative_to(PACKAGE)).encode(), path.read_bytes()))
    return _digest(__version__.encode(), *parts).encode()


def _digest(*parts: bytes) -> str:
    """Digest of the parts and of where each begins."""
    digest = hashlib.blake2b(digest_size=32)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
