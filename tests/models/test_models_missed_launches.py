# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases that missed some launches of a run, on a machine that changes between its launches."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from changing_machine import (
    ADDED,
    LAUNCHES,
    SIZES,
    SLOW,
    VISITS,
    World,
    added_from,
    by_size,
    covers,
    ping_pong,
    slow_from,
    slowed,
    survey,
    switching,
    undisturbed,
    width,
)
from models_data import CATALOG, launch
from tiers import slow

from hockney.core.case import Case
from hockney.core.record import Close, RunRecords
from hockney.models import fit_all
from hockney.models.statistics import (
    Observation,
    observe,
    observe_case,
    ratio,
    ratio_to_sum,
    summarise_observations,
)


def test_a_case_of_all_launches_depends_on_no_other_case() -> None:
    run = survey(slow_from(2), added_from(3), np.random.default_rng(1))
    for size, seen in by_size(run).items():
        if size not in ADDED:
            alone = observe_case(run.by_case()[seen.case.line], CATALOG)
            assert seen.imputed is None
            assert seen.interval() == alone.interval()
            assert seen.fastest_mode.interval() == alone.fastest_mode.interval()


def test_an_added_size_costs_what_it_would_have_cost_in_all_launches() -> None:
    """From its own launches alone, it costs up to 1.5 times as much, with an interval of 1%."""
    world = slow_from(3)
    found = by_size(survey(world, added_from(3), np.random.default_rng(1)))
    complete = by_size(survey(world, lambda case, launch: True, np.random.default_rng(2)))
    for size in ADDED:
        seen, truth = found[size], complete[size]
        assert seen.launches == tuple(f"{k}.0" for k in range(3, LAUNCHES)), "those measured"
        assert seen.interval()[0] == pytest.approx(truth.interval()[0], rel=0.04)
        assert width(seen) == pytest.approx(width(truth), rel=0.3)
        assert covers(seen.fastest_mode, undisturbed(seen.case))
        assert width(seen.fastest_mode) < np.log(1.25)


def test_the_summary_counts_inferred_launches_separately() -> None:
    run = survey(slow_from(2), added_from(2), np.random.default_rng(1))
    found = {s.case: s for s in summarise_observations(observe(run, CATALOG))}
    added, planned = found[ping_pong(1024).line], found[ping_pong(512).line]
    assert (added.launches, added.inferred_launches, added.visits) == (8, 2, 8 * VISITS)
    assert (planned.launches, planned.inferred_launches) == (10, 0)
    assert added.undisturbed.disturbed == pytest.approx(0.8) == planned.undisturbed.disturbed
    assert added.modes.slow_share == pytest.approx(0.8)
    assert added.between == pytest.approx(planned.between, rel=0.2)
    assert not added.unknown_change


@pytest.mark.slow
def test_both_costs_of_added_sizes_are_covered_where_times_come_in_modes() -> None:
    """The truth of the typical cost is its long-run mean. Modes last 2 to 10 s."""
    random = np.random.default_rng(1)
    typical, fast = [], []
    for k in range(150):
        share, first, dwell_s = random.uniform(0.3, 0.7), (2, 4, 6)[k % 3], 2 * 5 ** random.random()
        found = by_size(survey(switching(share, dwell_s, random), added_from(first), random))
        typical += [covers(found[size], long_run(found[size].case, share)) for size in ADDED]
        if fast_mode_was_seen(found[512]):
            fast += [covers(found[size].fastest_mode, undisturbed(found[size].case)) for size in ADDED]
    assert sum(typical) >= 0.9 * len(typical)
    assert sum(fast) >= 0.9 * len(fast) > 0.9 * 270


