# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The output of another benchmark: imported:NAME. It is read like a run; nothing can be measured."""

from __future__ import annotations

from hockney.core.machine import IMPORTED_TRAITS, MachineReference
from hockney.measurement.bench import Bench, published_only
from hockney.measurement.kinds import PrepareOptions

SCHEME = "imported"
KIND = "imported"
HELP = "the output of another benchmark, which hockney import reads; it cannot be measured"
TRAITS = IMPORTED_TRAITS
HIDDEN = True


def imported_reference(name: str) -> str:
    """The machine reference of a run made of logs."""
    return str(MachineReference(SCHEME, name))


def prepare(reference: MachineReference, options: PrepareOptions) -> Bench:
    raise published_only(str(reference), "another benchmark")
