# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases that choose their ranks on a simulated machine: nodes and the network between them."""

from __future__ import annotations

import pytest
from engine_lines import failures, records, verified
from real_mpi import engine_for, group_for, simgrid_here
from test_engine_simulated import described

from hockney import build
from hockney.core.case import parse_canonical
from hockney.core.platform import Network, NodeGroup
from hockney.launch.launcher import LaunchOptions
from hockney.launch.smpi import SmpiLauncher

pytestmark = pytest.mark.simgrid

NODES, CORES = 3, 4


@pytest.fixture(scope="session")
def engine() -> build.Engine:
    return engine_for(simgrid_here())


@pytest.fixture(scope="session")
def simulate(engine):
    """On 3 nodes of 4 cores, with ranks 0 to 3 on the first one."""

    def run(lines, ranks=NODES * CORES, built=engine, index=0, visits=1):
        machine = described(network=Network(shape="switch", nodes=(NodeGroup(count=NODES, cores=CORES),)))
        launcher = SmpiLauncher(simgrid_here(), built.path, built.platform, machine)
        options = LaunchOptions("S", index, budget_s=120.0, origin="simulated", visits=visits)
        return list(launcher.run([built.catalog.case(line) for line in lines], ranks, options))

    return run


def nodes_of(ranks):
    return [rank // CORES for rank in ranks]


@pytest.mark.parametrize("visits", [1, 2])
def test_pairs_meet_where_the_case_says(simulate, engine, visits):
    lines = [
        f"{name} place={place} ranks={ranks}"
        for name in ("bisection", "round_robin")
        for place, most in (("node", NODES * CORES), ("network", NODES * CORES))
        for ranks in range(2, most + 1, 2)
    ]
    cases = [engine.catalog.case(line) for line in lines]
    found = verified(simulate(lines, visits=visits), cases, NODES * CORES)
    for record, case in zip(found, cases, strict=True):
        members = record.members or list(range(NODES * CORES))
        half = case.ranks // 2
        assert members[0] == 0 and len(set(members)) == case.ranks and record.place == case.place
        nodes = nodes_of(members)
        assert record.nodes == len(set(nodes))
        together = [one == other for one, other in zip(nodes[:half], nodes[half:], strict=True)]
        assert all(together) if case.place == "node" else not any(together)
        if case.place == "network" and half <= CORES:
            assert len(set(nodes[:half])) == len(set(nodes[half:])) == 1


def test_ranks_are_spread_over_nodes(simulate, engine):
    lines = [
        f"allreduce bytes=1000 nodes={nodes} ranks={nodes * each}"
        for nodes in range(1, NODES + 1)
        for each in range(1, CORES + 1)
    ]
    cases = [engine.catalog.case(line) for line in lines]
    for record, case in zip(verified(simulate(lines), cases, NODES * CORES), cases, strict=True):
        members = record.members or list(range(NODES * CORES))
        nodes = nodes_of(members)
        each = case.ranks // case.nodes
        assert record.nodes == case.nodes == len(set(nodes)) and members[0] == 0
        assert all(len(set(nodes[first : first + each])) == 1 for first in range(0, case.ranks, each))


def test_other_cases_are_measured_as_without_places(simulate):
    """Also where a rank of the case has waited for others."""
    plain = "bcast bytes=5000 ranks=12"
    (alone,) = records(simulate([plain]))
    mixed = records(simulate(["pingpong place=network ranks=2", plain, "barrier nodes=2 ranks=4", plain]))
    for record in mixed[1::2]:
        assert record.times_s == pytest.approx(alone.times_s, rel=1e-6) and record.members == []
    assert alone.nodes == NODES and alone.place == ""


def test_a_pair_of_a_launch_of_two_ranks_has_its_level(simulate):
    (record,) = records(simulate(["pingpong ranks=2"], 2))
    assert (record.place, record.nodes, record.members) == ("node", 1, [])


def test_launches_choose_different_partners(simulate):
    partners = {
        records(simulate(["pingpong place=network ranks=2"], index=index))[0].members[1] for index in range(8)
    }
    assert len(partners) > 2 and min(partners) >= CORES


def test_what_the_machine_does_not_have_is_refused(simulate, golden):
    lines = simulate(["pingpong place=cache ranks=2", "barrier nodes=3 ranks=6", "barrier nodes=4 ranks=8"])
    text = "\n\n".join(f"{line.case}\n  {line.message}" for line in failures(lines))
    golden("refused_places_simulated.txt", text)
    assert [record.case for record in records(lines)] == [
        parse_canonical("barrier algorithm=mpi iterations=1 nodes=3 ranks=6 sync=barrier").line
    ]


@pytest.mark.slow
def test_many_pairs_share_two_nodes(simulate):
    built = group_for(simgrid_here(), "hockney-messages")
    lines = [f"pairs_pingpong place=network ranks={ranks} bytes=1000" for ranks in (2, 4, 8)]
    found = records(simulate(lines, built=built))
    assert [len(record.members) for record in found] == [2, 4, 8]
    assert {record.nodes for record in found} == {2}


@pytest.mark.slow
def test_thousands_of_ranks_have_places(engine):
    machine = described(network=Network(shape="switch", nodes=(NodeGroup(count=1024, cores=4),)))
    launcher = SmpiLauncher(simgrid_here(), engine.path, engine.platform, machine)
    lines = "barrier nodes=512 ranks=1024", "bisection place=network ranks=2048", "pingpong place=node"
    cases = [engine.catalog.case(line) for line in lines]
    options = LaunchOptions("S", 0, budget_s=600.0, origin="simulated")
    found = records(list(launcher.run(cases, 4096, options)))
    assert [(record.nodes, len(record.members)) for record in found] == [(512, 1024), (512, 2048), (1, 2)]
