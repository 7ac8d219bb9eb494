# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rules compare the same data on both sides, planted violations are found, and few are found that are
not there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from tiers import slow

from hockney.core.case import Case
from hockney.core.fit import ExactValue
from hockney.measurement import fake_bench
from hockney.models.guidelines import (
    EMULATIONS,
    FACTOR,
    LOCAL,
    OPERATIONS,
    RULES,
    SOURCES,
    GuidelineVerdicts,
    comparisons,
    is_decisive,
    judge,
)
from hockney.models.statistics import Observation
from hockney.pages.evidence import Options
from hockney.studies.guidelines.plan import WHOLE_VECTOR_WORKLOADS, WORKLOADS, plan
from hockney.system.bundled import bundled_catalog, catalog_with

CATALOG = catalog_with(bundled_catalog(), WORKLOADS)
MACHINE = fake_bench("fake").machine

Amounts = Mapping[str, tuple[int, int]]


def amounts(n: int, ranks: int) -> Amounts:
    """By MPI's standard: what the rank that contributes most contributes, and what the rank that receives
    most has at the end, in bytes of the operation's own size n."""
    block, whole = n, ranks * n
    one = {
        "bcast": (n, n),
        "scatter": (whole, block),
        "gather": (block, whole),
        "allgather": (block, whole),
        "alltoall": (whole, whole),
        "reduce": (n, n),
        "allreduce": (n, n),
        "reduce_scatter_block": (whole, block),
        "scan": (n, n),
        "exscan": (n, n),
        LOCAL: (n, n),
    }
    irregular = {"scatterv": "scatter", "gatherv": "gather", "allgatherv": "allgather"}
    irregular |= {"alltoallv": "alltoall", "reduce_scatter": "reduce_scatter_block"}
    return one | {name: one[regular] for name, regular in irregular.items()}


def observed(times: Mapping[Case, np.ndarray]) -> list[Observation]:
    """One launch per value, without a spread inside."""
    return [
        Observation(
            case=case,
            workload=CATALOG.entry(case.workload),
            launches=tuple(map(str, range(len(values)))),
            log_typical=np.log(values),
            lower_widths=np.full(len(values), np.nan),
            upper_widths=np.full(len(values), np.nan),
            quantile=np.full(len(values), 1.96),
        )
        for case, values in times.items()
    ]


def planned(ranks: Sequence[int] = (2,), sizes: Sequence[int] = (4096, 65536)) -> list[Case]:
    return plan(Options(ranks=tuple(ranks), sizes=tuple(sizes)), CATALOG, MACHINE)


def exactly(cost: Callable[[Case], float], ranks: int, sizes: Sequence[int]) -> GuidelineVerdicts:
    times = {case: np.array([cost(case)]) for case in planned((ranks,), sizes)}
    return judge(observed(times), CATALOG, exact=True)


def noisy(
    cost: Callable[[Case], float],
    cases: Sequence[Case],
    random: np.random.Generator,
    launches: int = 8,
    apart: bool = False,
) -> GuidelineVerdicts:
    """Launches share a factor; each case varies besides. `apart`: the workloads of a separate executable have
    separate launches."""
    factors = random.normal(0, 0.2 if not apart else 0.02, (2, launches))
    engine = {workload.name for workload in bundled_catalog().workloads}
    times: dict[Case, np.ndarray] = {}
    for case in cases:
        other = apart and case.workload not in engine
        times[case] = cost(case) * np.exp(factors[int(other)] + random.normal(0, 0.03, launches))
    seen = [
        replace(each, launches=tuple(f"other{name}" for name in each.launches))
        if apart and each.case.workload not in engine
        else each
        for each in observed(times)
    ]
    return judge(seen, CATALOG)


