# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What every barrier costs on this machine, what was to be expected of it, and which one to take."""

from __future__ import annotations

from hockney.studies.barriers.page import page
from hockney.studies.barriers.plan import PARAMETERS, plan

NAME = "barriers"
HELP = "what every barrier costs: back to back, alone, entered late; predicted next to measured"

__all__ = ["HELP", "NAME", "PARAMETERS", "page", "plan"]
