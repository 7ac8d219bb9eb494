# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""All cases of two sides, and their operations, judged together.

Of hundreds of equal cases some differ significantly by chance. So the probabilities of all ratios, those of
single cases and those of operations, are adjusted together (Benjamini and Hochberg): of the ratios reported
as slower or faster, at most 5% are false on average, and if nothing has changed, there is one with a
probability of 5% at most. Cases and operations have the same weight in total (C. R. Genovese, K. Roeder,
L. Wasserman, Biometrika 93 (2006) 509). The tests for the same times are adjusted in the same way,
together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hockney.core.fit import Estimate, ExactValue
from hockney.models.comparison import verdicts
from hockney.models.comparison.pairs import Operation, Pair, in_same_mode, relative
from hockney.models.comparison.verdicts import (
    FEWEST_LAUNCHES,
    CaseVerdict,
    Effect,
    OperationVerdict,
    biggest_first,
    effect,
)
from hockney.models.statistics import (
    MachineModes,
    Observation,
    RatioEstimate,
    adjusted,
    estimate,
    independent_ratio,
    paired_ratio,
    shared_launches,
    that_count,
)


@dataclass(frozen=True)
class JudgedCases:
    """Verdicts on all cases in the order given, and on operations in the order of their first case.
    `tests` is the number of ratios with an interval, which were tested together. `paired`: launches of A and
    B of the same name ran next to each other. `effect` of the setting that differs, if launches took
    turns; `modes` of the machine that split their pairs; `reference` are the operations that did not
    change, to which the others are compared."""

    tolerance: float
    cases: tuple[CaseVerdict, ...]
    operations: tuple[OperationVerdict, ...]
    tests: int
    paired: bool = False
    effect: Effect | None = None
    modes: tuple[MachineModes, ...] = ()
    reference: tuple[Operation, ...] = ()

    @property
    def biggest_first(self) -> list[CaseVerdict]:
        return biggest_first(self.cases)


@dataclass(frozen=True)
class _TwoRatios:
    """A ratio, and that relative to operations that did not change, if there are some."""

    ratio: RatioEstimate
    relative: RatioEstimate | None = None

    def p_changed(self, tolerance: float) -> float | None:
        return verdicts.p_changed(self.ratio, tolerance, self.relative)


@dataclass(frozen=True)
class _Tested:
    """Adjusted probabilities, None if the ratio has no interval."""

    measured: _TwoRatios
    changed: float | None
    same: float | None

    @property
    def ratio(self) -> RatioEstimate:
        return self.measured.ratio

    @property
    def relative(self) -> Estimate | None:
        return None if self.measured.relative is None else self.measured.relative.ratio

    @property
    def state(self) -> verdicts.State:
        return verdicts.state_of(self.ratio.ratio, self.changed, self.same)


@dataclass(frozen=True)
class _How:
    """How ratios are computed: whether the times of a side vary, and whether launches are paired."""

    exact_a: bool
    exact_b: bool
    paired: bool

    def ratio(self, pairs: Sequence[Pair]) -> RatioEstimate:
        """The geometric mean of the ratios of these cases."""
        a, b = [pair.a for pair in pairs], [pair.b for pair in pairs]
        if self.paired:
            return paired_ratio(b, a)
        return independent_ratio(b, a, exact_of=self.exact_b, exact_over=self.exact_a)

    def times(self, pair: Pair) -> tuple[Estimate, Estimate]:
        """The times of A and of B; for pairs, without outliers, as in the ratio."""
        b, a = that_count(pair.b, pair.a) if self.paired else (pair.b.whole, pair.a.whole)
        return _time(a, self.exact_a), _time(b, self.exact_b)

    def launches(self, pair: Pair) -> tuple[int, int]:
        """The numbers of launches of A and of B that count."""
        shared = shared_launches(pair.a, pair.b) if self.paired else 0
        return (shared, shared) if shared >= FEWEST_LAUNCHES else (pair.a.launches, pair.b.launches)


