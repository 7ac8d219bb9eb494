# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons over seeds: their intervals cover as stated, and what a seed shares cancels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from hockney.models.statistics import (
    Attempts,
    expected_time,
    mean_by_seed,
    mean_difference,
    ratio_of_expected_times,
)

SETS = 300
LEAST, MOST = (int(binom.ppf(q, SETS, p)) for q, p in ((0.001, 0.93), (0.9999, 0.97)))
LUCK, SCATTER, LOSS = 10.0, 1.0, 0.7


def energies(random: np.random.Generator, seeds: int, apart: bool = False) -> tuple[dict, dict]:
    """Two methods, of which the first is worse by LOSS; each seed's luck is that of both unless `apart`."""
    luck = random.normal(0, LUCK, (2, seeds))
    worse = 100 + luck[0] + LOSS + random.normal(0, SCATTER, seeds)
    better = 100 + luck[int(apart)] + random.normal(0, SCATTER, seeds)
    first = seeds if apart else 0
    return dict(enumerate(worse)), dict(enumerate(better, first))


@pytest.mark.parametrize(("seeds", "apart"), [(4, False), (10, False), (30, False), (10, True)])
def test_intervals_of_differences_hold_the_truth(seeds: int, apart: bool):
    random = np.random.default_rng(3)
    found = [mean_difference(*energies(random, seeds, apart)) for _ in range(SETS)]
    assert LEAST <= sum(each.low <= LOSS <= each.high for each in found) <= MOST + apart
    width = np.median([each.high - each.low for each in found]) / 2
    scatter = LUCK if apart else SCATTER
    assert 0.5 < width / (scatter * np.sqrt(2 / seeds) * 1.96) < 2.0, "the seeds' luck cancels in pairs"


def test_runs_with_one_seed_are_no_new_evidence():
    values = mean_by_seed([1, 1, 1, 2, 3], [4.0, 4.0, 7.0, 1.0, 2.0])
    assert values == {1: 5.0, 2: 1.0, 3: 2.0}
    same = mean_difference(dict.fromkeys(values, 1.0), dict.fromkeys(values, 1.0))
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)


def test_too_few_seeds_have_no_interval():
    assert mean_difference({1: 3.0}, {1: 1.0}).low is None
    two = mean_difference({1: 3.0, 2: 4.0}, {1: 1.0, 2: 1.5})
    assert two.value == 2.25 and two.low < 2.25 < two.high, "as independent means"
    assert mean_difference({1: 3.0, 2: 3.0}, {1: 1.0, 2: 1.0}).low is None


def attempts(random: np.random.Generator, seeds: int, slower: float, chance: float) -> dict:
    """Exponential times until the target, of which all beyond a limit with this `chance` end there."""
    limit = -np.log1p(-chance)
    times = random.exponential(1.0, seeds)
    return {k: Attempts(slower * min(t, limit), int(t <= limit)) for k, t in enumerate(times)}


def test_expected_times_count_runs_without_success():
    runs = {1: Attempts(2.0, 1), 2: Attempts(5.0, 0), 3: Attempts(1.0, 1)}
    assert expected_time(runs) == 4.0
    assert expected_time({1: Attempts(2.0, 0)}) is None
    assert ratio_of_expected_times(runs, {k: Attempts(1.0, 0) for k in runs}) is None


@pytest.mark.parametrize(("seeds", "chance", "apart"), [(12, 0.9, 0), (40, 0.7, 0), (20, 0.9, 1000)])
def test_intervals_of_ratios_of_expected_times_hold_the_truth(seeds: int, chance: float, apart: int):
    random = np.random.default_rng(8)
    truth, found = 1.5, []
    for _ in range(SETS):
        slow, fast = (attempts(random, seeds, slower, chance) for slower in (truth, 1.0))
        fast = {seed + apart: each for seed, each in fast.items()}
        found.append(ratio_of_expected_times(slow, fast))
    held = sum(each.low <= truth <= each.high for each in found if each is not None)
    # The jackknife of a ratio of sums covers slightly less than 95% with few seeds.
    assert held >= binom.ppf(0.001, SETS, 0.91)
    assert np.median([np.log(each.high / each.low) for each in found if each is not None]) < 2.5


def test_a_ratio_that_depends_on_one_seed_has_no_interval():
    rare = {1: Attempts(1.0, 1), 2: Attempts(3.0, 0), 3: Attempts(3.0, 0)}
    often = {k: Attempts(1.0, 1) for k in rare}
    found = ratio_of_expected_times(rare, often)
    assert found.value == pytest.approx(7.0) and found.low is None
