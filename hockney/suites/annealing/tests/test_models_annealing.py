# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rounds of an annealing on several ranks: waiting with known answers, and predictions from synthetic
rounds of one rank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.models.measured_costs import LocalCost, MeasuredCosts
from hockney.models.programs.communication import Communication
from hockney.models.programs.description import parse_description
from hockney.models.programs.timing import iteration_time
from hockney.suites.annealing.models.prediction import (
    RoundSpread,
    SingleRank,
    blocking_rounds,
    handling_times,
    predict,
    round_spread,
)
from hockney.suites.annealing.models.program import (
    SCHEDULE_BYTES,
    SETUPS,
    STATISTICS_BYTES,
    AnnealingProgram,
    Timetable,
    program_of,
)
from hockney.suites.annealing.models.rounds import RoundCosts, simulate_rounds
from hockney.system.bundled import bundled_catalog, bundled_workloads, catalog_with

UP, DOWN = 3e-6, 2e-6
FREE = RoundCosts(0.0, 0.0, (0.0, 0.0), (0.0, 0.0))
AT_ONCE, LATER = Timetable(), Timetable(lag=1)
ROUNDS, ROUND_S = 50, 1e-3
PROGRAM = AnnealingProgram("original", 2, walkers=64, steps=100, rounds=ROUNDS)
CASES = catalog_with(bundled_catalog(), ("annealing",))
NONE = LocalCost()
STEP_S = ROUND_S / 32 / 100
MESSAGE = PointToPointCosts("m", "m", (CostPiece(0, 1e-6, 0.0),), shared=False, source="test")
MESSAGES = Communication(
    MESSAGE,
    MeasuredCosts(MESSAGE, None, None, (0.5e-6, 0.0, 0.5e-6, 0.0), NONE, NONE, NONE),
    collectives={("bcast", 2): ((8.0, DOWN), (64.0, DOWN)), ("gather", 2): ((8.0, UP), (64.0, UP))},
)


def even(ranks: int = 2) -> np.ndarray:
    return np.full((1, ranks, ROUNDS), ROUND_S)


def one_rank(deviation: float = 0.0, rounds: int = 2000) -> SingleRank:
    noise = np.random.default_rng(4).normal(1.0, deviation, (4, rounds))
    return SingleRank(32, STEP_S, RoundSpread(np.full(ROUNDS, ROUND_S), noise))


def test_a_blocking_set_up_pays_for_its_calls_and_decoupled_ranks_pay_nothing():
    found = predict(PROGRAM, one_rank(), MESSAGES)
    assert found.computation == pytest.approx(ROUNDS * ROUND_S)
    assert found.waiting == pytest.approx(ROUNDS * (UP + DOWN))
    assert predict(replace(PROGRAM, ranks=1), one_rank(), MESSAGES).share == 0.0, "one rank sends nothing"
    assert simulate_rounds(even(), None, FREE).share == 0.0
    assert simulate_rounds(even(1), AT_ONCE, replace(FREE, statistics_s=UP)).share == 0.0


def test_the_rounds_of_the_blocking_set_up_are_a_described_program():
    described = {"phase": [{"bcast": SCHEDULE_BYTES}, {"work": f"{ROUND_S}s"}, {"gather": STATISTICS_BYTES}]}
    rounds = blocking_rounds(np.full(2, ROUND_S), 0.0, 1)
    expected = iteration_time(parse_description(described, "rounds").iteration(2), MESSAGES)
    assert iteration_time(rounds, MESSAGES).seconds == pytest.approx(expected.seconds)


def test_a_slower_rank_is_waited_for_whatever_the_lag():
    uneven = even() * np.array([1.0, 2.0])[None, :, None]
    for timetable in (AT_ONCE, LATER, Timetable(lag=5), Timetable(lead=4)):
        waiting = simulate_rounds(uneven, timetable, FREE).waiting
        assert waiting == pytest.approx([ROUNDS * ROUND_S, 0.0], abs=1e-12)
    assert simulate_rounds(uneven, None, FREE).share == 0.0


