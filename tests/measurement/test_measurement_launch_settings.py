# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases with a launch setting are measured in separate launches, which alternate with the others."""

from __future__ import annotations

from itertools import groupby

import pytest

from hockney import measurement
from hockney.core.errors import UsageError
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher
from hockney.launch.launcher import LaunchFailed
from hockney.measurement import fake_bench, schedule
from hockney.models.fits.model import fit_all
from hockney.store import RunFolder

EAGER = "eager64k FAKE_EAGER_LIMIT=65536"
TINY = "tiny FAKE_EAGER_LIMIT=64"


def cases_for(bench, *settings, sizes=(1024, 16384)):
    lines = [f"pingpong bytes={b} setting={s}" for b in sizes for s in ("default", *settings)]
    return [bench.catalog.case(line) for line in lines]


def measured(tmp_path, bench, cases, *settings, launches=3):
    folder = measurement.create_run(
        tmp_path / "run", cases, Settings("cases", 5.0, launches=launches, launch_settings=settings), bench
    )
    events = []
    outcome = measurement.measure(folder, bench, events.append)
    return RunFolder.open(folder.path).read().run, outcome, events


def test_launches_have_one_setting_each_and_take_turns():
    bench = fake_bench("fake")
    items = schedule(cases_for(bench, "a", "b"), 6, 1, bench.launch_kind)
    order = [[i.case.setting for i in of] for _, of in groupby(items, key=lambda i: i.launch)]
    assert all(len(set(launch)) == 1 and len(launch) == 2 for launch in order)
    rounds = [[launch[0] for launch in order[k : k + 3]] for k in range(0, 18, 3)]
    assert all(sorted(each) == ["", "a", "b"] for each in rounds)
    for place in range(3):  # each comes first, second and third equally often
        assert sorted(each[place] for each in rounds) == ["", "", "a", "a", "b", "b"]


def test_a_setting_reaches_the_ranks_and_the_records(tmp_path):
    bench = fake_bench("fake")
    run, outcome, _ = measured(tmp_path, bench, cases_for(bench, "eager64k"), EAGER)
    assert (outcome.missing_count, outcome.failed_count) == (0, 0)
    named = {launch.launch: launch for launch in run.launches}
    for record in run.records:
        launch = named[record.launch]
        assert launch.setting == record.parse_case().setting
        assert launch.variables == ({"FAKE_EAGER_LIMIT": "65536"} if launch.setting else {})
    fits = fit_all(run, bench.catalog, cores=2)
    times = {summary.case: summary.typical.value for summary in fits.summaries}
    short, long = (
        [times[c.line] for c in cases_for(bench, "eager64k", sizes=(size,))] for size in (1024, 16384)
    )
    assert short[0] == pytest.approx(short[1], rel=0.05), "the limit is beyond both"
    assert long[1] < 0.7 * long[0], "with the setting it is sent like a short message"
    assert all("setting" not in fit.subject for fit in fits.fits), "fits describe the machine as it is"


@pytest.mark.parametrize("reason", ["refused", "died"])
def test_a_setting_with_which_no_rank_starts_fails_alone(tmp_path, reason):
    """Open MPI refuses some values, MPICH aborts in MPI_Init."""

    class Refusing(FakeLauncher):
        def run(self, plan, ranks, options):
            if options.setting == "tiny":
                raise LaunchFailed("refused", code="sample", reason=reason)
            return super().run(plan, ranks, options)

    bench = fake_bench(Refusing())
    run, outcome, _ = measured(tmp_path, bench, cases_for(bench, "tiny", "eager64k"), TINY, EAGER)
    assert {r.parse_case().setting for r in run.records} == {"", "eager64k"}
    assert {f.case for f in run.failures} == {c.line for c in cases_for(bench, "tiny") if c.setting}
    assert outcome.measured_count == 12 and outcome.missing_count == 6


def test_a_case_that_dies_is_blamed_with_its_setting(tmp_path):
    bench = fake_bench("fake:die=pingpong bytes=16384")
    run, _, _ = measured(tmp_path, bench, cases_for(bench, "tiny"), TINY, launches=1)
    assert {f.case for f in run.failures} == {c.line for c in cases_for(bench, "tiny", sizes=(16384,))}


def test_a_simulated_machine_has_no_settings():
    bench = fake_bench("fake")
    cases = cases_for(bench, "tiny")
    measurement.check_settings(bench, cases, Settings("cases", launch_settings=(TINY,)))
    for settings in ((), (EAGER,), (TINY, EAGER)):
        with pytest.raises(UsageError):
            measurement.check_settings(bench, cases, Settings("cases", launch_settings=settings))
