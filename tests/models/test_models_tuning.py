# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of algorithms: never another one than MPI's own choice unless it is faster beyond doubt, and the
same choices in the file for Open MPI, read as Open MPI reads it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models_data import CATALOG, exact, record

from hockney.core.case import MPI, Case
from hockney.core.fit import Estimate
from hockney.core.record import RunRecords
from hockney.models import observe
from hockney.models.tuning import openmpi
from hockney.models.tuning.points import PLAIN, TABLE_OPERATIONS, points_of_algorithms, points_of_settings
from hockney.models.tuning.rules import (
    MIN_EFFECT,
    AlgorithmRatio,
    ChoiceRule,
    Point,
    derive_rules,
    exclude_combinations,
    format_choices,
    qualifies,
)
from hockney.system.bundled import bundled_catalog


@st.composite
def ratios(draw) -> Estimate:
    value = draw(st.floats(0.2, 3))
    if draw(st.integers(0, 9)) == 0:
        return Estimate(value, None, None)
    return Estimate(value, value * draw(st.floats(0.7, 1)), value * draw(st.floats(1, 1.4)))


@st.composite
def tables(draw, operations: Sequence[str] = TABLE_OPERATIONS, names: Sequence[str] = "abcd") -> list[Point]:
    places = draw(
        st.sets(
            st.tuples(st.sampled_from(operations), st.integers(2, 5), st.sampled_from([1, 8, 64, 100, 4096])),
            max_size=12,
        )
    )
    some = st.sets(st.sampled_from(names))
    return [
        Point(*place, tuple(AlgorithmRatio(name, draw(ratios())) for name in sorted(draw(some))))
        for place in sorted(places)
    ]


def test_rules_without_some_sizes_leave_the_sizes_in_between_to_mpi() -> None:
    some = [Estimate(0.1 * k, None, None) for k in range(1, 5)]
    rule = ChoiceRule("bcast", 2, "chain", (8, 64, 512, 4096), tuple(some))
    other = ChoiceRule("bcast", 3, "chain", (64,), (some[0],))
    places = [("bcast", 2, 64), ("reduce", 3, 64), ("bcast", 2, 100)]
    assert exclude_combinations([rule, other], places) == [
        ChoiceRule("bcast", 2, "chain", (8,), (some[0],)),
        ChoiceRule("bcast", 2, "chain", (512, 4096), (some[2], some[3])),
        other,
    ]
    assert exclude_combinations([other], [("bcast", 3, 64)]) == []


def covering(rules: Sequence[ChoiceRule], operation: str, ranks: int, size: int) -> list[ChoiceRule]:
    return [r for r in rules if (r.operation, r.ranks) == (operation, ranks) and r.first <= size <= r.last]


@given(tables(), st.sampled_from([0.01, MIN_EFFECT, 0.3]))
def test_an_algorithm_is_used_exactly_where_one_is_faster(points, effect):
    rules = derive_rules(points, effect)
    for point in points:
        good = [each for each in point.candidates if qualifies(each, effect)]
        covered = covering(rules, point.operation, point.ranks, point.size)
        assert len(covered) == (1 if good else 0)
        for rule in covered:
            (chosen,) = [each for each in good if each.algorithm == rule.algorithm]
            assert chosen.ratio.high < 1 - effect
            assert chosen.upper_bound <= min(each.upper_bound for each in good) * (1 + effect)
            assert rule.ratios[rule.sizes.index(point.size)] == chosen.ratio


@given(tables())
def test_no_rule_reaches_beyond_what_was_measured(points):
    rules = derive_rules(points)
    measured: dict[tuple[str, int], list[int]] = {}
    for point in points:
        measured.setdefault((point.operation, point.ranks), []).append(point.size)
    for rule in rules:
        sizes = measured[rule.operation, rule.ranks]
        assert list(rule.sizes) == [size for size in sizes if rule.first <= size <= rule.last]
        assert all(len(covering(rules, rule.operation, rule.ranks, size)) == 1 for size in rule.sizes)
        assert rule.best.high <= rule.worst.high


@given(tables())
def test_a_larger_effect_never_uses_more(points):
    few, many = derive_rules(points, 0.2), derive_rules(points, 0.02)
    for point in points:
        place = point.operation, point.ranks, point.size
        assert not covering(few, *place) or covering(many, *place)


def test_one_rule_covers_neighbors_rather_than_the_best_at_each():
    def point(size: int, a: float, b: float) -> Point:
        found = [AlgorithmRatio(name, Estimate(x, 0.99 * x, 1.01 * x)) for name, x in (("a", a), ("b", b))]
        return Point("bcast", 2, size, tuple(found))

    points = [point(8, 0.50, 0.52), point(64, 0.52, 0.50), point(512, 0.9, 0.6), point(4096, 1.0, 0.98)]
    (rule,) = derive_rules(points)
    assert (rule.algorithm, rule.first, rule.last) == ("b", 8, 512)
    assert [r.algorithm for r in derive_rules([point(8, 0.4, 0.5), point(64, 0.5, 0.4)])] == ["a", "b"]


