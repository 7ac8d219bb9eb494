# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run that adds sizes around changes of a cost, on a machine with known changes."""

from __future__ import annotations

import measured_runs
import pytest
from measured_runs import measured_items

from hockney import measurement
from hockney.launch.fake import FakeLauncher, Fault
from hockney.measurement.rounds import MAX_ADDED_SHARE
from hockney.store import addition_rounds

SIZES = [0, *(1 << k for k in range(23))]
OTHERS = [f"bcast ranks={p} bytes={size}" for p in (2, 4) for size in SIZES[4::2]]
CHANGES = 4096, 65536
"""Sizes at which the cost of a message changes in the fake world."""


def begin(path, launcher="fake", refine=True):
    lines = [*(f"pingpong bytes={size}" for size in SIZES), *OTHERS]
    return measured_runs.begin(path, lines, launcher, "survey", budget_s=300.0, launches=10, refine=refine)


def added(folder) -> dict[str, int]:
    """The launches of each case that was not planned."""
    planned = {case.line for case in folder.plan().cases}
    records = folder.read().run.by_case()
    return {case: len({r.launch for r in records[case]}) for case in records if case not in planned}


def test_changes_are_located_and_the_plan_stays(tmp_path):
    folder, bench = begin(tmp_path / "r")
    events = []
    outcome = measurement.measure(folder, bench, events.append)
    assert outcome.missing_count == 0 and outcome.failed_count == 0
    announced = [
        e.measurements
        for e in events
        if isinstance(e, measurement.MeasuringBegan | measurement.MeasurementsAdded)
    ]
    assert sum(announced) == outcome.measured_count and len(announced) > 1
    more = added(folder)
    assert 0 < len(more) <= MAX_ADDED_SHARE * len(folder.plan().cases)
    sizes = sorted({*SIZES, *(bench.catalog.case(line).bytes for line in more)})
    for first in CHANGES:
        below = max(size for size in sizes if size < first)
        above = min(size for size in sizes if size >= first)
        assert above / below <= 1.11
    assert max(more.values()) == 8, "in every launch after the second round"
    others = [line for line in more if not line.startswith("pingpong")]
    assert len(others) <= len(CHANGES), "a broadcast's cost does not change here, but messages do"


def test_nothing_is_added_unless_asked_for(tmp_path):
    folder, bench = begin(tmp_path / "r", refine=False)
    measurement.measure(folder, bench, lambda event: None)
    assert added(folder) == {}


def test_a_resumed_run_goes_on_with_the_sizes_it_has_and_repeats_none(tmp_path):
    """Ended in the middle of a launch, as by Ctrl-C."""

    class Ended(Exception):
        pass

    def end_late(event):
        if (
            isinstance(event, measurement.CaseBegan)
            and event.case.startswith("pingpong")
            and len(added(folder)) > 2
        ):
            raise Ended

    folder, bench = begin(tmp_path / "r")
    with pytest.raises(Ended):
        measurement.measure(folder, bench, end_late)
    before = set(added(folder))
    outcome = measurement.measure(folder, bench, lambda event: None)
    assert outcome.missing_count == 0 and before <= set(added(folder))
    measured = measured_items(folder)
    assert len(measured) == len(set(measured)), "each once in a launch"


def test_a_size_that_fails_is_left_out_and_not_missed(tmp_path):
    fault = Fault("die", "pingpong buffers=hot bytes=3456")
    folder, bench = begin(tmp_path / "r", FakeLauncher(faults=[fault]))
    outcome = measurement.measure(folder, bench, lambda event: None)
    assert outcome.missing_count == 0 and outcome.failed_count <= 2


@pytest.mark.parametrize(
    ("rounds", "after"),
    [
        (1, {1: 1.0}),
        (3, {1: 0.85, 2: 1.0}),
        (10, {2: 0.6, 4: 0.85, 6: 1.0}),
        (50, {10: 0.6, 20: 0.85, 30: 1.0}),
    ],
)
def test_launches_come_after_each_addition(rounds, after):
    assert addition_rounds(rounds) == after
