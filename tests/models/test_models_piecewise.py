# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from hockney.models.fits.piecewise import MIN_CHANGE_BYTES, fit_lines, make_pieces, search_segments


def cost(x: np.ndarray, y: np.ndarray, weight: np.ndarray, held: float) -> float:
    """Of the best line that neither falls nor is below 0 at `held`."""
    root = np.sqrt(weight)
    scale = np.array([1.0, x.max()])
    return nnls(np.stack((root, root * (x - held)), axis=1) / scale, root * y)[1] ** 2


def held_at(x: np.ndarray, first: int) -> float:
    """Where the line of a segment is not below 0: nine tenths of the way from the size before."""
    return 0.1 * x[first - 1] + 0.9 * x[first] if first else 0.0


def best_of_all(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float) -> list[int]:
    """By trying every segmentation."""
    n, best = len(x), (np.inf, [0])
    for segments in range(1, n // 3 + 1):
        for inner in combinations(range(1, n), segments - 1):
            ends = [0, *inner, n]
            if all(b - a >= 3 for a, b in pairwise(ends)) and (x[list(inner)] >= MIN_CHANGE_BYTES).all():
                total = sum(
                    cost(x[a:b], y[a:b], weight[a:b], held_at(x, a)) + penalty for a, b in pairwise(ends)
                )
                best = min(best, (total, ends[:-1]))
    return best[1]


@settings(max_examples=40, deadline=None)
@given(st.integers(6, 11), st.integers(0, 2**32 - 1))
def test_search_finds_the_best_of_all_segmentations(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.concatenate(([0.0], 2.0 ** np.arange(4, n + 3)))
    y = (
        (1 + 0.05 / 16 * x * (1 + x / x.max()) ** rng.choice([0, 3]))
        * np.where(np.arange(n) < n // 2, 1.0, rng.choice([1.0, 1.5]))
        * rng.lognormal(0, 0.1, n)
    )
    weight = 1 / (0.1 * y) ** 2
    starts = search_segments(x, y, weight, penalty=5.0)
    assert np.flatnonzero(starts[0]).tolist() == best_of_all(x, y, weight, 5.0)


def test_lines_agree_with_scipy_within_each_segment() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate(([0.0], 2.0 ** np.arange(31)))
    y = np.stack([(1e-6 + 1e-10 * x) * rng.lognormal(0, 0.5, 32) for _ in range(5)])
    weight = 1 / y[0] ** 2
    starts = np.zeros_like(y, dtype=bool)
    starts[:, [0, 9, 20]] = True
    latency, per_byte = fit_lines(x, y, weight, starts)
    for replicate in range(5):
        for rows in (slice(0, 9), slice(9, 20), slice(20, 32)):
            root = np.sqrt(weight[rows])
            scale = np.array([1e-6, 1e-10])
            design = np.stack((root, root * x[rows]), axis=1) * scale
            held = held_at(x, rows.start)
            design[:, 1] -= root * held * scale[1]
            at_held, slope = nnls(design, root * y[replicate, rows])[0] * scale
            found = latency[replicate, rows][0], per_byte[replicate, rows][0]
            assert found == pytest.approx((at_held - held * slope, slope), rel=1e-6, abs=1e-18)


def test_messages_of_8_gib_keep_their_digits() -> None:
    """Weights of the shortest and longest message differ by 1e13 and more."""
    x = np.concatenate(([0.0], 2.0 ** np.arange(34)))
    y = np.where(x < 65536, 3e-7 + 2e-10 * x, 5e-6 + 1e-10 * x)
    starts = search_segments(x, y, 1 / (0.01 * y) ** 2, penalty=14.0)
    assert x[np.flatnonzero(starts[0])].tolist() == [0, 65536]
    _, per_byte = fit_lines(x, y[None], 1 / y**2, starts)
    assert per_byte[0, -1] == pytest.approx(1e-10, rel=1e-6)


def test_a_jump_is_put_between_the_sizes_and_a_kink_where_the_lines_cross() -> None:
    size = np.array([1.0, 2, 4, 8, 16, 32])
    starts = np.array([[True, False, False, True, False, False]])
    jump = make_pieces(size, starts, np.array([[1.0] * 3 + [5.0] * 3]), np.array([[1.0] * 3 + [1.0] * 3]))
    assert jump.edge[0, 3] == pytest.approx(np.sqrt(32))
    kink = make_pieces(size, starts, np.array([[1.0] * 3 + [4.0] * 3]), np.array([[1.0] * 3 + [0.5] * 3]))
    assert kink.edge[0, 3] == 6
    assert kink.time(np.array([5.9, 6.0]))[0] == pytest.approx((6.9, 7.0))


def test_half_size_is_where_half_of_the_limit_is_reached_and_kept() -> None:
    """Line 1 reaches half of 10 B/s at 8 B; the jump to line 2 falls below half again, up to 128 B."""
    size = np.array([0.0, 4, 8, 64, 128, 256])
    starts = np.array([[True, False, False, True, False, False]])
    latency = np.array([[0.8] * 3 + [12.8] * 3])
    per_byte = np.full((1, 6), 0.1)
    curve = make_pieces(size, starts, latency, per_byte)
    assert curve.bandwidth_limit()[0] == pytest.approx(10)
    assert curve.half_size()[0] == pytest.approx(128)
    slow = make_pieces(size, starts, np.array([[80.0] * 3 + [12.8] * 3]), per_byte)
    assert slow.half_size()[0] == pytest.approx(128), "line 1 reaches half at 800 B only, line 2 holds before"


def test_a_line_below_zero_does_not_hold_before_it_reaches_the_time_of_the_size_before() -> None:
    """4 x - 26 is 6 at 8 B and 4, the time of 4 B, at 7.5 B."""
    size = np.array([1.0, 2, 4, 8, 16, 32])
    starts = np.array([[True, False, False, True, False, False]])
    latency, per_byte = np.array([[0.0] * 3 + [-26.0] * 3]), np.array([[1.0] * 3 + [4.0] * 3])
    assert make_pieces(size, starts, latency, per_byte, "early").edge[0, 3] == pytest.approx(7.5)
    assert make_pieces(size, starts, latency, per_byte, "late").edge[0, 3] == 8


def test_half_of_the_peak_reached_before_bandwidth_dips_does_not_count() -> None:
    """10 B/s less a latency of 0.8 s up to 8 B, where it is 5 B/s. The line from there on, with 12.8 s, falls
    below half of the peak (8.9 B/s at 1024 B) up to 90 B; the last one, beyond the peak, is slower again."""
    size = np.array([0.0, 4, 8, 64, 128, 1024, 2048])
    starts = np.array([[True, False, False, True, False, False, True]])
    latency = np.array([[0.8] * 3 + [12.8] * 3 + [900.0]])
    curve = make_pieces(size, starts, latency, np.full((1, 7), 0.1))
    peak = curve.peak_bandwidth()[0]
    assert peak == pytest.approx(1024 / (12.8 + 102.4))
    assert curve.half_peak_size()[0] == pytest.approx(12.8 / (2 / peak - 0.1))
    assert curve.time(np.array([8.0]))[0, 0] < 2 * 8 / peak, "half was reached before the dip"
    shallow = make_pieces(size, starts, np.array([[0.3] * 3 + [1.5] * 3 + [900.0]]), np.full((1, 7), 0.1))
    assert shallow.half_peak_size()[0] == pytest.approx(0.3 / (2 / shallow.peak_bandwidth()[0] - 0.1))


def test_a_line_below_zero_may_become_too_slow() -> None:
    """The middle piece falls below half of r_inf = 2 B/s at 12 B, before its end at 15 B, the closest place
    to where the lines cross."""
    size = np.array([1.0, 2, 4, 5, 8, 14, 20, 40, 80])
    starts = np.zeros((1, 9), dtype=bool)
    starts[0, [0, 3, 6]] = True
    latency = np.array([[0.0] * 3 + [-12.0] * 3 + [6.0] * 3])
    per_byte = np.array([[0.2] * 3 + [2.0] * 3 + [0.5] * 3])
    curve = make_pieces(size, starts, latency, per_byte)
    assert curve.bandwidth_limit()[0] == pytest.approx(2)
    assert curve.edge[0, 6] == curve.half_size()[0] == 15
