# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How the ranks start a repetition, as a parameter of studies."""

from __future__ import annotations

from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.pages.evidence import Options

SYNC = StudyParameter(
    "sync",
    "choice",
    "how the ranks start (default: barrier; simulated, where clocks agree: window)",
    choices=("barrier", "window"),
)


def sync_of(options: Options, machine: Machine) -> str:
    """The value of SYNC, or of a study's parameter of the same name with other choices."""
    return options.value(SYNC) or ("window" if machine.traits.simulated else "barrier")
