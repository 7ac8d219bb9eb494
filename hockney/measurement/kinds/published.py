# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Published numbers: published:NAME. They are read like a run; nothing can be measured."""

from __future__ import annotations

from hockney import reference as papers
from hockney.core.machine import MachineReference
from hockney.measurement.bench import Bench, published_only
from hockney.measurement.kinds import PrepareOptions

SCHEME = "published"
KIND = "published"
HELP = "the printed numbers of a paper: read them with --export NAME; they cannot be measured"
TRAITS = papers.TRAITS


def reference(name: str) -> str:
    """The machine reference of a run made of the paper's numbers."""
    return str(MachineReference(SCHEME, name))


def prepare(reference: MachineReference, options: PrepareOptions) -> Bench:
    raise published_only(str(reference))
