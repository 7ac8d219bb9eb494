# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Two sets of measurements, A and B, judged case by case and operation by operation: which is slower?

**Verdicts.** A ratio B / A has two tests. Slower or faster: the ratio is beyond the tolerance. The same: it
is within the tolerance, which is two one-sided tests (D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987)
657). Both are made at the level of the 95% interval, so that a verdict implies that the interval lies beyond
the tolerance, or within it. The test beyond the tolerance may also be that of the ratio relative to
operations that did not change, which is more precise.

Pairs of launches that a change of the machine splits have no weight, and have either sign with the same
probability. If there are several, all with one sign, something else may make one side slow now and then: that
is not the same. Nor is a side that met the slow mode of the machine more often.

**Many tests.** Of hundreds of equal cases some differ significantly by chance. So the probabilities of all
ratios, those of single cases and those of operations, are adjusted together (Benjamini and Hochberg): of the
ratios reported as slower or faster, at most 5% are false on average, and if nothing has changed, one is
reported with a probability of 5% at most. Cases and operations have the same weight in total (C. R. Genovese,
K. Roeder, L. Wasserman, Biometrika 93 (2006) 509). The tests for the same times are adjusted in the same way,
together.

**Relative ratios** of interleaved comparisons. What makes a launch slow makes all its cases slow, so the
ratios of a pair of launches have an error in common, which is often most of their error. It cancels in the
ratio to those of other operations. So a change of one operation shows up long before its own ratio is
certain. A change of all of them does not show up. The operations to which others are compared are those that
take the same time relative to each other: starting with all of them, the one whose difference from the rest
is most significant is left out until none is (Bonferroni). At least half of the operations remain, and two;
otherwise there is nothing to compare with. All interleaved cases are compared by pairs of launches in the
same mode of the machine (`MachineModes`); each run, and each number of ranks, has separate launches and so
separate modes.

**Any effect.** Does a setting have any effect, over all cases? Found: the smallest probability of all ratios,
adjusted for their number, is significant (R. J. Simes, Biometrika 73 (1986) 751); it needs no tolerance.
None: nothing is found, and the 95% intervals of all operations' means are within the tolerance, without pairs
that were excluded on one side only. That needs no adjustment: the largest of these means is within its
interval with 95% probability (an intersection-union test; R. L. Berger, Technometrics 24 (1982) 295)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.core.fit import Estimate, ExactValue
from hockney.models.statistics import (
    MachineModes,
    Observation,
    PooledCase,
    RatioEstimate,
    adjust_p_values,
    common_pairs,
    estimate,
    exchange_launches,
    find_machine_modes,
    independent_ratio,
    interval_stretch,
    log_ratios,
    pair_count,
    paired_ratio,
    ratio_of_pairs,
    select_weighted_pairs,
    time_to_exclude,
)

Operation = tuple[str, str]
"""A workload, and the level of its ranks."""

LEVEL = 0.05
FEWEST_LAUNCHES = 3
"""With two launches a side, an interval is rarely narrow enough for a verdict."""
FEWEST_ONE_SIDED = 3
"""This many pairs without a weight have the same sign by chance in one of four cases, so more pairs are
needed for `same`. Six or more are no chance, and count (`pair_center`)."""
MOST_LAUNCHES = 1000
"""Launches of a side; advice to make more is of no use."""

