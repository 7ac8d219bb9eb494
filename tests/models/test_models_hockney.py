# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from models_data import CATALOG, NOISE, exact, record, simulate

from hockney.core.case import Case
from hockney.core.fit import Fit, Subject
from hockney.core.record import RunRecords
from hockney.models import fit_hockney, observe

SIZES = [0, *(1 << k for k in range(23))]
CASES = [Case.of("pingpong", 2, bytes=size) for size in SIZES]


def three_protocols(case: Case) -> float:
    size = case["bytes"]
    if size <= 4096:
        return 4e-7 + 2e-10 * size
    return 1.2e-6 + 1.2e-10 * size if size <= 65536 else 4e-6 + 9e-11 * size


def fit(run: RunRecords) -> Fit:
    return fit_hockney(observe(run, CATALOG), Subject.parse("pingpong ranks=2"))


def test_exact_times_give_the_exact_model() -> None:
    found = fit(exact(three_protocols, CASES))
    assert found.verdict == "good" and found.error < 1e-9
    assert [(s.latency.value, s.per_byte.value) for s in found.segments] == [
        pytest.approx(pair) for pair in ((4e-7, 2e-10), (1.2e-6, 1.2e-10), (4e-6, 9e-11))
    ]
    assert [(c.low, c.high) for c in found.change_points] == [(4096, 8192), (65536, 131072)]
    assert [s.beyond for s in found.segments[:-1]] == [s.first for s in found.segments[1:]]
    assert [c.value for c in found.change_points] == [s.first for s in found.segments[1:]], (
        "one size, not two"
    )
    values = {p.symbol: p.estimate.value for p in found.parameters}
    assert values["t_0"] == pytest.approx(4e-7)
    assert values["r_inf"] == pytest.approx(1 / 9e-11)
    # Half of r_inf is 180 ps per byte: (1.2 us + 120 ps n) / n = 180 ps at n = 20000, in segment two.
    assert values["n_half"] == pytest.approx(20000)
    assert values["r_peak"] == pytest.approx((1 << 22) / (4e-6 + 9e-11 * (1 << 22)))


def test_half_the_bandwidth_that_is_lost_again_does_not_count() -> None:
    """Bandwidth rises above half of r_inf at 2.3 KiB, falls at a change of protocol and rises again."""

    def rising_twice(case: Case) -> float:
        size = case["bytes"]
        return 2.4e-7 + 1e-10 * size if size <= 4096 else 5.2e-6 + 1e-10 * size

    found = fit(exact(rising_twice, CASES))
    assert len(found.segments) == 2
    assert found.parameter("n_half").estimate.value == pytest.approx(52000)
    noisy = fit(simulate(rising_twice, CASES, NOISE, np.random.default_rng(5))).parameter("n_half").estimate
    assert noisy.low <= 52000 <= noisy.high and noisy.low > 26000
    dip = simulate(rising_twice, CASES, NOISE, np.random.default_rng(6))
    peak = fit(dip).parameter("n_half_peak").estimate
    truth = 5.2e-6 / (2 * rising_twice(CASES[-1]) / SIZES[-1] - 1e-10)
    assert 26000 < peak.low <= truth <= peak.high, "half of the peak was lost again as well"


@pytest.mark.parametrize(("jump", "half"), [(1.4e-6, 14000), (0.5e-6, 6000)])
def test_half_the_bandwidth_may_be_reached_with_a_change(jump: float, half: float) -> None:
    """The first piece costs more than 2 / r_inf per byte: no message in it is fast enough."""

    def faster_later(case: Case) -> float:
        size = case["bytes"]
        return 4e-7 + 3e-10 * size if size < 6000 else jump + 1e-10 * size

    found = fit(exact(faster_later, CASES)).parameter("n_half").estimate
    assert found.value == pytest.approx(half, rel=0.1 if half == 6000 else 1e-6)


def test_one_straight_line_is_left_in_one_piece() -> None:
    def line(case: Case) -> float:
        return 1e-6 + 1e-10 * case["bytes"]

    rng = np.random.default_rng(4)
    pieces = [
        len(fit(simulate(line, CASES, replace(NOISE, repetitions=100), rng)).segments) for _ in range(20)
    ]
    assert np.mean(np.array(pieces) == 1) >= 0.9


def test_a_launch_that_was_killed_half_way_does_not_bend_the_curve() -> None:
    """Launch 2 is 20% slow and only has records of the short messages."""
    run = exact(three_protocols, CASES)
    slow = [r for r in run.records if r.launch == "2-2"][:20]
    kept = [r for r in run.records if r.launch != "2-2"]
    slow = [record(r.parse_case(), r.launch, [1.2 * t for t in r.times_s]) for r in slow]
    found = fit(RunRecords(records=(*kept, *slow)))
    assert len(found.segments) == 3 and found.error < 0.01
    ratio = found.parameter("t_0").estimate.value / (4e-7 * 1.2 ** (1 / 3))
    assert ratio == pytest.approx(1, abs=0.07)


def test_one_outlier_is_named_but_does_not_decide() -> None:
    run = exact(three_protocols, CASES)
    bad = tuple(
        record(r.parse_case(), r.launch, [5 * t for t in r.times_s]) if " bytes=1024 " in r.case else r
        for r in run.records
    )
    found = fit(RunRecords(records=bad))
    assert found.parameter("r_inf").estimate.value == pytest.approx(1 / 9e-11, rel=0.01)
    assert found.parameter("t_0").estimate.value == pytest.approx(4e-7, rel=0.1)
    assert found.verdict != "good" and "400% at worst" in found.why


