# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict on a ratio B / A, from two tests.

Slower or faster: the ratio is beyond the tolerance. The same: it is within the tolerance, which is two
one-sided tests (D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987) 657). Both are made at the level of
the 95% interval, so that a verdict implies that the interval lies beyond the tolerance, or within it.

Pairs of launches that a change of the machine splits have no weight, and have either sign with the same
probability. If there are several, all with one sign, something else may make one side slow now and then: that
is not the same. Nor is a side that met the slow mode of the machine more often.

The test beyond the tolerance may also be that of the ratio relative to operations that did not change
(`relative`), which is more precise.

Whether B differs from A at all, over all cases: does a setting have any effect?

Found: the smallest probability of all ratios, adjusted for their number, is significant (R. J. Simes,
Biometrika 73 (1986) 751); it needs no tolerance. None: nothing is found, and the 95% intervals of all
operations' means are within the tolerance, without pairs that were excluded on one side only. That needs no
adjustment: the largest of these means is within its own interval with 95% probability (an intersection-union
test; R. L. Berger, Technometrics 24 (1982) 295)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.core.fit import Estimate
from hockney.models.statistics import Observation, RatioEstimate, stricter, time_to_exclude

LEVEL = 0.05
FEWEST_LAUNCHES = 3
"""With two launches a side, an interval is rarely narrow enough for a verdict."""
FEWEST_ONE_SIDED = 3
"""So many pairs without a weight have the same sign by chance in one of four cases, so more pairs are needed
for `same`. Six or more are no chance, and count (`pair_center`)."""
MOST_LAUNCHES = 1000
"""Of a side: more are no advice."""

State = Literal["slower", "faster", "same", "undecided", "unknown"]
"""Of B relative to A. unknown: the ratio has no interval."""


@dataclass(frozen=True)
class CaseVerdict:
    """A case that both sides measured. `a` and `b` are its times (s), `ratio` is b / a; each has a 95%
    interval, whose ends are None if unknown. `launches` are those of A and of B. `p_changed` is the
    probability of such a ratio if the true one is within the tolerance, `p_same` if it is beyond; both are
    adjusted for the number of tests, and None without an interval. `more_launches` of each side would decide
    an undecided case, if the ratio stayed the same; None if it is decided, or if no number would do.
    `excluded` is the number of pairs of launches without a weight in which B was far slower, and of those in
    which it was far faster. `relative` is the ratio divided by that of operations that did not change, of
    interleaved comparisons that have some."""

    case: Case
    workload: Workload = field(repr=False)
    level: str
    a: Estimate
    b: Estimate
    launches: tuple[int, int]
    ratio: Estimate
    p_changed: float | None
    p_same: float | None
    state: State
    more_launches: tuple[int, int] | None
    observed: tuple[Observation, Observation] = field(repr=False, compare=False)
    excluded: tuple[int, int] = (0, 0)
    relative: Estimate | None = None

    @property
    def size(self) -> float:
        """The value of the parameter that is the size of the workload; 0 if it has none."""
        return self.workload.size_of(self.case)

    @property
    def change(self) -> float:
        """How far the ratio is from 1, as a logarithm without sign."""
        return abs(math.log(self.ratio.value))


@dataclass(frozen=True)
class OperationVerdict:
    """A workload whose ranks are at one `level`: within a host, or between hosts ("" if unknown). `ratio` is
    the geometric mean over its `cases`, `mean_state` the verdict on it. `excluded` pairs have no weight in
    most cases. `relative` is the mean divided by that of operations that did not change."""

    workload: str
    level: str
    cases: tuple[CaseVerdict, ...] = field(repr=False)
    ratio: Estimate
    p_changed: float | None
    p_same: float | None
    mean_state: State
    state: State
    excluded: tuple[int, int] = (0, 0)
    relative: Estimate | None = None

    @property
    def change(self) -> float:
        """How far the mean ratio is from 1, as a logarithm without sign."""
        return abs(math.log(self.ratio.value))

    def of(self, *states: State) -> list[CaseVerdict]:
        """The cases with these verdicts, biggest changes first."""
        return biggest_first(case for case in self.cases if case.state in states)


