# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times of machines that do not vary are exact, not without an interval."""

from __future__ import annotations

import pytest
from models_data import CATALOG, exact
from msgspec.structs import replace

from hockney.core.case import Case
from hockney.core.fit import Estimate, ExactValue
from hockney.models import fit_all
from hockney.models.exact import mark_exact
from hockney.pages.format import SIMULATED_TEXT, interval, with_interval

CASES = [Case.of("pingpong", 2, bytes=size, buffers="hot") for size in (0, 8, 64, 512, 4096, 65536)]


def true(case: Case) -> float:
    return 1e-6 + 1e-9 * case.bytes


@pytest.fixture(scope="module")
def fits():
    return fit_all(exact(true, CASES, launches=1, repetitions=2), CATALOG, cores=2)


def test_summaries_and_fits_of_exact_times_are_exact(fits):
    assert fits.summaries[0].typical.low is None and fits.summaries[0].between is None
    made = mark_exact(fits)
    for before, after in zip(fits.summaries, made.summaries, strict=True):
        assert after.typical == ExactValue.of(before.typical.value) and after.between == 0
    [fit] = [f for f in made.fits if f.model == "hockney"]
    latency = fit.parameter("t_0").estimate
    assert isinstance(latency, ExactValue) and latency.value == pytest.approx(1e-6, rel=1e-3)
    assert isinstance(fit.segments[0].per_byte, ExactValue)


def test_a_model_that_is_off_keeps_its_intervals(fits):
    wide = Estimate(1e-6, 0.9e-6, 1.2e-6)
    [fit] = [f for f in fits.fits if f.model == "hockney"]
    parameter = replace(fit.parameters[0], estimate=wide)
    off = replace(fits, fits=[replace(fit, parameters=[parameter])])
    assert mark_exact(off).fits[0].parameters[0].estimate == wide


def test_exact_times_are_shown_as_such_and_measured_ones_never():
    value = ExactValue.of(2e-6)
    assert interval(value, "s") == SIMULATED_TEXT and with_interval(value, "s") == "2.00 us"
    coarse = Estimate(2e-6, 2e-6, 2e-6)
    assert interval(coarse, "s") != SIMULATED_TEXT


def test_of_an_interval_that_begins_at_0_only_the_upper_end_is_shown():
    for value in (0.0, 5e-9):
        shown = interval(Estimate(value, 0.0, 102e-9), "s")
        assert shown == interval(Estimate(value, None, 102e-9), "s")
        assert "0 ns" not in shown and "102 ns" in shown


def test_a_value_at_an_end_of_its_interval_has_both_ends():
    ends = interval(Estimate(3e-9, 1e-9, 5e-9), "s")
    assert interval(Estimate(5e-9, 1e-9, 5e-9), "s") == interval(Estimate(1e-9, 1e-9, 5e-9), "s") == ends
