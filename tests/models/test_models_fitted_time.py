# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions of fits at a point: the model's formula, with the interval of its curve or its parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from models_data import CATALOG, NOISE, exact, simulate
from msgspec.structs import replace

from hockney.core.case import Case
from hockney.core.fit import CurvePoint, Fit, Subject, TimeEstimate
from hockney.launch.fake_world import World
from hockney.models import all_models, fit_collective, fit_hockney, observe
from hockney.models.fits.model import Scope
from hockney.models.fitted_time import fitted_time

WORLD = World()
SIZES = [0, *(1 << k for k in range(21))]
PINGPONG = [CATALOG.case(f"pingpong bytes={size}") for size in SIZES]
BCAST = [Case.of("bcast", p, bytes=s) for p in (2, 3, 4, 8) for s in (8, 512, 4096, 65536)]


def hockney(seed: int = 1) -> Fit:
    run = simulate(WORLD.time, PINGPONG, NOISE, np.random.default_rng(seed))
    return fit_hockney(observe(run, CATALOG), Subject.parse("pingpong buffers=hot ranks=2"))


def tree(case: Case) -> float:
    return 1e-6 + (5e-7 + 2e-10 * case.bytes) * math.ceil(math.log2(case.ranks))


def bcast(seed: int = 1) -> Fit:
    fits = fit_collective(
        observe(simulate(tree, BCAST, NOISE, np.random.default_rng(seed)), CATALOG), Subject("bcast")
    )
    return next(fit for fit in fits if fit.model == "logarithmic")


def same(estimate: TimeEstimate, point: CurvePoint) -> bool:
    return (estimate.value, estimate.low, estimate.high) == pytest.approx((point.time, point.low, point.high))


def test_a_point_of_the_curve_of_pieces_is_predicted_as_it_is():
    fit = hockney()
    assert fit.ranges == {"bytes": (0.0, float(SIZES[-1]))}
    gaps = [(change.low, change.high) for change in fit.change_points]
    clear = [p for p in fit.curve if not any(low < p.x < high for low, high in gaps)]
    assert len(clear) > 20
    assert all(same(fitted_time(fit, {"bytes": p.x}), p) for p in clear)


def test_where_the_protocol_may_change_the_interval_holds_both_lines():
    fit = hockney()
    change = fit.change_points[0]
    size = math.sqrt(change.low * change.high)
    time = fitted_time(fit, {"bytes": size})
    before, after = (s.latency.value + s.per_byte.value * size for s in fit.segments[:2])
    assert after > 1.5 * before, "the lines jump there"
    assert time.low <= before and after <= time.high and time.value in (before, after)


def test_a_sum_of_parameters_has_the_interval_of_its_curve():
    fit = bcast()
    assert fit.ranges == {"bytes": (8.0, 65536.0), "ranks": (2.0, 8.0)}
    assert len(fit.curve) == 7
    assert all(same(fitted_time(fit, {"ranks": p.x, "bytes": 8}), p) for p in fit.curve)
    constant = next(p for p in fit.parameters if p.symbol == "a").estimate
    half = math.sqrt(fit.interval_matrix[0][0])
    assert (constant.high - constant.low) / 2 == pytest.approx(half)


def test_intervals_of_sums_hold_the_truth_between_the_measured_cases():
    """16 KiB and 5 ranks were not measured. With 95% each, fewer than 33 of 40 occur once in 1000 times."""
    case = Case.of("bcast", 5, bytes=16384)
    held = 0
    for seed in range(40):
        time = fitted_time(bcast(seed), {"ranks": 5, "bytes": 16384})
        held += time.low <= tree(case) <= time.high
    assert held >= 33


def test_the_curve_of_loggp_is_that_of_one_message():
    lines = [f"prtt bytes={s} messages={n}" for s in (1, 64, 1024, 4000) for n in (1, 16)]
    lines += [f"prtt bytes={s} messages=16 delay=20us" for s in (1, 64, 1024, 4000)]
    lines += [f"receive_overhead bytes={s}" for s in (1, 64, 1024, 4000)]
    observations = observe(exact(WORLD.time, [CATALOG.case(line) for line in lines]), CATALOG)
    fits = [f for model in all_models() for f in model.fits(observations, Scope())]
    [fit] = [f for f in fits if f.model == "loggp"]
    assert fit.verdict != "refused" and fit.ranges == {"bytes": (1.0, 4000.0)}
    first, *_, last = fit.curve
    assert fitted_time(fit, {"bytes": first.x}).value == pytest.approx(first.time)
    middle = fitted_time(fit, {"bytes": 2000}).value
    assert first.time < middle < last.time
    per_byte = {p.symbol: p.estimate.value for p in fit.parameters}
    slope = per_byte["G"] + per_byte["O_s"] + per_byte["O_r"]
    assert middle == pytest.approx(first.time + 1999 * slope, rel=1e-3)


def test_an_end_that_is_not_known_is_not_the_value():
    fit = hockney()
    bare = replace(fit, curve=[replace(p, low=p.time, high=p.time) for p in fit.curve])
    time = fitted_time(bare, {"bytes": 1000})
    assert time.low is None and time.high is None
    assert fitted_time(replace(bcast(), interval_matrix=[], curve=[]), {"ranks": 2, "bytes": 8}).low is None


def test_an_estimate_is_shown_with_its_unit():
    assert repr(TimeEstimate(5.2e-6, 5.11e-6, 5.29e-6)) == "5.20 us [5.11, 5.29]"
    assert str(TimeEstimate(5.2e-6, None, None)) == "5.20 us"
