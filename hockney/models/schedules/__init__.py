# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Message schedules: each algorithm of a barrier or a collective operation, independent of any machine."""

from hockney.models.schedules import barriers, collectives, reductions
from hockney.models.schedules.schedule import (
    SCHEDULES,
    Layer,
    Mode,
    NotModelled,
    Schedule,
    Step,
    algorithm,
    names,
    relation,
)
from hockney.models.schedules.tally import Tally

__all__ = [
    "SCHEDULES",
    "Layer",
    "Mode",
    "NotModelled",
    "Schedule",
    "Step",
    "Tally",
    "algorithm",
    "barriers",
    "collectives",
    "names",
    "reductions",
    "relation",
]
