# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The piecewise model where bandwidth falls once messages leave a cache, and at the ends of the sizes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from models_data import CATALOG, Noise, exact, simulate
from scipy.optimize import nnls
from scipy.stats import binom

from hockney.core.case import Case
from hockney.core.fit import Fit, Subject
from hockney.core.record import RunRecords
from hockney.models import fit_hockney, observe
from hockney.models.applications.point_to_point_costs import costs_from_fit
from hockney.models.statistics import tabulate

SIZES = [0, *(1 << k for k in range(23))]
NOISE = Noise("", launches=8, repetitions=100, shared=0.02, own=0.02)

latencies = st.floats(2e-7, 5e-6)
rates = st.floats(2e9, 2e10)
falls = st.floats(1.5, 5.0)
edges = st.floats(17.0, 20.0)
seeds = st.integers(0, 2**32 - 1)


def cases(sizes: list[int]) -> list[Case]:
    return [Case.of("pingpong", 2, bytes=size) for size in sizes]


def beyond_a_cache(latency: float, rate: float, fall: float, edge: float) -> Callable[[Case], float]:
    """Beyond 2**edge bytes a byte costs gradually more: up to `fall` times as much, four times as far."""

    def time(case: Case) -> float:
        size, start = case["bytes"], 2.0**edge
        part = min(max(size - start, 0.0), 3 * start)
        slower = (fall - 1) * (part**2 / (6 * start) + max(size - 4 * start, 0.0))
        return latency + (size + slower) / rate

    return time


def fit(run: RunRecords) -> Fit:
    return fit_hockney(observe(run, CATALOG), Subject.parse("pingpong ranks=2"))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(latencies, rates, falls, st.floats(17.0, 18.5), seeds)
def test_the_curve_follows_a_bandwidth_that_falls(latency, rate, fall, edge, seed) -> None:
    """At no fewer than three sizes beyond the cache, the fewest of a piece."""
    true = beyond_a_cache(latency, rate, fall, edge)
    found = fit(simulate(true, cases(SIZES), NOISE, np.random.default_rng(seed)))
    at = {point.x: point.time for point in found.curve}
    for size in SIZES[-5:]:
        assert abs(math.log(at[size] / true(cases([size])[0]))) < 0.2
    largest = SIZES[-1]
    there = [true(case) for case in cases([largest // 4, largest])]
    limit = 0.75 * largest / (there[1] - there[0])
    assert found.parameter("r_inf").estimate.value == pytest.approx(limit, rel=0.25)
    assert found.verdict != "poor"


@settings(max_examples=25, deadline=None)
@given(latencies, rates, falls, edges, seeds)
def test_the_band_contains_what_was_measured(latency, rate, fall, edge, seed) -> None:
    """At every size, the ends too, also if the noise is much larger than usual."""
    noise = Noise("", launches=5, repetitions=50, shared=0.05, own=0.1)
    true = beyond_a_cache(latency, rate, fall, edge)
    run = simulate(true, cases(SIZES), noise, np.random.default_rng(seed))
    seen = sorted(observe(run, CATALOG), key=lambda each: each.size)
    curve = {point.x: point for point in fit(run).curve}
    costs = costs_from_fit(fit(run), name="", title="", source="")
    for each, time in zip(seen, tabulate(seen).times, strict=True):
        assert curve[each.size].low <= time <= curve[each.size].high
        low, high = costs.bounds(each.size)
        assert costs.change_around(each.size) is None and (low, high) == costs._interpolated_bounds(each.size)
        assert low * costs.one_way(each.size) <= time * (1 + 1e-9)
        assert time <= high * costs.one_way(each.size) * (1 + 1e-9)


@pytest.mark.slow
def test_the_band_contains_another_measurement_of_the_ends() -> None:
    """Nineteen of twenty typical times of a second run, which the fit did not see."""
    rng, sets, ends = np.random.default_rng(3), 60, (0, 1, 2, -3, -2, -1)
    hits = dict.fromkeys(ends, 0)
    for _ in range(sets):
        true = beyond_a_cache(1e-6, 1e10, rng.uniform(1, 6), rng.uniform(17, 20))
        found = fit(simulate(true, cases(SIZES), NOISE, rng))
        again = observe(simulate(true, cases(SIZES), NOISE, rng), CATALOG)
        times = tabulate(sorted(again, key=lambda each: each.size)).times
        curve = {point.x: point for point in found.curve}
        for end in ends:
            point = curve[SIZES[end]]
            hits[end] += point.low <= times[end] <= point.high
    assert all(hit >= binom.ppf(0.001, sets, 0.92) for hit in hits.values()), hits


@settings(max_examples=50, deadline=None)
@given(latencies, rates, falls, edges, st.floats(1.0, 3.0), st.integers(9, 15))
@example(latency=4.343666783741297e-06, rate=4129765970.0, fall=3.0, edge=17.0, jump=1.25, change=14)
def test_time_does_not_fall_from_size_to_size(latency, rate, fall, edge, jump, change) -> None:
    """Of exact times with a change of protocol and a cache, at the measured sizes. Between two of them, where
    one line ends and the next begins, it may."""
    smooth = beyond_a_cache(latency, rate, fall, edge)

    def true(case: Case) -> float:
        return smooth(case) + (jump - 1) * latency * (case["bytes"] > 1 << change)

    found = fit(exact(true, cases(SIZES)))
    costs = costs_from_fit(found, name="", title="", source="")
    at = {point.x: point.time for point in found.curve}
    for times in ([at[size] for size in SIZES], [costs.one_way(size) for size in SIZES]):
        assert min(np.diff(times) / times[1:]) > -2 * found.worst - 1e-9, "no more than two lines are off"


@settings(max_examples=25, deadline=None)
@given(latencies, rates, st.integers(4, 5), seeds)
def test_few_sizes_have_one_line_that_is_nowhere_negative(latency, rate, count, seed) -> None:
    rng = np.random.default_rng(seed)
    sizes = sorted(rng.choice(SIZES, count, replace=False).tolist())
    run = simulate(lambda case: latency + case["bytes"] / rate, cases(sizes), NOISE, rng)
    found = fit(run)
    [piece] = found.segments
    table = tabulate(sorted(observe(run, CATALOG), key=lambda each: each.size))
    root = 1 / np.sqrt(table.variance + 1e-4) / table.times
    scale = np.array([latency, 1 / rate])
    design = root[:, None] * np.stack((np.ones(count), np.array(sizes, dtype=float)), axis=1) * scale
    expected = nnls(design, root * table.times)[0] * scale
    assert (piece.latency.value, piece.per_byte.value) == pytest.approx(tuple(expected), rel=1e-6, abs=1e-18)