def test_a_lag_of_one_round_evens_out_delays_in_turns():
    """Each rank is late in every second round."""
    late = np.tile([[1.0, 0.0], [0.0, 1.0]], ROUNDS // 2) * 2e-4
    computing = even() + late[None]
    assert simulate_rounds(computing, AT_ONCE, FREE).waiting == pytest.approx([ROUNDS // 2 * 2e-4] * 2)
    assert simulate_rounds(computing, LATER, FREE).waiting.sum() < 1e-3 * ROUNDS * 2e-4 + 2e-4


def test_waiting_for_random_delays_is_that_of_order_statistics():
    deviation = 0.1
    for ranks, expected in ((2, 0.5642), (4, 1.0294)):  # E max of so many normal values
        noise = np.random.default_rng(2).normal(1.0, deviation, (400, ranks, ROUNDS))
        free = RoundCosts(0.0, 0.0, (0.0,) * ranks, (0.0,) * ranks)
        share = simulate_rounds(even(ranks) * noise, AT_ONCE, free).share
        assert share == pytest.approx(expected * deviation / (1 + expected * deviation), rel=0.03)


def test_on_a_medium_for_one_message_at_a_time_no_lag_hides_all_messages():
    ranks, hold = 4, ROUND_S
    costs = RoundCosts(0.0, 0.0, (0.0,) * ranks, (0.0,) * ranks, statistics_hold_s=hold, schedule_hold_s=hold)
    for timetable in (LATER, Timetable(lead=4)):
        times = simulate_rounds(even(ranks), timetable, costs)
        whole = times.computation + times.waiting
        assert whole == pytest.approx(2 * (ranks - 1) * hold * ROUNDS, rel=0.1), "as long as all messages"
    few = replace(costs, statistics_hold_s=ROUND_S / 20, schedule_hold_s=ROUND_S / 20)
    assert simulate_rounds(even(ranks), Timetable(lead=4), few).share < 0.02, "they fit between the rounds"


def test_tests_let_a_master_answer_earlier():
    """A worker that is ahead needs the answer to statistics that arrive while the master computes."""
    computing = even() * np.array([1.0, 0.97])[None, :, None]
    costs = replace(FREE, statistics_s=ROUND_S / 10)
    once, often = (simulate_rounds(computing, LATER, costs, polls).waiting[1] for polls in (1, 10))
    assert often <= once


def test_the_spread_is_that_of_the_rounds_without_their_trend_and_their_launch():
    random = np.random.default_rng(6)
    trend = np.linspace(2.0, 1.0, 400)
    launches = [
        np.cumsum(factor * trend * random.normal(1.0, 0.05, 400) * 1e-3).tolist()
        for factor in (1.0, 1.3, 0.9, 1.1, 1.2)
    ]
    found = round_spread(launches)
    assert np.corrcoef(found.typical_s, trend)[0, 1] > 0.98
    assert found.factors.std() == pytest.approx(0.05, rel=0.2)
    assert np.median(found.factors, axis=1) == pytest.approx(1.0, abs=0.02)
    assert round_spread([]) is None and round_spread([[]]) is None
    sample = found.sample(ranks=3, rounds=400, samples=16)
    assert sample.shape == (16, 3, 400) and sample.std() == pytest.approx(found.factors.std(), rel=0.1)
    assert (sample == found.sample(3, 400, 16)).all(), "the same each time"


def test_predictions_have_the_costs_of_each_set_up():
    deviation = 0.02
    one = one_rank(deviation)
    shares = {name: predict(replace(PROGRAM, setup=name), one, MESSAGES).share for name in SETUPS}
    calls = (UP + DOWN) / ROUND_S
    assert shares["original"] == pytest.approx(0.5642 * deviation + calls, rel=0.15)
    assert shares["decoupled"] == 0.0
    handling_times = MESSAGES.handling_times(16, 2)
    posts = sum(handling_times) / ROUND_S
    assert posts < shares["estimated"] < posts + 0.2 * deviation, "four rounds even most delays out"
    assert shares["collective"] - shares["estimated"] == pytest.approx(calls - posts, rel=0.05)
    assert shares["collective"] == shares["persistent"]
    assert shares["estimated"] < shares["lagged"] < shares["original"]
    known = predict(replace(PROGRAM, setup="collective", lag=1), one, MESSAGES).share
    assert known - shares["lagged"] == pytest.approx(calls - posts, rel=0.3)
    assert predict(replace(PROGRAM, setup="other"), one, MESSAGES) is None


def test_without_overheads_half_of_a_message_is_its_senders_time():
    unknown = MeasuredCosts(MESSAGES.message, None, None, (0.0,) * 4, NONE, NONE, NONE)
    assert handling_times(replace(MESSAGES, measured=unknown), 16, 2) == (0.5e-6, 0.5e-6)
    known = replace(unknown, overheads=(0.1e-6, 0.0, 0.2e-6, 0.0))
    assert handling_times(replace(MESSAGES, measured=known), 16, 2) == pytest.approx((0.1e-6, 0.2e-6))


@pytest.mark.slow
def test_fewer_walkers_vary_more_and_tests_cost_their_time():
    one = one_rank(0.02)
    few = predict(replace(PROGRAM, walkers=16), one, MESSAGES)
    calls = (UP + DOWN) / (ROUND_S / 4)
    assert few.share == pytest.approx((2 * 0.5642 * 0.02 + calls) / (1 + calls), rel=0.15)
    lagged = replace(PROGRAM, setup="lagged", test_every=50)
    tested = predict(lagged, one, MESSAGES, test_s=1e-6)
    assert tested.testing == pytest.approx([(32 * 2 + 2) * 1e-6 * ROUNDS] * 2), (
        "two of each walker, two after"
    )
    slow = predict(PROGRAM, one, MESSAGES, slowdown=2.0)
    assert slow.computation == pytest.approx(2 * predict(PROGRAM, one, MESSAGES).computation)


def test_uneven_shares_are_known_before():
    one = one_rank()
    found = predict(replace(PROGRAM, shares=(2 / 3, 4 / 3)), one, MESSAGES)
    assert found.waiting == pytest.approx(ROUNDS * (ROUND_S / 3 + UP + DOWN), rel=0.01), "mean of both"


def test_the_rounds_of_a_case():
    line = "annealing setup=lagged lag=2 walkers=7 steps=11 temperatures=5 test_every=3 shares=1:3 ranks=2"
    found = program_of(CASES.case(line))
    assert found == AnnealingProgram("lagged", 2, 7, 11, 5, 2, 4, 3, (0.5, 1.5))
    assert [found.walkers_of(rank) for rank in range(2)] == [4, 3] and found.total_steps == 7 * 11 * 5
    assert program_of(CASES.case(f"{line} balance=yes")) is None, "walkers move"
    assert program_of(CASES.case("annealing shares=uniform:0.2 ranks=2")) is None


def test_every_modelled_set_up_is_one_of_the_engine():
    choices = bundled_workloads()["annealing"].parameter("setup").choices
    assert set(SETUPS) <= set(choices)
