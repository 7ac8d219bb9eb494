# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Equations 1 to 6 of Hanebutte and Tatsumi, their consequences, and the paper's own values."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.core.errors import UsageError
from hockney.machines import simulated
from hockney.models.applications.granularity import (
    OVERLAP,
    Algorithm,
    best_ranks,
    break_even,
    candidate_counts,
    ceiling,
    efficiency,
    find_levers,
    ranks_reaching,
    required_work,
    times,
    with_shared_cores,
)
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts

SUN = costs_of_description(simulated.platform("sun-ethernet"))
T_START, T_W, WORD = 1500e-6, 5e-6, 4


def sun_exchange(ranks: int, words: int) -> float:
    """Equation 3 with the paper's parameters."""
    return 2 * (T_START + T_W * (ranks / 2) * words)


@st.composite
def machines(draw) -> PointToPointCosts:
    """A machine on which a longer message never takes less."""
    latency = draw(st.floats(1e-7, 1e-2))
    per_byte = draw(st.floats(1e-11, 1e-5))
    pieces = [CostPiece(0, latency, per_byte)]
    if draw(st.booleans()):
        pieces.append(CostPiece(4096, latency * draw(st.floats(1, 5)), per_byte))
    return PointToPointCosts(
        "m", "M", tuple(pieces), draw(st.booleans()), "", eager_limit=draw(st.sampled_from([0, math.inf]))
    )


algorithms = st.builds(
    Algorithm,
    work_s=st.floats(1e-6, 1e4),
    bytes=st.integers(0, 10**6),
    serial=st.floats(0, 1),
    exchanges=st.floats(0.01, 100),
    imbalance=st.floats(1, 3),
)
several = st.integers(2, 64)


def test_equations_1_2_and_6_are_the_papers():
    work, serial, words = 3.7, 0.05, 250
    plain = Algorithm(work, WORD * words)
    partly = replace(plain, serial=serial)
    for ranks in (2, 4, 8):
        cost = sun_exchange(ranks, words)
        now = times(plain, SUN, ranks)
        assert now.speed_up == pytest.approx(work / (work / ranks + cost), rel=1e-12)
        assert now.efficiency == pytest.approx(work / (work + ranks * cost), rel=1e-12)
        assert efficiency(partly, SUN, ranks) == pytest.approx(
            work / ((1 - serial) * work + ranks * (serial * work + cost)), rel=1e-12
        )
        assert now.communication_share == pytest.approx(cost / (work / ranks + cost), rel=1e-12)


@pytest.mark.parametrize("words", [1, 10, 100, 1000, 10000])
@pytest.mark.parametrize(("ranks", "percent"), [(2, 50), (4, 25)])
def test_the_suns_break_even_where_the_paper_says(ranks, percent, words):
    cost = sun_exchange(ranks, words)
    grain = ranks * cost / (ranks - 1)  # T / (T + np Tcom) = 1 / np
    found = break_even(Algorithm(1.0, WORD * words), SUN, ranks)
    assert found == pytest.approx(grain, rel=1e-12)
    assert 100 * efficiency(Algorithm(grain, WORD * words), SUN, ranks) == pytest.approx(percent, rel=1e-12)


@given(algorithms, machines(), several, st.floats(0.01, 1))
def test_the_work_needed_inverts_the_efficiency(algorithm, messages, ranks, wanted):
    work = required_work(wanted, algorithm, messages, ranks)
    if work is None:
        endless = replace(algorithm, work_s=1e300)
        assert efficiency(endless, messages, ranks) <= wanted * (1 + 1e-9)
        assert ceiling(algorithm, ranks) <= wanted * (1 + 1e-9)
    else:
        assert efficiency(replace(algorithm, work_s=work), messages, ranks) == pytest.approx(wanted, rel=1e-6)


@given(algorithms, machines(), several)
def test_at_break_even_many_are_as_fast_as_one(algorithm, messages, ranks):
    work = break_even(algorithm, messages, ranks)
    if work is None:  # one rank does everything, or has it all
        assert ceiling(algorithm, ranks) <= (1 + 1e-9) / ranks
    else:
        assert times(replace(algorithm, work_s=work), messages, ranks).speed_up == pytest.approx(1, rel=1e-6)


@given(algorithms, machines(), several, st.floats(1, 10))
def test_efficiency_falls_with_what_costs_and_rises_with_the_grain(algorithm, messages, ranks, more):
    now = efficiency(algorithm, messages, ranks)
    exact = 1 + 1e-12

    def then(**changed) -> float:
        return efficiency(replace(algorithm, **changed), messages, ranks)

    assert then(bytes=algorithm.bytes * more) <= now * exact
    assert then(exchanges=algorithm.exchanges * more) <= now * exact
    assert then(imbalance=algorithm.imbalance * more) <= now * exact
    assert then(work_s=algorithm.work_s * more) >= now / exact
    if algorithm.imbalance <= ranks:
        assert then(serial=min(1.0, algorithm.serial * more)) <= now * exact
    assert efficiency(algorithm, messages, ranks, factor=more) <= now * exact
    assert now <= ceiling(algorithm, ranks) * exact


