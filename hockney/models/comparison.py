# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Compares two sets of measurements, A and B, by case and by operation: which is slower?

**Verdicts.** A ratio B / A has two tests. Slower or faster: the ratio is beyond the tolerance. The same: it
is within the tolerance, by two one-sided tests (D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987) 657).
Both use the level of the 95% interval, so a verdict implies that the interval lies beyond the tolerance, or
within it. The test beyond the tolerance may also use the ratio relative to operations that did not change,
which is more precise.

Pairs of launches that a change of the machine splits have no weight, and either sign is equally likely. If
several pairs all have one sign, something else may occasionally slow one side, so the verdict is not "the
same". Nor is it for a side that met the slow mode of the machine more often.

**Many tests.** Among hundreds of equal cases, some differ significantly by chance. So the p-values of all
cases and operations are adjusted together (Benjamini and Hochberg): of the ratios reported as slower or
faster, at most 5% are false on average, and if nothing has changed, one is reported with a probability of 5%
at most. Cases and operations have the same weight in total (C. R. Genovese, K. Roeder, L. Wasserman,
Biometrika 93 (2006) 509). The tests for the same times are adjusted in the same way, together.

**Relative ratios** of interleaved comparisons. A slow launch slows all its cases, so the ratios of a pair of
launches share an error, which often dominates. It cancels in the ratio relative to other operations, so a
change of one operation is found long before its own ratio is certain. A change of all operations is not found
in this way. The reference operations are those that take the same time relative to each other: starting with
all operations, the one whose difference from the others is most significant is left out until none is
significant (Bonferroni). At least half of the operations, and at least two, must remain; otherwise there is
no reference. All interleaved cases are compared by pairs of launches in the same mode of the machine
(`MachineModes`); each run, and each number of ranks, has separate launches and so separate modes.

**Any effect.** Does a setting have any effect, over all cases? Found: the smallest p-value of all ratios,
adjusted for their number, is significant (R. J. Simes, Biometrika 73 (1986) 751); this needs no tolerance.
None: nothing is found, the 95% intervals of all operations' means are within the tolerance, and no pairs were
excluded on one side only. This needs no adjustment: the largest of these means is within its interval with
95% probability (an intersection-union test; R. L. Berger, Technometrics 24 (1982) 295)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.core.fit import Estimate, ExactValue
from hockney.core.machine import Machine
from hockney.core.record import RunRecords
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

SIGNIFICANCE_LEVEL = 0.05
MIN_LAUNCHES = 3
"""With two launches a side, an interval is rarely narrow enough for a verdict."""
MIN_ONE_SIDED = 3
"""This many pairs without a weight have the same sign by chance in one of four cases, so more pairs are
needed for `same`. Six or more are no chance, and count (`pair_center`)."""
MAX_LAUNCHES = 1000
"""Launches of a side; advice to make more is of no use."""

State = Literal["slower", "faster", "same", "undecided", "unknown"]
"""The state of B relative to A. unknown: the ratio has no interval."""


class RunOfMachine(Protocol):
    """A run on a machine."""

    @property
    def run(self) -> RunRecords: ...

    @property
    def machine(self) -> Machine: ...


@dataclass(frozen=True)
class Parts:
    """Parts of a machine, such as its nodes, that were judged instead of cases. `only_a` and `only_b` are the
    parts that one side lacks; `notes` are sentences on the result."""

    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgedCases:
    """Verdicts on all cases in the given order, and on operations in the order of their first case. `tests`
    is the number of ratios with an interval, which were tested together. `paired`: whether launches of A and
    B with the same name ran next to each other. For interleaved launches, `effect` is that of the
    setting that differs, `modes` are those of the machine that split their pairs, and `reference` contains
    the operations that did not change, to which the others are compared. With `parts`, operations are parts
    of the machine, and their cases are times of that part."""

    tolerance: float
    cases: tuple[CaseVerdict, ...]
    operations: tuple[OperationVerdict, ...]
    tests: int
    paired: bool = False
    effect: Effect | None = None
    modes: tuple[MachineModes, ...] = ()
    reference: tuple[Operation, ...] = ()
    parts: Parts | None = None

    @property
    def biggest_first(self) -> list[CaseVerdict]:
        return biggest_first(self.cases)


