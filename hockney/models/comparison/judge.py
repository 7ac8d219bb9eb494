# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""All cases of two sides, and their operations, judged together.

Of hundreds of equal cases some differ significantly by chance. So the probabilities of all ratios, those of
single cases and those of operations, are adjusted together (Benjamini and Hochberg): of the ratios reported
as slower or faster, at most 5% are false on average, and if nothing has changed, there is one with a
probability of 5% at most. The tests for the same times are adjusted in the same way, together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hockney.core.case import Case
from hockney.core.fit import Estimate, ExactValue
from hockney.models.comparison import verdicts
from hockney.models.comparison.verdicts import (
    CaseVerdict,
    OperationVerdict,
    biggest_first,
)
from hockney.models.statistics import (
    Observation,
    PooledCase,
    RatioEstimate,
    adjusted,
    estimate,
    independent_ratio,
)


@dataclass(frozen=True)
class Pair:
    """A case as A and B measured it, on ranks at this `level`."""

    case: Case
    a: PooledCase
    b: PooledCase
    level: str = ""


@dataclass(frozen=True)
class JudgedCases:
    """Verdicts on all cases in the order given, and on operations in the order of their first case.
    `tests` is the number of ratios with an interval, which were tested together."""

    tolerance: float
    cases: tuple[CaseVerdict, ...]
    operations: tuple[OperationVerdict, ...]
    tests: int

    @property
    def biggest_first(self) -> list[CaseVerdict]:
        return biggest_first(self.cases)


@dataclass(frozen=True)
class _Tested:
    """Adjusted probabilities, None if the ratio has no interval."""

    ratio: RatioEstimate
    changed: float | None
    same: float | None

    @property
    def state(self) -> verdicts.State:
        return verdicts.state_of(self.ratio.ratio, self.changed, self.same)


def judge(
    pairs: Sequence[Pair], tolerance: float, *, exact_a: bool = False, exact_b: bool = False
) -> JudgedCases:
    """`exact_a`, `exact_b`: the times of this side do not vary."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, pair in enumerate(pairs):
        groups.setdefault((pair.case.workload, pair.level), []).append(place)
    several = [[pairs[k] for k in group] for group in groups.values() if len(group) > 1]
    ratios = [_ratio(each, exact_a, exact_b) for each in (*([pair] for pair in pairs), *several)]
    tested = _tested(ratios, tolerance)
    decided = sum(each.state not in ("undecided", "unknown") for each in tested)
    tests = sum(each.ratio.known for each in tested)
    cases = tuple(
        _case(pair, each, tolerance, max(1.0, tests / (decided + 1)), (exact_a, exact_b))
        for pair, each in zip(pairs, tested, strict=False)
    )
    means = iter(tested[len(pairs) :])
    operations = []
    for (workload, level), group in groups.items():
        mean = next(means) if len(group) > 1 else tested[group[0]]
        of, ratio = tuple(cases[k] for k in group), mean.ratio.ratio
        state = verdicts.overall(of, mean.state, ratio, tolerance)
        operations.append(
            OperationVerdict(workload, level, of, ratio, mean.changed, mean.same, mean.state, state)
        )
    return JudgedCases(tolerance, cases, tuple(operations), tests)


def _ratio(pairs: Sequence[Pair], exact_a: bool, exact_b: bool) -> RatioEstimate:
    """The geometric mean of the ratios of these cases."""
    a, b = [pair.a for pair in pairs], [pair.b for pair in pairs]
    return independent_ratio(b, a, exact_of=exact_b, exact_over=exact_a)


def _tested(ratios: Sequence[RatioEstimate], tolerance: float) -> list[_Tested]:
    changed = _adjusted([verdicts.p_changed(ratio, tolerance) for ratio in ratios])
    same = _adjusted([verdicts.p_same(ratio, tolerance) for ratio in ratios])
    return [_Tested(*each) for each in zip(ratios, changed, same, strict=True)]


def _adjusted(raw: Sequence[float | None]) -> list[float | None]:
    fair = iter(adjusted([p for p in raw if p is not None]))
    return [None if p is None else next(fair) for p in raw]


def _case(
    pair: Pair, tested: _Tested, tolerance: float, tests: float, exact: tuple[bool, bool]
) -> CaseVerdict:
    launches, ratio, state = (pair.a.launches, pair.b.launches), tested.ratio.ratio, tested.state
    open_ = state in ("undecided", "unknown")
    return CaseVerdict(
        case=pair.case,
        workload=pair.b.whole.workload,
        level=pair.level,
        a=_time(pair.a.whole, exact[0]),
        b=_time(pair.b.whole, exact[1]),
        launches=launches,
        ratio=ratio,
        p_changed=tested.changed,
        p_same=tested.same,
        state=state,
        more_launches=verdicts.more_launches(ratio, tolerance, launches, tests) if open_ else None,
        observed=(pair.a.whole, pair.b.whole),
    )


def _time(seen: Observation, exact: bool) -> Estimate:
    return ExactValue.of(seen.interval()[0]) if exact else estimate(*seen.interval())
