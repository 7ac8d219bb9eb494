# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether nonblocking communication pays: how much of it computation hides, and at what cost."""

from __future__ import annotations

from hockney.studies.overlap.columns import answer, summary
from hockney.studies.overlap.page import page
from hockney.studies.overlap.plan import PARAMETERS, WORKLOADS, launch_settings, plan
from hockney.studies.overlap.results import is_conclusive

NAME = "overlap"
HELP = "whether nonblocking communication pays: for which sizes, and how often to call MPI_Test"

__all__ = [
    "HELP",
    "NAME",
    "PARAMETERS",
    "WORKLOADS",
    "answer",
    "is_conclusive",
    "launch_settings",
    "page",
    "plan",
    "summary",
]
