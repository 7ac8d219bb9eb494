# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The contents of `survey.json`: the survey from which a study took its machine's parameters, stored with the
study's run, so that its report can be written again when the survey's folder no longer exists."""

from __future__ import annotations

import msgspec

from hockney.core.fit import Fits
from hockney.core.machine import Machine
from hockney.core.record import SCHEMA


class Surveyed(msgspec.Struct, frozen=True):
    """The survey's fits, its machine, and its folder as the user named it. `differences` from the study's
    machine are texts; they were overridden with --force."""

    fits: Fits
    machine: Machine
    where: str
    differences: tuple[str, ...] = ()
    schema: int = SCHEMA
