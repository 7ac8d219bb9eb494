# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring on the fake machine: every planned case is there once per launch, whatever breaks meanwhile."""

from collections import Counter
from dataclasses import replace

import measured_runs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured_runs import measured_items
from msgspec.structs import replace as replace_fields
from raising import raises_code

from hockney import measurement
from hockney.core.notice import Notice
from hockney.core.record import Launch, Start
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher, Fault
from hockney.launch.fake_world import World
from hockney.launch.launcher import LaunchFailed
from hockney.measurement.budget import TOLERANCE
from hockney.models.least_time import min_launch_seconds
from hockney.store import RunFolder, missing_items, unmeasured_items

LINES = (
    "pingpong bytes=0",
    "pingpong bytes=1KiB",
    "pingpong bytes=1MiB",
    "barrier ranks=2",
    "barrier ranks=4",
    "bcast ranks=4",
)


def begin(path, launcher, launches=3, budget=60.0, **more):
    return measured_runs.begin(path, LINES, launcher, launches=launches, budget_s=budget, **more)


def planned(folder) -> list[tuple[int, str]]:
    return sorted((item.launch, item.case.line) for item in folder.plan().items)


def test_everything_planned_is_measured_once_a_launch(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher())
    events = []
    outcome = measurement.measure(folder, bench, events.append)
    assert (outcome.measured_count, outcome.missing_count, outcome.failed_count) == (18, 0, 0)
    assert measured_items(folder) == planned(folder)
    run = folder.read().run
    assert [c.launch for c in run.closes] == [x.launch for x in run.launches] and len(run.launches) == 6
    assert all(c.exit_code == 0 and c.seconds > 0.4 for c in run.closes)
    ended = [e for e in events if isinstance(e, measurement.CaseEnded)]
    assert len(ended) == 18 and [e.elapsed_s for e in ended] == sorted(e.elapsed_s for e in ended)
    again = measurement.measure(folder, bench, events.append)
    assert (again.measured_count, again.missing_count) == (0, 0) and measured_items(folder) == planned(folder)


@pytest.mark.parametrize("extend", [False, True])
def test_each_case_is_settled_once_with_all_its_records(tmp_path, extend):
    folder, bench = begin(tmp_path / "r", FakeLauncher(World(noise=0.2)), 3, 20.0, extend=extend)
    events = []
    measurement.measure(folder, bench, events.append)
    settled = [event for event in events if isinstance(event, measurement.CaseSettled)]
    assert sorted(event.case.line for event in settled) == sorted(case.line for case in folder.plan().cases)
    for event in settled:
        later = events[events.index(event) :]
        assert not any(
            isinstance(e, measurement.CaseEnded) and e.result.case == event.case.line for e in later
        )
        run = folder.read().run
        assert len(event.run.by_case()[event.case.line]) == len(run.by_case()[event.case.line])


def test_a_case_that_failed_is_settled_too(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher(faults=[Fault("die", "bcast ranks=4")]))
    events = []
    measurement.measure(folder, bench, events.append)
    settled = {e.case.workload: e.run.by_case() for e in events if isinstance(e, measurement.CaseSettled)}
    assert settled.keys() == {"pingpong", "barrier", "bcast"}
    assert not [line for line in settled["bcast"] if line.startswith("bcast")]


