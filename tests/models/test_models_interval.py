# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.models.statistics.interval import median_interval

GOLDEN = json.loads((Path(__file__).parents[2] / "contract" / "golden" / "median_interval.json").read_text())


def by_hand(x: list[float]) -> tuple[float, float | None, float | None]:
    """The rule in the module's docstring again, in plain Python, as another language would implement it."""
    s, n = sorted(x), len(x)
    median = s[n // 2] if n % 2 else (s[n // 2 - 1] + s[n // 2]) / 2
    if n < 6:
        return median, None, None
    sign = [(t > median) - (t < median) for t in x]
    tau, z, length = 1.0, 1.96, 2
    while n // length >= 7:
        blocks = n // length
        squares = sum(sum(sign[k * length : (k + 1) * length]) ** 2 for k in range(blocks))
        ratio, v = squares / ((blocks - 1) * length), float(blocks - 1)
        ratio = ratio * (1.0 + ratio / length)
        tau, z = (ratio, 1.96 + (2.3723 + (2.8225 + 2.5562 / v) / v) / v) if ratio > 1.0 else (1.0, 1.96)
        if length**3 >= 4.0 * n * tau * tau:
            break
        length *= 2
    rank = max(math.floor((n + 1) * 0.5 - z * 0.5 * math.sqrt(n * tau)), 1)
    return median, s[rank - 1], s[n - rank]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda g: f"n={len(g['times_s'])}")
def test_golden(golden: dict) -> None:
    expected = (golden["median"], golden["low"], golden["high"])
    assert median_interval(golden["times_s"]) == expected
    assert by_hand(golden["times_s"]) == expected


def test_an_interval_exists_from_six_repetitions_on() -> None:
    """Even under the strongest drift; then it is the whole range."""
    assert {len(g["times_s"]) for g in GOLDEN if g["low"] is None} == {1, 2, 3, 4, 5}
    for n in range(6, 200):
        low, high = median_interval(np.arange(n) + 1.0)[1:]
        assert 1 <= low < high <= n
    assert median_interval(np.arange(56) + 1.0)[1:] == (1, 56)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.7, 1.0, 4.0]), min_size=1, max_size=150))
def test_ties_and_any_order_agree_with_the_text(times: list[float]) -> None:
    assert median_interval(times) == by_hand(times)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=120), st.integers(0, 2**32 - 1))
def test_ends_are_times_and_enclose_the_median(times: list[float], seed: int) -> None:
    median, low, high = median_interval(times)
    assert median == pytest.approx(np.median(times))
    if low is not None:
        assert low in times and high in times and low <= median <= high
    shuffled = np.random.default_rng(seed).permutation(times)
    assert median_interval(shuffled)[0] == median


def test_correlation_widens_the_interval() -> None:
    rng = np.random.default_rng(7)
    modes = np.repeat(rng.permutation(np.arange(40) % 2), 25) + 1 + 0.01 * rng.standard_normal(1000)
    _, low, high = median_interval(modes)
    _, shuffled_low, shuffled_high = median_interval(rng.permutation(modes))
    assert high - low >= shuffled_high - shuffled_low
    assert (low, high) == pytest.approx((1, 2), abs=0.05)


@pytest.mark.parametrize("rho, bounds", [(0.0, (0.93, 0.99)), (0.5, (0.92, 0.98)), (0.9, (0.90, 0.98))])
def test_coverage(rho: float, bounds: tuple[float, float]) -> None:
    """400 launches of 1000 lognormal times; with coverage 95% the share has a standard error of 1.1%."""
    rng = np.random.default_rng(3)
    z = rng.standard_normal((400, 1200))
    for i in range(1, z.shape[1]):
        z[:, i] = rho * z[:, i - 1] + math.sqrt(1 - rho * rho) * z[:, i]
    hits = [low <= 1.0 <= high for _, low, high in (median_interval(np.exp(row)) for row in z[:, 200:])]
    assert bounds[0] <= np.mean(hits) <= bounds[1]
