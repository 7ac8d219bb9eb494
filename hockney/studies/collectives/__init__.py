# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""MPI's collectives compared with algorithms that a user can write, the time of a message, and the eager
limit: the study of M. Resch, H. Berger, R. Rabenseifner, T. Boenisch (1998)."""

from __future__ import annotations

from hockney.studies.collectives.columns import answer, summary
from hockney.studies.collectives.page import page
from hockney.studies.collectives.plan import PARAMETERS, launch_settings, plan

NAME = "collectives"
HELP = "MPI's collectives next to algorithms that a user can write; the eager limit"

__all__ = ["HELP", "NAME", "PARAMETERS", "answer", "launch_settings", "page", "plan", "summary"]
