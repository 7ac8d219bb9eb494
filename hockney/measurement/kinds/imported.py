# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The output of another benchmark: imported:NAME. It can be read like a run, but not measured."""

from __future__ import annotations

from hockney.core.machine import IMPORTED_TRAITS, MachineReference
from hockney.measurement.bench import Bench, published_only_error
from hockney.measurement.kinds import PrepareOptions

SCHEME = "imported"
KIND = "imported"
HELP = "the output of another benchmark, which hockney import reads; it cannot be measured"
TRAITS = IMPORTED_TRAITS
HIDDEN = True


def imported_reference(name: str) -> str:
    """Return the machine reference of a run that was created from logs."""
    return str(MachineReference(SCHEME, name))


def prepare(reference: MachineReference, options: PrepareOptions) -> Bench:
    raise published_only_error(str(reference), "another benchmark")
