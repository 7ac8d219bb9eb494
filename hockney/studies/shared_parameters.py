# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of several studies."""

from __future__ import annotations

from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.pages.evidence import Options

PREDICT = StudyParameter(
    "predict",
    "choice",
    "yes: measure also the costs of messages and collectives, for predictions from one rank",
    default="yes",
    choices=("yes", "no"),
)
SURVEY = StudyParameter(
    "survey",
    "path",
    "a run of 'hockney survey' with these costs, which then need not be measured",
    example="runs/mine",
)

SYNC = StudyParameter(
    "sync",
    "choice",
    "how the ranks start (default: barrier; simulated, where clocks agree: window)",
    choices=("barrier", "window"),
)


def synchronization(options: Options, machine: Machine) -> str:
    """The value of SYNC, or of a study's parameter with the same name and other choices."""
    return options.value(SYNC) or ("window" if machine.traits.simulated else "barrier")


def require_simulated_machine(options: Options, machine: Machine, *parameters: StudyParameter) -> None:
    """Raise UsageError if one of these parameters is set for a machine that is not simulated."""
    for parameter in parameters:
        if not machine.traits.simulated and options.value(parameter) not in (None, "real"):
            raise UsageError(
                f"{parameter.name} is for simulated machines",
                "a real one computes at its own rate",
                "select one, for example with --machine sim:switched-ethernet",
                code="only-simulated",
            )