def judge(
    pairs: Sequence[Pair],
    tolerance: float,
    *,
    exact_a: bool = False,
    exact_b: bool = False,
    paired: bool = False,
) -> JudgedCases:
    """`exact_a`, `exact_b`: the times of this side do not vary. `paired`: the launches of A and B took turns;
    those of the same name were next to each other. Exact times need no pairs."""
    how = _How(exact_a, exact_b, paired and not (exact_a or exact_b))
    modes: tuple[MachineModes, ...] = ()
    if how.paired:
        pairs, modes = in_same_mode(pairs)
    groups: dict[Operation, list[int]] = {}
    for place, pair in enumerate(pairs):
        groups.setdefault(pair.operation, []).append(place)
    several = [[pairs[k] for k in group] for group in groups.values() if len(group) > 1]
    measured, reference = _measured(pairs, several, how, tolerance)
    uneven = any(each.uneven for each in modes)
    tested = _tested(measured, len(pairs), tolerance, uneven)
    decided = sum(each.state not in ("undecided", "unknown") for each in tested)
    tests = sum(each.ratio.known for each in tested)
    cases = tuple(
        _case(pair, each, tolerance, max(1.0, tests / (decided + 1)), how, uneven)
        for pair, each in zip(pairs, tested, strict=False)
    )
    means = iter(tested[len(pairs) :])
    operations = []
    for (workload, level), group in groups.items():
        mean = next(means) if len(group) > 1 else tested[group[0]]
        of, ratio = tuple(cases[k] for k in group), mean.ratio.ratio
        state = verdicts.overall(of, mean.state, ratio, tolerance)
        operations.append(
            OperationVerdict(
                workload,
                level,
                of,
                ratio,
                mean.changed,
                mean.same,
                mean.state,
                state,
                mean.ratio.excluded,
                mean.relative,
            )
        )
    differs = _adjusted([each.p_changed(0.0) for each in measured], len(pairs)) if paired else []
    any_ = effect(cases, operations, differs, tolerance, uneven) if paired else None
    return JudgedCases(tolerance, cases, tuple(operations), tests, how.paired, any_, modes, reference)


def _measured(
    pairs: Sequence[Pair], several: Sequence[Sequence[Pair]], how: _How, tolerance: float
) -> tuple[list[_TwoRatios], tuple[Operation, ...]]:
    """The ratios of each case, then of the operations that have several; and the operations that did not
    change. These are none if those that did not change relative to each other are slower or faster
    together."""
    ratios = [how.ratio(each) for each in (*([pair] for pair in pairs), *several)]
    found = relative(pairs) if how.paired else None
    if found is not None:
        reference = how.ratio([pair for pair in pairs if pair.operation in found.reference])
        changed = verdicts.p_changed(reference, tolerance)
        if changed is not None and changed > verdicts.LEVEL:
            means = (found.operations[each[0].operation] for each in several)
            relatives = (*found.cases, *means)
            return [_TwoRatios(*each) for each in zip(ratios, relatives, strict=True)], found.reference
    return [_TwoRatios(ratio) for ratio in ratios], ()


def _tested(measured: Sequence[_TwoRatios], cases: int, tolerance: float, uneven: bool) -> list[_Tested]:
    """`uneven`: one side was in the slow mode of the machine so much more often that nothing is the same."""
    changed = _adjusted([each.p_changed(tolerance) for each in measured], cases)
    same = _adjusted([verdicts.p_same(each.ratio, tolerance, uneven) for each in measured], cases)
    return [_Tested(*each) for each in zip(measured, changed, same, strict=True)]


def _adjusted(raw: Sequence[float | None], cases: int) -> list[float | None]:
    """The first ones are those of `cases`, the others those of operations. Both groups have the same weight,
    so that hundreds of cases do not hide a change of few operations."""
    known = [k for k, p in enumerate(raw) if p is not None]
    of_cases = sum(k < cases for k in known)
    sizes = (of_cases, len(known) - of_cases)
    weights = [len(known) / 2 / sizes[k >= cases] if all(sizes) else 1.0 for k in known]
    fair = iter(adjusted([p for p in raw if p is not None], weights))
    return [None if p is None else next(fair) for p in raw]


def _case(
    pair: Pair, tested: _Tested, tolerance: float, tests: float, how: _How, uneven: bool
) -> CaseVerdict:
    launches, ratio, state = how.launches(pair), tested.ratio.ratio, tested.state
    a, b = how.times(pair)
    excluded, more = tested.ratio.excluded, None
    if state in ("undecided", "unknown"):
        uneven = uneven or verdicts.one_sided(excluded)
        more = verdicts.more_launches(ratio, tolerance, launches, tests, uneven)
    return CaseVerdict(
        case=pair.case,
        workload=pair.b.whole.workload,
        level=pair.level,
        a=a,
        b=b,
        launches=launches,
        ratio=ratio,
        p_changed=tested.changed,
        p_same=tested.same,
        state=state,
        more_launches=more,
        observed=(pair.a.whole, pair.b.whole),
        excluded=excluded,
        relative=tested.relative,
    )


def _time(seen: Observation, exact: bool) -> Estimate:
    return ExactValue.of(seen.interval()[0]) if exact else estimate(*seen.interval())
