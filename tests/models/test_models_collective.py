# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest
from models_data import CATALOG, NOISE, exact, simulate

from hockney.core.case import Case
from hockney.core.fit import Fit, Subject
from hockney.models import collective_time, fit_collective, observe
from hockney.models.fitted_time import fitted_time

BCAST, BARRIER = Subject("bcast"), Subject("barrier")

TRUTH = {"a": 1e-6, "b": 5e-7, "c": 2e-10}
SIZES = (8, 512, 4096, 65536)
CASES = [Case.of("bcast", p, bytes=s) for p in (2, 3, 4, 8) for s in SIZES]


def steps(form: str, ranks: int) -> int:
    return math.ceil(math.log2(ranks)) if form == "logarithmic" else ranks - 1


def cost(form: str):
    def true(case: Case) -> float:
        size = dict(case.parameters).get("bytes", 0)
        return TRUTH["a"] + (TRUTH["b"] + TRUTH["c"] * size) * steps(form, case.ranks)

    return true


@pytest.mark.parametrize("form", ["logarithmic", "linear"])
def test_the_form_is_recognised_and_its_parameters_found(form: str) -> None:
    fits = fit_collective(observe(exact(cost(form), CASES), CATALOG), BCAST)
    assert [f.model for f in fits] == ["logarithmic", "linear"]
    [best] = [f for f in fits if f.preferred]
    assert best.model == form and best.verdict == "good"
    assert {p.symbol: p.estimate.value for p in best.parameters} == pytest.approx(TRUTH, rel=1e-6)
    assert collective_time(best, 16, 1024) == pytest.approx(cost(form)(Case.of("bcast", 16, bytes=1024)))


def test_rank_counts_that_share_cores_are_left_out(golden) -> None:
    def crowded(case: Case) -> float:
        return cost("linear")(case) * (50 if case.ranks > 4 else 1)

    fits = fit_collective(observe(exact(crowded, CASES), CATALOG), BCAST, ranks_allowed=range(1, 5))
    best = next(f for f in fits if f.model == "linear")
    assert {p.symbol: p.estimate.value for p in best.parameters} == pytest.approx(TRUTH, rel=1e-6)
    [none] = fit_collective(observe(exact(crowded, CASES), CATALOG), BCAST, ranks_allowed=[1])
    assert none.verdict == "refused"
    golden("collective_left_out.txt", f"{best.why}\n{none.why}")


def test_a_collective_of_no_bytes_does_not_bend_the_cost_of_the_others(golden) -> None:
    def idle(case: Case) -> float:
        return cost("logarithmic")(case) if dict(case.parameters)["bytes"] else 1e-8

    empty = [Case.of("bcast", p, bytes=0) for p in (2, 3, 4, 8)]
    fits = fit_collective(observe(exact(idle, CASES + empty), CATALOG), BCAST)
    best = next(f for f in fits if f.model == "logarithmic")
    assert {p.symbol: p.estimate.value for p in best.parameters} == pytest.approx(TRUTH, rel=1e-6)
    golden("collective_no_bytes.txt", best.why)


def test_one_rank_count_is_fitted_in_size(golden) -> None:
    [fit] = fit_collective(observe(exact(cost("linear"), CASES), CATALOG), BCAST, ranks_allowed=[2])
    assert fit.model == "size"
    assert {p.symbol: p.estimate.value for p in fit.parameters} == pytest.approx({"a": 1.5e-6, "c": 2e-10})
    assert [p.x for p in fit.curve] == list(SIZES)
    golden("collective_in_size.txt", fit.why)


def test_a_barrier_has_no_cost_of_a_byte(golden) -> None:
    barriers = [Case.of("barrier", p) for p in (2, 4, 8, 16)]
    fits = fit_collective(observe(exact(cost("logarithmic"), barriers), CATALOG), BARRIER)
    assert [p.symbol for p in fits[0].parameters] == ["a", "b"]
    assert fits[0].preferred
    two = fit_collective(observe(exact(cost("logarithmic"), barriers[:2]), CATALOG), BARRIER)
    assert two[0].verdict == "fair"
    golden("collective_two_cases.txt", two[0].why)
    for case in barriers[:2]:
        time = fitted_time(two[0], {"ranks": case.ranks})
        assert time.value == pytest.approx(cost("logarithmic")(case)) and time.low is time.high is None
    [one] = fit_collective(observe(exact(cost("logarithmic"), barriers[:1]), CATALOG), BARRIER)
    assert one.verdict == "refused"


