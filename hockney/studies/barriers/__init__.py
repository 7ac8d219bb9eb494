# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of every barrier on this machine, its predictions, and the choice of a barrier."""

from __future__ import annotations

from hockney.studies.barriers.page import page
from hockney.studies.barriers.plan import ASKS_FOR_LEVELS, PARAMETERS, plan

NAME = "barriers"
HELP = "the cost of every barrier (back to back, alone, entered late), measured and predicted"

__all__ = ["ASKS_FOR_LEVELS", "HELP", "NAME", "PARAMETERS", "page", "plan"]