@given(algorithms, machines(), several)
def test_a_lever_brings_what_the_changed_algorithm_has(algorithm, messages, ranks):
    now = times(algorithm, messages, ranks)
    pulled = find_levers(algorithm, messages, ranks)
    for lever in pulled:
        assert lever.gain == pytest.approx(lever.efficiency - now.efficiency)
        if lever.algorithm is not None:
            assert lever.efficiency == efficiency(lever.algorithm, messages, ranks)
        else:
            hidden = min(now.communication, now.parallel + now.waiting)
            assert lever.name == OVERLAP
            assert lever.efficiency == pytest.approx(algorithm.work_s / ranks / (now.total - hidden))
    assert [lever.gain for lever in pulled] == sorted((lever.gain for lever in pulled), reverse=True)
    assert algorithm not in [lever.algorithm for lever in pulled], "what changes nothing is left out"


def test_each_lever_pulls_what_it_names(golden):
    algorithm = Algorithm(1.0, 40000, serial=0.02, exchanges=3, imbalance=1.5)
    changed = {lever.name: lever.algorithm for lever in find_levers(algorithm, SUN, 4)}
    golden("levers.json", {name: each and vars(each) for name, each in changed.items()})
    assert set(changed.values()) == {
        replace(algorithm, work_s=10.0, bytes=400000),
        replace(algorithm, bytes=20000),
        replace(algorithm, imbalance=1.0),
        replace(algorithm, serial=0.01),
        None,
    }
    assert find_levers(algorithm, SUN, 1) == []


@given(algorithms, machines(), st.integers(1, 200))
def test_the_best_number_of_ranks_is_none_better(algorithm, messages, most):
    def speed_up(ranks: int) -> float:
        return times(algorithm, messages, ranks).speed_up

    best = best_ranks(algorithm, messages, most)
    assert all(speed_up(n) < speed_up(best) for n in range(1, best))
    assert all(speed_up(n) <= speed_up(best) for n in range(best, most + 1))
    half = ranks_reaching(0.5, algorithm, messages, most)
    assert half == 1 or efficiency(algorithm, messages, half) >= 0.5
    assert all(efficiency(algorithm, messages, n) < 0.5 for n in range(half + 1, most + 1))


@given(st.integers(1, 10**7))
def test_numbers_of_ranks_to_look_at(most):
    found = candidate_counts(most)
    assert found[0] == 1 and found[-1] == most and len(found) < 9000
    assert all(a < b <= max(a + 1, a * 1.002) for a, b in pairwise(found))


def test_ranks_that_share_a_core_compute_in_turn():
    algorithm = Algorithm(1.0, 8, serial=0.1)
    assert (
        with_shared_cores(algorithm, 2, 2) is algorithm and with_shared_cores(algorithm, 8, None) is algorithm
    )
    crowded = times(with_shared_cores(algorithm, 8, 2), SUN, 8)
    assert crowded.parallel + crowded.waiting == pytest.approx(0.9 / 2)
    assert crowded.speed_up < 2
    assert times(with_shared_cores(algorithm, 8, 1), SUN, 8).total > 1.0, (
        "one core is no faster than one rank"
    )


def test_one_rank_neither_waits_nor_talks():
    alone = times(Algorithm(2.0, 100, serial=0.3, exchanges=5, imbalance=2), SUN, 1)
    assert alone.total == pytest.approx(2.0) and alone.efficiency == 1 and alone.communication == 0
    assert required_work(0.9, Algorithm(2.0), SUN, 1) == 0.0
    assert required_work(1.1, Algorithm(2.0), SUN, 1) is None


@pytest.mark.parametrize(
    ("numbers", "quantity"),
    [
        ({"work_s": 0.0}, "work"),
        ({"work_s": -1.0}, "work"),
        ({"work_s": math.nan}, "work"),
        ({"work_s": math.inf}, "work"),
        ({"work_s": 1.0, "serial": 1.01}, "serial"),
        ({"work_s": 1.0, "serial": -0.1}, "serial"),
        ({"work_s": 1.0, "bytes": -1}, "bytes"),
        ({"work_s": 1.0, "exchanges": math.nan}, "exchanges"),
        ({"work_s": 1.0, "imbalance": 0.9}, "imbalance"),
    ],
)
def test_what_no_algorithm_has(numbers, quantity):
    with pytest.raises(UsageError) as caught:
        Algorithm(**numbers)
    assert (caught.value.code, caught.value.fields["quantity"]) == ("impossible-algorithm", quantity)
