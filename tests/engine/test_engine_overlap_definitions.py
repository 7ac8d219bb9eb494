# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The overlap and the availability that the engine reports are those that IMB's and COMB's definitions give
for the times in the same record, and those that the study shows."""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest
from engine_lines import launcher_for, lines_of, records
from real_mpi import group_for

from hockney.models.overlap import PHASES, OverlapTimes
from hockney.models.statistics import observe_case

pytestmark = [pytest.mark.mpi]

CASES = [
    f"{name} bytes={size} tests={tests}"
    for name in ("overlap_message", "overlap operation=iallreduce", "overlap operation=ibcast")
    for size in (8, 65536, 1 << 20)
    for tests in (0, 16)
]


def test_reported_values_are_those_of_the_definitions(mpi, engine):
    nonblocking = group_for(mpi, "hockney-nonblocking")
    for each in (engine, nonblocking):
        names = {workload.name for workload in each.catalog.workloads}
        cases = [each.catalog.case(line, 2) for line in CASES if line.split()[0] in names]
        found = records(lines_of(launcher_for(mpi, each), cases, 2, repetitions=50))
        assert len(found) == len(cases) > 0
        for record in found:
            check(record, each.catalog)


def check(record, catalog):
    """From the times of each repetition."""
    values = {name: np.array(series.values) for name, series in record.metrics.items()}
    pure, cpu = values["pure"], values["cpu"]
    total = sum(values[name] for name in PHASES)
    # Readings of the clock around a repetition are in no phase, and a rank may be preempted there.
    assert (total <= np.array(record.times_s)).all(), record.case
    assert len(total) == len(pure) == len(cpu) and (pure > 0).all() and (cpu > 0).all()
    overlap = 100 * np.clip((pure + cpu - total) / np.minimum(pure, cpu), 0, 1)
    assert median(values["overlap"]) == pytest.approx(median(overlap), rel=0.05, abs=1), record.case
    assert median(values["availability"]) == pytest.approx(median(100 * cpu / total), rel=0.05), record.case
    assert median(values["ratio"]) == pytest.approx(median(total / (pure + cpu)), rel=0.05), record.case
    seen = observe_case([record], catalog)
    assert seen is not None
    times = OverlapTimes.of(seen)
    assert 100 * times.imb.value == pytest.approx(median(values["overlap"]), rel=0.05, abs=1), record.case
    reported = min(100.0, median(values["availability"]))  # more is chance, on a busy machine
    assert 100 * times.availability.value == pytest.approx(reported, rel=0.05)
    assert times.ratio.value == pytest.approx(median(values["ratio"]), rel=0.05)
    slower = values["computing"] / values["alone"]
    assert times.slowdown.value == pytest.approx(median(slower), rel=0.05)