State = Literal["slower", "faster", "same", "undecided", "unknown"]
"""The state of B relative to A. unknown: the ratio has no interval."""


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
class _Test:
    """A ratio, and that relative to operations that did not change, if there are some; with adjusted
    probabilities that it is changed or the same, None without an interval."""

    ratio: RatioEstimate
    relative: RatioEstimate | None = None
    changed: float | None = None
    same: float | None = None

    def p_changed(self, tolerance: float) -> float | None:
        return p_changed(self.ratio, tolerance, self.relative)

    @property
    def state(self) -> State:
        return state_of(self.ratio.ratio, self.changed, self.same)

    def fields(self) -> dict[str, Any]:
        """The fields of a `RatioVerdict`, except its state."""
        return {
            "ratio": self.ratio.ratio,
            "p_changed": self.changed,
            "p_same": self.same,
            "excluded": self.ratio.excluded,
            "relative": None if self.relative is None else self.relative.ratio,
        }


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
        return independent_ratio(b, a, exact_numerator=self.exact_b, exact_denominator=self.exact_a)

    def times(self, pair: Pair) -> tuple[Estimate, Estimate]:
        """The times of A and of B; for pairs, without outliers, as in the ratio."""
        b, a = select_weighted_pairs(pair.b, pair.a) if self.paired else (pair.b.pooled, pair.a.pooled)
        return _time(a, self.exact_a), _time(b, self.exact_b)

    def launches(self, pair: Pair) -> tuple[int, int]:
        """The numbers of launches of A and of B that count."""
        shared = pair_count(pair.a, pair.b) if self.paired else 0
        return (shared, shared) if shared >= FEWEST_LAUNCHES else (pair.a.launch_count, pair.b.launch_count)


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
    uneven = any(each.is_uneven for each in modes)
    places: dict[Operation, list[int]] = {}
    for place, pair in enumerate(pairs):
        places.setdefault(pair.operation, []).append(place)
    several = {operation: [pairs[k] for k in group] for operation, group in places.items() if len(group) > 1}

    tested_cases, tested_means, reference = _measured(pairs, several, how, tolerance)
    tested_cases, tested_means = _tested(tested_cases, tested_means, tolerance, uneven)
    all_tested = [*tested_cases, *tested_means]
    decided = sum(each.state not in ("undecided", "unknown") for each in all_tested)
    tests = sum(each.ratio.has_interval for each in all_tested)
    cases = tuple(
        _case(pair, tested, tolerance, max(1.0, tests / (decided + 1)), how, uneven)
        for pair, tested in zip(pairs, tested_cases, strict=True)
    )
    means = dict(zip(several, tested_means, strict=True))
    operations = tuple(
        _operation(
            operation,
            tuple(cases[k] for k in group),
            means.get(operation, tested_cases[group[0]]),
            tolerance,
        )
        for operation, group in places.items()
    )
    effect_found = None
    if paired:
        cases_differ, means_differ = _adjusted(
            [each.p_changed(0.0) for each in tested_cases], [each.p_changed(0.0) for each in tested_means]
        )
        effect_found = effect(cases, operations, [*cases_differ, *means_differ], tolerance, uneven)
    return JudgedCases(tolerance, cases, operations, tests, how.paired, effect_found, modes, reference)


def _measured(
    pairs: Sequence[Pair], several: Mapping[Operation, Sequence[Pair]], how: _How, tolerance: float
) -> tuple[list[_Test], list[_Test], tuple[Operation, ...]]:
    """The ratios of each case, those of the operations that have several, and the operations that did not
    change. These are none if those that did not change relative to each other are slower or faster
    together."""
    cases = [_Test(how.ratio([pair])) for pair in pairs]
    means = [_Test(how.ratio(group)) for group in several.values()]
    found = relative(pairs) if how.paired else None
    if found is None:
        return cases, means, ()
    reference = how.ratio([pair for pair in pairs if pair.operation in found.reference])
    changed = p_changed(reference, tolerance)
    if changed is None or changed <= LEVEL:
        return cases, means, ()
    cases = [replace(test, relative=of) for test, of in zip(cases, found.cases, strict=True)]
    means = [
        replace(test, relative=found.operations[operation])
        for test, operation in zip(means, several, strict=True)
    ]
    return cases, means, found.reference


def _tested(
    cases: Sequence[_Test], means: Sequence[_Test], tolerance: float, uneven: bool
) -> list[list[_Test]]:
    """The tests of cases, and of operations. `uneven`: one side was in the slow mode of the machine so much
    more often that nothing is the same."""
    both = cases, means
    changed = _adjusted(*([each.p_changed(tolerance) for each in tests] for tests in both))
    same = _adjusted(*([p_same(each.ratio, tolerance, uneven) for each in tests] for tests in both))
    return [
        [replace(test, changed=p, same=q) for test, p, q in zip(*tests, strict=True)]
        for tests in zip(both, changed, same, strict=True)
    ]


def _adjusted(
    cases: Sequence[float | None], operations: Sequence[float | None]
) -> tuple[list[float | None], list[float | None]]:
    """The probabilities of all cases and all operations, adjusted together. Both groups have the same weight,
    so that hundreds of cases do not hide a change of few operations."""
    groups = [[p for p in group if p is not None] for group in (cases, operations)]
    known = [p for group in groups for p in group]
    weights = [len(known) / 2 / len(group) if all(groups) else 1.0 for group in groups for _ in group]
    fair = iter(adjust_p_values(known, weights))
    adjusted_cases, adjusted_operations = (
        [None if p is None else next(fair) for p in group] for group in (cases, operations)
    )
    return adjusted_cases, adjusted_operations