@pytest.mark.parametrize("curved", [False, True], ids=["on a line", "concave"])
def test_as_many_parameters_as_cases_have_no_intervals(curved: bool) -> None:
    """Precise times of two sizes would give narrow intervals, even if no line with a constant of at least 0
    passes through them."""

    def true(case: Case) -> float:
        return 2e-7 * case.bytes**1.5 if curved else 1e-6 + 1e-9 * case.bytes

    def fitted(sizes: tuple[int, ...]) -> Fit:
        cases = [Case.of("bcast", 2, bytes=size) for size in sizes]
        run = simulate(true, cases, NOISE, np.random.default_rng(1))
        [fit] = fit_collective(observe(run, CATALOG), BCAST)
        return fit

    two, three = fitted((8, 4096)), fitted((8, 512, 4096))
    assert [c.code for c in two.caveats] == ["unchecked-form"]
    assert two.verdict == ("poor" if curved else "fair")
    assert all(p.estimate.low is p.estimate.high is None for p in two.parameters)
    assert two.interval_matrix == [] and all(p.low == p.time == p.high for p in two.curve)
    time = fitted_time(two, {"bytes": 1000})
    assert time.low is time.high is None
    assert all(p.estimate.low < p.estimate.high for p in three.parameters)
    assert fitted_time(three, {"bytes": 1000}).high > collective_time(three, 2, 1000)


def test_a_parameter_held_at_zero_may_be_as_large_as_its_errors() -> None:
    def falling(case: Case) -> float:
        return 1e-5 / case.ranks + 1e-10 * case["bytes"]

    for found in fit_collective(
        observe(simulate(falling, CASES, NOISE, np.random.default_rng(2)), CATALOG), BCAST
    ):
        for parameter in found.parameters:
            assert 0 <= parameter.estimate.low < parameter.estimate.high


MANY = (8, 64, 512, 4096, 16384, 65536, 262144, 1048576, 4194304)


def changing(case: Case) -> float:
    """Another algorithm from 10000 B on: three times the latency, a quarter of the cost per byte."""
    size = case["bytes"]
    slow = 2e-6 + 8e-10 * size if size < 10000 else 6e-6 + 2e-10 * size
    return slow * math.ceil(math.log2(case.ranks))


def test_a_cost_that_changes_with_the_size_is_fitted_in_pieces() -> None:
    two = [Case.of("bcast", 2, bytes=s) for s in MANY]
    for run in (exact(changing, two), simulate(changing, two, NOISE, np.random.default_rng(4))):
        [found] = fit_collective(observe(run, CATALOG), BCAST)
        assert found.model == "size" and found.verdict == "good" and len(found.segments) == 2
        assert found.change_points[0].low <= 10000 <= found.change_points[0].high
        for symbol, value in (("a", 2e-6), ("c", 2e-10)):
            estimate = found.parameter(symbol).estimate
            assert estimate.value == pytest.approx(value, rel=0.05)
        for size in MANY:
            expected = changing(Case.of("bcast", 2, bytes=size))
            assert collective_time(found, 2, size) == pytest.approx(expected, rel=0.1)


def test_pieces_are_of_their_own_rank_count_and_the_forms_stay() -> None:
    several = [Case.of("bcast", p, bytes=s) for p in (2, 4, 8) for s in MANY]
    fits = fit_collective(observe(exact(changing, several), CATALOG), BCAST)
    assert [f.model for f in fits] == ["logarithmic", "linear", "size", "size", "size"]
    assert [f.subject.get("ranks") for f in fits] == [None, None, 2, 4, 8]
    assert [f.preferred for f in fits].count(True) == 1 and not any(f.preferred for f in fits[2:])
    at_eight = collective_time(fits[-1], 8, 65536)
    assert at_eight == pytest.approx(changing(Case.of("bcast", 8, bytes=65536)), rel=1e-6)