@dataclass(frozen=True)
class _Test:
    """A ratio and, if there are reference operations, the ratio relative to them, with the adjusted p-values
    of a change (`changed`) and of a difference (`same`), None without an interval."""

    ratio: RatioEstimate
    relative: RatioEstimate | None = None
    changed: float | None = None
    same: float | None = None

    def p_changed(self, tolerance: float) -> float | None:
        return p_changed(self.ratio, tolerance, self.relative)

    @property
    def state(self) -> State:
        return state_of(self.ratio.ratio, self.changed, self.same)

    def verdict_fields(self) -> dict[str, Any]:
        """Fields of a `RatioVerdict`, except its state."""
        return {
            "ratio": self.ratio.ratio,
            "p_changed": self.changed,
            "p_same": self.same,
            "excluded": self.ratio.excluded,
            "relative": None if self.relative is None else self.relative.ratio,
        }


@dataclass(frozen=True)
class _RatioMethod:
    """How ratios are computed: whether the times of a side vary, and whether launches are paired."""

    exact_a: bool
    exact_b: bool
    paired: bool

    def ratio(self, pairs: Sequence[Pair]) -> RatioEstimate:
        """Geometric mean of the ratios of these cases."""
        a, b = [pair.a for pair in pairs], [pair.b for pair in pairs]
        if self.paired:
            return paired_ratio(b, a)
        return independent_ratio(b, a, exact_numerator=self.exact_b, exact_denominator=self.exact_a)

    def times(self, pair: Pair) -> tuple[Estimate, Estimate]:
        """Times of A and of B; for pairs, without outliers, as in the ratio."""
        b, a = select_weighted_pairs(pair.b, pair.a) if self.paired else (pair.b.pooled, pair.a.pooled)
        return _time(a, self.exact_a), _time(b, self.exact_b)

    def launch_counts(self, pair: Pair) -> tuple[int, int]:
        """Numbers of launches of A and of B that count."""
        shared = pair_count(pair.a, pair.b) if self.paired else 0
        return (shared, shared) if shared >= MIN_LAUNCHES else (pair.a.launch_count, pair.b.launch_count)


def judge(
    pairs: Sequence[Pair],
    tolerance: float,
    *,
    exact_a: bool = False,
    exact_b: bool = False,
    paired: bool = False,
) -> JudgedCases:
    """Compare all pairs of cases. The times of exact sides do not vary. `paired`: the launches of A and B
    were interleaved, and those of the same name ran next to each other. Exact times need no pairs."""
    method = _RatioMethod(exact_a, exact_b, paired and not (exact_a or exact_b))
    modes: tuple[MachineModes, ...] = ()
    if method.paired:
        pairs, modes = pair_in_same_mode(pairs)
    uneven = any(test.is_uneven for test in modes)
    indices_by_operation: dict[Operation, list[int]] = {}
    for index, pair in enumerate(pairs):
        indices_by_operation.setdefault(pair.operation, []).append(index)
    pairs_by_operation = {
        operation: [pairs[case_index] for case_index in group]
        for operation, group in indices_by_operation.items()
        if len(group) > 1
    }

    tested_cases, tested_means, reference = _measure_ratios(pairs, pairs_by_operation, method, tolerance)
    tested_cases, tested_means = _test_all(tested_cases, tested_means, tolerance, uneven)
    all_tested = [*tested_cases, *tested_means]
    decided_count = sum(test.state not in ("undecided", "unknown") for test in all_tested)
    tests = sum(test.ratio.has_interval for test in all_tested)
    cases = tuple(
        _judge_case(pair, test_of_case, tolerance, max(1.0, tests / (decided_count + 1)), method, uneven)
        for pair, test_of_case in zip(pairs, tested_cases, strict=True)
    )
    means = dict(zip(pairs_by_operation, tested_means, strict=True))
    operations = tuple(
        _judge_operation(
            operation,
            tuple(cases[case_index] for case_index in group),
            means.get(operation, tested_cases[group[0]]),
            tolerance,
        )
        for operation, group in indices_by_operation.items()
    )
    setting_effect = None
    if paired:
        cases_differ, means_differ = _adjust_together(
            [test.p_changed(0.0) for test in tested_cases], [test.p_changed(0.0) for test in tested_means]
        )
        setting_effect = judge_effect(cases, operations, [*cases_differ, *means_differ], tolerance, uneven)
    return JudgedCases(tolerance, cases, operations, tests, method.paired, setting_effect, modes, reference)


