# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The algorithms of MPI's collectives that are faster here than MPI's own choice."""

from hockney.studies.tuning.page import page
from hockney.studies.tuning.plan import PARAMETERS, launch_settings, plan

__all__ = ["HELP", "NAME", "PARAMETERS", "launch_settings", "page", "plan"]

NAME = "tuning"
HELP = "every algorithm of MPI's collectives, for 'hockney tune'"
