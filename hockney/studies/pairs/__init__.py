# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The combined performance of many pairs of ranks, and how much their messages slow each other."""

from __future__ import annotations

from hockney.studies.pairs.columns import answer, summary
from hockney.studies.pairs.page import page
from hockney.studies.pairs.plan import ASKS_FOR_LEVELS, PARAMETERS, WORKLOADS, plan
from hockney.studies.pairs.results import is_conclusive

NAME = "pairs"
HELP = "bandwidth and message rate of many pairs at once: what saturates, and by how much messages slow"

__all__ = [
    "ASKS_FOR_LEVELS",
    "HELP",
    "NAME",
    "PARAMETERS",
    "WORKLOADS",
    "answer",
    "is_conclusive",
    "page",
    "plan",
    "summary",
]