def _measure_ratios(
    pairs: Sequence[Pair],
    pairs_by_operation: Mapping[Operation, Sequence[Pair]],
    method: _RatioMethod,
    tolerance: float,
) -> tuple[list[_Test], list[_Test], tuple[Operation, ...]]:
    """Ratios of each case, of the operations with several cases, and the reference operations. There is no
    reference if it is slower or faster as a whole."""
    cases = [_Test(method.ratio([pair])) for pair in pairs]
    means = [_Test(method.ratio(group)) for group in pairs_by_operation.values()]
    relative = relative_ratios(pairs) if method.paired else None
    if relative is None:
        return cases, means, ()
    reference = method.ratio([pair for pair in pairs if pair.operation in relative.reference])
    p_value = p_changed(reference, tolerance)
    if p_value is None or p_value <= SIGNIFICANCE_LEVEL:
        return cases, means, ()
    cases = [
        replace(test, relative=relative_ratio)
        for test, relative_ratio in zip(cases, relative.cases, strict=True)
    ]
    means = [
        replace(test, relative=relative.operations[operation])
        for test, operation in zip(means, pairs_by_operation, strict=True)
    ]
    return cases, means, relative.reference


def _test_all(
    cases: Sequence[_Test], means: Sequence[_Test], tolerance: float, uneven: bool
) -> list[list[_Test]]:
    """Tests of cases and of operations. `uneven`: one side was in the slow mode of the machine so much more
    often that nothing can be the same."""
    groups = cases, means
    changed = _adjust_together(*([each.p_changed(tolerance) for each in tests] for tests in groups))
    same = _adjust_together(*([p_same(each.ratio, tolerance, uneven) for each in tests] for tests in groups))
    return [
        [replace(test, changed=p, same=q) for test, p, q in zip(*tests, strict=True)]
        for tests in zip(groups, changed, same, strict=True)
    ]


def _adjust_together(
    cases: Sequence[float | None], operations: Sequence[float | None]
) -> tuple[list[float | None], list[float | None]]:
    """Adjust the p-values of all cases and all operations together. Both groups have the same weight, so
    hundreds of cases do not hide a change of a few operations."""
    groups = [[p for p in group if p is not None] for group in (cases, operations)]
    p_values = [p for group in groups for p in group]
    weights = [len(p_values) / 2 / len(group) if all(groups) else 1.0 for group in groups for _ in group]
    adjusted = iter(adjust_p_values(p_values, weights))
    adjusted_cases, adjusted_operations = (
        [None if p is None else next(adjusted) for p in group] for group in (cases, operations)
    )
    return adjusted_cases, adjusted_operations


def _judge_case(
    pair: Pair, test: _Test, tolerance: float, tests: float, method: _RatioMethod, uneven: bool
) -> CaseVerdict:
    launches, additional_launches = method.launch_counts(pair), None
    a, b = method.times(pair)
    if test.state in ("undecided", "unknown"):
        uneven = uneven or is_one_sided(test.ratio.excluded)
        additional_launches = more_launches(test.ratio.ratio, tolerance, launches, tests, uneven)
    return CaseVerdict(
        case=pair.case,
        workload=pair.b.pooled.workload,
        level=pair.level,
        a=a,
        b=b,
        launches=launches,
        state=test.state,
        more_launches=additional_launches,
        observed=(pair.a.pooled, pair.b.pooled),
        **test.verdict_fields(),
    )


def _judge_operation(
    operation: Operation, cases: tuple[CaseVerdict, ...], mean: _Test, tolerance: float
) -> OperationVerdict:
    """`mean` is the test of the mean ratio, or of the only case."""
    workload, level = operation
    return OperationVerdict(
        workload=workload,
        level=level,
        cases=cases,
        mean_state=mean.state,
        state=operation_state(cases, mean.state, mean.ratio.ratio, tolerance),
        **mean.verdict_fields(),
    )


