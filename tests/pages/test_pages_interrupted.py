# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Records with only a few repetitions, during all of which a rank was preempted."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from visited import CATALOG, LINE, evidence

from hockney.core.record import Record, Visits
from hockney.draw.page import Caveat
from hockney.models import summarise
from hockney.pages.caveats import caveats
from hockney.pages.evidence import Evidence

OTHER = "pingpong buffers=hot bytes=1024 ranks=2"
SLOW = (87e-6, 4e-3, 10.9e-3)
"""Times of interrupted launches of a case that takes 0.35 us."""


def shortened(record: Record, times: tuple[float, ...], preempted: int) -> Record:
    """A record whose only visit has these times, with a rank preempted that often."""
    visits = Visits(after_s=[0.0], repetitions=[len(times)], preempted=[preempted])
    return msgspec.structs.replace(record, times_s=list(times), visits=visits)


def trial(
    quiet: int, slow: tuple[float, ...] = SLOW, repetitions: int = 1, preempted: int = 2, **load
) -> Evidence:
    """`quiet` launches of 0.35 us with many visits, then one for each of `slow` with a single visit."""
    random = np.random.default_rng(1)
    times = [0.35e-6 * np.exp(0.01 * random.standard_normal(40)) for _ in range(quiet + len(slow))]
    seen = evidence({LINE: times, OTHER: times[:quiet]}, **load)
    short = {
        f"{quiet + k}.0": shortened(record, (time,) * repetitions, preempted)
        for k, time in enumerate(slow)
        for record in seen.run.records
        if record.launch == f"{quiet + k}.0"
    }
    return with_records(seen, [short.get(record.launch, record) for record in seen.run.records])


def with_records(seen: Evidence, records: list[Record]) -> Evidence:
    run = replace(seen.run, records=tuple(records))
    fits = msgspec.structs.replace(seen.fits, summaries=summarise(run, CATALOG))
    return replace(seen, run=run, fits=fits)


def found(seen: Evidence) -> Caveat | None:
    return {c.caveat.code: c.caveat for c in caveats(seen)}.get("interrupted")


def test_a_single_interrupted_repetition_does_not_count_as_much_as_many():
    seen = trial(5)
    summary = seen.fits.summaries[0]
    assert summary.launches == 5 and summary.typical.value == pytest.approx(0.35e-6, rel=0.05)
    caveat = found(seen)
    assert caveat is not None and re.findall(r"\d+", caveat.text) == ["3", "1"]
    assert "1024" not in caveat.touches, "only the case with such launches"


def test_preemption_is_the_cause_only_if_repetitions_were_slow():
    """A launch that had little time makes few repetitions as well, which take as long as usual."""
    slow, short = found(trial(5)), found(trial(5, (0.36e-6, 0.34e-6)))
    assert slow is not None and short is not None
    assert slow.todo != short.todo and re.findall(r"\d+", short.text) == ["2", "1"]


@pytest.mark.parametrize("slow", [SLOW, (0.35e-6,) * 3, (1e-9,) * 3])
def test_whether_a_record_counts_does_not_depend_on_its_times(slow):
    assert trial(5, slow).fits.summaries[0].launches == 5


@pytest.mark.parametrize(("quiet", "launches"), [(2, 5), (3, 3), (4, 4)])
def test_interrupted_records_count_if_too_few_others_are_left(quiet, launches):
    seen = trial(quiet)
    assert seen.fits.summaries[0].launches == launches
    assert (found(seen) is None) == (launches > quiet)


@pytest.mark.parametrize(("repetitions", "preempted"), [(5, 2), (1, 0)])
def test_enough_repetitions_or_a_quiet_visit_count(repetitions, preempted):
    seen = trial(5, repetitions=repetitions, preempted=preempted)
    assert seen.fits.summaries[0].launches == 8 and found(seen) is None


def test_one_undisturbed_visit_is_enough():
    seen = trial(5)
    visits = Visits(after_s=[0.0, 0.1], repetitions=[1, 1], preempted=[2, 0])
    records = [
        msgspec.structs.replace(r, times_s=r.times_s * 2, visits=visits) if len(r.times_s) == 1 else r
        for r in seen.run.records
    ]
    assert with_records(seen, records).fits.summaries[0].launches == 8


@pytest.mark.parametrize("interrupted", [range(8), range(4)])
def test_an_operation_too_long_to_be_repeated_counts_in_every_launch(interrupted):
    """Interrupted or not: otherwise only launches in which the scheduler happened to be idle would count."""
    seen = trial(8, ())
    records = [
        shortened(r, (2.0 + 0.01 * k,), preempted=k % 8 in interrupted)
        for k, r in enumerate(seen.run.records)
    ]
    long = with_records(seen, records)
    assert [s.launches for s in long.fits.summaries] == [8, 8] and found(long) is None


def test_interrupted_records_are_left_out_before_those_of_loaded_launches():
    """All others are from loaded launches, of which too few would be quiet."""
    busy = trial(4, outside_cores=dict.fromkeys(range(4), 0.9))
    assert busy.fits.summaries[0].launches == 4
    assert busy.fits.summaries[0].typical.value == pytest.approx(0.35e-6, rel=0.05)
    one = trial(6, outside_cores={0: 0.9})
    assert one.fits.summaries[0].launches == 5, "without the loaded launch as well"
