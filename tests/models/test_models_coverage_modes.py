# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The coverage study of modes in small. `benchmarks/coverage_modes.py` runs it with more surveys."""

from __future__ import annotations

import numpy as np
import pytest
from models_data import benchmark
from scipy.stats import binom

PAIRS = 60


@pytest.fixture(scope="module")
def coverage_modes():
    for name in ("simulated", "coverage"):
        benchmark(name)
    return benchmark("coverage_modes")


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