def test_added_sizes_are_covered_as_often_as_planned_ones_where_modes_last_long() -> None:
    """Modes of half a survey: no interval of one survey has all of the truth, that of an added size as much
    as that of a planned one."""
    random = np.random.default_rng(4)
    added, planned, alone = [], [], []
    for _ in range(60):
        share, first = random.uniform(0.3, 0.7), int(random.choice([2, 4, 6]))
        run = survey(switching(share, 30.0, random), added_from(first), random)
        found = by_size(run)
        added.append(covers(found[1024], long_run(found[1024].case, share)))
        planned.append(covers(found[512], long_run(found[512].case, share)))
        own = observe_case(run.by_case()[found[1024].case.line], CATALOG)
        alone.append(covers(own, long_run(own.case, share)))
    assert abs(sum(added) - sum(planned)) <= 2
    assert sum(alone) < sum(planned) - 10, "the test must be able to fail"


@pytest.mark.parametrize(("launch", "visit"), [(0.01, 0.01), *slow((0.003, 0.03))])
def test_on_a_stable_machine_an_added_size_hardly_loses_precision(launch: float, visit: float) -> None:
    """Compared with the interval from its own launches."""
    random = np.random.default_rng(1)
    covered, wider, apart = [], [], []
    for k in range(30):
        world = World(np.zeros((LAUNCHES, VISITS), dtype=bool), launch=launch, visit=visit)
        run = survey(world, added_from((2, 4, 6)[k % 3]), random)
        for size in ADDED:
            seen = by_size(run)[size]
            alone = observe_case(run.by_case()[seen.case.line], CATALOG)
            covered.append(covers(seen, undisturbed(seen.case)))
            covered.append(covers(seen.fastest_mode, undisturbed(seen.case)))
            wider.append(width(seen) / width(alone))
            apart.append(abs(seen.log_center - alone.log_center) / width(alone))
    assert sum(covered) >= 0.93 * len(covered)
    assert np.median(wider) < 1.5
    assert np.median(apart) < 0.2


def test_between_sizes_that_change_differently_both_are_possible() -> None:
    """Sizes up to 2 KiB are slowed down 3-fold, larger ones not at all. Nothing shows what the size in
    between does."""

    def effect(limit: int) -> Callable[[Case], float]:
        return lambda case: np.log(SLOW) if case.bytes <= limit else 0.0

    random = np.random.default_rng(1)
    for limit in (512, 2048):
        run = survey(slow_from(3), added_from(3), random, effect=effect(limit))
        seen = by_size(run)[1024]
        run = survey(slow_from(3), lambda case, launch: True, random, effect=effect(limit))
        complete = by_size(run)[1024]
        assert covers(seen, complete.interval()[0])
        assert covers(seen.fastest_mode, undisturbed(seen.case))
        for mode in (1.0, SLOW if limit > 1024 else 1.0):
            assert covers(complete, mode * undisturbed(seen.case))
            assert covers(seen, mode * undisturbed(seen.case))


def test_a_size_beyond_all_others_may_or_may_not_have_changed() -> None:
    cases = [ping_pong(size) for size in SIZES]
    for changes in (True, False):
        run = survey(
            slow_from(3),
            lambda case, launch: launch >= 3 or case.bytes != SIZES[-1],
            np.random.default_rng(1),
            cases,
            lambda case, changes=changes: np.log(SLOW) if changes or case.bytes != SIZES[-1] else 0.0,
        )
        seen = by_size(run)[SIZES[-1]]
        assert len(seen.with_imputed_launches.launches) == LAUNCHES
        truth = undisturbed(seen.case) * np.exp(0.7 * np.log(SLOW) if changes else 0.0)
        assert covers(seen, truth)


def test_a_launch_in_which_a_case_failed_is_inferred() -> None:
    run = survey(
        slow_from(5), lambda case, launch: (case.bytes, launch) != (512, 2), np.random.default_rng(1)
    )
    seen = by_size(run)[512]
    assert seen.with_imputed_launches.launches == (*(f"{k}.0" for k in (0, 1, 3, 4, 5, 6, 7, 8, 9)), "2.0")
    assert len(seen.records) == 9