def test_every_rule_is_an_entry_of_known_workloads_with_a_source():
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.sources and set(rule.sources) <= set(SOURCES) and rule.how, rule
    for rule in EMULATIONS:
        for name in (rule.operation, *(term.workload for term in rule.terms)):
            assert CATALOG.workload(name).size == "bytes", name
        assert re.fullmatch(r"\w+\(n\)", rule.left)


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("rule", EMULATIONS, ids=lambda rule: rule.name)
def test_both_sides_have_the_same_data(rule, ranks: int):
    """What goes in on the left fits into the first term of the right side, what a term yields is what the
    next one takes, and the last one yields what the left side does; and nothing is larger than needed."""
    n = 8 * ranks * 5
    taken, given = amounts(n, ranks)[rule.operation]
    terms = [term for term in rule.terms if not term.copies]
    steps = [amounts(term.bytes(n, ranks), ranks)[term.workload] for term in terms]
    assert steps[0][0] >= taken and steps[-1][1] >= given
    assert taken in (steps[0][0], given) or given == steps[-1][1]
    if len(steps) == 2:
        assert steps[0][0] == taken and steps[-1][1] == given, "two calls need nothing in excess"
        assert steps[0][1] == steps[1][0]
    copied = [term.bytes(n, ranks) for term in rule.terms if term.copies]
    assert bool(copied) == (steps[0][0] != taken or steps[-1][1] != given), "the data must be rearranged"


def linear(case: Case) -> float:
    """1 s per byte that the busiest rank sends or receives in the linear algorithms of docs/collectives.md,
    or takes apart in memory (reduce_local: nothing, so that only messages count)."""
    steps = {"allreduce": 2, "reduce_scatter_block": 1, LOCAL: 1e-9}.get(case.workload, 1)
    return steps * (case.ranks - 1) * case.bytes


CLOSED: Mapping[str, Callable[[int], float]] = {
    "bcast-scatter-allgather": lambda p: p / 2,
    "gather-allgather": lambda p: 1,
    "gather-reduce": lambda p: 1 / p,
    "gather-gatherv": lambda p: 1,
    "scatter-bcast": lambda p: 1 / p,
    "scatter-scatterv": lambda p: 1,
    "allgather-gather-bcast": lambda p: 1 / (1 + p),
    "allgather-alltoall": lambda p: 1,
    "allgather-allreduce": lambda p: 1 / (2 * p),
    "allgather-allgatherv": lambda p: 1,
    "alltoall-alltoallv": lambda p: 1,
    "reduce-allreduce": lambda p: 1 / 2,
    "reduce-reduce_scatter_block-gather": lambda p: p / 2,
    "allreduce-reduce-bcast": lambda p: 1,
    "allreduce-reduce_scatter_block-allgather": lambda p: p,
    "reduce_scatter_block-reduce-scatter": lambda p: 1 / (p + 1),
    "reduce_scatter_block-allreduce": lambda p: 1 / (2 * p),
    "reduce_scatter_block-reduce_scatter": lambda p: 1,
    "scan-exscan-reduce_local": lambda p: 1,
    "algorithm": lambda p: 1,
    "monotony": lambda p: 1 / 4,
    "split": lambda p: 1,
}
"""The ratio of both sides if all algorithms are linear: of (P - 1) messages with n bytes each."""


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_the_ratios_are_those_of_the_closed_costs(ranks: int):
    sizes = tuple(8 * ranks * 4**k for k in (2, 3, 4))
    verdicts = exactly(linear, ranks, sizes)
    assert [rule.name for rule in verdicts.rules] == [rule.name for rule in RULES] == list(CLOSED)
    for each in verdicts.judged:
        assert isinstance(each.ratio, ExactValue)
        expected = CLOSED[each.rule.name](ranks)
        if each.rule.kind == "monotony":
            expected = each.left.bytes / each.comparison.parts[0].case.bytes
        assert each.ratio.value == pytest.approx(expected, rel=1e-6), each
        assert each.state == ("violated" if expected > FACTOR else "holds"), each


