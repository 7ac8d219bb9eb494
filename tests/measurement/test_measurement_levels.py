# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring on several nodes: one check launch finds the levels, and placed cases share their launches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from measured_runs import measured_items
from raising import raises_code

from hockney import measurement
from hockney.core.layout import HostOptions, Layout
from hockney.core.machine import Machine
from hockney.core.settings import Settings
from hockney.launch.launcher import Hello
from hockney.measurement.bench import add_levels
from hockney.store import missing_items, unmeasured_items

LINES = (
    *(f"pingpong bytes={1 << k} place={place}" for k in range(3, 22) for place in ("node", "network")),
    *(f"bcast bytes={1 << k} ranks=4 nodes=2" for k in range(3, 18)),
    "barrier ranks=8 nodes=2",
)


def two_nodes(words: str = "fake:nodes=2") -> measurement.Bench:
    return measurement.find_levels(measurement.prepare(words))


def begun(path, bench, **settings):
    cases = [bench.catalog.case(line) for line in LINES]
    plan = Settings("cases", seed=1, **{"launches": 3, "budget_s": 60.0, **settings})
    return measurement.create_run(path, cases, plan, bench)


def test_one_launch_finds_the_levels_and_is_the_check():
    bench = two_nodes()
    machine = bench.machine
    assert machine.levels == ["node", "network"] and machine.layout == bench.layout == Layout(2, 4)
    assert machine.hosts == ["fakehost0", "fakehost1"] and machine.is_placed
    assert bench.now() == bench.check_time_s > 0
    cases = [bench.catalog.case(line) for line in LINES]
    assert measurement.check_start(bench, cases) is bench, "as many ranks were started"
    more = measurement.check_start(bench, [*cases, bench.catalog.case("barrier ranks=9")])
    assert more.max_checked_ranks == 9 and more.check_time_s > bench.check_time_s


def test_more_ranks_than_the_layout_has_do_not_change_its_levels():
    bench = measurement.find_levels(measurement.prepare("fake:levels=cache,socket"))
    assert bench.machine.levels == ["cache", "socket"]
    cases = [bench.catalog.case(line) for line in ("pingpong place=cache", "barrier ranks=16")]
    assert measurement.check_start(bench, cases).machine.levels == ["cache", "socket"]
    fresh = measurement.check_start(measurement.prepare("fake:levels=cache,socket"), cases)
    assert fresh.machine.levels == ["cache", "socket"] and fresh.max_checked_ranks == 16


def test_a_launch_has_the_ranks_of_the_layout(tmp_path):
    bench = two_nodes()
    folder = begun(tmp_path / "r", bench)
    outcome = measurement.measure(folder, bench, lambda event: None)
    run = folder.read().run
    assert (outcome.missing_count, outcome.failed_count) == (0, 0) and len(run.launches) == 3 == len(
        run.closes
    )
    assert {len(launch.ranks) for launch in run.launches} == {8} and len(run.records) == 3 * len(LINES)
    for record in run.records:
        case = record.parse_case()
        assert case.place in ("", record.place) and case.nodes in (0, record.nodes)
        assert len(record.members) == (0 if case.ranks == 8 else case.ranks)


def test_one_kind_of_launch_leaves_time_for_more_of_them():
    bench = replace(two_nodes(), launch_cost_s=1.5)
    cases = [bench.catalog.case(line) for line in LINES]
    plain = [bench.catalog.case(f"barrier ranks={ranks}") for ranks in (2, 4, 8)]
    assert bench.launch_count(60.0, cases) > bench.launch_count(60.0, plain)


def test_sizes_are_added_at_the_level_of_the_change(tmp_path):
    bench = two_nodes()
    folder = begun(tmp_path / "r", bench, launches=10, refine=True)
    outcome = measurement.measure(folder, bench, lambda event: None)
    plan, run = folder.plan(), folder.read().run
    added = {record.parse_case() for record in run.records} - set(plan.cases)
    assert outcome.missing_count == 0 and not unmeasured_items(plan, run) and not missing_items(plan, run)
    assert {case.place for case in added if case.workload == "pingpong"} == {"node", "network"}
    assert all(case.is_placed for case in added)


def test_what_was_lost_of_a_run_is_measured_again(tmp_path):
    bench = two_nodes()
    folder = begun(tmp_path / "r", bench, launches=10, refine=True)
    measurement.measure(folder, bench, lambda event: None)
    whole = folder.read().run
    lines = folder.records_path.read_bytes().splitlines(keepends=True)
    folder.records_path.write_bytes(b"".join(lines[: len(lines) // 2]))
    again = two_nodes()
    outcome = measurement.measure(folder, again, lambda event: None)
    assert outcome.measured_count > 0 and outcome.missing_count == 0
    measured = measured_items(folder)
    assert len(set(measured)) == len(measured)
    assert {c for _, c in measured} >= {case.line for case in folder.plan().cases}
    launches = folder.read().run.launches
    assert {launch.index for launch in whole.launches} == {launch.index for launch in launches}


def hello(rank: int, host: str, **where: int) -> Hello:
    return Hello(rank, 4, host, "MPI", **where)


MACHINE = Machine(schema=2, kind="real", host="a", system="", cpu="", cores=4, threads=4, hockney="")


@pytest.mark.parametrize(
    ("hellos", "levels"),
    [
        ([], ["node", "network"]),
        ([hello(0, "a"), hello(1, "a"), hello(2, "b"), hello(3, "b")], ["node", "network"]),
        (
            [
                hello(0, "a", core=0, cache=0, socket=0),
                hello(1, "a", core=0, cache=0, socket=0),
                hello(2, "a", core=1, cache=0, socket=0),
                hello(3, "a", core=2, cache=1, socket=0),
                hello(4, "a", core=4, cache=2, socket=1),
                hello(5, "a", core=-1),
            ],
            ["core", "cache", "socket", "node"],
        ),
    ],
)
def test_levels_are_where_the_first_rank_meets_others(hellos, levels):
    assert add_levels(MACHINE, Layout(2, 2), hellos).levels == levels


def test_a_machine_without_a_layout_is_looked_at_only_if_a_study_asks():
    bench = measurement.prepare("fake")
    assert (
        measurement.find_levels(bench) is bench and measurement.find_levels(bench, within_node=True) is bench
    ), "mpiexec starts nothing"


def test_ranks_per_node_of_the_user():
    bench = measurement.find_levels(
        measurement.prepare("fake:nodes=3", hosts=HostOptions(nodes=2, ranks_per_node=1))
    )
    assert bench.machine.levels == ["network"] and bench.machine.layout == Layout(2, 1)
    with raises_code("no-such-level"):
        measurement.check_start(bench, [bench.catalog.case("pingpong place=node")])
