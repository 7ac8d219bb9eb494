# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Noise: the results of ten seconds of observation on machines with known noise."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.models.statistics.location import Z
from hockney.models.statistics.noise import MeasuredNoise, measure_noise

WATCHED_S = 10.0
STEP_S = 2e-3
FACTOR = np.log(1.5)
TIMES = np.arange(0, WATCHED_S, STEP_S)


def of_one_launch(visits: np.ndarray, at_s: np.ndarray) -> MeasuredNoise | None:
    return measure_noise([visits], [at_s])


def two_modes(dwell_s: float, random: np.random.Generator, step_s: float = STEP_S, times=TIMES):
    """Logs of 1 us, or of 1.5 us in the slow mode; each mode lasts `dwell_s` on average."""
    switches = np.cumsum(random.random(len(times)) < step_s / dwell_s)
    slow = (switches + random.integers(2)) % 2
    return np.log(1e-6) + FACTOR * slow + 0.02 * random.standard_normal(len(times))


def test_white_noise_averages_out():
    """A visit scatters by a tenth, of which clipping keeps nearly all; 400 are twenty times as good."""
    random = np.random.default_rng(1)
    seen = of_one_launch(np.log(1e-6) + 0.1 * random.standard_normal(len(TIMES)), TIMES)
    assert seen is not None and seen.modes is None
    assert seen.typical_s == pytest.approx(1e-6, rel=0.01)
    assert seen.spread == pytest.approx(np.exp(2 * 1.2816 * 0.1), rel=0.03)
    assert seen.correlation_s is not None and seen.correlation_s < 0.05
    assert seen.precision(30, 10, 400) == pytest.approx(Z * 0.1 / 20, rel=0.15)


def test_modes_of_half_a_second_limit_the_precision():
    """The variance of the mean of T seconds is (factor / 2)**2 dwell / T."""
    random = np.random.default_rng(2)
    seen = [of_one_launch(two_modes(0.5, random), TIMES) for _ in range(60)]
    assert all(each is not None and each.precision(60, 10, 400) is not None for each in seen)
    reached = np.median([each.precision(60, 10, 400) for each in seen])
    assert reached == pytest.approx(Z * FACTOR / 2 * np.sqrt(0.5 / 60), rel=0.2)
    assert np.median([each.correlation_s for each in seen]) == pytest.approx(0.5, rel=0.3)
    found = [each.modes for each in seen if each.modes]
    assert len(found) > 50 and np.median([each.dwell_s for each in found]) == pytest.approx(0.5, rel=0.3)
    assert np.median([each.slow_s / each.fast_s for each in found]) == pytest.approx(1.5, rel=0.02)


def test_the_prediction_is_what_longer_watches_scatter_by():
    random = np.random.default_rng(3)
    minute = np.arange(0, 60, 0.15)
    centres = [two_modes(0.5, random, 0.15, minute).mean() for _ in range(300)]
    predicted = np.median(
        [of_one_launch(two_modes(0.5, random), TIMES).precision(60, 10, 400) for _ in range(30)]
    )
    assert predicted == pytest.approx(Z * np.std(centres), rel=0.35)


def test_modes_that_last_as_long_as_the_watch_tell_nothing():
    """If both modes occurred: one switch, at any moment except near the ends."""
    random = np.random.default_rng(4)
    for moment in np.linspace(1.5, 8.5, 15):
        visits = np.log(1e-6) + FACTOR * (moment < TIMES) + 0.02 * random.standard_normal(len(TIMES))
        seen = of_one_launch(visits, TIMES)
        assert seen is not None and seen.modes is not None
        assert seen.correlation_s is None and seen.precision(300, 10, 2000) is None


def test_long_modes_are_not_taken_for_short_ones():
    """Observations of ten seconds each: a precision is only given if the other mode hardly occurred."""
    random = np.random.default_rng(5)
    for _ in range(100):
        visits = two_modes(10.0, random)
        slow = np.mean(visits > np.log(1.25e-6))
        seen = of_one_launch(visits, TIMES)
        if 0.2 < slow < 0.8 and np.count_nonzero(np.diff(visits > np.log(1.25e-6))) < 3:
            assert seen is not None and seen.precision(60, 10, 400) is None


def test_a_few_outliers_do_not_decide():
    random = np.random.default_rng(6)
    visits = 0.02 * random.standard_normal(len(TIMES))
    hit = np.where(random.random(len(TIMES)) < 0.02, visits + 5, visits)
    assert of_one_launch(hit, TIMES).precision(30, 10, 400) < 2 * of_one_launch(visits, TIMES).precision(
        30, 10, 400
    )


def test_too_little_to_tell():
    assert of_one_launch(np.empty(0), np.empty(0)) is None
    assert of_one_launch(np.zeros(39), np.linspace(0, 10, 39)) is None
    assert of_one_launch(np.zeros(1000), np.zeros(1000)) is None
    assert of_one_launch(np.zeros(1000), np.linspace(0, 0.1, 1000)) is None, "ten intervals"


def test_a_time_without_any_noise_is_exact():
    seen = of_one_launch(np.zeros(1000), np.linspace(0, 10, 1000))
    assert seen is not None and seen.precision(30, 10, 400) == 0 and seen.spread == 1


def test_launches_that_differ_limit_the_precision():
    """By a tenth: ten launches give a precision of a tenth / sqrt(10), however long they last."""
    random = np.random.default_rng(7)
    reached = []
    for _ in range(40):
        levels = 0.1 * random.standard_normal(6)
        visits = [level + 0.01 * random.standard_normal(1000) for level in levels]
        seen = measure_noise(visits, [np.arange(1000) * 1e-3 + 1.5 * k for k in range(6)])
        assert seen is not None and seen.watched_s == pytest.approx(6, rel=0.01)
        reached.append(np.sqrt(seen.launch_variance))
        alike = measure_noise([0.01 * random.standard_normal(1000)] * 2, [np.arange(1000) * 1e-3] * 2)
        assert alike is not None and alike.launch_variance == 0
    assert np.sqrt(np.mean(np.square(reached))) == pytest.approx(0.1, rel=0.2)


def test_a_launch_without_visits_counts_for_nothing():
    random = np.random.default_rng(8)
    visits = 0.02 * random.standard_normal(len(TIMES))
    assert measure_noise([visits, np.empty(0)], [TIMES, np.empty(0)]) == measure_noise([visits], [TIMES])
