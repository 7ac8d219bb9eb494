# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ratios of quantiles of repetitions, for distributions with known tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from models_data import CATALOG, record

from hockney.models.significance import NOTABLE, verdict
from hockney.models.statistics import (
    Observation,
    fewest_repetitions,
    min_repetitions,
    observe_case,
    quantile_ratio,
    quantile_s,
    smallest_detectable_ratio,
)
from hockney.models.statistics.quantile_ratios import student_stretch

QUIET, LOADED = (CATALOG.case(f"pingpong bytes={size} ranks=2") for size in (8, 16))
REPETITIONS = 1000


def observed(case, launches: list[np.ndarray]) -> Observation:
    result = observe_case([record(case, str(k), times.tolist()) for k, times in enumerate(launches)], CATALOG)
    assert result is not None
    return result


def bursty(random: np.random.Generator, factor: float, count: int = REPETITIONS) -> np.ndarray:
    """Lognormal times, of which bursts of four are several times as long."""
    times = np.exp(0.05 * random.standard_normal(count))
    first = np.flatnonzero(random.random(count) < 0.005)
    late = np.minimum(first[:, None] + np.arange(4), count - 1).ravel()
    times[late] *= 1 + 5 * random.exponential(1.0, len(late))
    return factor * times


def run(random: np.random.Generator, ratio: float, launches: int = 5) -> tuple[Observation, Observation]:
    """The loaded and the quiet case in launches that differ by 5%, and blocks that differ by 1%."""
    factors = np.exp(0.05 * random.standard_normal(launches))
    return tuple(
        observed(
            case, [bursty(random, f * state * math.exp(0.01 * random.standard_normal())) for f in factors]
        )
        for case, state in ((LOADED, ratio), (QUIET, 1.0))
    )


def test_a_quantile_needs_repetitions_beyond_it():
    assert [min_repetitions(q) for q in (0.5, 0.99, 0.999)] == [6, 368, 3688]
    for quantile in (0.5, 0.99, 0.999):
        count = min_repetitions(quantile)
        assert 1 - quantile**count >= 0.975 > 1 - quantile ** (count - 1)


def test_too_few_repetitions_in_one_launch_are_refused():
    random = np.random.default_rng(1)
    full, short = (bursty(random, 1.0, count) for count in (368, 367))
    quiet = observed(QUIET, [full, full, full])
    assert quantile_ratio(observed(LOADED, [full, full, full]), quiet, 0.99) is not None
    refused = observed(LOADED, [full, short, full])
    assert fewest_repetitions(refused) == 367
    assert quantile_ratio(refused, quiet, 0.99) is None
    assert quantile_ratio(refused, quiet, 0.5) is not None


def test_two_launches_give_a_ratio_without_an_interval():
    loaded, quiet = run(np.random.default_rng(2), 2.0, launches=2)
    estimated = quantile_ratio(loaded, quiet, 0.5)
    assert estimated is not None and estimated.ratio.value == pytest.approx(2.0, rel=0.1)
    assert estimated.ratio.low is None and verdict(estimated.ratio) == "unknown"
    assert smallest_detectable_ratio(estimated.ratio, 1, 1, NOTABLE) is None


def test_quantiles_are_those_of_the_distribution():
    random = np.random.default_rng(3)
    times = observed(QUIET, [random.exponential(1e-6, 20000) for _ in range(4)])
    for quantile in (0.5, 0.99, 0.999):
        assert quantile_s(times, quantile) == pytest.approx(-1e-6 * math.log(1 - quantile), rel=0.04)


@pytest.mark.parametrize("quantile", [0.5, 0.99])
def test_intervals_contain_the_true_ratio(quantile: float):
    random = np.random.default_rng(4)
    runs = 60
    covered = 0
    for _ in range(runs):
        estimated = quantile_ratio(*run(random, 1.5), quantile)
        covered += estimated.ratio.low is not None and estimated.ratio.low <= 1.5 <= estimated.ratio.high
    assert covered >= 0.9 * runs


def test_the_smallest_detectable_ratio_is_found_and_equal_times_are_not():
    """With an interval for nine ratios."""
    random = np.random.default_rng(5)

    def judged(ratio: float):
        return quantile_ratio(*run(random, ratio), 0.5, comparisons=9)

    clean = [judged(1.0) for _ in range(60)]
    assert sum(verdict(entry.ratio) == "slower" for entry in clean) <= 2
    smallest = [smallest_detectable_ratio(entry.ratio, entry.freedom, 9, NOTABLE) for entry in clean]
    typical = float(np.median(smallest))
    assert NOTABLE < typical < 1.2
    assert sum(verdict(judged(typical).ratio) == "slower" for _ in range(60)) >= 54


def test_few_launches_widen_an_interval_for_several_ratios_more_than_normal_quantiles():
    assert student_stretch(1000, 9) == pytest.approx(1.42, abs=0.01)
    assert student_stretch(2, 9) == pytest.approx(3.1, abs=0.1)
    assert student_stretch(4, 1) == 1.0