def _time(observation: Observation, exact: bool) -> Estimate:
    return ExactValue.of(observation.interval()[0]) if exact else estimate(*observation.interval())


@dataclass(frozen=True)
class Pair:
    """A case as measured by A and B, on ranks at this `level`."""

    case: Case
    a: PooledCase
    b: PooledCase
    level: str = ""

    @property
    def operation(self) -> Operation:
        return self.case.workload, self.level


def pair_in_same_mode(pairs: Sequence[Pair]) -> tuple[list[Pair], tuple[MachineModes, ...]]:
    """Regroup the launches of the cases in the same mode; also return the modes found."""
    groups: dict[tuple[int, int], list[Pair]] = {}
    for pair in pairs:
        for run in pair.a.runs.keys() & pair.b.runs.keys():
            groups.setdefault((run, pair.case.ranks), []).append(pair)
    partners: dict[int, dict[str, str | None]] = {}
    all_modes = []
    for (run, ranks), group in groups.items():
        modes = find_machine_modes(
            [member.a.runs[run] for member in group], [member.b.runs[run] for member in group]
        )
        if modes is not None:
            all_modes.append(modes)
            partners.setdefault(ranks, {}).update(modes.partners)
    regrouped = [
        replace(pair, b=exchange_launches(pair.b, partners.get(pair.case.ranks, {}))) for pair in pairs
    ]
    return regrouped, tuple(all_modes)


MIN_OPERATIONS = 3
MIN_PAIRS = 8
"""Pairs of launches. With fewer, operations that changed are rarely told from others."""


@dataclass(frozen=True)
class RelativeRatios:
    """Ratio of each case, in the given order, and of each operation, relative to the mean of the `reference`
    operations other than its own."""

    cases: tuple[RatioEstimate, ...]
    operations: Mapping[Operation, RatioEstimate]
    reference: tuple[Operation, ...]


def relative_ratios(pairs: Sequence[Pair]) -> RelativeRatios | None:
    """Ratios of cases and operations with paired launches relative to operations that did not change. None if
    a side of a case has several runs, if there are too few operations or pairs of launches that measured all
    cases, or if most operations differ from each other."""
    if not all(len(pair.a.runs) == len(pair.b.runs) == 1 for pair in pairs):
        return None
    names = common_pairs([(pair.b, pair.a) for pair in pairs])
    by_operation: dict[Operation, list[int]] = {}
    for place, pair in enumerate(pairs):
        by_operation.setdefault(pair.operation, []).append(place)
    if len(by_operation) < MIN_OPERATIONS or len(names) < MIN_PAIRS:
        return None
    logs = np.array([log_ratios(pair.b.pooled, pair.a.pooled, names)[0] for pair in pairs])
    means = {operation: logs[places].mean(axis=0) for operation, places in by_operation.items()}
    reference = _reference_operations(means)
    if reference is None:
        return None
    others = {each: _mean(means, reference, without=each) for each in means}
    cases = tuple(ratio_of_pairs(of - others[pair.operation]) for pair, of in zip(pairs, logs, strict=True))
    return RelativeRatios(
        cases, {each: ratio_of_pairs(mean - others[each]) for each, mean in means.items()}, tuple(reference)
    )


def _mean(means: Mapping[Operation, np.ndarray], of: Sequence[Operation], without: Operation) -> np.ndarray:
    return np.mean([means[each] for each in of if each != without], axis=0)


def _reference_operations(means: Mapping[Operation, np.ndarray]) -> list[Operation] | None:
    """Operations that take the same time relative to each other; None if most do not."""
    candidates = list(means)
    fewest = max(2, math.ceil(len(candidates) / 2))
    while True:
        ratios = {
            each: ratio_of_pairs(means[each] - _mean(means, candidates, without=each)) for each in candidates
        }
        significance = {each: _differs(ratio) for each, ratio in ratios.items()}
        least = min(candidates, key=significance.__getitem__)
        if significance[least] * len(candidates) > SIGNIFICANCE_LEVEL:
            return candidates
        if len(candidates) == fewest:
            return None
        candidates.remove(least)