@given(tables(), st.sampled_from([0.01, MIN_EFFECT, 0.3]))
def test_a_point_is_undecided_if_an_algorithm_may_be_faster_and_none_is(points, effect):
    for point in points:
        if not point.candidates:
            continue
        ratios = [each.ratio for each in point.candidates]
        known = [ratio for ratio in ratios if ratio.high is not None]
        if any(ratio.high < 1 - effect for ratio in known):
            expected = "faster"
        elif any(ratio.low < 1 - effect for ratio in known):
            expected = "undecided"
        else:
            expected = "not faster" if len(known) == len(ratios) else "unknown"
        assert point.state(effect) == expected
        closest = point.decisive_ratio(effect)
        assert closest.state(effect) == expected and closest in point.candidates


def looked_up(text: str, operation: str, ranks: int, size: int) -> int:
    """The number of the algorithm, found as Open MPI 5 does: the last line whose size is not larger."""
    words = iter([word for line in text.splitlines() for word in line.partition("#")[0].split()])
    found = 0
    for _ in range(int(next(words))):
        number = int(next(words))
        chosen: list[tuple[int, int]] = []
        for _ in range(int(next(words))):
            at_ranks, count = int(next(words)), int(next(words))
            lines = []
            for k in range(count):
                begin, algorithm, fanout, segments = (int(next(words)) for _ in range(4))
                assert (begin == 0) == (k == 0) and segments == 0 and fanout in (0, 4)
                assert not lines or begin > lines[-1][0]
                lines.append((begin, algorithm))
            if at_ranks <= ranks:
                chosen = lines
        if number == openmpi.NUMBERS[operation]:
            total = size * ranks if operation in openmpi.OPERATIONS_BY_TOTAL else size
            found = [algorithm for begin, algorithm in chosen if begin <= total][-1]
    assert next(words, None) is None
    return found


@given(tables(sorted(openmpi.ALGORITHMS), ["tuned1", "tuned2", "tuned3"]))
def test_open_mpi_finds_the_same_choices_in_its_file(points):
    rules = derive_rules(points)
    text = openmpi.format_dynamic_rules(rules, ["a comment"])
    for operation in openmpi.ALGORITHMS:
        for ranks in range(1, 8):
            for size in (0, 1, 7, 8, 9, 63, 64, 65, 99, 100, 101, 2000, 4096, 4097, 1 << 20):
                wanted = [int(r.algorithm[5:]) for r in covering(rules, operation, ranks, size)]
                assert looked_up(text, operation, ranks, size) == (wanted or [0])[0]


@given(tables(sorted(openmpi.ALGORITHMS), ["tuned1"]))
def test_comments_state_what_the_message_sizes_count(points):
    lines = openmpi.format_dynamic_rules(derive_rules(points), []).splitlines()
    for operation, number in openmpi.NUMBERS.items():
        counted = (
            "all ranks' blocks together" if operation in openmpi.OPERATIONS_BY_TOTAL else "one rank's vector"
        )
        found = [line for line in lines if line.startswith(f"{number} # {operation};")]
        assert all(line.endswith(f"bytes of {counted}") for line in found)
        assert len(found) == any(rule.operation == operation for rule in derive_rules(points))


def test_settings_force_existing_algorithms_only():
    plain, *forcing = openmpi.forcing_settings()
    assert plain.name == PLAIN and plain.variables == ()
    for operation, names in openmpi.ALGORITHMS.items():
        used = [dict(s.variables).get(f"OMPI_MCA_coll_tuned_{operation}_algorithm") for s in forcing]
        assert used == [str(k) if k <= len(names) else None for k in range(1, len(forcing) + 1)]
        assert [
            openmpi.algorithm_of(operation, name) for name in openmpi.settings_of_operation(operation, 2)
        ] == list(names)
        assert len(openmpi.settings_of_operation(operation, 3)) == len(names) - (openmpi.TWO_RANKS in names)
    assert openmpi.settings_of_operation("scan", 2) == []


def test_every_tabled_operation_is_a_workload_with_algorithms():
    found = {
        workload.operation
        for workload in bundled_catalog().with_role("collective", "barrier")
        if any(parameter.name == "algorithm" for parameter in workload.parameters)
    }
    assert found == set(TABLE_OPERATIONS)


