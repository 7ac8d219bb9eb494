# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Two independent sets of measurements, case by case and operation by operation: which is slower?"""

from hockney.models.comparison.judge import JudgedCases, judge
from hockney.models.comparison.pairs import Pair
from hockney.models.comparison.verdicts import (
    FEWEST_LAUNCHES,
    LEVEL,
    CaseVerdict,
    Effect,
    EffectState,
    OperationVerdict,
    State,
    bound_of,
    one_sided,
)

__all__ = [
    "FEWEST_LAUNCHES",
    "LEVEL",
    "CaseVerdict",
    "Effect",
    "EffectState",
    "JudgedCases",
    "OperationVerdict",
    "Pair",
    "State",
    "bound_of",
    "judge",
    "one_sided",
]