def _differs(ratio: RatioEstimate) -> float:
    above, below = ratio.p_above(1.0), ratio.p_below(1.0)
    return 1.0 if above is None or below is None else min(above, below)


@dataclass(frozen=True, kw_only=True)
class RatioVerdict:
    """Verdict on a ratio b / a with a 95% interval, whose bounds are None if unknown. `level` is the level of
    the ranks: within a host, or between hosts ("" if unknown). `p_changed` is the p-value of a ratio beyond
    the tolerance, `p_same` that of a ratio within it; both are adjusted for the number of tests, and None
    without an interval. `excluded` contains the numbers of pairs of launches without a weight (for an
    operation: in most cases) in which B was far slower, and far faster. In interleaved comparisons,
    `relative` is the ratio divided by that of the reference operations, if there are any."""

    level: str
    ratio: Estimate
    p_changed: float | None
    p_same: float | None
    state: State
    excluded: tuple[int, int] = (0, 0)
    relative: Estimate | None = None

    @property
    def change(self) -> float:
        """Distance of the ratio from 1: the absolute value of its logarithm."""
        return abs(math.log(self.ratio.value))


@dataclass(frozen=True)
class DelayedShare:
    """How many of these repetitions were delayed, as if packets were lost."""

    delayed: int
    repetitions: int

    @property
    def share(self) -> float:
        return self.delayed / max(1, self.repetitions)


@dataclass(frozen=True, kw_only=True)
class CaseVerdict(RatioVerdict):
    """A case that both sides measured. `a` and `b` are its times (s) with 95% intervals, `launches` the
    numbers of launches of A and of B. `more_launches` of each side would decide an undecided case if the
    ratio stayed the same; None if it is decided, or if no number is enough. `part` describes the part of the
    machine that was judged by this case; "" for the case itself. If the part was judged by `delays`, they are
    those of A and of B, and the times are means."""

    case: Case
    workload: Workload = field(repr=False)
    a: Estimate
    b: Estimate
    launches: tuple[int, int]
    more_launches: tuple[int, int] | None
    observed: tuple[Observation, Observation] = field(repr=False, compare=False)
    part: str = ""
    delays: tuple[DelayedShare, DelayedShare] | None = None

    @property
    def size(self) -> float:
        """Value of the parameter that is the size of the workload; 0 without one."""
        return self.workload.size_of(self.case)


@dataclass(frozen=True, kw_only=True)
class OperationVerdict(RatioVerdict):
    """Verdict on a workload. `ratio` is the geometric mean over its `cases`, `mean_state` the verdict on
    that."""

    workload: str
    cases: tuple[CaseVerdict, ...] = field(repr=False)
    mean_state: State

    def of(self, *states: State) -> list[CaseVerdict]:
        """Cases with these verdicts, largest changes first."""
        return biggest_first(case for case in self.cases if case.state in states)


def biggest_first(cases: Iterable[CaseVerdict]) -> list[CaseVerdict]:
    """Verdicts by decreasing change; those without an interval come last."""
    return sorted(cases, key=lambda each: (each.state == "unknown", -each.change))


def p_changed(ratio: RatioEstimate, tolerance: float, relative: RatioEstimate | None = None) -> float | None:
    """p-value of a change beyond the tolerance, on the more probable side. With the ratio `relative`
    to reference operations, the more significant one of the two tests (Bonferroni), if both ratios are on the
    same side of 1. None without an interval."""
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
    """Larger p-value of the two one-sided tests; 1 if one-sided pairs were excluded, or if the machine
    was slow much more often for one side (`uneven`)."""
    if (uneven or is_one_sided(ratio.excluded)) and ratio.has_interval:
        return 1.0
    above, below = ratio.p_above(1 / (1 + tolerance)), ratio.p_below(1 + tolerance)
    return None if above is None or below is None else max(above, below)


def is_one_sided(excluded: tuple[int, int]) -> bool:
    """Whether several pairs have no weight, and the same side was far slower in all of them."""
    return min(excluded) == 0 and max(excluded) >= MIN_ONE_SIDED


