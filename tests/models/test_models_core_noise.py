# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of detours, on cores with known noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from hockney.core.platform import Detours
from hockney.models.noise.costs import (
    MessageTimes,
    NoisyRanks,
    barrier_seconds,
    noise_costs,
    quiet_barrier_s,
    step_seconds,
)
from hockney.models.noise.noisy_cores import compare_cores
from hockney.models.noise.observations import Core, Observation, mean_over_launches, trace_of
from hockney.models.noise.spectrum import Component, components, follows, spectrum
from hockney.models.statistics import adjust_p_values

MESSAGE = MessageTimes.of_latency(1.6e-6)


def core(
    seed: int,
    *,
    name: str = "core",
    hertz: float = 0.0,
    length_s: float = 0.0,
    jitter: float = 0.0,
    random_hz: float = 100.0,
    random_s: float = 20e-6,
    observations: int = 12,
    launches: int = 3,
) -> Core:
    """A core with periodic detours and, at random moments, exponentially distributed ones."""
    random = np.random.default_rng(seed)
    made = []
    for k in range(observations):
        starts = random.random(random.poisson(random_hz))
        lengths = random.exponential(random_s, len(starts))
        if hertz:
            train = (np.arange(hertz) + random.random()) / hertz
            train = train + jitter / hertz * (random.random(len(train)) - 0.5)
            starts = np.append(starts, train)
            lengths = np.append(lengths, np.full(len(train), length_s))
        order = np.argsort(starts)
        starts, lengths = starts[order], lengths[order]
        lengths = np.minimum(lengths, np.append(starts[1:], 1.01) - starts)
        launch = k * launches // observations
        made.append(Observation(launch, float(k), 1.01, float(lengths.sum()), 1e-5, starts, lengths))
    return Core(name, tuple(made))


def observed_by_quanta(hertz: float, length_s: float, quantum_s: float, observations: int = 12) -> Core:
    """A core with a strict period, observed by quanta of work: detours are seen in the quantum that they
    lengthen, in the rhythm of the quanta."""
    made = []
    for k in range(observations):
        begin_s = 0.37 * k % 1 / hertz
        starts, lengths, now_s = [], [], 0.0
        next_s = begin_s
        while now_s < 0.25:
            end_s, count = now_s + quantum_s, 0
            while next_s <= end_s:
                end_s, next_s, count = end_s + length_s, next_s + 1 / hertz, count + 1
            if count:
                starts.append(now_s)
                lengths.append(count * length_s)
            now_s = end_s
        lost_s = sum(lengths)
        made.append(
            Observation(
                k * 3 // observations, float(k), now_s, lost_s, quantum_s, np.array(starts), np.array(lengths)
            )
        )
    return Core("core", tuple(made))


@pytest.mark.parametrize(("hertz", "length_s"), [(72.2, 784e-6), (216.7, 1015e-6), (424.8, 134e-6)])
def test_the_rhythm_of_long_quanta_is_no_frequency(hertz: float, length_s: float):
    seen = observed_by_quanta(hertz, length_s, 100e-6)
    (only,) = components(seen, spectrum(seen))
    assert only.frequency_hz == pytest.approx(hertz, rel=1e-3) and only.is_steady


@pytest.mark.parametrize("hertz", [10.0, 99.7, 100.0, 250.0, 1000.0])
def test_the_frequency_and_share_of_periodic_detours_are_found(hertz: float):
    noisy = core(1, hertz=hertz, length_s=0.02 / hertz, jitter=0.02)
    first = components(noisy, spectrum(noisy))[0]
    assert first.frequency_hz == pytest.approx(hertz, rel=0.01)
    assert first.share == pytest.approx(0.02, rel=0.15)


def test_two_frequencies_are_found_without_their_multiples():
    noisy = core(2, hertz=100.0, length_s=300e-6)
    other = core(3, hertz=333.0, length_s=20e-6)
    both = []
    for a, b in zip(noisy.observations, other.observations, strict=True):
        starts = np.concatenate((a.start_s, b.start_s))
        order = np.argsort(starts)
        lengths = np.concatenate((a.length_s, b.length_s))[order]
        both.append(Observation(a.launch, a.began_s, 1.01, lengths.sum(), 1e-5, starts[order], lengths))
    mixed = Core("both", tuple(both))
    frequencies = [c.frequency_hz for c in components(mixed, spectrum(mixed))]
    assert sorted(frequencies)[:2] == [pytest.approx(100, rel=0.01), pytest.approx(333, rel=0.01)]
    assert len(frequencies) == 2


def test_a_weaker_multiple_follows_whatever_its_peak():
    """If time slices raise the power near the fundamental, the peaks of its multiples are higher."""
    seen = core(1)
    fundamental = Component(100.0, 0.0481, 9.1, is_steady=True)
    multiple, other = (Component(hertz, 0.0428, 78.2, is_steady=True) for hertz in (300.0, 320.0))
    assert follows(multiple, fundamental, seen, 1.0) and not follows(fundamental, multiple, seen, 1.0)
    assert not follows(other, fundamental, seen, 1.0)


