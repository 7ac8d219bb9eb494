# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Series of an archive's runs, their changes, and whether a new run is as usual."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hockney.models.history import (
    CaseTime,
    DatedRun,
    RunTimes,
    case_series,
    check_run,
    detect_trends,
    fact_changes,
    operation_series,
)
from hockney.models.history.series import SIGNIFICANCE_LEVEL, RunPoint, TimeSeries
from hockney.models.statistics import find_change_points

DAY = 86_400.0
CASES = tuple(
    f"{name} bytes={size} ranks={ranks}"
    for name in ("bcast", "reduce")
    for size in (8, 1024)
    for ranks in (2, 4)
)


def run(day: int, factors: dict[str, float] | None = None, cases=CASES, sd: float = 0.01, **facts: str):
    """Each case takes its number in microseconds, times the factors of the words that it has."""
    rng = np.random.default_rng(day)
    times = []
    for number, case in enumerate(CASES, 1):
        if case in cases:
            factor = math.prod(
                f for words, f in (factors or {}).items() if set(words.split()) <= set(case.split())
            )
            value = number * 1e-6 * factor * math.exp(sd * rng.normal())
            times.append(CaseTime(case, "within a node", 5, value, value * 0.99, value * 1.01))
    return DatedRun(f"run-{day}", day * DAY, RunTimes("x", times, facts))


def test_an_operation_is_the_mean_of_its_cases():
    """Also if runs have different cases."""
    runs = [run(day, sd=0.0, cases=CASES if day % 2 else CASES[::2]) for day in range(10)]
    assert len(case_series(runs)) == len(CASES)
    bcast, reduce = operation_series(case_series(runs))
    assert (bcast.workload, reduce.workload, bcast.cases) == ("bcast", "reduce", 4)
    assert bcast.logs == pytest.approx([0.0] * 10, abs=1e-12)
    assert bcast.points[0].half_width == pytest.approx(math.log(1.01 / 0.99) / 2)


def test_levels_are_series_of_their_own():
    one = run(1)
    far = [CaseTime(t.case, "between nodes", 5, 1.0, None, None) for t in one.times.times]
    both = DatedRun("run", DAY, RunTimes("x", [*one.times.times, *far], {}))
    assert len(case_series([both])) == 2 * len(CASES) and len(operation_series(case_series([both]))) == 4
    assert sum(math.isnan(each.points[0].half_width) for each in case_series([both])) == len(CASES)


def test_a_change_has_its_date():
    runs = [run(day, {"bcast bytes=1024": 1.1} if day >= 20 else {}) for day in range(40)]
    cases = {trend.series.case: trend for trend in detect_trends(case_series(runs))}
    changed = {case for case, trend in cases.items() if trend.changes}
    assert changed == {"bcast bytes=1024 ranks=2", "bcast bytes=1024 ranks=4"}
    (change,) = cases["bcast bytes=1024 ranks=2"].changes
    assert change.at.run == "run-20"
    assert change.first_s <= 19 * DAY and 20 * DAY <= change.last_s <= 22 * DAY
    assert change.ratio.low < 1.1 < change.ratio.high


def test_what_changed_in_the_environment():
    runs = [run(1, mpi="5.0"), run(2, mpi="5.0"), run(3, mpi="5.1"), run(4, mpi="5.1", governor="powersave")]
    found = [(c.run, c.fact, c.before, c.after) for c in fact_changes(runs)]
    assert found == [("run-3", "mpi", "5.0", "5.1"), ("run-4", "governor", "", "powersave")]


def states(earlier: list[DatedRun], new: DatedRun, tolerance: float = 0.05) -> dict[str, str]:
    return {each.workload: each.state for each in check_run(earlier, new, tolerance)}


