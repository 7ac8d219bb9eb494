# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Performance guidelines: a collective is not slower than another way to the same result."""

from hockney.models.guidelines.matching import (
    GuidelineComparison,
    MeasuredTerm,
    comparisons,
    decisive,
)
from hockney.models.guidelines.rules import EMULATIONS, LOCAL, MESSAGES, OPERATIONS, RULES, SOURCES, Guideline
from hockney.models.guidelines.verdicts import FACTOR, LEVEL, Judged, State, Verdicts, judge

__all__ = [
    "EMULATIONS",
    "FACTOR",
    "LEVEL",
    "LOCAL",
    "MESSAGES",
    "OPERATIONS",
    "RULES",
    "SOURCES",
    "Guideline",
    "GuidelineComparison",
    "Judged",
    "MeasuredTerm",
    "State",
    "Verdicts",
    "comparisons",
    "decisive",
    "judge",
]
