# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What `survey.json` holds: the survey that a study took its machine's parameters from, kept with the study's
own run, so that its report can be made again when the survey's folder is gone."""

from __future__ import annotations

import msgspec

from hockney.core.fit import Fits
from hockney.core.machine import Machine
from hockney.core.record import SCHEMA


class Surveyed(msgspec.Struct, frozen=True):
    """The survey's fits, the machine it was made on, and its folder as the user named it. `differences` are
    what is not the same on the study's machine, in words: --force has overruled them."""

    fits: Fits
    machine: Machine
    where: str
    differences: tuple[str, ...] = ()
    schema: int = SCHEMA