def test_a_usual_run():
    earlier = [run(day) for day in range(20)]
    assert states(earlier, run(30)) == {"bcast": "usual", "reduce": "usual"}
    for operation in check_run(earlier, run(30), 0.05):
        assert operation.mean.runs == 20 and not operation.mean.needed
        assert 1.05 < operation.mean.noticeable < 1.1 and len(operation.cases) == 4


def test_a_slower_run_is_found_in_its_case():
    earlier = [run(day) for day in range(20)]
    found = check_run(earlier, run(30, {"bcast bytes=8 ranks=4": 1.2}), 0.05)
    (slower,) = [case for operation in found for case in operation.cases if case.state == "slower"]
    assert slower.series.case == "bcast bytes=8 ranks=4" and slower.ratio.low < 1.2 < slower.ratio.high
    assert [operation.state for operation in found] == ["slower", "usual"]
    assert states(earlier, run(30, {"bcast bytes=8 ranks=4": 1.2}), tolerance=0.3)["bcast"] == "usual"
    assert states(earlier, run(30, {"reduce": 0.8})) == {"bcast": "usual", "reduce": "faster"}


def test_what_no_case_shows_the_mean_shows():
    earlier = [run(day, sd=0.03) for day in range(30)]
    found = check_run(earlier, run(31, {"bcast": 1.09}, sd=0.03), 0.0)
    assert found[0].state == "slower" and found[0].mean.state == "slower"


def test_few_runs_are_no_archive():
    found = check_run([run(day) for day in range(3)], run(9, {"bcast": 2.0}), 0.05)
    assert [(each.state, each.mean.needed) for each in found] == [("unknown", 2)] * 2
    assert [each.state for each in check_run([], run(9), 0.05)] == ["unknown"] * 2


def test_runs_that_differ_too_much_show_nothing():
    earlier = [run(day, {"": 1.0 + day % 4}) for day in range(12)]
    assert states(earlier, run(20, {"": 2.0})) == {"bcast": "undecided", "reduce": "undecided"}


def test_runs_that_differ_by_any_factor_are_not_too_few():
    """Their interval is unknown, which more runs would not change."""
    earlier = [run(day, {"": 10.0 ** (day % 5)}) for day in range(12)]
    found = check_run(earlier, run(20, {"": 2.0}), 0.05)
    assert {each.state for of in found for each in (of.mean, *of.cases)} == {"undecided"}
    assert {each.mean.needed for each in found} == {0}


def test_only_runs_since_the_last_change_are_usual():
    earlier = [run(day, {"bcast": 1.3} if day >= 20 else {}) for day in range(30)]
    found = check_run(earlier, run(40, {"bcast": 1.3}), 0.05)
    assert [each.state for each in found] == ["usual", "usual"]
    assert found[0].mean.runs == 10 and found[0].mean.since.at.run == "run-20" and found[1].mean.since is None
    assert states(earlier, run(40))["bcast"] == "faster"


def series_of(name: str, logs: np.ndarray) -> TimeSeries:
    points = (RunPoint(f"run-{day}", day * DAY, float(log), 0.01) for day, log in enumerate(logs))
    return TimeSeries(name, "within a node", name, tuple(points))


def test_a_series_found_among_many_is_cut_at_the_level_at_which_it_was_found():
    """Its second, small change would be significant at 5% if it were the only series."""
    rng = np.random.default_rng(1)
    logs = 0.01 * rng.standard_normal(36)
    logs[12:] += 0.3
    logs[24:] += 0.012
    quiet = [0.01 * rng.standard_normal(36) for _ in range(19)]
    assert len(find_change_points(logs.tolist(), SIGNIFICANCE_LEVEL)) == 2
    assert len(find_change_points(logs.tolist(), SIGNIFICANCE_LEVEL / 20)) == 1
    (alone,) = detect_trends([series_of("a", logs)])
    first, *others = detect_trends([series_of(f"{k}", each) for k, each in enumerate([logs, *quiet])])
    assert len(alone.changes) == 2 and len(first.changes) == 1
    assert not any(each.changes for each in others)
