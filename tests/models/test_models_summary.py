# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from models_data import CATALOG, record
from tiers import slow

from hockney.core.case import Case
from hockney.core.record import RunRecords
from hockney.models import median_interval, summarise
from hockney.models.statistics.summary import percentiles

CASE = Case.of("pingpong", 2, bytes=8)


def launches(*times: list[float], errors: int = 0) -> RunRecords:
    return RunRecords(records=tuple(record(CASE, str(k), t, errors) for k, t in enumerate(times)))


def test_one_launch_is_its_median_and_ranks() -> None:
    times = (np.random.default_rng(1).lognormal(0, 0.1, 100) * 1e-6).tolist()
    [summary] = summarise(launches(times), CATALOG)
    expected = median_interval(times)
    assert (summary.typical.value, summary.typical.low, summary.typical.high) == pytest.approx(expected)
    assert summary.between is None
    assert (summary.repetitions, summary.launches, summary.case) == (100, 1, CASE.line)
    assert summary.quartiles == pytest.approx(tuple(np.percentile(times, (5, 25, 75, 95))))
    assert summary.within == pytest.approx(np.subtract(*np.percentile(times, (75, 25))) / expected[0])


def test_launches_that_differ_widen_the_interval_as_students_t_says() -> None:
    run = launches([1e-6] * 50, [1.1e-6] * 50, [1.21e-6] * 50)
    [summary] = summarise(run, CATALOG)
    assert summary.typical.value == pytest.approx(1.1e-6)
    half = 4.3027 * np.log(1.1) / np.sqrt(3) * np.sqrt(1.346)  # of a median of three
    assert np.log(summary.typical.high / summary.typical.value) == pytest.approx(half, rel=2e-3)
    assert summary.between == pytest.approx(1.4826 * 1.495 * np.log(1.1))
    assert summary.within == 0


def test_launches_that_have_nothing_in_common_leave_the_interval_open() -> None:
    [summary] = summarise(launches([1e-6] * 50, [3e-6] * 50, [9e-6] * 50), CATALOG)
    assert (summary.typical.low, summary.typical.high) == (None, None)
    assert summary.typical.value == pytest.approx(3e-6) and summary.between > 0.8


@pytest.mark.parametrize("count", [3, 4, 10, *slow(5, 6, 30)])
def test_the_spread_between_launches_is_that_of_most_of_them(count) -> None:
    """One launch that is a thousand times as slow does not make it absurd; without one it is the standard
    deviation."""
    rng = np.random.default_rng(count)
    spreads, with_outlier = [], []
    for _ in range(200 if count < 10 else 50):
        levels = np.exp(0.05 * rng.standard_normal(count))
        for wanted, factor in ((spreads, 1.0), (with_outlier, 1000.0)):
            levels[-1] *= factor
            [summary] = summarise(launches(*([1e-6 * level] * 12 for level in levels)), CATALOG)
            wanted.append(summary.between)
    assert np.mean(spreads) == pytest.approx(0.05, rel=0.15)
    assert np.median(with_outlier) < 4 * 0.05


def test_launches_that_agree_narrow_the_interval() -> None:
    """An interval with t(2) = 4.3 instead of 1.96 would be uselessly wide for three launches that do not
    differ."""
    rng = np.random.default_rng(5)
    ratios = []
    for _ in range(60):
        three = [rng.lognormal(0, 0.1, 400).tolist() for _ in range(3)]
        widths = [
            s.typical.high - s.typical.low
            for run in (launches(three[0]), launches(*three))
            for s in summarise(run, CATALOG)
        ]
        ratios.append(widths[1] / widths[0])
    assert 0.5 < np.median(ratios) < 0.9, "1 / sqrt(3) = 0.58 where all launches are known to be alike"


def test_too_few_repetitions_leave_the_ends_open() -> None:
    [summary] = summarise(launches([1e-6, 2e-6, 3e-6]), CATALOG)
    assert (summary.typical.low, summary.typical.high) == (None, None)
    [summary] = summarise(launches([1e-3], [1.02e-3], [1.01e-3]), CATALOG)
    assert summary.typical.low < 1e-3 and summary.typical.high > 1.02e-3, (
        "three launches of one are three values"
    )


def test_wrong_payloads_are_counted_and_still_summarised() -> None:
    [summary] = summarise(launches([1e-6] * 10, [1e-6] * 10, errors=3), CATALOG)
    assert (summary.errors, summary.verified_bytes) == (6, 200)
    assert summary.typical.value == pytest.approx(1e-6)


def test_percentiles_are_those_of_numpy():
    rng = np.random.default_rng(1)
    shares = (0, 5, 25, 50, 75, 95, 99, 100)
    for count in (1, 2, 3, 4, 10, 11, 357, 1000):
        values = np.sort(rng.lognormal(size=count))
        assert percentiles(values, shares) == np.percentile(values, shares).tolist()
