# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The coverage study in small. `benchmarks/coverage.py` runs it with 400 data sets and tighter bounds."""

from __future__ import annotations

import numpy as np
import pytest
from models_data import Noise, benchmark
from scipy.stats import binom

SETS = 60
LEAST = int(binom.ppf(0.001, SETS, 0.92))
"""A parameter that is covered in 92% of all data sets falls below this count once in a thousand studies."""


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


@pytest.mark.parametrize(
    ("part", "symbols"),
    [("loggp", ("L", "o_s", "o_r", "g", "G", "O_s", "O_r")), ("collective", ("a", "b", "c"))],
)
def test_parameters_of(coverage, part: str, symbols: tuple[str, ...]) -> None:
    tally = coverage.study(part, SETS, Noise("", repetitions=200), seed=7)
    for symbol in symbols:
        assert sum(tally.hits[symbol]) >= LEAST, symbol
        assert np.median(tally.widths[symbol]) < 0.2, "an interval that says something"