def state_of(ratio: Estimate, changed: float | None, same: float | None) -> State:
    """State of a ratio, from its adjusted p-values."""
    if changed is None or same is None:
        return "unknown"
    if changed <= SIGNIFICANCE_LEVEL:
        return "slower" if ratio.value > 1 else "faster"
    return "same" if same <= SIGNIFICANCE_LEVEL else "undecided"


def operation_state(
    cases: Sequence[CaseVerdict], mean_state: State, ratio: Estimate, tolerance: float
) -> State:
    """Verdict on an operation: slower if a case or the mean is. It is faster if a case or the mean is, and
    the mean is certainly not slower. Otherwise it is the verdict on the mean."""
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
    """Approximate number of additional launches of each side that would decide a ratio: the interval shrinks
    with the root of their number. `tests` is the number of tests for each that may be significant. With twice
    as many launches, `uneven` numbers of excluded pairs become balanced or significant."""
    if ratio.low is None or ratio.high is None:
        few = tuple(max(0, MIN_LAUNCHES - count) for count in launches)
        return (few[0], few[1]) if any(few) else None
    wider, bounds = interval_stretch(math.ceil(tests)), (1 / (1 + tolerance), 1 + tolerance)
    factor = max(time_to_exclude(ratio, bound, wider) for bound in bounds)
    if uneven:
        factor = max(factor, 2.0)
    if factor * max(launches) > MAX_LAUNCHES:
        return None
    first, second = (max(1, math.ceil(count * (factor - 1))) for count in launches)
    return first, second


Verdict = TypeVar("Verdict", CaseVerdict, OperationVerdict)
EffectState = Literal["found", "none", "undecided"]


@dataclass(frozen=True)
class Effect:
    """Effect of a setting. `p` is the p-value of all ratios if nothing differs, adjusted for their number;
    None without intervals. `clearest` is the case or operation with the most certain difference, if an effect
    was found. `bound` is the largest factor, above 1 and in either direction, by which the mean of an
    operation may still differ, `case_bound` that of a single case (95%). `widest` and `widest_case` are the
    operation and the case with these bounds. They are None if an interval is unknown."""

    state: EffectState
    p: float | None
    clearest: CaseVerdict | OperationVerdict | None
    bound: float | None
    widest: OperationVerdict | None
    case_bound: float | None
    widest_case: CaseVerdict | None


def bound_of(ratio: Estimate) -> float | None:
    """Largest factor, above 1, by which times with this ratio may differ."""
    if ratio.low is None or ratio.high is None or ratio.low <= 0:
        return None
    return max(ratio.high, 1 / ratio.low, 1.0)


def judge_effect(
    cases: Sequence[CaseVerdict],
    operations: Sequence[OperationVerdict],
    p_values: Sequence[float | None],
    tolerance: float,
    uneven: bool = False,
) -> Effect:
    """Judge the effect of a setting. `p_values` test that each ratio is 1, adjusted for their number: first
    those of the cases, then those of the operations with several cases. `uneven`: the machine was slow more
    often for one side."""
    tested: list[CaseVerdict | OperationVerdict] = [*cases, *(o for o in operations if len(o.cases) > 1)]
    known = [(p, of) for p, of in zip(p_values, tested, strict=True) if p is not None]
    p, clearest = min(known, key=lambda each: (each[0], -each[1].change), default=(None, None))
    bound, widest = _widest(operations)
    uneven = uneven or any(is_one_sided(operation.excluded) for operation in operations)
    case_bound, widest_case = _widest(cases)
    state: EffectState = "undecided"
    if p is not None and p <= SIGNIFICANCE_LEVEL:
        state = "found"
    elif bound is not None and bound <= 1 + tolerance and not uneven:
        state = "none"
    certain = clearest if state == "found" else None
    return Effect(state, p, certain, bound, widest, case_bound, widest_case)


def _widest(of: Sequence[Verdict]) -> tuple[float | None, Verdict | None]:
    """The verdict with the largest bound; None if a bound is unknown."""
    bounds = [(bound_of(each.ratio), each) for each in of]
    known = [(bound, each) for bound, each in bounds if bound is not None]
    return max(known, key=lambda each: each[0]) if known and len(known) == len(bounds) else (None, None)
