# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ratios of cases whose launches take turns: slow changes of the machine cancel, and the coverage is as
stated."""

from __future__ import annotations

import numpy as np
from models_data import CATALOG, record
from scipy.stats import binom

from hockney.core.case import Case
from hockney.models.statistics import Observation, observe_case, ratio, ratio_in_turns

SETS = 150
LEAST = int(binom.ppf(0.001, SETS, 0.92))
TRUTH = 0.8
OWN = Case.of("pingpong", 2, buffers="hot", bytes=4096)


def observed(case: Case, logs: np.ndarray) -> Observation:
    random = np.random.default_rng(0)
    times = np.exp(logs[:, None] + random.normal(0, 0.01, (len(logs), 30)))
    return observe_case(
        [record(case, f"{case.setting}{k}", t.tolist()) for k, t in enumerate(times)], CATALOG
    )


def drawn(random: np.random.Generator, launches: int) -> tuple[Observation, Observation]:
    """The machine slows down and recovers by a factor of about two, for both; launches differ by 3%."""
    slow = np.cumsum(random.normal(0, 0.3, launches))
    of = np.log(TRUTH * 1e-6) + slow + random.normal(0, 0.03, launches)
    over = np.log(1e-6) + slow + random.normal(0, 0.03, launches)
    return observed(OWN.under("large"), of), observed(OWN, over)


def test_slow_changes_cancel_and_the_interval_holds_the_truth():
    random = np.random.default_rng(5)
    for launches in (3, 8):
        pairs = [drawn(random, launches) for _ in range(SETS)]
        found = [ratio_in_turns(*pair) for pair in pairs]
        assert sum(each.low <= TRUTH <= each.high for each in found) >= LEAST
        widths = [np.log(each.high / each.low) for each in found]
        apart = [ratio(*pair) for pair in pairs]
        others = [np.log(each.high / each.low) for each in apart if each.low is not None]
        assert np.median(widths) < 0.6 * np.median(others)


def test_two_launches_are_too_few_to_take_turns():
    pair = drawn(np.random.default_rng(1), 2)
    assert ratio_in_turns(*pair) == ratio(*pair)
