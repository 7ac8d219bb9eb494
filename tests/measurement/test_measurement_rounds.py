# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds of launches, on the fake machine's clock: when they begin, the order of their cases, and which cases
get launches beyond the plan."""

from __future__ import annotations

import time
from dataclasses import replace

import measured_runs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney import measurement
from hockney.core.case import Case
from hockney.core.settings import Settings
from hockney.launch.fake import EPOCH, FakeLauncher, Fault
from hockney.launch.fake_world import World
from hockney.measurement import schedule
from hockney.measurement.rounds import (
    Rounds,
    imprecise_cases,
    period_over_notice,
    remaining_rounds,
    rounds_late_notice,
)
from hockney.models.statistics import observe, relative_precision
from hockney.store import Plan, RunFolder, unmeasured_items

LINES = ("pingpong bytes=8", "barrier ranks=2", "barrier ranks=4")
LONG = ("pingpong bytes=256MiB", "bcast bytes=256MiB ranks=4")
"""Cases whose 20000 repetitions fit into no budget here."""
STARTING_S = 0.3
"""Until a launch of the fake machine reports its start."""


def begin(path, launcher, rounds=4, budget=10.0, every=60.0, through=0.0, lines=LINES):
    settings = {"launches": rounds, "budget_s": budget, "every_s": every, "through_s": through}
    return measured_runs.begin(path, lines, launcher, **settings)


def measure(folder: RunFolder, bench: measurement.Bench) -> tuple[measurement.Outcome, list]:
    events: list = []
    return measurement.measure(folder, bench, events.append), events


def notices(events: list) -> list[measurement.Notice]:
    return [e for e in events if isinstance(e, measurement.Notice)]


def began(folder: RunFolder) -> list[float]:
    """The start of each round's first launch, relative to the first one's."""
    at = [x.started_s - EPOCH for x in folder.read().run.launches if x.index % 2 == 0]
    return [round(t - at[0]) for t in at]


def whole(folder: RunFolder) -> bool:
    return unmeasured_items(folder.plan(), folder.read().run) == ()


class Slow(FakeLauncher):
    """Its launch `number` takes `seconds` longer."""

    def __init__(self, number: int, seconds: float) -> None:
        super().__init__()
        self.number, self.seconds = number, seconds

    def run(self, plan, ranks, options):
        yield from super().run(plan, ranks, options)
        if options.index == self.number:
            self.wait(self.seconds)


def test_rounds_begin_one_distance_after_another(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher())
    outcome, events = measure(folder, bench)
    assert (outcome.measured_count, outcome.missing_count) == (12, 0) and whole(folder)
    assert began(folder) == [0, 60, 120, 180]
    assert outcome.seconds == pytest.approx(bench.now()) and 180 < outcome.seconds < 192
    first = next(e for e in events if isinstance(e, measurement.MeasuringBegan))
    assert (first.rounds, first.every_s, first.budget_s) == (4, 60.0, 190.0)
    waits = [e for e in events if isinstance(e, measurement.Waiting)]
    assert [e.round for e in waits] == sorted(e.round for e in waits)
    assert {e.round for e in waits} == {2, 3, 4} and {e.rounds for e in waits} == {4}
    assert all(0 < e.seconds <= 60 for e in waits)
    assert notices(events) == []


@pytest.mark.parametrize("every", [0.0, 1e-3])
def test_the_first_round_is_never_late(tmp_path, every):
    """By a clock that advances by itself."""
    folder, bench = begin(tmp_path / "r", FakeLauncher(), rounds=1, every=every, budget=1e-3)
    events: list = []
    measurement.measure(folder, replace(bench, now=time.monotonic), events.append)
    assert not [notice for notice in notices(events) if notice.code in ("round-late", "rounds-late")]


def test_each_round_has_the_whole_budget_and_no_more(tmp_path):
    """Noise so strong that nothing settles: all time is used."""
    folder, bench = begin(tmp_path / "r", FakeLauncher(World(noise=2.0)), budget=20.0, lines=LONG)
    measure(folder, bench)
    spent = [c.seconds for c in folder.read().run.closes]
    for one, other in zip(spent[::2], spent[1::2], strict=True):
        assert 10 < one + other < 24


def test_a_round_that_takes_too_long_delays_the_next_but_not_the_others(tmp_path):
    folder, bench = begin(tmp_path / "r", Slow(number=1, seconds=70.0), rounds=5)
    _, events = measure(folder, bench)
    assert began(folder)[2:] == [120, 180, 240]
    assert 70 <= began(folder)[1] < 85
    assert [notice.code for notice in notices(events)] == ["round-late"] and whole(folder)


def test_rounds_that_always_take_too_long_are_all_made_and_counted(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher(launch_s=50.0), rounds=5)
    outcome, events = measure(folder, bench)
    assert outcome.missing_count == 0 and whole(folder)
    first, last = notices(events)
    assert first.code == "round-late" and last == rounds_late_notice(4, 5)
    gaps = [b - a for a, b in zip(began(folder), began(folder)[1:], strict=False)]
    assert all(95 < gap < 115 for gap in gaps), "nothing was waited for"
    assert not [e for e in events if isinstance(e, measurement.Waiting)]


def test_a_late_round_is_hurried_until_the_next_is_due(tmp_path):
    """But not below half of its time; a partial round gets a proportional share."""
    folder, bench = begin(tmp_path / "r", FakeLauncher(), 6, budget=30.0, every=30.0)
    rounds = Rounds(folder.plan(), 6, 30.0, bench, lambda event: None)
    assert rounds.share_s(0, item_count=3) == 30
    bench.wait(40.0)
    assert rounds.share_s(1, item_count=3) == 20
    assert rounds.share_s(1, item_count=1) == pytest.approx(20 / 3)
    bench.wait(100.0)
    assert rounds.share_s(2, item_count=3) == 15
    assert rounds.share_s(5, item_count=3) == 30, "its date is still to come"


def test_a_period_that_is_over_ends_the_run(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher(launch_s=50.0), rounds=5, through=250.0)
    outcome, events = measure(folder, bench)
    assert outcome.missing_count == 6 and outcome.seconds < 330
    assert period_over_notice(2) in notices(events)
    assert measure(folder, bench)[0].missing_count == 0 and whole(folder), (
        "resumed, it makes all that is missing"
    )


def test_a_period_in_which_nothing_is_late_is_used_whole(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher(), rounds=5, through=250.0)
    assert measure(folder, bench)[0].missing_count == 0
    assert began(folder) == [0, 60, 120, 180, 240]


def test_ctrl_c_while_waiting_keeps_all_rounds_made_and_resume_keeps_the_distance(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher(), rounds=5)

    def interrupted(seconds):
        bench.wait(seconds)
        if bench.now() > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measurement.measure(folder, replace(bench, wait=interrupted), lambda event: None)
    run = folder.read().run
    assert len(run.records) == 6 and [c.exit_code for c in run.closes] == [0] * 4
    bench.wait(1000.0)
    _, events = measure(folder, bench)
    assert whole(folder)
    dates = began(folder)
    assert [t - dates[2] for t in dates[2:]] == [0, 60, 120], "the next round begins at once"
    assert next(e.round for e in events if isinstance(e, measurement.Waiting)) == 4
    assert notices(events) == []


def test_the_rest_of_a_broken_round_comes_first(tmp_path):
    fault = Fault("die", "barrier ranks=4", times=1)
    folder, bench = begin(tmp_path / "r", FakeLauncher(faults=[fault]), rounds=2)
    assert measure(folder, bench)[0].missing_count == 1
    before = bench.now()
    outcome, events = measure(folder, bench)
    assert (outcome.measured_count, outcome.missing_count) == (1, 0) and bench.now() - before < 10
    assert not [e for e in events if isinstance(e, measurement.Waiting)]


@given(st.integers(0, 10**9))
@settings(max_examples=20, deadline=None)
def test_resuming_after_any_truncation_completes_all_rounds(tmp_path_factory, seed):
    folder, bench = begin(tmp_path_factory.mktemp("r") / "r", FakeLauncher(), rounds=3)
    measure(folder, bench)
    data = folder.records_path.read_bytes()
    folder.records_path.write_bytes(data[: seed % (len(data) + 1)])
    missing = unmeasured_items(folder.plan(), folder.read().run)
    began_s = bench.now()
    outcome, _ = measure(folder, bench)
    assert outcome.measured_count == len(missing) and whole(folder)
    rounds = len({item.launch // 2 for item in missing})
    assert bench.now() - began_s < 60 * max(0, rounds - 1) + 12


@given(st.sets(st.integers(0, 11)), st.sampled_from([0.0, 60.0]))
@settings(max_examples=40, deadline=None)
def test_rounds_hold_what_there_is_to_do_once(tmp_path_factory, chosen, every):
    folder, _ = begin(tmp_path_factory.mktemp("r") / "r", FakeLauncher(), every=every)
    plan = folder.plan()
    todo = tuple(plan.items[k] for k in sorted(chosen))
    found = remaining_rounds(plan, todo)
    assert [item for _, items in found for item in items] == list(todo)
    assert all(items for _, items in found)
    if every:
        assert all({item.launch // 2 for item in items} == {number} for number, items in found)
    else:
        assert len(found) == bool(todo)


def test_a_night_of_rounds_is_laid_out_at_once():
    """Each of 30000 measurements is assigned to its round without looking at all the others."""
    cases = [Case.of("barrier", ranks, sync="window") for ranks in range(2, 32)]
    plan = Plan(Settings("cases", launches=1000, every_s=60.0), measurement.schedule(cases, 1000, 1))
    began = time.process_time()
    found = remaining_rounds(plan, plan.items)
    assert time.process_time() - began < 4
    assert [number for number, _ in found] == list(range(1000))
    assert {len(items) for _, items in found} == {30}


def test_a_round_that_takes_too_long_is_complete(tmp_path):
    """Unlike the launches of other runs, which end in time."""
    folder, bench = begin(tmp_path / "r", FakeLauncher(case_s=5.0), rounds=3, budget=2.0, every=60.0)
    outcome = measurement.measure(folder, bench, lambda event: None)
    assert outcome.missing_count == 0 and outcome.measured_count == len(folder.plan().items)


CASES = [Case.of("barrier", ranks, sync=sync) for ranks in (2, 4, 8) for sync in ("barrier", "window")]
CASES += [Case.of("pingpong", 2, bytes=b, buffers="hot") for b in range(20)]


@given(st.integers(1, 6), st.integers(0, 2**63))
def test_every_case_once_in_each_round(launches, seed):
    items = schedule(CASES, launches, seed)
    assert len(items) == len(CASES) * launches
    for round_ in range(launches):
        launched = [item for item in items if item.launch // 3 == round_]
        assert {item.case for item in launched} == set(CASES)
    for launch in range(3 * launches):
        launched = [item for item in items if item.launch == launch]
        assert len({item.case.ranks for item in launched}) == 1
        assert [item.order for item in launched] == list(range(len(launched)))


def test_orders_differ_between_launches_but_not_between_calls():
    items = schedule(CASES, 2, 1)
    orders = [[i.case for i in items if i.launch == launch] for launch in (0, 3)]
    assert sorted(orders[0]) == sorted(orders[1]) and orders[0] != orders[1]
    assert items == schedule(list(reversed(CASES)), 2, 1), "the order asked in does not matter"
    assert items != schedule(CASES, 2, 2)


def test_a_launch_has_one_executable():
    def launch_kind(case):
        return case.ranks, "other" if case.workload == CASES[0].workload else "main", ""

    items = schedule(CASES, 2, 1, launch_kind)
    kinds = {item.launch: set() for item in items}
    for item in items:
        kinds[item.launch].add(launch_kind(item.case))
    assert all(len(kind) == 1 for kind in kinds.values())
    in_a_round = len({launch_kind(case) for case in CASES})
    assert set(kinds) == set(range(2 * in_a_round))
    assert Plan(Settings("cases", launches=2), items).groups == in_a_round


def test_cases_are_open_while_they_are_less_precise_than_asked_for(tmp_path):
    lines = [f"pingpong bytes={size}" for size in (0, 8, 64, 512, 4096)]
    folder, bench = begin(tmp_path / "r", FakeLauncher(), budget=20.0, every=0.0, lines=lines)
    cases = folder.plan().cases
    measurement.measure(folder, bench, lambda event: None)
    seen = observe(folder.read().run, bench.catalog)
    widths = {each.case: relative_precision(each) for each in seen}
    middle = sorted(widths.values())[2]
    wider = {case for case, width in widths.items() if width > middle}
    assert set(imprecise_cases(cases, seen, Settings("cases", precision=middle))) == wider and len(wider) == 2
    assert set(imprecise_cases(cases[:1], seen, Settings("cases", precision=1e-9))) == set(cases[:1])