def biggest_first(cases: Iterable[CaseVerdict]) -> list[CaseVerdict]:
    """The verdicts by decreasing change; those without an interval come last."""
    return sorted(cases, key=lambda each: (each.state == "unknown", -each.change))


def p_changed(ratio: RatioEstimate, tolerance: float, relative: RatioEstimate | None = None) -> float | None:
    """The p value of a change beyond the tolerance, on the more probable side. With the ratio `relative` to
    operations that did not change, the more significant one of the two tests (Bonferroni), if both ratios are
    on the same side of 1. None without an interval."""
    above, below = ratio.p_above(1 + tolerance), ratio.p_below(1 / (1 + tolerance))
    if above is None or below is None:
        return None
    own = min(above, below)
    if relative is None:
        return own
    other = p_changed(relative, tolerance)
    agree = (ratio.ratio.value > 1) == (relative.ratio.value > 1)
    return min(1.0, 2 * (min(own, other) if other is not None and agree else own))


def p_same(ratio: RatioEstimate, tolerance: float, uneven: bool = False) -> float | None:
    """The larger probability of the two one-sided tests; 1 if `one_sided` pairs were excluded, or if the
    machine was slow much more often for one side (`uneven`)."""
    if (uneven or one_sided(ratio.excluded)) and ratio.known:
        return 1.0
    above, below = ratio.p_above(1 / (1 + tolerance)), ratio.p_below(1 + tolerance)
    return None if above is None or below is None else max(above, below)


def one_sided(excluded: tuple[int, int]) -> bool:
    """Whether several pairs have no weight, in all of which the same side was far slower."""
    return min(excluded) == 0 and max(excluded) >= FEWEST_ONE_SIDED


def state_of(ratio: Estimate, changed: float | None, same: float | None) -> State:
    """The state of a ratio, from its adjusted probabilities."""
    if changed is None or same is None:
        return "unknown"
    if changed <= LEVEL:
        return "slower" if ratio.value > 1 else "faster"
    return "same" if same <= LEVEL else "undecided"


def overall(cases: Sequence[CaseVerdict], mean_state: State, ratio: Estimate, tolerance: float) -> State:
    """The verdict on an operation: slower if a case is, or all cases on average. It is faster if a case is,
    or the average, and the average is certainly not slower. Otherwise it is that on the average."""
    states = {case.state for case in cases}
    if "slower" in states or mean_state == "slower":
        return "slower"
    if "faster" in states or mean_state == "faster":
        not_slower = ratio.high is not None and ratio.high <= 1 + tolerance
        return "faster" if not_slower else "undecided"
    return mean_state


def more_launches(
    ratio: Estimate,
    tolerance: float,
    launches: tuple[int, int],
    tests: float,
    uneven: bool = False,
) -> tuple[int, int] | None:
    """How many launches of each side an undecided ratio needs in addition, about: its interval shrinks with
    the root of their number. `tests` is the number of tests for each that may be significant. With twice as
    many launches, `uneven` numbers of pairs that do not count get counterparts, or are enough to count."""
    if ratio.low is None or ratio.high is None:
        few = tuple(max(0, FEWEST_LAUNCHES - count) for count in launches)
        return (few[0], few[1]) if any(few) else None
    wider, bounds = stricter(math.ceil(tests)), (1 / (1 + tolerance), 1 + tolerance)
    factor = max(time_to_exclude(ratio, bound, wider) for bound in bounds)
    if uneven:
        factor = max(factor, 2.0)
    if factor * max(launches) > MOST_LAUNCHES:
        return None
    first, second = (max(1, math.ceil(count * (factor - 1))) for count in launches)
    return first, second


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