def test_quanta_make_no_further_frequencies():
    """Detours are seen at the start of the quantum that they interrupt, and quanta are not in step with the
    detours, so the recorded starts have frequencies that the detours do not have."""
    made = []
    for k in range(6):
        starts = 1e-4 * np.floor((np.arange(63) + k / 6) / 250 / 1e-4) + 3e-6 * np.arange(63)
        made.append(Observation(k, float(k), 0.250189, 63 * 3e-6, 1e-4, starts, np.full(63, 3e-6)))
    seen = Core("core", tuple(made))
    assert seen.quanta_hz == pytest.approx(1e4, rel=1e-3)
    assert [c.frequency_hz for c in components(seen, spectrum(seen))] == [pytest.approx(250, rel=1e-3)]


def test_detours_of_one_launch_are_not_steady():
    always = core(1, hertz=100.0, length_s=200e-6, launches=6)
    sometimes = Core("core", (*always.observations[:4], *core(2, launches=6).observations[4:]))
    for each, is_steady in ((always, True), (sometimes, False)):
        (found,) = components(each, spectrum(each))
        assert found.is_steady is is_steady and found.frequency_hz == pytest.approx(100, rel=0.01)


def test_few_observations_are_not_steady():
    few = core(1, hertz=100.0, length_s=200e-6, observations=2, launches=1)
    assert [each.is_steady for each in components(few, spectrum(few))] == [False]
    several = core(1, hertz=100.0, length_s=200e-6, observations=4, launches=1)
    assert [each.is_steady for each in components(several, spectrum(several))] == [True]


def test_random_detours_are_not_periodic():
    runs = [core(seed, observations=3) for seed in range(60)]
    false = sum(bool(components(each, spectrum(each))) for each in runs)
    assert false <= 5  # 2% to 5% are expected; more than 5 of 60 have a probability below 2%


def test_too_few_detours_have_no_spectrum():
    assert spectrum(core(1, random_hz=0.0)) is None
    assert components(core(1, random_hz=0.0), None) == ()


def test_the_noisy_core_is_named():
    cores = [core(seed, name=str(seed)) for seed in range(16)]
    cores[5] = core(5, name="noisy", hertz=100.0, length_s=50e-6)
    assert [each.core for each in compare_cores(cores) if each.is_noisy] == ["noisy"]


def test_cores_that_are_alike_are_not_named():
    names = 0
    for run in range(60):
        cores = [core(100 * run + k, name=str(k), random_s=400e-6) for k in range(8)]
        names += any(each.is_noisy for each in compare_cores(cores))
    assert names <= 6  # at most 5% are expected; more than 6 of 60 have a probability below 4%


def test_the_detectable_excess_is_detected():
    """With the excess that a run without it states, 56 of 60 runs name the core; 95% are expected."""
    found = 0
    for run in range(20):
        quiet = [core(50 * run + k, name=str(k)) for k in range(4)]
        detectable = max(each.detectable for each in compare_cores(quiet))
        noisy = core(50 * run + 3, name="noisy", hertz=100.0, length_s=1.01 * detectable / 100)
        found += any(each.core == "noisy" and each.is_noisy for each in compare_cores([*quiet[:3], noisy]))
    assert found >= 17


def test_one_core_is_not_compared():
    assert compare_cores([core(1)]) == ()
    assert compare_cores([core(1, observations=2), core(2, observations=2)]) == ()


def test_false_discoveries_follow_benjamini_and_hochberg():
    # the example of their paper, with 15 p-values of which four are rejected at 5%
    p = np.array(
        [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719,
         0.6528, 0.759, 1.0]
    )  # fmt: skip
    assert (np.array(adjust_p_values(p)) <= 0.05).sum() == 4


def test_the_interval_of_the_lost_share_contains_it():
    noisy = core(4, hertz=100.0, length_s=500e-6, random_hz=0.0)
    assert noisy.share.value == pytest.approx(0.05 / 1.01)
    shares = [core(seed).share for seed in range(60)]
    true = 100 * 20e-6 / 1.01
    covered = sum((share.low or 0.0) <= true <= (share.high or 0.0) for share in shares)
    assert covered >= 52  # fewer of 60 have a probability below 2% if each covers with 95%
    assert mean_over_launches([[1.0], [2.0]]).low is None
    assert mean_over_launches([[0.0, 0.0, 0.1]]).low == 0.0


def end_by_steps(trace: Detours, start: float, seconds: float) -> float:
    """When work ends, detour by detour."""
    time = start
    for period in range(-1, 100):
        for begin, length in zip(trace.start_s, trace.length_s, strict=True):
            begin += period * trace.period_s
            if begin + length <= time:
                continue
            if begin >= time + seconds:
                return time + seconds
            seconds -= max(0.0, begin - time)
            time = begin + length
    raise AssertionError("too much work")


