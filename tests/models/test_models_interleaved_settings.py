# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ratios of cases whose launches take turns: slow changes of the machine cancel, launches that agree by
chance do not count as certain, and the coverage is as stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from models_data import observed
from scipy.stats import binom, ttest_rel
from tiers import slow

from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.models.statistics import InterleavedSettings, Observation, ratio_of_estimates
from hockney.models.statistics.interleaved_settings import estimate_launch_changes

SETS = 150
LEAST = int(binom.ppf(0.001, SETS, 0.92))
TRUTH = 0.8
OWN = Case.of("pingpong", 2, buffers="hot", bytes=4096)
SLOW = np.log(3.2)
ALGORITHMS = ("a", "b", "c", "d", "e")


def turns(logs: Mapping[str, Sequence[np.ndarray]]) -> InterleavedSettings:
    """By setting, one or more series of the logs of launches' times relative to 1 us."""

    def of(name: str, one: np.ndarray) -> Observation:
        return observed(OWN.with_setting(name), np.log(1e-6) + one, name, np.random.default_rng(0))

    return InterleavedSettings.from_observations(
        {name: [of(f"{name}{k}", one) for k, one in enumerate(same)] for name, same in logs.items()}
    )


def drawn(random: np.random.Generator, launches: int) -> InterleavedSettings:
    """The machine slows down and recovers by a factor of about two, for both; launches differ by 3%."""
    slow = np.cumsum(random.normal(0, 0.3, launches))
    changed = np.log(TRUTH) + slow + random.normal(0, 0.03, launches)
    own = slow + random.normal(0, 0.03, launches)
    return turns({"large": [changed], "own": [own]})


def width(found: Estimate) -> float:
    return float(np.log(found.high / found.low))


def certain(found: Estimate, at_most: float = 0.95) -> bool:
    return found.high is not None and found.high < at_most


def test_slow_changes_cancel_and_the_interval_holds_the_truth():
    random = np.random.default_rng(5)
    for launches in (3, 8):
        pairs = [drawn(random, launches) for _ in range(SETS)]
        found = [pair.ratio("large", "own") for pair in pairs]
        assert sum(each.low <= TRUTH <= each.high for each in found) >= LEAST
        apart = [ratio_of_estimates(pair.typical["large"], pair.typical["own"]) for pair in pairs]
        others = [width(each) for each in apart if each.low is not None]
        assert np.median(list(map(width, found))) < 0.6 * np.median(others)


def test_two_launches_are_too_few_to_take_turns():
    pair = drawn(np.random.default_rng(1), 2)
    found, apart = pair.ratio("large", "own"), ratio_of_estimates(pair.typical["large"], pair.typical["own"])
    assert found == apart


def test_with_two_settings_the_changes_are_those_of_a_paired_t_test():
    random = np.random.default_rng(2)
    one, other = random.normal(0, 0.1, (2, 6)) + np.linspace(0, 2, 6)
    found = estimate_launch_changes([[one], [other]])
    expected = ttest_rel(one, other).confidence_interval(0.95)
    assert found.freedom == 5
    assert found.difference_bounds(0, 1, np.nan, np.nan) == pytest.approx((expected.low, expected.high))


def test_the_changes_of_a_launch_are_those_beyond_setting_and_round():
    random = np.random.default_rng(3)
    rounds = np.linspace(0, 3, 40)
    series = [[k + rounds + random.normal(0, 0.2, 40) for _ in range(1 + (k == 0))] for k in range(4)]
    assert estimate_launch_changes(series).standard_deviation == pytest.approx(0.2, rel=0.15)
    assert estimate_launch_changes([[np.zeros(1)], [np.zeros(1)]]) is None


def steady(random: np.random.Generator, launches: int = 3) -> np.ndarray:
    return random.normal(0, 0.01, launches)


def test_launches_that_agree_by_chance_show_no_gain():
    """All launches without a setting were in the slow mode, those with `a` never: only the others show that
    the machine has it."""
    modes = {"own": (1, 1, 1), "a": (0, 0, 0), "b": (1, 0, 0), "c": (0, 0, 1)}
    random = np.random.default_rng(1)
    for _ in range(20):
        logs = {name: [steady(random) + SLOW * np.array(slow)] for name, slow in modes.items()}
        found = turns(logs).ratio("a", "own")
        assert found.low < np.exp(-SLOW) and found.high > 1
    assert certain(turns({name: logs[name] for name in ("own", "a")}).ratio("a", "own"))


def test_launches_without_variables_and_ordinary_ones_that_differ_leave_both_ratios_possible():
    """As measured: 460 ns in all launches of the one, 150 ns in those of the other, and with `a`."""
    random = np.random.default_rng(1)
    own = [steady(random), steady(random) + SLOW]
    found = turns({"own": own, "a": [steady(random) - 0.2]}).ratio("a", "own")
    assert found.low < np.exp(-0.2 - SLOW) and found.high > np.exp(-0.2)
    assert found.value == pytest.approx(np.exp(-0.2 - SLOW / 2), rel=0.02), "all launches count"
    alike = turns({"own": own[:1] * 2, "a": [steady(random) - 0.2]}).ratio("a", "own")
    assert certain(alike) and width(alike) < 0.1


@pytest.mark.parametrize("dwell", [4.0, *slow(0.0)])
@pytest.mark.parametrize("launches", [3, *slow(6)])
def test_on_a_machine_with_two_modes_gains_are_hardly_ever_invented(launches: int, dwell: float):
    """All algorithms take the same time. Modes last `dwell` launches on average, or change at random."""
    random = np.random.default_rng(7)
    gains = compared = 0
    for _ in range(40):
        slow = modes(random, random.uniform(0.1, 0.5), dwell, launches * (2 + len(ALGORITHMS)))
        logs = SLOW * slow.reshape(launches, -1) + random.normal(0, 0.01, (launches, 2 + len(ALGORITHMS)))
        first, second, *others = logs.T
        found = turns({"own": [first, second], **{n: [x] for n, x in zip(ALGORITHMS, others, strict=True)}})
        gains += sum(certain(found.ratio(name, "own")) for name in ALGORITHMS)
        compared += len(ALGORITHMS)
    assert gains <= 0.04 * compared


def modes(random: np.random.Generator, share: float, dwell: float, launches: int) -> np.ndarray:
    """Whether each launch is in the slow mode, which has this share."""
    if not dwell:
        return random.random(launches) < share
    ends, states = [0.0], []
    while ends[-1] < launches:
        states.append(bool(random.random() < share))
        ends.append(ends[-1] + random.exponential(dwell))
    return np.array(states)[np.searchsorted(ends, np.arange(launches), side="right") - 1]


@pytest.mark.parametrize("slow", [False, True])
def test_the_mean_over_sizes_has_the_changes_between_launches_too(slow: bool):
    random = np.random.default_rng(1)
    launches = {"own": (1, 1, 1), "a": (0, 0, 0), "b": (1, 0, 0), "c": (0, 0, 1), "d": (1, 1, 0)}
    level = {name: steady(random) + SLOW * slow * np.array(modes) for name, modes in launches.items()}
    gain = {"a": np.log(0.8)}
    seen = {
        name: [
            {
                size: observed(OWN.with_setting(name), logs + gain.get(name, 0) + size * 1e-4, name)
                for size in (1, 2)
            }
        ]
        for name, logs in level.items()
    }
    found = InterleavedSettings.from_geometric_means(seen, [1, 2]).ratio("a", "own")
    assert found.low < 0.8 < found.high and (slow or certain(found, 0.85))
    assert found.value == pytest.approx(0.8 * np.exp(-SLOW * slow), rel=0.03)