def _case(pair: Pair, test: _Test, tolerance: float, tests: float, how: _How, uneven: bool) -> CaseVerdict:
    launches, more = how.launches(pair), None
    a, b = how.times(pair)
    if test.state in ("undecided", "unknown"):
        uneven = uneven or one_sided(test.ratio.excluded)
        more = more_launches(test.ratio.ratio, tolerance, launches, tests, uneven)
    return CaseVerdict(
        case=pair.case,
        workload=pair.b.pooled.workload,
        level=pair.level,
        a=a,
        b=b,
        launches=launches,
        state=test.state,
        more_launches=more,
        observed=(pair.a.pooled, pair.b.pooled),
        **test.fields(),
    )


def _operation(
    operation: Operation, cases: tuple[CaseVerdict, ...], mean: _Test, tolerance: float
) -> OperationVerdict:
    """`mean` is the test of the mean ratio, or that of the only case."""
    workload, level = operation
    return OperationVerdict(
        workload=workload,
        level=level,
        cases=cases,
        mean_state=mean.state,
        state=overall(cases, mean.state, mean.ratio.ratio, tolerance),
        **mean.fields(),
    )


def _time(observation: Observation, exact: bool) -> Estimate:
    return ExactValue.of(observation.interval()[0]) if exact else estimate(*observation.interval())


@dataclass(frozen=True)
class Pair:
    """A case as A and B measured it, on ranks at this `level`."""

    case: Case
    a: PooledCase
    b: PooledCase
    level: str = ""

    @property
    def operation(self) -> Operation:
        return self.case.workload, self.level


def in_same_mode(pairs: Sequence[Pair]) -> tuple[list[Pair], tuple[MachineModes, ...]]:
    """The same cases, and the modes that were found."""
    groups: dict[tuple[int, int], list[Pair]] = {}
    for pair in pairs:
        for run in pair.a.runs.keys() & pair.b.runs.keys():
            groups.setdefault((run, pair.case.ranks), []).append(pair)
    partners: dict[int, dict[str, str | None]] = {}
    all_modes = []
    for (run, ranks), group in groups.items():
        modes = find_machine_modes([each.a.runs[run] for each in group], [each.b.runs[run] for each in group])
        if modes is not None:
            all_modes.append(modes)
            partners.setdefault(ranks, {}).update(modes.partners)
    regrouped = [
        replace(pair, b=exchange_launches(pair.b, partners.get(pair.case.ranks, {}))) for pair in pairs
    ]
    return regrouped, tuple(all_modes)


FEWEST_OPERATIONS = 3
FEWEST_PAIRS = 8
"""Pairs of launches. With fewer, operations that changed are rarely told from others."""


@dataclass(frozen=True)
class Relative:
    """The ratio of each case, in the order given, and of each operation, to the mean of the `reference`
    operations without its own."""

    cases: tuple[RatioEstimate, ...]
    operations: Mapping[Operation, RatioEstimate]
    reference: tuple[Operation, ...]


def relative(pairs: Sequence[Pair]) -> Relative | None:
    """The ratios of cases and operations, whose launches are paired, relative to operations that did not
    change. None if a side of a case has several runs, if there are too few operations, or pairs of launches
    that measured all cases, or if most operations differ from each other."""
    if not all(len(pair.a.runs) == len(pair.b.runs) == 1 for pair in pairs):
        return None
    names = common_pairs([(pair.b, pair.a) for pair in pairs])
    by_operation: dict[Operation, list[int]] = {}
    for place, pair in enumerate(pairs):
        by_operation.setdefault(pair.operation, []).append(place)
    if len(by_operation) < FEWEST_OPERATIONS or len(names) < FEWEST_PAIRS:
        return None
    logs = np.array([log_ratios(pair.b.pooled, pair.a.pooled, names)[0] for pair in pairs])
    means = {operation: logs[places].mean(axis=0) for operation, places in by_operation.items()}
    reference = _reference(means)
    if reference is None:
        return None
    others = {each: _mean(means, reference, without=each) for each in means}
    cases = tuple(ratio_of_pairs(of - others[pair.operation]) for pair, of in zip(pairs, logs, strict=True))
    return Relative(
        cases, {each: ratio_of_pairs(mean - others[each]) for each, mean in means.items()}, tuple(reference)
    )


