# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A prediction told: sentences and tables for people, one document for programs, and what is doubtful."""

from hockney.studies.predicted.document import document
from hockney.studies.predicted.doubts import Known, doubts
from hockney.studies.predicted.tables import levers, needed, ranks
from hockney.studies.predicted.words import assumed, best, changed

__all__ = ["Known", "assumed", "best", "changed", "document", "doubts", "levers", "needed", "ranks"]