def test_a_loaded_launch_is_not_inferred() -> None:
    """It counts for no other case either, as long as there are enough quiet ones. With fewer it does: the
    added size has it as one of its own launches."""
    run = survey(slow_from(3), added_from(6), np.random.default_rng(1))
    loads = tuple(
        Close(schema=1, launch=name, seconds=5.0, exit_code=0, outside_cores=2.0) for name in ("1.0", "7.0")
    )
    found = by_size(RunRecords(records=run.records, closes=loads))
    assert {"1.0", "7.0"}.isdisjoint(found[512].launches)
    assert found[1024].launches == ("6.0", "7.0", "8.0", "9.0")
    assert found[1024].with_imputed_launches.launches[4:] == ("0.0", "2.0", "3.0", "4.0", "5.0")


def test_a_relaunch_after_a_failure_is_no_launch_that_the_others_missed() -> None:
    """Both have the same planned number."""
    again = ping_pong(512).line
    run = survey(slow_from(3), lambda case, launch: True, np.random.default_rng(1))
    renamed = [
        msgspec.structs.replace(each, launch="4.1") if each.launch == "4.0" and each.case == again else each
        for each in run.records
    ]
    launches = tuple(launch(name) for name in (*(f"{k}.0" for k in range(LAUNCHES)), "4.1"))
    for seen in observe(RunRecords(launches=launches, records=tuple(renamed)), CATALOG):
        assert seen.imputed is None


@pytest.mark.parametrize("changes", [True, False])
def test_without_anything_similar_an_interval_needs_that_other_cases_did_not_change(changes: bool) -> None:
    barrier = CATALOG.case("barrier", 2)
    cases = [ping_pong(64), ping_pong(512), barrier]
    world = slow_from(3 if changes else LAUNCHES)
    run = survey(world, lambda case, launch: launch >= 3 or case != barrier, np.random.default_rng(1), cases)
    found = {seen.case: seen for seen in observe(run, CATALOG)}
    seen = found[barrier]
    assert seen.imputed is None
    assert seen.unknown_change == changes
    assert np.isfinite(seen.interval()[1]) == np.isfinite(seen.fastest_mode.interval()[1]) == (not changes)
    [summary] = summarise_observations([seen])
    assert summary.unknown_change == changes
    assert (summary.typical.low is None) == changes
    assert not any(found[case].unknown_change for case in cases[:2])


def test_the_fit_is_that_of_all_launches() -> None:
    """It used to leave out launches that miss many of its sizes: t_0 was that of the slow mode."""
    sizes = [64, 128, 256, 512, 1024, 2048, 4096]
    cases = [ping_pong(size) for size in sizes]
    random = np.random.default_rng(1)
    runs = [
        survey(slow_from(3), measures, random, cases, lambda case: np.log(SLOW))
        for measures in (
            lambda case, launch: True,
            lambda case, launch: launch >= 3 or case.bytes in sizes[::2],
        )
    ]
    complete, partial = (fit_all(run, CATALOG, cores=2).select("hockney", "pingpong")[0] for run in runs)
    assert partial.verdict == complete.verdict
    for symbol in ("t_0", "r_inf"):
        found, truth = (fit.parameter(symbol).estimate for fit in (partial, complete))
        assert found.value == pytest.approx(truth.value, rel=0.03)
        assert found.low <= truth.value <= found.high


def test_the_ratio_to_a_planned_size_includes_the_error_of_the_inference() -> None:
    """The effect on 1 KiB is that on 512 B or that on 4 KiB."""

    def effect(case: Case) -> float:
        return np.log(SLOW) if case.bytes <= 1024 else 0.0

    found = by_size(survey(slow_from(3), added_from(3), np.random.default_rng(1), effect=effect))
    truth = undisturbed(ping_pong(1024)) / undisturbed(ping_pong(512))
    seen = ratio(found[1024], found[512])
    assert seen.low <= truth <= seen.high
    assert ratio_to_sum(found[1024], [(found[512], 1.0)]).ratio.low <= truth
    other = ratio(found[512], found[64])
    assert np.log(other.high / other.low) < 0.1 < np.log(seen.high / seen.low)


def long_run(case: Case, share: float) -> float:
    return float(undisturbed(case) * np.exp(share * slowed(case)))


def fast_mode_was_seen(seen: Observation) -> bool:
    return bool(np.exp(seen.fastest_mode.log_center) < 1.2 * undisturbed(seen.case))
