# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Visits and launches: the robust centre, the undisturbed cost, modes, and the coverage of their
intervals."""

from __future__ import annotations

import models_data
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.core.case import Case
from hockney.core.fit import UndisturbedCost
from hockney.core.record import Record, RunRecords, Visits
from hockney.models.statistics.location import center, half_width, outlier_count, winsorise
from hockney.models.statistics.modes import find_modes
from hockney.models.statistics.summary import observe, summarise_observations
from hockney.models.statistics.visits import launch_times
from hockney.system.bundled import bundled_catalog


@pytest.mark.parametrize("slow", [5, 12, 25, 35])
def test_a_centre_has_each_modes_share(slow):
    values = np.where(np.arange(40) < slow, np.log(2), 0.0)
    assert center(values) == pytest.approx(slow / 40 * np.log(2))


@given(st.lists(st.floats(-20, 0), min_size=1, max_size=40), st.floats(-5, 5))
def test_centre_and_interval_move_with_all_values(values, shift):
    these, those = np.array(values), np.array(values) + shift
    assert center(those) == pytest.approx(center(these) + shift, abs=1e-9)
    assert half_width(those, 0.1) == pytest.approx(half_width(these, 0.1), abs=1e-6)
    assert min(values) - 1e-9 <= center(these) <= max(values) + 1e-9
    assert winsorise(these).shape == these.shape and 2 * outlier_count(len(values)) < len(values)


@pytest.mark.parametrize("launches", [3, 4, 5, 6, 10, 20])
def test_intervals_cover_launches_that_differ(launches):
    random = np.random.default_rng(launches)
    values = 0.2 * random.standard_normal((4000, launches))
    covered = np.abs(center(values)) <= half_width(values, 1e-6)
    assert 0.93 <= covered.mean() <= 0.975
    disturbed = np.where(random.random(values.shape) < 0.03, 3.0, values)
    covered = np.abs(center(disturbed)) <= half_width(disturbed, 1e-6)
    assert covered.mean() >= 0.92


def record(visits: list[list[float]], launch: str = "0.0") -> Record:
    """Visits that began 0.1 s after each other."""
    times = [time for visit in visits for time in visit]
    made = Visits(
        after_s=[0.1 * k for k in range(len(visits))],
        repetitions=[len(visit) for visit in visits],
        preempted=[0] * len(visits),
    )
    bare = models_data.record(Case.of("barrier", 2, algorithm="mpi"), launch, times)
    return msgspec.structs.replace(bare, started_s=100.0, visits=made)


def test_a_launch_is_known_as_well_as_its_visits_tell():
    """Agreement of repetitions within a visit gives no certainty if the visits differ."""
    random = np.random.default_rng(3)
    levels = np.exp(0.3 * random.standard_normal(40))
    times = launch_times(record([[level] * 30 for level in levels]))
    assert len(times.visits) == 40 and times.at_s[1] == pytest.approx(100.1)
    assert np.exp(times.center) == pytest.approx(np.exp(np.log(levels).mean()), rel=0.1)
    assert 0.05 < times.lower_width == times.upper_width < 0.2


def test_visits_in_long_modes_are_fewer_than_they_look():
    random = np.random.default_rng(4)
    shuffled = random.permutation(np.repeat([1.0, 2.0], 60))
    in_turns = np.repeat([1.0, 2.0, 1.0, 2.0], 30)
    widths = [launch_times(record([[t] for t in order])).upper_width for order in (shuffled, in_turns)]
    assert widths[1] > 2.5 * widths[0]


def test_empty_visits_are_left_out_and_few_are_one():
    times = launch_times(record([[1.0, 3.0], [], [2.0]]))
    assert len(times.visits) == len(times.at_s) == 2 and np.exp(times.center) == pytest.approx(2.0)


def two_modes(random, launches: int, slow: float, visits: int = 60) -> list[np.ndarray]:
    """Logs of visits of 0.2 us, a share of them twice as slow."""
    return [
        np.log(0.2e-6 * np.where(random.random(visits) < slow, 2.0, 1.0))
        + 0.02 * random.standard_normal(visits)
        for _ in range(launches)
    ]


def undisturbed(visits: list[np.ndarray]) -> UndisturbedCost:
    """For launches with these logs of visits of one repetition."""
    records = [record([[t] for t in np.exp(of)], launch=f"{k}.0") for k, of in enumerate(visits)]
    (summary,) = summarise_observations(observe(RunRecords(records=tuple(records)), bundled_catalog()))
    return summary.undisturbed


@pytest.mark.parametrize("slow", [0.0, 0.3, 0.6, 0.8])
def test_the_undisturbed_cost_is_that_of_the_fast_mode_however_rare(slow):
    found = undisturbed(two_modes(np.random.default_rng(5), 10, slow))
    assert found.cost.value == pytest.approx(0.2e-6, rel=0.03)
    assert found.cost.low <= found.cost.value <= found.cost.high < 0.25e-6
    assert found.disturbed == pytest.approx(slow, abs=0.06)


def test_the_undisturbed_cost_is_no_minimum():
    """The fastest of many visits is far below the fast mode's typical time."""
    random = np.random.default_rng(6)
    few, many = (
        undisturbed([0.05 * random.standard_normal(count) for _ in range(10)]).cost.value
        for count in (10, 2000)
    )
    assert abs(np.log(few / many)) < 0.05


