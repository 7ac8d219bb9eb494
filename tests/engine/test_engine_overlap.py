# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Computing while messages are on their way: phases add up, metrics agree with their definitions, and all
messages arrive, on Open MPI and MPICH."""

from __future__ import annotations

import functools
from statistics import median

import numpy as np
import pytest
from engine_lines import launcher_for, lines_of, verified
from real_mpi import engine_for, group_for
from tiers import slow

from hockney.core.catalog import Catalog
from hockney.core.machine import Mpi
from hockney.core.record import Record
from hockney.models.overlap import OverlapTimes
from hockney.models.statistics import observe_case

pytestmark = pytest.mark.mpi

PHASES = ("posting", "computing", "testing", "waiting")
MESSAGES = tuple(
    f"overlap_message pattern={pattern} bytes={size} tests={tests}"
    for pattern in ("exchange", "send", "receive")
    for size, tests in ((8, 0), (200_000, 3), (1 << 20, 20))
)
COLLECTIVES = (
    "overlap operation=iallreduce bytes=8",
    "overlap operation=iallreduce bytes=1048576 tests=10",
    "overlap operation=ibcast bytes=65536 computing=3 tests=2",
    "overlap operation=ialltoall bytes=10000 duration=1ms",
    "overlap_vector operation=iallgatherv bytes=5000 counts=skewed",
    "overlap_ibarrier tests=1",
)
POLLED = (
    "availability bytes=8 window=1 interval=0.000001 polls=100",
    "availability bytes=100000 window=4 interval=0.0001 polls=10",
    "availability bytes=1048576 window=2 interval=0.0005 polls=5",
)


EVERY = (*COLLECTIVES, *MESSAGES, *POLLED)


@functools.cache
def measured(mpi: Mpi, lines: tuple[str, ...], ranks: int) -> list[tuple[Record, Catalog]]:
    """Messages are in the main engine, the others in a group. Tests of the same cases share one run."""
    found = []
    for built in (engine_for(mpi), group_for(mpi, "hockney-nonblocking")):
        names = {workload.name for workload in built.catalog.workloads}
        cases = [built.catalog.case(line, ranks) for line in lines if line.split()[0] in names]
        if cases:
            budget = 0.5 * len(cases)  # which nine repetitions need on a busy machine only
            answered = lines_of(launcher_for(mpi, built), cases, ranks, repetitions=9, budget=budget)
            found += [(record, built.catalog) for record in verified(answered, cases, ranks)]
    assert len(found) == len(lines)
    return found


def of(record, name):
    return np.array(record.metrics[name].values)


@pytest.mark.parametrize("ranks", [2, *slow(1, 3, 4)])
def test_the_phases_are_the_time(mpi, mpi_name, ranks):
    if mpi_name == "mpich" and ranks > 3:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    for record, _ in measured(mpi, EVERY if ranks == 2 else COLLECTIVES, ranks):
        times = np.array(record.times_s)
        total = sum(of(record, name) for name in PHASES)
        assert (total <= times * (1 + 1e-9)).all(), record.case
        # The rest is readings of the clock, between which a rank may be preempted, but not each time.
        assert np.max(total / times) > 0.5, record.case
        assert all(of(record, name).min() >= 0 for name in PHASES)
        assert (of(record, "testing").max() > 0) == (record.parse_case().number("tests", 1) > 0)


def test_the_metrics_agree_with_their_definitions(mpi):
    """To the digits of a record; those of IMB and COMB, which the study shows, to what medians differ by."""
    for record, catalog in measured(mpi, EVERY, 2):
        total = sum(of(record, name) for name in PHASES)
        cpu, alone = of(record, "cpu"), of(record, "alone")
        assert (cpu >= alone).all() and alone.min() > 0 and of(record, "step").min() > 0
        assert of(record, "availability") == pytest.approx(100 * cpu / total, rel=1e-5)
        assert of(record, "stolen") == pytest.approx(100 * (of(record, "computing") / alone - 1), abs=1e-2)
        if record.parse_case().workload == "availability":
            received = of(record, "messages")
            assert of(record, "bandwidth") == pytest.approx(
                received * record.parse_case().bytes / total, rel=1e-5
            )
            continue
        shorter = np.minimum(of(record, "pure"), cpu)
        hidden = np.clip(of(record, "pure") + cpu - total, 0, shorter)
        assert of(record, "hidden") == pytest.approx(hidden, abs=1e-5 * total.max()), record.case
        precision = 1e-5 * float((total / shorter).max())
        assert of(record, "overlap") == pytest.approx(100 * hidden / shorter, abs=100 * precision), (
            record.case
        )
        assert len(set(of(record, "pure"))) == 1, "measured once in a visit"
        assert median(of(record, "ratio")) == pytest.approx(
            median(total / (of(record, "pure") + cpu)), rel=0.05
        ), record.case
        seen = observe_case([record], catalog)
        assert seen is not None
        times = OverlapTimes.of(seen)
        assert 100 * times.imb.value == pytest.approx(median(of(record, "overlap")), rel=0.05, abs=1), (
            record.case
        )
        reported = min(100.0, median(of(record, "availability")))  # more is chance, on a busy machine
        assert 100 * times.availability.value == pytest.approx(reported, rel=0.05)
        assert times.ratio.value == pytest.approx(median(of(record, "ratio")), rel=0.05)
        slower = median(of(record, "computing") / alone)
        assert times.slowdown.value == pytest.approx(slower, rel=0.05)


def test_the_computation_is_as_long_as_requested(mpi):
    """Of what the operation takes by itself, or a duration."""
    lines = tuple(f"overlap_message bytes=100000 computing=2.5{d} tests=4" for d in ("", " duration=700us"))
    (by_factor, _), (by_duration, _) = measured(mpi, lines, 2)
    assert by_factor.metric("work") == pytest.approx(2.5 * of(by_factor, "pure")[-1])
    assert by_duration.metric("work") == pytest.approx(700e-6)
    # The processor may be shared, which lengthens the wall time, but it never does the work faster.
    for record in (by_factor, by_duration):
        assert np.median(of(record, "alone")) > 0.7 * record.metric("work")


def test_only_rank_0_computes_while_it_sends_or_receives(mpi):
    """Rank 1 would wait for rank 0 otherwise: all metrics are rank 0's."""
    for record, _ in measured(mpi, EVERY, 2):
        if record.parse_case().get("pattern") not in ("send", "receive"):
            continue
        assert {series.over_ranks for series in record.metrics.values()} <= {"root", "max"}
        assert (of(record, "computing") > 0).all()


def test_polls_find_messages(mpi):
    """At least those that were sent at the start, if the work is long enough to receive them."""
    ((record, _),) = measured(mpi, ("availability bytes=8 window=3 interval=0.0005 polls=20",), 2)
    assert np.median(of(record, "messages")) >= 3
    assert of(record, "messages").max() <= 3 * 20
