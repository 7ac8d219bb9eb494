# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Two runs measured in turns on fake machines with simulated clocks."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raises_code

from hockney import measurement
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher, Fault
from hockney.launch.fake_world import World
from hockney.launch.launcher import LaunchFailed
from hockney.measurement.budget import TOLERANCE
from hockney.measurement.interleaved import MAX_PAIRS, leading_side
from hockney.system.bundled import bundled_catalog

LINES = ("pingpong bytes=8", "bcast bytes=1KiB", "barrier ranks=2", "barrier ranks=4")


def begin(path, *launchers: FakeLauncher, launches: int = 6, budget: float = 30.0, extend: bool = False):
    benches = [measurement.fake_bench(launcher) for launcher in launchers]
    cases = [benches[0].catalog.case(line) for line in LINES]
    settings = Settings("cases", budget_s=budget, launches=launches, seed=1, extend=extend, interleaved="x")
    return measurement.begin_interleaved(path, cases, [settings, settings], benches)


def fake(seed: int, *faults: Fault) -> FakeLauncher:
    return FakeLauncher(World(seed=seed), faults)


def measured(turn) -> Counter[str]:
    return Counter(record.case.split()[0] for record in turn.folder.read().run.records)


@given(st.integers(0, 2**31), st.integers(1, 5), st.integers(0, 50))
def test_each_side_begins_once_in_two_rounds(seed, ranks, block):
    rounds = 2 * block, 2 * block + 1
    assert {leading_side(seed, (ranks, "", ""), round_) for round_ in rounds} == {0, 1}


def test_blocks_begin_with_either_side():
    assert {leading_side(seed, (2, "", ""), 0) for seed in range(20)} == {0, 1}


@given(st.lists(st.integers(0, 1 << 22), min_size=1, max_size=12, unique=True), st.integers(0, 40))
def test_thinned_cases_keep_the_ends(sizes, most):
    catalog = bundled_catalog()
    cases = [catalog.case(f"{name} bytes={size}") for name in ("pingpong", "bcast") for size in sizes]
    kept = measurement.thin_sizes(cases, catalog, lambda cases: len(cases) <= most)
    assert [case for case in cases if case in kept] == list(kept)
    for name in ("pingpong", "bcast"):
        of = [case.bytes for case in kept if case.workload == name]
        assert {min(sizes), max(sizes)} <= set(of) and len(of) >= min(3, len(sizes))
    assert len(kept) <= max(most, 6) or len(kept) == len(cases) <= most


@pytest.mark.parametrize(("budget", "cases"), [(1, 1), (60, 65), (600, 10)])
def test_the_number_of_pairs_has_bounds(budget, cases):
    bench = measurement.fake_bench(fake(1))
    chosen = [bench.catalog.case(f"pingpong bytes={8 * k}") for k in range(cases)]
    count = measurement.pair_count(budget, [bench, bench], chosen)
    assert 3 <= count <= MAX_PAIRS
    assert measurement.pair_count(2 * budget, [bench, bench], chosen) >= count


def test_both_clocks_and_the_budget(tmp_path):
    turns = begin(tmp_path / "r", fake(1), fake(2), extend=True)
    events: list[measurement.Event] = []
    outcomes = measurement.measure_interleaved(turns, events.append, 30.0)
    assert [outcome.missing_count for outcome in outcomes] == [0, 0] and outcomes[0].measured_count > 6 * len(
        LINES
    )
    assert outcomes[0].measured_count == outcomes[1].measured_count
    now = [turn.bench.now() for turn in turns]
    assert now[0] == pytest.approx(now[1]) and 0.8 * 30 < now[0] < (1 + TOLERANCE) * 30
    (began,) = [event for event in events if isinstance(event, measurement.MeasuringBegan)]
    assert began.measurements == 2 * 6 * len(LINES) and began.launches == 2 * 2 * 6


def test_a_case_that_fails_on_one_side_is_left_out_of_both(tmp_path):
    turns = begin(tmp_path / "r", fake(1), fake(2, Fault("die", "bcast")))
    measurement.measure_interleaved(turns, measurement.ignore_event, 30.0)
    assert [measured(turn)["bcast"] for turn in turns] == [2, 0]
    assert [measured(turn)["pingpong"] for turn in turns] == [6, 6]


def test_a_launch_that_breaks_once_is_repeated_for_the_other_cases(tmp_path):
    turns = begin(tmp_path / "r", fake(1), fake(2, Fault("die", "bcast", times=1)))
    outcomes = measurement.measure_interleaved(turns, measurement.ignore_event, 30.0)
    assert [measured(turn)["bcast"] for turn in turns] == [6, 5]
    assert [measured(turn)["pingpong"] for turn in turns] == [6, 6]
    assert [outcome.missing_count for outcome in outcomes] == [0, 1]
    again = measurement.measure_interleaved(turns, measurement.ignore_event, 10.0)
    assert [outcome.missing_count for outcome in again] == [0, 0]
    index = [{x.launch: x.index for x in turn.folder.read().run.launches} for turn in turns]
    pairs = [
        {(index[k][r.launch], r.case) for r in turn.folder.read().run.records} for k, turn in enumerate(turns)
    ]
    assert pairs[0] == pairs[1] and measured(turns[0])["bcast"] == 7, "its partner was measured again, too"


def test_a_side_that_never_starts_is_named(tmp_path, monkeypatch):
    turns = begin(tmp_path / "r", fake(1), fake(2))

    def refuse(*_):
        raise LaunchFailed("nothing starts", code="nothing-starts", reason="refused")
        yield

    monkeypatch.setattr(turns[1].bench.launcher, "run", refuse)
    with pytest.raises(LaunchFailed) as failed:
        measurement.measure_interleaved(turns, measurement.ignore_event, 30.0)
    assert failed.value.what.startswith("B: ")


def test_the_folder_is_complete_or_missing(tmp_path):
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "notes").touch()
    with raises_code("run-folder-not-empty"):
        begin(tmp_path / "used", fake(1), fake(2))
    assert {each.name for each in tmp_path.iterdir()} == {"used"}
    (tmp_path / "empty").mkdir()
    begin(tmp_path / "empty", fake(1), fake(2))
    assert {each.name for each in (tmp_path / "empty").iterdir()} == {"a", "b"}
