# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Two independent sets of measurements, case by case and operation by operation: which is slower?"""

from hockney.models.comparison.judge import JudgedCases, Pair, judge
from hockney.models.comparison.verdicts import (
    FEWEST_LAUNCHES,
    LEVEL,
    CaseVerdict,
    OperationVerdict,
    State,
)

__all__ = [
    "FEWEST_LAUNCHES",
    "LEVEL",
    "CaseVerdict",
    "JudgedCases",
    "OperationVerdict",
    "Pair",
    "State",
    "judge",
]