def test_the_undisturbed_cost_is_covered():
    random = np.random.default_rng(7)
    hits = []
    for _ in range(150):
        visits = [launch + 0.01 * random.standard_normal() for launch in two_modes(random, 10, 0.5, 30)]
        cost = undisturbed(visits).cost
        hits.append(cost.low <= 0.2e-6 <= cost.high)
    assert np.mean(hits) >= 0.9


def test_launches_that_saw_no_fast_visit_do_not_count():
    random = np.random.default_rng(10)
    seen = two_modes(random, 5, 0.5)
    slow = [np.log(0.4e-6) + 0.02 * random.standard_normal(60) for _ in range(4)]
    assert undisturbed(seen + slow).cost == undisturbed(seen).cost
    lucky = np.append(slow[0][1:], np.log(0.19e-6))
    assert undisturbed([*seen, lucky]).cost == undisturbed(seen).cost, "one fast visit is no mode"
    assert undisturbed(seen + slow).disturbed == pytest.approx((5 * 0.5 + 4) / 9, abs=0.05)


def test_modes_that_last_for_launches_widen_the_interval():
    """Ten launches, five in one mode and then five in another, are not ten independent ones."""
    random = np.random.default_rng(11)
    levels = np.repeat([0.0, 0.2], 5)

    def width(levels: np.ndarray) -> float:
        records = []
        for k, level in enumerate(levels):
            visits = np.exp(level + 0.02 * random.standard_normal(40))
            one = record([[t] for t in visits], launch=f"{k}.0")
            records.append(msgspec.structs.replace(one, started_s=100.0 + 5 * k))
        _, low, high = observe(RunRecords(records=tuple(records)), bundled_catalog())[0].interval()
        return np.log(high / low)

    assert width(levels) > 1.1 * width(levels[[0, 5, 1, 6, 2, 7, 3, 8, 4, 9]])


def test_modes_are_named_with_their_share_and_how_long_they_last():
    random = np.random.default_rng(8)
    at_s = [np.arange(0, 6, 0.1)] * 10
    visits = [np.log(np.where(np.arange(60) // 15 % 2, 0.42, 0.21)) + 0.02 * random.standard_normal(60)] * 10
    found = find_modes(visits, at_s)
    assert found.fast_s == pytest.approx(0.21, rel=0.03) and found.slow_s == pytest.approx(0.42, rel=0.03)
    assert found.slow_share == pytest.approx(0.5) and found.dwell_s == pytest.approx(5.9 / 3)


def test_one_mode_or_a_smear_are_no_two_modes():
    random = np.random.default_rng(9)
    at_s = [np.arange(60.0)] * 10
    for spread in (0.02, 0.3):
        assert find_modes([spread * random.standard_normal(60) for _ in range(10)], at_s) is None
    assert find_modes([random.random(60) for _ in range(10)], at_s) is None
    assert find_modes(two_modes(random, 10, 0.03), at_s) is None, "rare and slow is an outlier"
