# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases that were precise enough before the last launches of a run, which measured only others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from changing_machine import SIZES, VISITS, World, by_size, covers, ping_pong, survey, undisturbed, width
from models_data import CATALOG

from hockney.core.case import Case
from hockney.core.record import Close, RunRecords
from hockney.models.statistics import Observation, observe, observe_case, relative_precision

PLANNED, LAUNCHES = 10, 21
EARLY = 512
BARRIER = CATALOG.case("barrier", 2)


def slow_in(count: int, early: int = EARLY) -> World:
    """The last `count` launches are in the slow mode; all sizes but the early one differ by 8% between
    launches, so that they do not become precise."""
    slow = np.repeat(np.arange(LAUNCHES) >= LAUNCHES - count, VISITS).reshape(LAUNCHES, VISITS)
    return World(slow, noisy={size: 0.08 for size in SIZES if size != early})


def everything(case: Case, launch: int) -> bool:
    return True


def leaves(early: Case) -> Callable[[Case, int], bool]:
    """This case is measured in the planned launches only."""
    return lambda case, launch: launch < PLANNED or case != early


def alone(run: RunRecords, case: Case) -> Observation:
    """The case from its own launches only."""
    return observe_case(run.by_case()[case.line], CATALOG)


@pytest.mark.parametrize("early", SIZES)
@pytest.mark.parametrize("slow", [5, 9])
def test_a_case_that_left_early_costs_what_it_would_have_cost_in_all_launches(early: int, slow: int) -> None:
    """Alone, its interval is 2% and excludes that."""
    world = slow_in(slow, early)
    run = survey(world, leaves(ping_pong(early)), np.random.default_rng(1))
    truth = by_size(survey(world, everything, np.random.default_rng(1)))[early].interval()[0]
    seen = by_size(run)[early]
    assert len(seen.launches) == PLANNED and len(seen.with_imputed_launches.launches) == LAUNCHES
    assert covers(seen, truth) and not covers(alone(run, seen.case), truth)
    assert covers(seen.fastest_mode, undisturbed(seen.case))


def test_between_two_sizes_its_interval_is_about_as_wide_as_if_it_had_been_measured() -> None:
    world = slow_in(9)
    runs = [
        survey(world, which, np.random.default_rng(1)) for which in (leaves(ping_pong(EARLY)), everything)
    ]
    seen, complete = (by_size(run)[EARLY] for run in runs)
    assert seen.interval()[0] == pytest.approx(complete.interval()[0], rel=0.1)
    assert width(seen) == pytest.approx(width(complete), rel=0.3)


def test_a_case_that_left_early_is_no_longer_precise_if_the_machine_changed() -> None:
    """So it is measured again while time is left."""
    for slow, precise in ((0, True), (9, False)):
        run = survey(slow_in(slow), leaves(ping_pong(EARLY)), np.random.default_rng(1))
        assert relative_precision(alone(run, ping_pong(EARLY))) < 0.02
        assert (relative_precision(by_size(run)[EARLY]) < 0.02) == precise


def test_on_a_stable_machine_noisier_cases_hardly_widen_the_interval() -> None:
    """Inferring all later launches would make it several times as wide."""
    random = np.random.default_rng(1)
    wider, covered = [], []
    for _ in range(50):
        run = survey(slow_in(0), leaves(ping_pong(EARLY)), random)
        seen = by_size(run)[EARLY]
        wider.append(width(seen) / width(alone(run, seen.case)))
        covered.append(covers(seen, undisturbed(seen.case)))
    assert np.median(wider) == 1.0
    assert np.mean(wider) < 1.2
    assert sum(covered) >= 46


def test_without_another_size_the_change_is_that_of_the_case_with_the_nearest_time() -> None:
    """The interval contains that change and none."""
    cases = [*map(ping_pong, SIZES), BARRIER]
    world = slow_in(9)
    run = survey(world, leaves(BARRIER), np.random.default_rng(1), cases)
    complete = survey(world, everything, np.random.default_rng(2), cases)
    seen, truth = ({each.case: each for each in observe(each, CATALOG)}[BARRIER] for each in (run, complete))
    assert covers(seen, truth.interval()[0]) and covers(seen, undisturbed(BARRIER))
    assert not covers(alone(run, BARRIER), truth.interval()[0])
    assert not seen.unknown_change


def test_later_loaded_launches_count_for_no_case() -> None:
    run = survey(slow_in(9), leaves(ping_pong(EARLY)), np.random.default_rng(1))
    loads = tuple(
        Close(schema=1, launch=f"{k}.0", seconds=5.0, exit_code=0, outside_cores=2.0) for k in range(15, 21)
    )
    seen = by_size(RunRecords(records=run.records, closes=loads))[EARLY]
    assert seen.with_imputed_launches.launches == tuple(f"{k}.0" for k in range(15))
