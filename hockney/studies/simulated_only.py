# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that only a simulated machine has, because a real one computes at its own rate."""

from __future__ import annotations

from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.pages.evidence import Options


def refuse_on_others(options: Options, machine: Machine, *parameters: StudyParameter) -> None:
    """Raises UsageError if one of these is given for a machine that is not simulated."""
    for parameter in parameters:
        if not machine.traits.simulated and options.value(parameter) not in (None, "real"):
            raise UsageError(
                f"{parameter.name} is for simulated machines",
                "a real one computes at its own rate",
                "select one, for example with --machine sim:switched-ethernet",
                code="only-simulated",
            )