def test_each_result_is_stored_before_the_next_case_begins(tmp_path):
    """The launcher reads the file when it is asked for more."""
    seen = []

    class Looking(FakeLauncher):
        def run(self, plan, ranks, options):
            for count, line in enumerate(super().run(plan, ranks, options)):
                if not isinstance(line, Launch):
                    seen.append(len(RunFolder(tmp_path / "r").read().run.records) >= (count - 1) // 2)
                yield line

    folder, bench = begin(tmp_path / "r", Looking(), launches=1)
    measurement.measure(folder, bench, lambda event: None)
    assert seen and all(seen)


def test_what_launches_do_is_noted_only_if_one_follows(tmp_path):
    """Neither before an error of the folder, nor if everything is measured already."""

    class Noting(FakeLauncher):
        def describe(self, ranks):
            return replace(super().describe(ranks), notes=(Notice("something", "done-for-you"),))

    launcher = Noting()
    folder, bench = begin(tmp_path / "r", launcher, launches=1)
    measurement.check_start(bench, folder.plan().cases)
    for noted in (1, 0):
        events = []
        measurement.measure(folder, bench, events.append)
        assert (
            sum(isinstance(e, measurement.Status) and e.text.endswith("something") for e in events) == noted
        )


@pytest.mark.parametrize("extend", [True, False])
def test_the_number_of_launches_is_an_aim_where_hockney_chose_it(tmp_path, extend):
    """There is time for about half of them."""
    folder, bench = begin(tmp_path / "r", FakeLauncher(), 10, 6.0, extend=extend)
    outcome = measurement.measure(folder, bench, lambda event: None)
    launches = Counter(record.case for record in folder.read().run.records)
    assert 3 <= min(launches.values()) <= max(launches.values()) < 10
    assert unmeasured_items(folder.plan(), folder.read().run), "what 'resume' would measure"
    assert outcome.missing_count == (0 if extend else 60 - outcome.measured_count)


@pytest.mark.parametrize("end", [130, 143, None])
def test_an_interrupted_run_is_unfinished_however_many_launches_it_has(tmp_path, end):
    """Interrupted by a signal, or killed, so that its last launch has no end."""
    folder, bench = begin(tmp_path / "r", FakeLauncher(), 10, 6.0, extend=True)
    measurement.measure(folder, bench, lambda event: None)
    plan, run = folder.plan(), folder.read().run
    assert not missing_items(plan, run)
    *closes, last = run.closes
    ended = [] if end is None else [replace_fields(last, exit_code=end)]
    assert missing_items(plan, replace(run, closes=(*closes, *ended))) == unmeasured_items(plan, run)


@pytest.mark.parametrize(("kind", "reason"), [("die", "died"), ("hang", "hung")])
def test_a_launch_that_breaks_loses_one_case_only(tmp_path, kind, reason):
    folder, bench = begin(tmp_path / "r", FakeLauncher(faults=[Fault(kind, "pingpong bytes=1024", times=1)]))
    events = []
    outcome = measurement.measure(folder, bench, events.append)
    assert (outcome.measured_count, outcome.missing_count, outcome.failed_count) == (17, 1, 1)
    run = folder.read().run
    assert [f.reason for f in run.failures] == [reason] and "bytes=1024" in run.failures[0].case
    assert run.failures[0].silent_ranks == ([1] if kind == "hang" else [])
    assert len(run.launches) == 7, "the rest of the launch went into a fresh one"
    assert any(isinstance(e, measurement.Notice) and e.code == "cases-relaunched" for e in events)
    assert {c.exit_code for c in run.closes} == {0, run.closes[0].exit_code, 137 if kind == "die" else 75} - {
        None
    }
    assert measurement.measure(folder, bench, events.append).missing_count == 0
    assert measured_items(folder) == planned(folder)


def test_a_case_that_always_fails_does_not_stop_the_rest_and_is_left_out(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher(faults=[Fault("hang", "barrier ranks=2")]), launches=5)
    outcome = measurement.measure(folder, bench, lambda event: None, budget_s=1e5)
    assert outcome.missing_count == 5 and outcome.failed_count == 2, "two tries, then it is left out"
    assert outcome.measured_count == 25


def test_a_machine_where_everything_dies_is_given_up(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher(faults=[Fault("die", "")]))
    with raises_code("launches-failed", last="fake-death"):
        measurement.measure(folder, bench, lambda event: None, budget_s=1e5)
    assert len(folder.read().run.failures) <= 5


def test_a_launch_that_never_starts_ends_measuring_at_once(tmp_path):
    class Broken(FakeLauncher):
        def run(self, plan, ranks, options):
            raise LaunchFailed("no slots", code="no-slots", reason="refused")
            yield

    folder, bench = begin(tmp_path / "r", Broken())
    with raises_code("no-slots"):
        measurement.measure(folder, bench, lambda event: None)
    assert folder.read().run.failures == (), "no case is to blame"


def test_a_machine_that_fails_once_costs_no_case(tmp_path):
    """Whatever was running is measured again."""

    class FailsOnce(FakeLauncher):
        begun = 0

        def run(self, plan, ranks, options):
            for line in super().run(plan, ranks, options):
                yield line
                self.begun += isinstance(line, Start)
                if self.begun == 2 and isinstance(line, Start):
                    raise LaunchFailed("no wire", code="no-wire", reason="refused")

    folder, bench = begin(tmp_path / "r", FailsOnce())
    outcome = measurement.measure(folder, bench, lambda event: None)
    assert (outcome.missing_count, outcome.failed_count) == (0, 0)
    assert measured_items(folder) == planned(folder) and folder.read().run.failures == ()


def test_an_engine_that_skips_its_plan_ends_with_an_error(tmp_path):
    class Lazy(FakeLauncher):
        def run(self, plan, ranks, options):
            yield from super().run([], ranks, options)

    folder, bench = begin(tmp_path / "r", Lazy())
    with raises_code("launch-without-result"):
        measurement.measure(folder, bench, lambda event: None)


def test_the_budget_is_used_and_kept(tmp_path):
    """Noise so strong that nothing settles: all time is used, and no more."""
    folder, bench = begin(tmp_path / "r", FakeLauncher(World(noise=2.0)), budget=5.0)
    outcome = measurement.measure(folder, bench, lambda event: None)
    assert 0.5 * 5 < outcome.seconds <= 5 * (1 + TOLERANCE)


def test_time_that_is_left_is_used_for_part_of_a_launch(tmp_path):
    """A launch of these cases takes 5 s and more, two do not fit."""
    folder, bench = begin(tmp_path / "r", FakeLauncher(case_s=1.0), budget=13.0)
    events = []
    outcome = measurement.measure(folder, bench, events.append)
    launches = Counter(record.launch for record in folder.read().run.records)
    assert len(set(launches.values())) > 1, "the last one has fewer cases"
    assert 10 < outcome.seconds <= 13 * (1 + TOLERANCE)
    assert [e.code for e in events if isinstance(e, measurement.Notice)] == ["budget-used-up"]
    measurement.measure(folder, measurement.fake_bench("fake"), lambda event: None)
    assert measured_items(folder) == planned(folder), "resuming measures the other part"


@given(
    st.floats(0.5, 60),
    st.floats(0.01, 1.5),
    st.floats(1e-4, 0.2),
    st.floats(0, 1),
    st.booleans(),
    st.floats(0, 1.5),
)
@settings(max_examples=20, deadline=None)
def test_the_budget_is_kept_whatever_launches_and_cases_cost(
    tmp_path_factory, budget, launch_s, case_s, noise, extend, checked_s
):
    """On a busy machine launches and cases cost many times what they cost on a quiet one. Only what has
    begun is completed: the first launch, as long as it takes on a quiet machine, and the case of the moment
    when the time is up. The check before the first launch counts."""
    bench = measurement.fake_bench(FakeLauncher(World(noise=noise), launch_s=launch_s, case_s=case_s))
    bench = replace(bench, check_time_s=checked_s)
    cases = [bench.catalog.case(line) for line in LINES]
    plan = Settings("cases", budget_s=budget, seed=1, extend=extend)
    plan = replace(plan, launches=bench.launch_count(budget, cases))
    folder = measurement.create_run(tmp_path_factory.mktemp("r") / "r", cases, plan, bench)
    outcome = measurement.measure(folder, bench, lambda event: None)
    ended = checked_s + outcome.seconds
    first = checked_s + launch_s + min_launch_seconds(case for case in cases if case.ranks == cases[0].ranks)
    last_case_s = 2 * case_s + 0.01
    assert ended <= max(budget * (1 + TOLERANCE), first) + last_case_s
    assert outcome.measured_count, "whatever the budget"


@pytest.mark.parametrize(("launches", "added"), [(3, False), (4, True)])
def test_no_sizes_are_added_if_the_budget_allows_the_fewest_launches_only(tmp_path, launches, added):
    bench = measurement.fake_bench(FakeLauncher(World(noise=0.0, tail=0.0)))
    sizes = (0, 64, 512, 2048, 8192, 16384, 65536, 1 << 20)
    cases = [bench.catalog.case(f"pingpong bytes={size}") for size in sizes]
    plan = Settings("cases", budget_s=12.0, launches=launches, seed=1, refine=True, extend=True)
    folder = measurement.create_run(tmp_path / "r", cases, plan, bench)
    measurement.measure(folder, bench, lambda event: None)
    assert (len({record.case for record in folder.read().run.records}) > len(cases)) == added


def test_no_sizes_are_added_where_the_cases_take_longer_than_they_may(tmp_path):
    sizes = [f"pingpong bytes={size}" for size in (0, 64, 512, 2048, 8192, 16384, 65536, 1 << 20)]
    added = []
    for case_s in (1e-4, 0.5):
        bench = measurement.fake_bench(FakeLauncher(World(noise=0.0, tail=0.0), case_s=case_s))
        cases = [bench.catalog.case(line) for line in sizes]
        plan = Settings("cases", budget_s=12.0, launches=6, seed=1, refine=True)
        folder = measurement.create_run(tmp_path / f"{case_s}", cases, plan, bench)
        measurement.measure(folder, bench, lambda event: None)
        added.append(len({record.case for record in folder.read().run.records}) - len(cases))
    assert added[0] > 0 and added[1] == 0


def test_without_time_for_all_launches_it_says_so(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher(launch_s=3.0), budget=5.0)
    events = []
    outcome = measurement.measure(folder, bench, events.append)
    assert outcome.missing_count > 0 and outcome.seconds < 1.2 * 5
    assert any(isinstance(e, measurement.Notice) and e.code == "budget-used-up" for e in events)


def test_ctrl_c_closes_the_launch_and_keeps_the_rest(tmp_path):
    folder, bench = begin(tmp_path / "r", FakeLauncher())
    done = []

    def listen(event):
        if isinstance(event, measurement.CaseEnded):
            done.append(event)
            if len(done) == 5:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measurement.measure(folder, bench, listen)
    run = folder.read().run
    assert len(run.records) == 5 and run.closes[-1].exit_code == 130
    measurement.measure(folder, bench, lambda event: None)
    assert measured_items(folder) == planned(folder)


@given(st.integers(0, 10**9))
@settings(max_examples=25, deadline=None)
def test_resuming_after_any_truncation_completes_the_plan(tmp_path_factory, seed):
    """A killed front end leaves a prefix of the file."""
    folder, bench = begin(tmp_path_factory.mktemp("r") / "r", FakeLauncher(), launches=2)
    measurement.measure(folder, bench, lambda event: None)
    data = folder.records_path.read_bytes()
    folder.records_path.write_bytes(data[: seed % (len(data) + 1)])
    kept = folder.read().run.records
    outcome = measurement.measure(folder, bench, lambda event: None)
    assert outcome.missing_count == 0 and outcome.measured_count == 12 - len(kept)
    assert measured_items(folder) == planned(folder)
    assert folder.read().run.records[: len(kept)] == kept
    assert folder.read().notices == ()


def test_when_a_launchs_time_is_up_measuring_ends_and_nothing_counts_as_failed(tmp_path):
    """A simulation that is too slow for its budget: finished results are kept, the rest is left for
    resume."""

    class Slow(FakeLauncher):
        def run(self, plan, ranks, options):
            for line in super().run(plan, ranks, options):
                yield line
                if getattr(
                    line, "case", ""
                ) == "barrier algorithm=mpi iterations=1 ranks=2 sync=barrier" and hasattr(line, "times_s"):
                    raise LaunchFailed(
                        "out of time", code="slow", reason="time", case="pingpong bytes=8 ranks=2"
                    )

    folder, bench = begin(tmp_path / "r", Slow(), launches=1)
    events = []
    outcome = measurement.measure(folder, bench, events.append)
    run = folder.read().run
    assert (
        outcome.measured_count == len(run.records) > 0 and outcome.missing_count == 6 - outcome.measured_count
    )
    assert outcome.failed_count == 0 and run.failures == ()
    assert len([e for e in events if isinstance(e, measurement.LaunchBegan)]) == 1
    assert any(isinstance(e, measurement.Notice) and e.code == "launch-out-of-time" for e in events)
    assert (
        measurement.measure(folder, measurement.fake_bench(FakeLauncher()), events.append).missing_count == 0
    )
