# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals of typical times contain the truth, also with modes."""

from __future__ import annotations

import numpy as np
import pytest
from models_data import Noise, benchmark
from scipy.stats import binom

SETS = 40
LEAST = int(binom.ppf(0.001, SETS, 0.92))
"""A parameter that is covered in 92% of all data sets falls below this count once in a thousand studies."""

PAIRS = 60


@pytest.fixture(scope="module")
def coverage():
    benchmark("simulated")
    return benchmark("coverage")


def test_hockney_parameters_and_change_points(coverage) -> None:
    tally = coverage.study("hockney", SETS, Noise("", repetitions=200), seed=7)
    for symbol in ("t_0", "r_inf", "n_half", "r_peak"):
        assert sum(tally.hits[symbol]) >= LEAST, symbol
    for segment in ("first", "last"):
        hits = tally.hits[f"per_byte, {segment} segment"]
        assert sum(hits) >= binom.ppf(0.001, len(hits), 0.92), segment
    found = tally.hits["change points found within an octave"]
    assert sum(found) >= binom.ppf(0.001, len(found), 0.95)
    # The 24 medians of a data set share their launches' random factors, so a set counts as three, not as 24.
    medians = [hit for name, hits in tally.hits.items() if name.startswith("median") for hit in hits]
    assert np.mean(medians) >= binom.ppf(0.001, 3 * SETS, 0.92) / (3 * SETS)
    assert np.mean(medians) < 0.995, "wider than they need to be"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "symbols"),
    [("loggp", ("L", "o_s", "o_r", "g", "G", "O_s", "O_r")), ("collective", ("a", "b", "c"))],
)
def test_parameters_of(coverage, part: str, symbols: tuple[str, ...]) -> None:
    tally = coverage.study(part, SETS, Noise("", repetitions=200), seed=7)
    for symbol in symbols:
        assert sum(tally.hits[symbol]) >= LEAST, symbol
        assert np.median(tally.widths[symbol]) < 0.2, "an interval that says something"


@pytest.fixture(scope="module")
def coverage_modes():
    for name in ("simulated", "coverage"):
        benchmark(name)
    return benchmark("coverage_modes")


@pytest.mark.slow
def test_both_costs_are_covered_where_times_come_in_modes(coverage_modes) -> None:
    plan = coverage_modes.Plan(between_s=100.0)
    tally, _ = coverage_modes.study("modes", PAIRS, plan, seed=7)
    for cost in ("typical", "undisturbed"):
        hits = [hit for name, hits in tally.hits.items() if name.startswith(cost) for hit in hits]
        assert len(hits) == 2 * PAIRS
        # The two surveys of a pair share the world's parameters, not its random numbers.
        assert sum(hits) >= binom.ppf(0.001, 2 * PAIRS, 0.92), cost


def test_surveys_of_a_quiet_machine_agree(coverage_modes) -> None:
    tally, ratios = coverage_modes.study("quiet", PAIRS, seed=7)
    for name in ("typical, no modes", "undisturbed, no modes"):
        assert sum(tally.hits[name]) >= binom.ppf(0.001, 2 * PAIRS, 0.92), name
        assert np.median(tally.widths[name]) < 0.02
        assert max(ratios[name]) < 1.03
