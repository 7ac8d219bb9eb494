# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fastest mode and two modes of a case: intervals contain the truth."""

from __future__ import annotations

import numpy as np
import pytest
from tiers import slow

from hockney.models.scipy_functions import f_quantile
from hockney.models.statistics.modes import (
    FAST_RANGE,
    fast_visits,
    find_modes,
    mode_margins,
    undisturbed_half_width,
)
from hockney.models.statistics.observations import Observation
from hockney.models.statistics.visits import times_of_visits

LAUNCHES, VISITS = 10, 40
EVERY_S = 0.1

APART = np.log(2.0)


def wandering(random: np.random.Generator, surveys: int, wander: float) -> np.ndarray:
    """Logs of times, surveys x launches x visits: the machine's speed wanders (AR(1), a standard deviation of
    `wander`) with a memory of one launch."""
    memory = np.exp(-1 / VISITS)
    speed = np.empty((surveys, LAUNCHES * VISITS))
    speed[:, 0] = random.standard_normal(surveys)
    for k in range(1, speed.shape[1]):
        speed[:, k] = memory * speed[:, k - 1] + (1 - memory**2) ** 0.5 * random.standard_normal(surveys)
    noise = 0.02 * random.standard_normal(speed.shape)
    return (wander * speed + noise).reshape(surveys, LAUNCHES, VISITS)


def undisturbed(visits: np.ndarray) -> tuple[float, float]:
    """The undisturbed cost (log) of one survey and its half width."""
    at_s = [EVERY_S * (np.arange(VISITS) + VISITS * k) for k in range(LAUNCHES)]
    made = [times_of_visits(launch, at) for launch, at in zip(visits, at_s, strict=True)]
    seen = Observation(
        case=None,
        workload=None,
        launches=tuple(map(str, range(LAUNCHES))),
        log_typical=np.array([launch.center for launch in made]),
        lower_widths=np.array([launch.lower_width for launch in made]),
        upper_widths=np.array([launch.upper_width for launch in made]),
        quantile=np.array([launch.quantile for launch in made]),
        visits=tuple(launch.visits for launch in made),
        visits_at_s=tuple(launch.at_s for launch in made),
    ).fastest_mode
    value, low, high = np.log(seen.interval())
    return value, (high - low) / 2


@pytest.mark.parametrize("wander", [0.2, *slow(0.1)])
def test_the_ratio_of_two_surveys_is_covered_though_the_chosen_visits_agree(wander: float) -> None:
    random = np.random.default_rng(20)
    value, half = np.array([undisturbed(visits) for visits in wandering(random, 240, wander)]).T
    covered = np.abs(value[::2] - value[1::2]) <= np.hypot(half[::2], half[1::2])
    assert covered.mean() >= 0.88
    assert np.mean(np.abs(value[::2] - value[1::2]) > half[::2] + half[1::2]) <= 0.05, "disjoint"
    assert np.median(half) < 4 * value.std(), "and is not simply wide"


def test_the_choice_of_visits_adds_little_where_there_is_one_quiet_mode() -> None:
    """Independent visits: about what the mean of the visits has."""
    random = np.random.default_rng(21)
    at_s = [EVERY_S * (np.arange(VISITS) + VISITS * k) for k in range(LAUNCHES)]
    halves = [
        undisturbed_half_width(0.01 * random.standard_normal((LAUNCHES, VISITS)), at_s) for _ in range(100)
    ]
    assert 1.0 < np.median(halves) / (1.96 * 0.01 / (LAUNCHES * VISITS) ** 0.5) < 2.0


def test_the_estimate_is_repeated_with_the_choice_of_visits() -> None:
    """A fast mode that only one launch in three visits belongs to: without that part of the run, the fastest
    mode would be another, and the interval reaches it. The chosen visits alone agree to a thousandth."""
    random = np.random.default_rng(22)
    levels = np.where(np.arange(12) < 4, 0.0, 0.3)
    visits = [level + 0.001 * random.standard_normal(VISITS) for level in levels]
    at_s = [EVERY_S * (np.arange(VISITS) + VISITS * k) for k in range(len(levels))]
    chosen = [launch[of] for launch, of in zip(visits, fast_visits(visits), strict=True) if of.any()]
    assert len(chosen) == 4 and max(np.ptp(launch) for launch in chosen) < 0.01 < FAST_RANGE
    assert undisturbed_half_width(visits, at_s) < 0.1
    assert undisturbed_half_width(visits[3:], at_s[3:]) > 0.2


def series(stays: list[int], visits_each: int = 20) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Alternating durations (in units of `visits_each` visits per second), starting in the fast mode."""
    values = np.concatenate([np.full(stay * visits_each, APART * (k % 2)) for k, stay in enumerate(stays)])
    values = values + 0.001 * np.random.default_rng(1).standard_normal(len(values))
    return [values], [np.arange(len(values)) / visits_each]


def margins_of(visits: list[np.ndarray], at_s: list[np.ndarray]) -> tuple[float, float]:
    return mode_margins(find_modes(visits, at_s), visits, at_s)


def test_few_cycles_leave_the_share_open():
    """Eight durations of 5 s: four cycles, so that the odds are known within the F distribution's
    quantile."""
    below, above = margins_of(*series([5] * 8))
    cycles = 7 / 2  # seven switches were observed
    odds = f_quantile(2 * cycles, 2 * cycles, 0.975)
    expected = (odds / (1 + odds) - 0.5) * APART
    assert below == pytest.approx(expected, rel=0.02) and above == pytest.approx(expected, rel=0.02)


def test_the_rarer_mode_may_be_more_frequent_than_it_was():
    below, above = margins_of(*series([8, 2] * 4))
    assert above > 1.5 * below > 0


def test_modes_that_belong_to_launches_are_seen_too():
    """No switch within a launch, five between them."""
    launches = [np.full(40, APART * (k % 2)) + 1e-3 * np.sin(np.arange(40)) for k in range(6)]
    at_s = [10.0 * k + np.arange(40) / 20 for k in range(6)]
    below, above = margins_of(launches, at_s)
    assert 0.2 * APART < below == pytest.approx(above, rel=0.02)
    launches[0][7] = APART
    assert max(margins_of(launches, at_s)) < max(below, above)


def test_many_cycles_and_no_modes_need_no_margin():
    assert margins_of(*series([1] * 60)) == (0, 0)
    assert margins_of(*series([60])) == (0, 0)
