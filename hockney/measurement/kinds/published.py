# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Published numbers: published:NAME. They can be read like a run, but not measured."""

from __future__ import annotations

from hockney import reference as papers
from hockney.core.machine import MachineReference
from hockney.measurement.bench import Bench, published_only_error
from hockney.measurement.kinds import PrepareOptions

SCHEME = "published"
KIND = "published"
HELP = "the printed numbers of a paper: read them with --export NAME; they cannot be measured"
TRAITS = papers.TRAITS


def reference(name: str) -> str:
    """Return the machine reference of a run that contains a paper's numbers."""
    return str(MachineReference(SCHEME, name))


def prepare(reference: MachineReference, options: PrepareOptions) -> Bench:
    raise published_only_error(str(reference))
