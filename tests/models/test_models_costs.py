# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Models of the typical and of the undisturbed cost, with and without visits in two modes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_data import CATALOG, record

from hockney.core.case import Case
from hockney.core.fit import Fit, Fits
from hockney.core.record import Record, RunRecords, Visits
from hockney.models import fit_all
from hockney.models.statistics import observe, summarise_observations

SIZES = [0, *(1 << k for k in range(21))]
CASES = [Case.of("pingpong", 2, buffers="hot", bytes=size) for size in SIZES]
T_0, R_INF = 0.4e-6, 10e9
VISITS = 20


def true(case: Case) -> float:
    return T_0 + case.bytes / R_INF


def in_visits(whole: Record, visits: int) -> Record:
    """The record with its repetitions in this many visits of equal length, a tenth of a second apart."""
    count = len(whole.times_s) // visits
    parts = Visits(
        after_s=[k / 10 for k in range(visits)], repetitions=[count] * visits, preempted=[0] * visits
    )
    return msgspec.structs.replace(whole, visits=parts)


def in_modes(level: Callable[[np.random.Generator], np.ndarray], launches: int = 10) -> RunRecords:
    """Every launch of every case has its visits at `level` times the true time, with noise of 1%."""
    random = np.random.default_rng(1)
    records = []
    for launch in range(launches):
        for case in CASES:
            levels = np.repeat(level(random), 5) * np.exp(0.01 * random.standard_normal(5 * VISITS))
            records.append(in_visits(record(case, f"{launch}.0", true(case) * levels), VISITS))
    return RunRecords(records=tuple(records))


def two_modes(random: np.random.Generator) -> np.ndarray:
    """60% of the visits take twice as long."""
    return random.permutation(np.where(np.arange(VISITS) < 0.6 * VISITS, 2.0, 1.0))


def ping_pong(fits: Fits) -> Fit:
    (fit,) = fits.select("hockney", "pingpong")
    return fit


def test_the_undisturbed_fit_is_of_the_fast_mode_and_the_typical_one_between() -> None:
    run = in_modes(two_modes)
    typical, fast = (fit_all(run, CATALOG, cores=2, cost=cost) for cost in ("typical", "undisturbed"))
    assert (typical.cost, fast.cost) == ("typical", "undisturbed")
    assert fast.summaries == typical.summaries, "which have both costs"
    for symbol, truth, slow in (("t_0", T_0, 2 * T_0), ("r_inf", R_INF, R_INF / 2)):
        found = ping_pong(fast).parameter(symbol).estimate
        assert found.value == pytest.approx(truth, rel=0.05)
        assert found.low <= truth <= found.high
        between = ping_pong(typical).parameter(symbol).estimate.value
        assert 1.1 * min(truth, slow) < between < 0.9 * max(truth, slow)


def test_launches_that_saw_no_fast_visit_are_left_out() -> None:
    turns = iter(range(10 * len(CASES)))

    def some(random: np.random.Generator) -> np.ndarray:
        always_slow = next(turns) // len(CASES) % 2
        return np.full(VISITS, 2.0) if always_slow else two_modes(random)

    run = in_modes(some)
    for seen in observe(run, CATALOG, "undisturbed"):
        assert seen.launches == ("0.0", "2.0", "4.0", "6.0", "8.0")
        assert np.all(np.isfinite(seen.lower_widths))
    fit = ping_pong(fit_all(run, CATALOG, cores=2, cost="undisturbed"))
    assert fit.parameter("t_0").estimate.value == pytest.approx(T_0, rel=0.05)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.floats(1e-7, 1e-3), min_size=1, max_size=12), min_size=1, max_size=14))
def test_in_one_visit_both_costs_are_the_same(launches: list[list[float]]) -> None:
    run = RunRecords(records=tuple(record(CASES[0], f"{k}.0", times) for k, times in enumerate(launches)))
    (typical,), (fast,) = observe(run, CATALOG), observe(run, CATALOG, "undisturbed")
    assert fast.interval() == pytest.approx(typical.interval(), nan_ok=True)
    (summary,) = summarise_observations([typical])
    assert summary.undisturbed is None and summary.cost("undisturbed") == summary.typical
