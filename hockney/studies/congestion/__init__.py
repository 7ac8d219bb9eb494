# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How much slower operations become while other ranks load the network."""

from __future__ import annotations

from hockney.studies.congestion.columns import answer, summary
from hockney.studies.congestion.page import page
from hockney.studies.congestion.plan import LAUNCHES, PARAMETERS, WORKLOADS, plan
from hockney.studies.congestion.results import is_conclusive, open_cases

NAME = "congestion"
HELP = "how much slower operations become, typically and at worst, while other ranks load the network"

__all__ = [
    "HELP",
    "LAUNCHES",
    "NAME",
    "PARAMETERS",
    "WORKLOADS",
    "answer",
    "is_conclusive",
    "open_cases",
    "page",
    "plan",
    "summary",
]
