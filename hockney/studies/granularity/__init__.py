# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Granularity: is there enough computation per exchange on this machine?

After U. R. Hanebutte, M. Tatsumi, 'Study of Parallel Efficiency in Message Passing Environments' (1996): np
ranks share the work T, of which the fraction s cannot be parallelised. Then each rank sends L bytes to its
right neighbor and receives L bytes from its left. The efficiency is measured over a grid of T, L, np and s,
and compared with the prediction from the machine's ping-pong.
"""

from hockney.studies.granularity.headline import is_conclusive
from hockney.studies.granularity.page import page
from hockney.studies.granularity.plan import ASKS_FOR_LEVELS, PARAMETERS, plan

NAME = "granularity"
HELP = "how much computation between exchanges keeps ranks efficient, measured and predicted"

__all__ = ["ASKS_FOR_LEVELS", "HELP", "NAME", "PARAMETERS", "is_conclusive", "page", "plan"]