def _mean(means: Mapping[Operation, np.ndarray], of: Sequence[Operation], without: Operation) -> np.ndarray:
    return np.mean([means[each] for each in of if each != without], axis=0)


def _reference(means: Mapping[Operation, np.ndarray]) -> list[Operation] | None:
    """The operations that take the same time relative to each other; None if most of them do not."""
    candidates = list(means)
    fewest = max(2, math.ceil(len(candidates) / 2))
    while True:
        ratios = {
            each: ratio_of_pairs(means[each] - _mean(means, candidates, without=each)) for each in candidates
        }
        significance = {each: _differs(ratio) for each, ratio in ratios.items()}
        least = min(candidates, key=significance.__getitem__)
        if significance[least] * len(candidates) > LEVEL:
            return candidates
        if len(candidates) == fewest:
            return None
        candidates.remove(least)


def _differs(ratio: RatioEstimate) -> float:
    above, below = ratio.p_above(1.0), ratio.p_below(1.0)
    return 1.0 if above is None or below is None else min(above, below)


@dataclass(frozen=True, kw_only=True)
class RatioVerdict:
    """The verdict on a ratio b / a, which has a 95% interval, its ends None if unknown. `level` is that of
    the ranks: within a host, or between hosts ("" if unknown). `p_changed` is the probability of such a ratio
    if the true one is within the tolerance, `p_same` if it is beyond; both are adjusted for the number of
    tests, and None without an interval. `excluded` is the number of pairs of launches without a weight (of an
    operation: in most cases) in which B was far slower, and of those in which it was far faster. `relative`
    is the ratio divided by that of operations that did not change, of interleaved comparisons that have
    some."""

    level: str
    ratio: Estimate
    p_changed: float | None
    p_same: float | None
    state: State
    excluded: tuple[int, int] = (0, 0)
    relative: Estimate | None = None

    @property
    def change(self) -> float:
        """How far the ratio is from 1, as a logarithm without sign."""
        return abs(math.log(self.ratio.value))


@dataclass(frozen=True, kw_only=True)
class CaseVerdict(RatioVerdict):
    """A case that both sides measured. `a` and `b` are its times (s), with 95% intervals. `launches` are
    those of A and of B. `more_launches` of each side would decide an undecided case, if the ratio stayed the
    same; None if it is decided, or if no number would do."""

    case: Case
    workload: Workload = field(repr=False)
    a: Estimate
    b: Estimate
    launches: tuple[int, int]
    more_launches: tuple[int, int] | None
    observed: tuple[Observation, Observation] = field(repr=False, compare=False)

    @property
    def size(self) -> float:
        """The value of the parameter that is the size of the workload; 0 if it has none."""
        return self.workload.size_of(self.case)


@dataclass(frozen=True, kw_only=True)
class OperationVerdict(RatioVerdict):
    """A workload. `ratio` is the geometric mean over its `cases`, `mean_state` the verdict on it."""

    workload: str
    cases: tuple[CaseVerdict, ...] = field(repr=False)
    mean_state: State

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
    absolute = min(above, below)
    if relative is None:
        return absolute
    relative_p = p_changed(relative, tolerance)
    agree = (ratio.ratio.value > 1) == (relative.ratio.value > 1)
    return min(1.0, 2 * (min(absolute, relative_p) if relative_p is not None and agree else absolute))


def p_same(ratio: RatioEstimate, tolerance: float, uneven: bool = False) -> float | None:
    """The larger probability of the two one-sided tests; 1 if `one_sided` pairs were excluded, or if the
    machine was slow much more often for one side (`uneven`)."""
    if (uneven or one_sided(ratio.excluded)) and ratio.has_interval:
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
    wider, bounds = interval_stretch(math.ceil(tests)), (1 / (1 + tolerance), 1 + tolerance)
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
    certain = clearest if state == "found" else None
    return Effect(state, p, certain, bound, widest, case_bound, widest_case)


def _widest(of: Sequence[Verdict]) -> tuple[float | None, Verdict | None]:
    """The largest bound; None if one is unknown."""
    bounds = [(bound_of(each.ratio), each) for each in of]
    known = [(bound, each) for bound, each in bounds if bound is not None]
    return max(known, key=lambda each: each[0]) if known and len(known) == len(bounds) else (None, None)