def test_the_plan_has_both_sides_of_every_rule_at_every_size():
    for ranks, size in ((2, 16), (3, 1000), (5, 8), (16, 1 << 20)):
        found = comparisons(planned((ranks,), (size,)), CATALOG)
        for rule in EMULATIONS:
            (each,) = (each for each in found if each.rule is rule)
            whole = each.left.bytes * (1 if rule.operation in WHOLE_VECTOR_WORKLOADS else ranks)
            assert size <= whole < size + 8 * ranks, "rounded up to whole doubles in every block"
    named = {name for name in OPERATIONS if "vector" in help_of(name) and "block" not in help_of(name)}
    assert set(WHOLE_VECTOR_WORKLOADS) == named


def help_of(name: str) -> str:
    (parameter,) = (p for p in CATALOG.workload(name).parameters if p.name == "bytes")
    return parameter.help


def lines(*texts: str) -> list[Case]:
    return [CATALOG.case(text) for text in texts]


def names(*texts: str) -> list[str]:
    return [each.rule.name for each in comparisons(lines(*texts), CATALOG)]


def test_only_cases_that_match_are_compared():
    assert names("gather bytes=64", "allgather bytes=64") == ["gather-allgather"]
    assert names("gather bytes=64", "allgather bytes=64 ranks=4") == []
    assert names("gather bytes=64", "allgather bytes=64 sync=window") == []
    assert names("gather bytes=64", "allgather bytes=64 buffers=cold") == []
    assert names("gather bytes=64 sync=loop", "allgather bytes=64 sync=loop") == []
    assert names("gather bytes=64 ranks=1", "allgather bytes=64 ranks=1") == []
    assert names("gather bytes=64", "allgather bytes=128") == []
    assert names("gather bytes=0", "allgather bytes=0") == []
    assert names("gather bytes=64 algorithm=linear", "allgather bytes=64") == []
    assert names("gather bytes=64", "allgather bytes=64 algorithm=ring") == []
    assert names("gather bytes=64 root=1", "gatherv bytes=64") == []
    assert names("gather bytes=64 root=1", "gatherv bytes=64 root=1") == ["gather-gatherv"]
    assert names("gather bytes=64", "gatherv bytes=64 counts=skewed") == []
    assert names("bcast bytes=64", "bcast bytes=64 algorithm=chain") == ["algorithm"]
    assert names("bcast bytes=64", "bcast bytes=64 algorithm=chain root=1") == []


def test_blocks_and_vectors_are_told_apart():
    four = "ranks=4"
    right = f"allreduce bytes=256 {four}", f"reduce_local bytes=256 {four}"
    assert names(f"allgather bytes=64 {four}", *right) == ["allgather-allreduce"]
    assert names(f"allgather bytes=256 {four}", *right) == []
    parts = f"scatter bytes=64 {four}", f"allgather bytes=64 {four}"
    assert names(f"bcast bytes=256 {four}", *parts) == ["bcast-scatter-allgather"]
    assert names(f"bcast bytes=64 {four}", *parts) == []
    for size, matches in ((250, True), (249, True), (224, False), (257, False)):  # parts are rounded up
        assert bool(names(f"bcast bytes={size} {four}", *parts)) == matches, size


def test_copies_must_have_been_measured():
    sides = "scatter bytes=64", "bcast bytes=128"
    assert names(*sides) == []
    (each,) = comparisons(lines(*sides, "reduce_local bytes=64"), CATALOG)
    assert [(part.case.workload, part.copies) for part in each.parts] == [("bcast", False), (LOCAL, True)]


def test_other_sizes_are_those_nearby_and_the_next():
    cases = lines(*(f"pingpong bytes={size}" for size in (0, 8, 24, 64, 1024)))
    found = comparisons(cases, CATALOG)
    assert not is_decisive(found), "sizes alone are no reason to choose a run"
    pairs = {
        kind: [
            (each.left.bytes, each.parts[0].case.bytes, each.parts[0].count)
            for each in found
            if each.rule.kind == kind
        ]
        for kind in ("monotony", "split")
    }
    assert pairs["monotony"] == [(0, 8, 1), (8, 24, 1), (8, 64, 1), (24, 64, 1), (64, 1024, 1)]
    assert pairs["split"] == [(24, 8, 3), (64, 8, 8), (1024, 64, 16)]


