# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of studies that predict a program from one rank and the costs of communication."""

from __future__ import annotations

from hockney.core.parameters import StudyParameter

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
