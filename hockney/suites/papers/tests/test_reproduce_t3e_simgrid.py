# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Some of the T3E's rows through smpirun on 32 simulated ranks; all 72 take minutes."""

from __future__ import annotations

from statistics import median

import pytest
from real_mpi import simgrid_here

from hockney import measurement
from hockney.cli.errors import guarded
from hockney.machines import simulated
from hockney.store import RunFolder
from hockney.suites.papers.reproductions import t3e_algorithms
from hockney.suites.papers.reproductions import t3e_cases as cases

pytestmark = pytest.mark.simgrid
ROWS = [(o, size) for o in ("bcast", "gather", "scatter", "reduce") for size in ("8", "1KB")]


def timed(folder, machine, lines):
    simgrid_here()
    words = [word for line in lines for word in line.split()]
    assert guarded(["run", *words, "--machine", f"sim:{machine}", "--out", str(folder / machine), "-q"]) == 0
    run = RunFolder.open(folder / machine).read().run
    assert all(record.verified.errors == 0 for record in run.records)
    return {record.case: median(record.times_s) for record in run.records}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Times of ROWS in loops, and of each call by itself."""
    lines = [cases.line(o, cases.SIZES[size], 32, how) for o, size in ROWS for how in ("loop", "window")]
    times = timed(tmp_path_factory.mktemp("t3e"), "t3e", lines)
    catalog = measurement.bundled_catalog()
    return {
        (o, size, how): times[catalog.case(cases.line(o, cases.SIZES[size], 32, how)).line]
        for o, size in ROWS
        for how in ("loop", "window")
    }


@pytest.mark.parametrize(("operation", "size"), [row for row in ROWS if row != ("reduce", "8")])
def test_loops_take_what_is_printed(found, operation, size):
    published = cases.printed(operation, size, 32).si
    assert found[operation, size, "loop"] == pytest.approx(published, rel=0.25)


@pytest.mark.parametrize("operation", ["bcast", "reduce"])
@pytest.mark.parametrize("size", ["8", "1KB"])
def test_calls_one_by_one_take_much_longer(found, operation, size):
    assert found[operation, size, "window"] > 1.5 * found[operation, size, "loop"]


def test_shared_memory_explains_the_reduction_of_one_double(found, tmp_path):
    line = cases.line("reduce", 8, 32)
    (shared,) = timed(tmp_path, "t3e+shmem-collectives", [line]).values()
    published = cases.printed("reduce", "8", 32).si
    assert abs(shared / published - 1) < 0.05 < 0.5 < abs(found["reduce", "8", "loop"] / published - 1)


SAME = ("bcast", "scatter", "alltoall", "reduce", "allreduce")


def test_the_engines_algorithms_take_what_simgrids_do(tmp_path):
    """The algorithm that the description names for SimGrid's MPI, and the engine's of the same messages."""
    machine = simulated.platform("t3e")
    catalog = measurement.bundled_catalog()

    def line(operation, algorithm):
        return catalog.case(cases.line(operation, 1024, 32, "window", algorithm)).line

    own = {operation: t3e_algorithms.own(machine, operation) for operation in SAME}
    times = timed(tmp_path, "t3e", [line(o, a) for o in SAME for a in (cases.MPI, own[o])])
    for operation in SAME:
        simgrids, engines = times[line(operation, cases.MPI)], times[line(operation, own[operation])]
        assert engines == pytest.approx(simgrids, rel=0.01), operation


@pytest.mark.slow
def test_the_messages_alone_give_the_simulated_time(tmp_path):
    """A tree, a chain, and partners 1, 2, 4 ... apart: nothing competes for an interface."""
    machine = simulated.platform("t3e")
    trees = [("bcast", "binomial"), ("reduce", "binomial"), ("allreduce", "reduce_broadcast")]
    catalog = measurement.bundled_catalog()
    lines = {each: t3e_algorithms.line(*each, 1024, 32) for each in [*trees, ("bcast", "chain")]}
    times = timed(tmp_path, "t3e", lines.values())
    for each, line in lines.items():
        model = t3e_algorithms.from_messages(machine, *each, 1024, 32)
        assert times[catalog.case(line).line] == pytest.approx(model, rel=0.03), each
