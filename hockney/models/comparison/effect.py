# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether B differs from A at all, over all cases: does a setting have any effect?

Found: the smallest probability of all ratios, adjusted for their number, is significant (R. J. Simes,
Biometrika 73 (1986) 751); it needs no tolerance. None: nothing is found, and the 95% intervals of all
operations' means are within the tolerance, without pairs that were excluded on one side only. That needs no
adjustment: the largest of these means is within its own interval with 95% probability (an intersection-union
test; R. L. Berger, Technometrics 24 (1982) 295)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from hockney.core.fit import Estimate
from hockney.models.comparison.verdicts import LEVEL, CaseVerdict, OperationVerdict, one_sided

Verdict = TypeVar("Verdict", CaseVerdict, OperationVerdict)
EffectState = Literal["found", "none", "undecided"]


@dataclass(frozen=True)
class Effect:
    """`p` is the probability of such ratios if nothing differs, adjusted for their number; None without
    intervals. `clearest` is the case or operation whose difference is most certain, if one is found. `bound`
    is the largest factor, above 1 and in either direction, by which the mean of an operation may still
    differ, and `case_bound` that of a single case (95%); `widest` is that operation, and `widest_case` that
    case. They are None if an interval is unknown."""

    state: EffectState
    p: float | None
    clearest: CaseVerdict | OperationVerdict | None
    bound: float | None
    widest: OperationVerdict | None
    case_bound: float | None
    widest_case: CaseVerdict | None


def bound_of(ratio: Estimate) -> float | None:
    """The largest factor, above 1, by which times with this ratio may differ."""
    if ratio.low is None or ratio.high is None or ratio.low <= 0:
        return None
    return max(ratio.high, 1 / ratio.low, 1.0)


def effect(
    cases: Sequence[CaseVerdict],
    operations: Sequence[OperationVerdict],
    p_values: Sequence[float | None],
    tolerance: float,
    uneven: bool = False,
) -> Effect:
    """`p_values`: that each ratio is 1, adjusted for their number, of the cases and then of those operations
    that have several. `uneven`: the machine was slow more often for one side."""
    tested: list[CaseVerdict | OperationVerdict] = [*cases, *(o for o in operations if len(o.cases) > 1)]
    known = [(p, of) for p, of in zip(p_values, tested, strict=True) if p is not None]
    p, clearest = min(known, key=lambda each: (each[0], -each[1].change), default=(None, None))
    bound, widest = _widest(operations)
    uneven = uneven or any(one_sided(operation.excluded) for operation in operations)
    case_bound, widest_case = _widest(cases)
    state: EffectState = "undecided"
    if p is not None and p <= LEVEL:
        state = "found"
    elif bound is not None and bound <= 1 + tolerance and not uneven:
        state = "none"
    shown = clearest if state == "found" else None
    return Effect(state, p, shown, bound, widest, case_bound, widest_case)


def _widest(of: Sequence[Verdict]) -> tuple[float | None, Verdict | None]:
    """The largest bound; None if one is unknown."""
    bounds = [(bound_of(each.ratio), each) for each in of]
    known = [(bound, each) for bound, each in bounds if bound is not None]
    return max(known, key=lambda each: each[0]) if known and len(known) == len(bounds) else (None, None)
