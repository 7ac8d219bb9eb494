# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The algorithms of engine/coll in the T3E's reproduction, with made-up times: which cases there are, which
algorithm comes nearest, and what is drawn."""

from __future__ import annotations

import pytest
from msgspec import structs
from test_reproduce_t3e import answers, published

from hockney import measurement, reproductions
from hockney.machines import simulated
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.schedules import SCHEDULES, Tally
from hockney.suites.papers.reproductions import (
    t3e,
    t3e_algorithms,
    t3e_cases,
    t3e_findings,
    t3e_page,
)
from hockney.suites.papers.reproductions.t3e_cases import OPERATIONS, PROCESSES, SIZES

CATALOG = measurement.bundled_catalog()
MACHINE = simulated.platform("t3e")
USUAL = {
    "bcast": "binomial",
    "gather": "linear",
    "scatter": "linear",
    "alltoall": "linear",
    "reduce": "binomial",
    "allreduce": "recursive_doubling",
}
EVERY = [(o, a) for o in OPERATIONS for a in t3e_algorithms.candidates(CATALOG, o)]


def slow_but(nearest, missing=()):
    """Answers in which only `nearest` takes the published times, all other algorithms twice as long;
    (operation, bytes, ranks) of `missing` are wrong by every algorithm."""

    def time(part, case):
        right = case.get("algorithm") in (nearest.get(case.workload), "mpi")
        wrong = (case.workload, case.bytes, case.ranks) in missing
        return published(case) * (3 if wrong else 1 if right else 2)

    return answers(time)


@pytest.mark.parametrize(("operation", "name"), USUAL.items())
def test_simgrids_algorithm_has_the_engines_name(operation, name):
    assert t3e_algorithms.own(MACHINE, operation) == name
    assert name in t3e_algorithms.candidates(CATALOG, operation)


def test_an_algorithm_that_the_engine_lacks_has_no_name():
    machine = structs.replace(MACHINE, collectives=MACHINE.collectives | {"bcast": "flattree"})
    assert t3e_algorithms.own(machine, "bcast") == ""


@pytest.mark.slow
def test_every_algorithm_of_the_engine_is_tried_on_every_row():
    rows = t3e_algorithms.rows(answers(lambda part, case: published(case))[t3e_cases.ALGORITHMS])
    asked = {(row.key, row.mechanism) for row in rows}
    assert asked == {
        (f"t3e/table/{o}/{size}/{p}", f"algorithm={a}") for o, a in EVERY for size in SIZES for p in PROCESSES
    }
    assert {row.status for row in rows} == {"variant"}
    assert all(bool(row.note) == (row.simulated is None) for row in rows)
    left = {(row.key.split("/")[2], row.mechanism.partition("=")[2]) for row in rows if row.simulated is None}
    assert left == {
        ("bcast", "binary_tree"),
        ("bcast", "chain"),
        ("bcast", "scatter_allgather"),
        ("alltoall", "linear"),
        ("alltoall", "pairwise_exchange"),
        ("allreduce", "ring"),
    }


@pytest.mark.parametrize(("operation", "algorithm"), EVERY)
def test_messages_are_counted_by_the_schedule(operation, algorithm):
    tally = Tally.of(SCHEDULES[operation, algorithm](32, 1024), 32)
    assert t3e_algorithms.messages(operation, algorithm, 1024, 32) == tally.messages


def test_other_algorithms_change_no_count():
    """Rows of the algorithms are neither predictions nor variants of the machine."""
    given = answers(lambda part, case: published(case))
    compared = t3e.compare(given)
    without = [row for row in compared if row.series != "algorithms"]
    assert reproductions.tallies(compared) == reproductions.tallies(without)
    page = t3e.page(given, compared, t3e.checks(given, compared))
    drawn = [x for series in page.lead.series if series.kind == "points" for x in series.x]
    own = [row for row in without if row.series != "tried" and row.status != "variant" and row.unit == "s"]
    assert len(drawn) == sum(row.simulated is not None for row in own)


def test_the_nearest_algorithm_is_found():
    given = slow_but(USUAL)
    compared = t3e_algorithms.rows(given[t3e_cases.ALGORITHMS])
    found = t3e_findings.nearest(compared)
    assert [(match.operation, match.size) for match in found] == [(o, s) for o in OPERATIONS for s in SIZES]
    # All messages of an all-to-all of 1 MB at once are not simulated on 128 and more: a complete one counts.
    long = ("alltoall", "1MB")
    expected = {(o, s): "bruck" if (o, s) == long else USUAL[o] for o in OPERATIONS for s in SIZES}
    assert {(match.operation, match.size): match.algorithm for match in found} == expected
    # Of two printed times of the same case, the made-up answers have the first.
    others = [match for match in found if match.algorithm != "bruck"]
    assert all(match.near == 4 and match.factor == pytest.approx(1, rel=0.01) for match in others)
    (bruck,) = (match for match in found if match.algorithm == "bruck")
    assert bruck.near == 0 and bruck.factor == pytest.approx(2)
    assert "MPI_Alltoall: linear (8 B, 1 KB), bruck (1 MB)" in t3e_findings.by_operation(compared)
    assert "MPI_Bcast: binomial;" in t3e_findings.by_operation(compared)


def test_algorithms_that_are_as_near_are_not_told_apart():
    def time(part, case):
        factor = {"binomial": 1.0, "chain": 1.02, "linear": 1.2}.get(case.get("algorithm"), 2)
        return published(case) * factor

    compared = t3e_algorithms.rows(answers(time)[t3e_cases.ALGORITHMS])
    bcast = t3e_findings.matches(compared)["bcast", "8"]
    assert [match.algorithm for match in t3e_findings.tied(bcast)] == ["binomial", "chain"]
    # Of 1 MB, the chain is simulated on 32 processes only.
    assert "MPI_Bcast: binomial or chain (8 B, 1 KB), binomial (1 MB)" in t3e_findings.by_operation(compared)


def test_what_no_algorithm_explains_is_named():
    given = slow_but(
        {"alltoall": "bruck", **{o: a for o, a in USUAL.items() if o != "alltoall"}}, [("reduce", 8, 64)]
    )
    compared = t3e.compare(given)
    assert [row.key for row in t3e_findings.unexplained(compared)] == ["t3e/table/reduce/8/64"]
    assert t3e_findings.out_of_reach(compared) == {"t3e/table/reduce/8/64"}
    page = t3e.page(given, compared, t3e.checks(given, compared))
    (section,) = (s for s in page.sections if s.tables and s.tables[0].name == "nearest")
    assert any("MPI_Reduce, 8 B on 64" in text for text in section.text)


def test_another_algorithm_that_is_near_once_explains_nothing():
    """The linear broadcast has the printed time where the nearest one has not."""

    def time(part, case):
        once = (case.bytes, case.ranks) == (8, 128)
        factor = {"binomial": 3 if once else 1, "linear": 1 if once else 2}.get(case.get("algorithm"), 3)
        return published(case) * factor

    compared = t3e_algorithms.rows(answers(time)[t3e_cases.ALGORITHMS])
    bcast = [row for row in compared if row.key.startswith("t3e/table/bcast/8/")]
    assert [row.key for row in t3e_findings.unexplained(bcast)] == ["t3e/table/bcast/8/128"]
    assert t3e_findings.out_of_reach(bcast) == set()


def test_odd_published_times_are_named():
    """Not simulated: falls with the size, and falls with the processes."""
    texts = " ".join(t3e_findings.sentences(t3e_algorithms.rows(slow_but(USUAL)[t3e_cases.ALGORITHMS])))
    for words in (
        "MPI_Gather on 32 and 64",
        "MPI_Alltoall on 32 and 64",
        "MPI_Allreduce of 8 B on 32 than on 64",
    ):
        assert words in texts
    assert "MPI_Bcast on" not in texts


@pytest.mark.parametrize(("operation", "algorithm"), EVERY)
@pytest.mark.parametrize("total", [8, 1024])
def test_a_loop_is_the_same_if_every_call_is_run(operation, algorithm, total):
    """The model of a loop is continued from its first calls."""
    calls = 64 if t3e_algorithms.how(operation, algorithm, total, 32) == "loop" else 1
    simulator = LogGPSimulator(MACHINE, 32)
    size = t3e_cases.share(operation, total, 32)
    for _ in range(calls):
        end = simulator.run(SCHEDULES[operation, algorithm](32, size)).max()
    found = t3e_algorithms.from_messages(MACHINE, operation, algorithm, total, 32)
    assert found == pytest.approx(end / calls, rel=1e-9)


def test_the_tree_of_messages_costs_what_the_paper_counts():
    """Alone in the machine, a call of 1 MB is a tree of sends and receives."""
    for processes in PROCESSES:
        tree = t3e_algorithms.from_messages(MACHINE, "bcast", "binomial", SIZES["1MB"], processes)
        assert tree == pytest.approx(t3e_cases.counted(MACHINE, "bcast", SIZES["1MB"], processes), rel=1e-4)


def test_a_curve_has_the_published_points_and_the_simulated_times():
    given = slow_but(USUAL)
    time, bandwidth = t3e_page.figures_over_sizes("gather", given)
    by_name = {series.name: series for series in time.series}
    points = by_name["64 processes"]
    assert dict(zip(points.x, points.y, strict=True)) == {
        total: t3e_cases.printed("gather", size, 64).si for size, total in SIZES.items()
    }
    line = by_name["64 processes, linear"]
    assert set(line.x) == {*SIZES.values(), *t3e_algorithms.CURVE_SIZES}
    rates = {series.name: series for series in bandwidth.series}["64 processes, linear"]
    assert rates.y == pytest.approx([x / t for x, t in zip(line.x, line.y, strict=True)])


def test_bandwidths_of_all_processes_are_those_of_the_paper():
    factors = {"linear": 9, "scatter_allgather": 2}
    given = answers(lambda part, case: published(case) * factors.get(case.get("algorithm"), 1))
    models, algorithms = t3e_page.operation_tables("bcast", given)

    def cell(table, column):
        (row,) = (row for row in table.rows if row[:2] == ("1 MB", "256"))
        return row[table.columns.index(column)]

    assert (cell(models, "published"), cell(models, "bandwidth")) == ("36.1 ms", "7.43 GB/s")
    cells = [cell(algorithms, name) for name in ("binomial", "scatter_allgather", "linear", "chain")]
    assert cells == ["36.1 ms (0%)", "72.3 ms (+100%)", "325 ms (x9)", ""]


def test_long_messages_are_not_timed_in_loops():
    """A message that waits for its receiver delays the next call."""
    for operation, algorithm in EVERY:
        for total in (*SIZES.values(), *t3e_algorithms.CURVE_SIZES):
            for p in PROCESSES:
                loop = t3e_algorithms.how(operation, algorithm, total, p) == "loop"
                assert not loop or t3e_cases.share(operation, total, p) <= MACHINE.eager
