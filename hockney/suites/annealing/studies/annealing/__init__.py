# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated annealing with a master and workers, with blocking, nonblocking or no communication, as in A.
Fachat and K. H. Hoffmann (1998)."""

from __future__ import annotations

from hockney.suites.annealing.studies.annealing.columns import answer, summary
from hockney.suites.annealing.studies.annealing.page import page
from hockney.suites.annealing.studies.annealing.plan import PARAMETERS, WORKLOADS, launch_settings, plan

NAME = "annealing"
HELP = "simulated annealing with blocking, nonblocking or no communication: which set-up is best here"

__all__ = ["HELP", "NAME", "PARAMETERS", "WORKLOADS", "answer", "launch_settings", "page", "plan", "summary"]
