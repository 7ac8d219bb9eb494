# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals of a series in time: independent noise averages out, slow changes do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.models.statistics.drift import DEGREES_OF_FREEDOM, half_width_under_drift
from hockney.models.statistics.location import student


def flicker(count: int, rng: np.random.Generator) -> np.ndarray:
    """Noise whose power falls as 1/f, from a sixteenth of 1/count on, with standard deviation 1."""
    frequencies = np.fft.rfftfreq(16 * count)
    spectrum = rng.standard_normal(len(frequencies)) + 1j * rng.standard_normal(len(frequencies))
    spectrum[0] = 0
    spectrum[1:] /= np.sqrt(frequencies[1:])
    series = np.fft.irfft(spectrum)[:count]
    return series / np.fft.irfft(spectrum).std()


def test_independent_noise_averages_out():
    rng = np.random.default_rng(1)
    widths = [half_width_under_drift(rng.standard_normal(640)) for _ in range(200)]
    exact = student(DEGREES_OF_FREEDOM) / np.sqrt(640)
    assert 0.8 * exact < np.median(widths) < 1.7 * exact


def test_slow_changes_do_not():
    """Twice as much of the series hardly helps."""
    rng = np.random.default_rng(2)
    short, long = (
        np.median([half_width_under_drift(flicker(n, rng)) for _ in range(100)]) for n in (320, 1280)
    )
    assert long > 0.6 * short
    assert short > 5 * student(DEGREES_OF_FREEDOM) / np.sqrt(320)


def test_the_mean_of_another_stretch_is_covered():
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(200):
        series = flicker(2000, rng) + 0.5 * rng.standard_normal(2000)
        first, second = series[:640], series[1200:1840]
        half = np.hypot(half_width_under_drift(first), half_width_under_drift(second))
        covered.append(abs(first.mean() - second.mean()) < half)
    assert np.mean(covered) > 0.85


@given(st.integers(0, 2**32), st.integers(4, 200), st.floats(0.01, 100), st.floats(-10, 10))
def test_it_scales_with_the_series_and_does_not_see_its_place(seed, count, factor, shift):
    series = np.random.default_rng(seed).standard_normal(count)
    width = half_width_under_drift(series)
    assert width > 0
    assert half_width_under_drift(factor * series + shift) == pytest.approx(factor * width, rel=1e-6)


@given(st.integers(4, 100))
def test_where_nothing_changes_it_is_zero(count):
    assert half_width_under_drift(np.full(count, 0.25)) == 0
