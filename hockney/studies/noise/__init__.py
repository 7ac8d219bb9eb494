# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time that cores lose to the system and to other programs, and what it costs parallel programs."""

from __future__ import annotations

from hockney.studies.noise.columns import answer, summary
from hockney.studies.noise.page import page
from hockney.studies.noise.plan import PARAMETERS, WORKLOADS, plan
from hockney.studies.noise.results import is_conclusive

NAME = "noise"
HELP = "time that each core loses to other programs, periodic interruptions, and what they cost barriers"

__all__ = ["HELP", "NAME", "PARAMETERS", "WORKLOADS", "answer", "is_conclusive", "page", "plan", "summary"]
