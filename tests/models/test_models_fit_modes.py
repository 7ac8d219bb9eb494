# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fits of a machine that is in a slow mode in some launches, and slower for short messages only."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
from models_data import CATALOG, record

from hockney.core.case import Case
from hockney.core.record import RunRecords, Visits
from hockney.models import fit_all
from hockney.models.fitted_time import fitted_time
from hockney.models.statistics import find_launch_modes, observe, tabulate
from hockney.models.statistics.modes import mode_margins

SIZES = (0, 8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)
SLOW_UP_TO = 2048
FACTOR = 3.5


def run_with(slow: Sequence[bool]) -> RunRecords:
    random = np.random.default_rng(7)
    records = []
    for k, in_slow_mode in enumerate(slow):
        for size in SIZES:
            time = 100e-9 + size / 10e9
            if in_slow_mode and size <= SLOW_UP_TO:
                time *= FACTOR
            times = time * np.exp(0.01 * random.standard_normal() + 0.01 * random.standard_normal(40))
            case = Case.of("pingpong", 2, buffers="hot", bytes=size)
            records.append(record(case, f"{k}.0", times.tolist()))
    return RunRecords(records=records)


@pytest.mark.parametrize("slow", [2, 3, 7, 8])
def test_a_fit_follows_the_share_of_each_mode_as_the_cases_do(slow):
    """Launches that are slow for all short messages alike spoil none of them."""
    run = run_with([k < slow for k in range(10)])
    seen = sorted(observe(run, CATALOG), key=lambda each: each.size)
    table = tabulate(seen)
    assert not table.spoiled.any()
    expected = np.array([100e-9 + size / 10e9 for size in SIZES])
    expected[np.array(SIZES) <= SLOW_UP_TO] *= FACTOR ** (slow / 10)
    assert table.times == pytest.approx(expected, rel=0.03)
    (fit,) = (fit for fit in fit_all(run, CATALOG, cores=2).fits if fit.model == "hockney")
    (latency,) = (p.estimate for p in fit.parameters if p.symbol == "t_0")
    assert latency.high / latency.low > 1.5
    assert latency.low < 100e-9 * FACTOR ** (slow / 10) < latency.high


def test_a_launch_that_spoils_one_size_is_replaced_there():
    run = run_with([False] * 10)
    spoiled = next(r for r in run.records if r.launch == "4.0" and r.parse_case().bytes == 1024)
    worse = record(spoiled.parse_case(), "4.0", [30 * time for time in spoiled.times_s])
    again = RunRecords(records=[worse if r is spoiled else r for r in run.records])
    table = tabulate(sorted(observe(again, CATALOG), key=lambda each: each.size))
    assert [SIZES[k] for k in np.flatnonzero(table.spoiled)] == [1024]
    assert table.times[4] == pytest.approx(100e-9 + 1024 / 10e9, rel=0.05)


@pytest.mark.parametrize(("slow", "launches"), [(2, 10), (5, 10), (8, 10), (2, 4)])
def test_a_fit_to_launches_in_two_modes_has_their_levels_and_numbers(slow, launches):
    run = run_with([k < slow for k in range(launches)])
    (fit,) = (fit for fit in fit_all(run, CATALOG, cores=2).fits if fit.model == "hockney")
    assert fit.two_modes is not None and fit.verdict in ("fair", "poor")
    values = fit.two_modes.values
    assert (values["fast_launches"], values["slow_launches"]) == (launches - slow, slow)
    assert values["fast_s"] == pytest.approx(100e-9, rel=0.03)
    assert values["slow_s"] == pytest.approx(350e-9, rel=0.03)
    assert values["bytes"] == 0
    assert fit.two_modes.text in fit.why


@pytest.mark.parametrize("slow", [0, 1, 9, 10])
def test_a_single_launch_is_no_mode(slow):
    run = run_with([k < slow for k in range(10)])
    (fit,) = (fit for fit in fit_all(run, CATALOG, cores=2).fits if fit.model == "hockney")
    assert fit.two_modes is None


@pytest.mark.parametrize("scale", [0.02, 0.1, 0.3])
def test_launches_that_scatter_are_not_in_modes(scale):
    random = np.random.default_rng(5)
    found = 0
    for _ in range(20):
        factors = np.exp(scale * random.standard_normal(10))
        cases = [Case.of("pingpong", 2, buffers="hot", bytes=size) for size in SIZES]
        records = [
            record(case, f"{k}.0", [100e-9 * factor] * 12)
            for k, factor in enumerate(factors)
            for case in cases
        ]
        found += find_launch_modes(observe(RunRecords(records=records), CATALOG)) is not None
    assert found <= 2


def test_only_the_sizes_with_modes_need_to_be_a_quarter():
    """Long messages do not show the modes; modes at one size only are the size's."""
    run = run_with([k < 4 for k in range(10)])
    shown = find_launch_modes(observe(run, CATALOG))
    assert shown is not None and shown.case.size == 0
    one = [r for r in run.records if r.parse_case().bytes in (0, 4096, 16384, 65536, 262144, 1048576)]
    assert find_launch_modes(observe(RunRecords(records=one), CATALOG)) is None


def visited(slow: Sequence[bool], visits: int = 8) -> RunRecords:
    """The same, with visits at known moments, so that modes can be followed over time."""
    records = []
    for one in run_with(slow).records:
        at = Visits(after_s=list(range(visits)), repetitions=[5] * visits, preempted=[0] * visits)
        started = 100.0 * int(one.launch.split(".")[0])
        records.append(msgspec.structs.replace(one, visits=at, started_s=started))
    return RunRecords(records=records)


@pytest.mark.parametrize("slow", [2, 8])
def test_a_fit_is_no_more_certain_of_the_share_of_the_modes_than_its_cases(slow):
    """One change of the mode shows little of the share in the long run, however many sizes there are."""
    run = visited([k < slow for k in range(10)])
    cases = [seen for seen in observe(run, CATALOG) if 0 < seen.size <= SLOW_UP_TO]
    assert all(seen.modes is not None for seen in cases)
    (fit,) = (fit for fit in fit_all(run, CATALOG, cores=2).fits if fit.model == "hockney")
    for seen in cases:
        value = seen.interval()[0]
        below, above = mode_margins(seen.modes, seen.visits, seen.visits_at_s)
        assert max(below, above) > 0.5
        time = fitted_time(fit, {"bytes": seen.size})
        assert time.low < 1.1 * value * np.exp(-below) and time.high > 0.9 * value * np.exp(above)
    (latency,) = (p.estimate for p in fit.parameters if p.symbol == "t_0")
    assert latency.low < 150e-9 and latency.high > 300e-9