def test_work_continues_after_detours():
    traces = [
        Detours(period_s=1.0, start_s=(0.1, 0.5, 0.9), length_s=(0.1, 0.3, 0.1)),
        None,
        Detours(period_s=0.5, length_s=(0.2,)),
    ]
    random = np.random.default_rng(3)
    noisy = NoisyRanks(traces, 6, 4, random)
    for seconds in (0.0, 0.01, 0.29, 1.93):
        starts = 5 * random.random((4, 6))
        ends = noisy.end_of(starts, seconds)
        for sample in range(4):
            for rank in range(6):
                trace = traces[rank % 3]
                phase = noisy._phase[sample, rank]
                begin = starts[sample, rank] + phase
                end = begin + seconds if trace is None else end_by_steps(trace, begin, seconds)
                assert ends[sample, rank] == pytest.approx(end - phase, abs=1e-9)


def test_without_noise_a_barrier_costs_its_rounds():
    assert barrier_seconds([None], 1000, MESSAGE, samples=2) == pytest.approx(10 * 1.6e-6)
    assert quiet_barrier_s(1000, MESSAGE) == pytest.approx(10 * 1.6e-6)
    assert step_seconds([None], 16, MESSAGE, 1e-3, samples=2) == pytest.approx(1e-3 + 4 * 1.6e-6)


def test_a_barrier_of_many_ranks_meets_the_longest_detours():
    """With many ranks, some rank has just begun its detour of 500 us, and ranks that wait for it meet further
    detours."""
    noisy = [Detours(period_s=0.01, length_s=(500e-6,))]
    times = barrier_seconds(noisy, 1024, MESSAGE, samples=50)
    assert times.min() > 450e-6 and times.max() < 3e-3
    few = barrier_seconds(noisy, 2, MESSAGE, samples=2000)
    # a rank is in a detour with a probability of 5%, then for 250 us on average; the longer of two counts
    assert few.mean() == pytest.approx(1.6e-6 + 2 * 0.05 * 250e-6, rel=0.2)


def test_costs_have_intervals_over_launches():
    cores = [core(k, hertz=100.0, length_s=500e-6) for k in range(2)]
    (cost,) = noise_costs(cores, [(64, 1e-3)], MESSAGE)
    assert cost.barrier_s.low is not None and cost.barrier_s.low < cost.barrier_s.value
    assert cost.slowdown.value > 1.05
    assert cost.quiet_barrier_s == pytest.approx(6 * 1.6e-6)


def in_launches(rates_hz: Sequence[float], seed: int) -> Core:
    """A core with random detours, of another rate in each launch."""
    parts = [core(seed + k, random_hz=hz, random_s=1e-3, observations=1) for k, hz in enumerate(rates_hz)]
    return Core("core", tuple(replace(part.observations[0], launch=k) for k, part in enumerate(parts)))


def test_costs_are_those_of_the_trace_of_all_launches():
    """Ranks on other nodes are not all in the launch that was quiet here."""
    noisy = in_launches([*[10.0] * 7, 200.0], 1)
    (cost,) = noise_costs([noisy], [(64, 1e-3)], MESSAGE)
    quiet_s = 1e-3 + quiet_barrier_s(64, MESSAGE)
    replayed = step_seconds([trace_of(noisy)], 64, MESSAGE, 1e-3, samples=20, seed=9) / quiet_s
    assert cost.slowdown.value == pytest.approx(replayed.mean(), rel=0.1)
    assert cost.barrier_s.value == pytest.approx(
        barrier_seconds([trace_of(noisy)], 64, MESSAGE, samples=500, seed=9).mean(), rel=0.2
    )


def test_intervals_contain_the_cost_of_noise_that_differs_between_launches():
    random = np.random.default_rng(5)
    many = trace_of(in_launches((30 * np.exp(0.5 * random.normal(size=300))).tolist(), 1000))
    true = np.mean(step_seconds([many], 16, MESSAGE, 1e-3, samples=40, steps=100))
    true /= 1e-3 + quiet_barrier_s(16, MESSAGE)
    covered = 0
    for run in range(40):
        rates_hz = 30 * np.exp(0.5 * random.normal(size=6))
        (cost,) = noise_costs([in_launches(rates_hz.tolist(), 10 * run)], [(16, 1e-3)], MESSAGE)
        assert cost.slowdown.low is not None and cost.slowdown.high is not None
        covered += cost.slowdown.low <= true <= cost.slowdown.high
    assert covered >= 34  # fewer of 40 have a probability of 0.3% if each covers with 95%


def test_a_trace_has_the_time_and_the_detours_of_the_observations():
    noisy = core(7, hertz=50.0, length_s=100e-6)
    trace = trace_of(noisy, first_rank=2, rank_step=4)
    assert trace is not None
    assert trace.period_s == pytest.approx(12 * 1.01)
    assert trace.share == pytest.approx(noisy.share.value, rel=1e-3)
    assert (trace.first_rank, trace.rank_step) == (2, 4)
    assert list(trace.start_s) == sorted(trace.start_s)
    assert trace_of(core(1, random_hz=0.0)) is None
