# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The long-run share of two modes observed for only a few cycles."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.models.scipy_functions import f_quantile
from hockney.models.statistics.modes import find_modes, mode_margins

APART = np.log(2.0)


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
