# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A prediction's presentation: sentences and tables for users, a document for programs, and caveats."""

from hockney.pages.grain_prediction.caveats import CostsOrigin, caveats, caveats_of_costs
from hockney.pages.grain_prediction.document import document
from hockney.pages.grain_prediction.tables import levers, needed, ranks
from hockney.pages.grain_prediction.words import assumed, best, changed

__all__ = [
    "CostsOrigin",
    "assumed",
    "best",
    "caveats",
    "caveats_of_costs",
    "changed",
    "document",
    "levers",
    "needed",
    "ranks",
]