def past_caches(case: Case) -> float:
    """Beyond 256 KiB the cost per byte keeps growing."""
    size = case["bytes"]
    return 2e-6 + 5e-11 * size if size < 1 << 18 else 6e-11 * size * (size / (1 << 18)) ** 0.5


def test_a_parameter_held_at_zero_leaves_width_to_both() -> None:
    """With large messages only, the first line would begin below zero."""
    found = fit(simulate(past_caches, CASES[20:], NOISE, np.random.default_rng(3)))
    [line] = found.segments
    assert line.latency.value == 0 == line.latency.low < line.latency.high and line.intercept == "held"
    low, value, high = line.per_byte.low or 0.0, line.per_byte.value, line.per_byte.high
    assert low < 0.999 * value < 1.001 * value < high
    r_inf = found.parameter("r_inf").estimate
    assert r_inf.low < r_inf.value < (r_inf.high or np.inf)


def test_the_latency_of_a_later_line_that_is_above_zero_has_no_negative_end() -> None:
    """Beyond 64 KiB the line begins at 2 us, which its errors (3% of 1 ms and more) hide."""

    def cheaper(case: Case) -> float:
        size = case["bytes"]
        return 1e-6 + 1e-9 * size if size < 1 << 16 else 2e-6 + 2e-10 * size

    noise = replace(NOISE, shared=0.0, own=0.03)
    ends = []
    for seed in range(8):
        found = fit(simulate(cheaper, CASES, noise, np.random.default_rng(seed)))
        for segment in found.segments:
            ends.append(segment.latency.low)
            assert segment.latency.low >= 0 or segment.intercept == "below zero"
    assert 0 in ends


def test_beyond_a_cache_a_line_begins_below_zero() -> None:
    found = fit(simulate(past_caches, CASES, NOISE, np.random.default_rng(3)))
    assert [segment.intercept for segment in found.segments][:2] == ["found", "below zero"]
    assert found.segments[-1].latency.high < 0 < found.segments[-1].per_byte.low
    assert found.worst < 0.2
    near, far = past_caches(CASES[-3]), past_caches(CASES[-1])
    r_inf = found.parameter("r_inf").estimate
    assert r_inf.low < 3 * (1 << 20) / (far - near) < r_inf.high


def test_too_few_sizes_are_refused() -> None:
    found = fit(exact(three_protocols, CASES[:3]))
    assert found.verdict == "refused" and found.parameters == [] and "at least 4" in found.why
    twice = [*CASES[:5], *(Case.of("pingpong", 2, bytes=size, buffers="cold") for size in SIZES[:5])]
    assert fit(exact(three_protocols, twice)).verdict == "refused"


def test_without_a_cost_of_a_byte_there_is_no_bandwidth() -> None:
    found = fit(exact(lambda case: 1e-6, CASES[:8]))
    assert found.parameter("t_0").estimate.value == pytest.approx(1e-6)
    assert found.parameter("r_inf") is None and found.parameter("n_half") is None
    assert found.verdict == "fair" and "no r_inf" in found.why


def test_wrong_payloads_make_a_poor_fit() -> None:
    run = exact(three_protocols, CASES)
    wrong = record(CASES[5], "0-2", run.records[5].times_s, errors=2)
    found = fit(RunRecords(records=(*run.records[:5], wrong, *run.records[6:])))
    assert found.verdict == "poor" and "2 payloads" in found.why


def test_band_holds_the_model_and_covers_both_sides_of_a_change() -> None:
    found = fit(simulate(three_protocols, CASES, NOISE, np.random.default_rng(9)))
    assert all(p.low <= p.time <= p.high for p in found.curve)
    places = [p.x for p in found.curve]
    assert places == sorted(set(places)) and set(SIZES) <= set(places)
    for segment in found.segments[1:]:
        assert {segment.first - 1, segment.first} <= set(places)


@pytest.mark.parametrize("seed", range(4))
def test_the_limit_and_the_last_line_have_one_interval(seed: int) -> None:
    found = fit(simulate(three_protocols, CASES, NOISE, np.random.default_rng(seed)))
    limit, last = found.parameter("r_inf").estimate, found.segments[-1]
    assert last.first <= SIZES[-1] / 4 and last.per_byte.value == pytest.approx(1 / limit.value)
    assert last.per_byte.low == (1 / limit.high if limit.high else None)
    assert last.per_byte.high == (1 / limit.low if limit.low else None)


def test_a_half_that_no_size_reaches_is_left_out() -> None:
    """The longest two messages are so slow that their line begins far below 0."""

    def collapsing(case: Case) -> float:
        size = case["bytes"]
        return 1e-6 + 6.6e-11 * size if size < 3_400_000 else -7.4137e-3 + 2.2306515e-9 * size

    sizes = [*SIZES[:-1], 2493952, 2965824, 3526976, 4194304]
    found = fit(exact(collapsing, [Case.of("pingpong", 2, bytes=size) for size in sizes]))
    assert found.parameter("r_inf") is not None and found.parameter("n_half") is None
    assert "half-beyond-sizes" in {caveat.code for caveat in found.caveats}
    assert all(np.isfinite(p.estimate.value) for p in found.parameters)