def test_many_sizes_make_few_comparisons():
    dense = lines(*(f"pingpong bytes={size}" for size in range(64, 4096, 64)))
    found = [each for each in comparisons(dense, CATALOG) if each.rule.kind == "monotony"]
    factors = {(each.left.bytes, each.parts[0].case.bytes) for each in found}
    assert {(64, 128), (64, 256), (64, 512), (640, 704), (640, 1280), (640, 2560)} <= factors
    assert (64, 192) not in factors and (64, 576) not in factors and len(found) < 4 * len(dense)


def test_cases_with_a_launch_setting_are_left_out():
    gather, allgather = lines("gather bytes=64", "allgather bytes=64")
    large = gather.with_setting("large"), allgather.with_setting("large")
    assert comparisons(large, CATALOG) == comparisons((gather, large[1]), CATALOG) == []
    assert len(comparisons((gather, allgather, *large), CATALOG)) == 1


def at_the_limit(case: Case) -> float:
    """Many guidelines are just not violated: hockney's algorithms are faster by the factor, and a gather is
    slower by it than what emulates it."""
    fast = 1 / FACTOR if case.get("algorithm", "mpi") != "mpi" else 1.0
    slow = FACTOR if case.workload in ("gather", "scatter") else 1.0
    return 1e-6 * (1e-6 if case.workload == LOCAL else fast * slow)


RUNS = 50


@pytest.mark.parametrize(("launches", "apart"), [(8, False), *slow((3, False), (8, True))])
def test_without_violations_one_run_in_twenty_reports_any(launches: int, apart: bool):
    random, cases = np.random.default_rng(4), planned()
    truth = {case: at_the_limit(case) for case in cases}
    once = {case: np.array([time]) for case, time in truth.items()}
    exact = judge(observed(once), CATALOG, FACTOR * 1.0001, exact=True)
    limit = [each for each in exact.judged if each.ratio.value > FACTOR * 0.9999]
    assert not exact.violated and len(limit) > 30, "the test is as hard as it can be"
    runs = [noisy(truth.__getitem__, cases, random, launches, apart) for _ in range(RUNS)]
    reported = sum(bool(verdicts.violated) for verdicts in runs)
    assert reported <= binom.ppf(0.999, RUNS, 0.05)
    single = np.mean([each.ratio.low > FACTOR for verdicts in runs for each in verdicts.judged])
    assert single > 0.002, "without the adjustment, most runs would report some"


def planted(case: Case) -> float:
    """A broadcast of 4 KiB takes 1.5 times as long as it should, an alltoall three times."""
    times = {("bcast", 4096): 1.5, ("alltoall", 2048): 3.0}
    own = case.get("algorithm", "mpi") == "mpi"
    return at_the_limit(case) * (times.get((case.workload, case.bytes), 1.0) if own else 1.0)


def test_too_few_launches_decide_nothing():
    random, cases = np.random.default_rng(8), planned(sizes=(4096,))
    one = noisy(planted, cases, random, launches=1)
    assert {each.state for each in one.judged} == {"unknown"} and not one.conclusive
    two = noisy(planted, cases, random, launches=2)
    assert not two.violated


def test_a_larger_factor_has_fewer_violations():
    times = {case: np.array([planted(case)]) for case in planned()}
    by_factor = [judge(observed(times), CATALOG, factor, exact=True) for factor in (1.05, 1.2, 2.0, 4.0)]
    counts = [len(verdicts.violated) for verdicts in by_factor]
    assert counts[0] >= counts[1] > counts[2] > counts[3] == 0
    assert all(each.ratio.value > 2 for each in by_factor[2].violated)
    assert all(each.p == 0.0 for each in by_factor[0].violated), "exact times need no more evidence"
