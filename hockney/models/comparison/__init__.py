# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Two independent sets of measurements, case by case and operation by operation: which is slower?"""

from hockney.models.comparison.effect import Effect, EffectState, bound_of
from hockney.models.comparison.judge import JudgedCases, judge
from hockney.models.comparison.pair import Pair
from hockney.models.comparison.verdicts import (
    FEWEST_LAUNCHES,
    LEVEL,
    CaseVerdict,
    OperationVerdict,
    State,
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