CASES = [
    CATALOG.case(f"allreduce bytes={size} ranks=2 sync={sync} algorithm={name}")
    for size in (8, 64)
    for sync in ("barrier", "window")
    for name in (MPI, "ring", "rabenseifner")
]
FACTORS = {MPI: 1.0, "ring": 0.5, "rabenseifner": 1.5}


def test_an_algorithm_must_be_faster_in_every_way_it_was_measured():
    def time(case: Case) -> float:
        slow = case["algorithm"] == "ring" and case["bytes"] == 64 and case["sync"] == "window"
        return 1e-6 * (2.0 if slow else FACTORS[str(case["algorithm"])])

    points = points_of_algorithms(observe(exact(time, CASES), CATALOG))
    assert [(p.operation, p.ranks, p.size) for p in points] == [("allreduce", 2, 8), ("allreduce", 2, 64)]
    assert {c.algorithm: round(c.ratio.value, 6) for c in points[0].candidates} == {
        "ring": 0.56,
        "rabenseifner": 1.56,
    }, "a replaced call takes 60 ns more than its algorithm"
    assert {c.algorithm: round(c.ratio.value, 6) for c in points[1].candidates}["ring"] == 2.06


def test_no_rule_gains_less_than_a_replaced_call_costs():
    def time(case: Case) -> float:
        return {8: 100e-9, 64: 1e-6}[int(case["bytes"])] * (0.8 if case["algorithm"] == "ring" else 1.0)

    points = points_of_algorithms(observe(exact(time, CASES), CATALOG))
    assert [rule.sizes for rule in derive_rules(points)] == [(64,)]


def test_an_algorithm_that_was_not_measured_in_every_way_is_left_out():
    cases = [case for case in CASES if case["algorithm"] != "ring" or case["sync"] == "barrier"]
    points = points_of_algorithms(observe(exact(lambda case: 1e-6, cases), CATALOG))
    assert {c.algorithm for p in points for c in p.candidates} == {"rabenseifner"}


@pytest.mark.parametrize("own", [("",), (PLAIN,), ("", PLAIN)])
def test_settings_are_compared_with_launches_without_variables(own):
    factors = {**dict.fromkeys(own, 1.0), "tuned1": 0.5, "other": 0.1}
    line = "bcast bytes=64 ranks=2 algorithm=mpi"
    cases = [CATALOG.case(line).with_setting(setting) for setting in factors]
    run = exact(lambda case: 1e-6 * factors[case.setting], cases)
    seen = observe(run, CATALOG)
    (point,) = points_of_settings(seen, ["tuned1"])
    assert [(c.algorithm, round(c.ratio.value, 6)) for c in point.candidates] == [("tuned1", 0.5)]
    assert point.state() == "faster"
    assert all(each.candidates == () for each in points_of_algorithms(seen))


def test_no_algorithm_is_faster_if_the_same_case_was_as_fast_in_ordinary_launches():
    """A slow machine in all launches without variables is no property of MPI's own choice."""
    factors = {"": 1.0, PLAIN: 3.1, "tuned1": 1.0, "tuned2": 0.9}
    cases = [
        CATALOG.case("bcast bytes=64 ranks=2 algorithm=mpi").with_setting(setting) for setting in factors
    ]
    (point,) = points_of_settings(
        observe(exact(lambda case: 1e-6 * factors[case.setting], cases), CATALOG), ["tuned1", "tuned2"]
    )
    assert point.state() == "undecided" and len(point.candidates) == 2


def test_the_text_of_a_table():
    half = Estimate(0.5, 0.45, 0.55)
    rules = [
        ChoiceRule("scan", 2, "linear", (8,), (half,)),
        ChoiceRule("bcast", 3, "chain", (8, 64), (half, half)),
    ]
    lines = [line for line in format_choices(rules, ["from a run"]).splitlines() if line[0] != "#"]
    assert lines == [
        "hockney-choices 1",
        "scan ranks=2 bytes=8 algorithm=linear",
        "bcast ranks=3 bytes=8:64 algorithm=chain",
    ]


@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_the_ends_of_the_effect(effect):
    sure = AlgorithmRatio("a", Estimate(0.5, 0.4, 0.6))
    assert qualifies(sure, effect) == (effect == 0)


def test_two_launches_may_both_have_been_in_one_state_of_the_machine():
    """Repetitions scatter by 1%, so that the time of each launch has a narrow interval."""
    wobble = [1e-6 * (1 + 0.01 * (k % 3 - 1)) for k in range(30)]

    def states(launches: int) -> list[str]:
        records = tuple(
            record(case, str(launch), [FACTORS[str(case["algorithm"])] * each for each in wobble])
            for launch in range(launches)
            for case in CASES
        )
        return [
            point.state() for point in points_of_algorithms(observe(RunRecords(records=records), CATALOG))
        ]

    assert states(2) == ["unknown", "unknown"] and states(3) == ["faster", "faster"]
