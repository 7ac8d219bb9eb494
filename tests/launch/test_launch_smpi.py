# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's launcher: its command, placement of ranks, explanation of errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.core.case import Case
from hockney.core.machine import Mpi
from hockney.core.platform import Libraries, Network, NodeGroup, Noise, Platform, Segment
from hockney.core.record import Clock, Launch, Rank
from hockney.launch.launcher import LaunchOptions
from hockney.launch.smpi import SmpiLauncher, WallClock, anonymize, explain_simulator, rank_hosts

SIMGRID = Mpi(
    family="smpi",
    version="4.1",
    prefix="/p",
    mpicxx="/p/bin/smpicxx",
    mpiexec="/p/bin/smpirun",
    source="path",
)


def platform(**more) -> Platform:
    network = more.pop("network", Network(nodes=(NodeGroup(count=8),)))
    return Platform(name="x", title="X", network=network, segments=(Segment(latency_s=1e-6),), **more)


def launcher(described: Platform, **more) -> SmpiLauncher:
    engine, plugin = Path("/c/hockney-engine"), Path("/c/libhockney-platform.so")
    return SmpiLauncher(SIMGRID, engine, plugin, described, **more)


def test_ranks_fill_a_nodes_cores_before_the_next_nodes():
    groups = Network(nodes=(NodeGroup(count=2, cores=3), NodeGroup(count=4, cores=1)))
    assert list(rank_hosts(platform(network=groups), 8)) == ["n0", "n0", "n0", "n1", "n1", "n1", "n2", "n3"]
    assert list(rank_hosts(platform(network=groups), 4)) == ["n0", "n0", "n0", "n1"]
    torus = Network(shape="torus", dims=(2, 2))
    assert list(rank_hosts(platform(network=torus), 4)) == ["n0", "n1", "n2", "n3"]


def test_the_command_names_files_without_a_folder():
    """Names that change from launch to launch would make the same simulation give different records."""
    started = launcher(platform()).describe(5)
    assert started.words[:3] == ("/p/bin/smpirun", "-np", "5")
    after = dict(zip(started.words, started.words[1:], strict=False))
    assert after["-hostfile"] == "hosts.txt" and after["-platform"] == "/c/libhockney-platform.so"
    assert "-no-privatize" in started.words
    assert dict(started.environment) == {"HOCKNEY_PLATFORM": "platform.txt"}


def test_what_a_description_asks_of_the_engine_is_in_its_environment():
    described = platform(sum_s_per_byte=24.7e-9, hardware_barrier_s=0.0)
    variables = dict(launcher(described).describe(2).environment)
    assert float(variables["HOCKNEY_SUM_S_PER_BYTE"]) == 24.7e-9
    assert float(variables["HOCKNEY_HARDWARE_BARRIER_S"]) == 0.0
    assert "HOCKNEY_LIBRARY_COSTS" not in variables
    described = platform(libraries=Libraries(write_s=3e-6, read_s=2e-6, superstep_s=1e-3, step_s=5e-4))
    variables = dict(launcher(described).describe(2).environment)
    assert [float(each) for each in variables["HOCKNEY_LIBRARY_COSTS"].split()] == [3e-6, 2e-6, 1e-3, 0, 5e-4]


def test_every_collective_has_a_named_algorithm():
    words = launcher(platform(collectives={"bcast": "flattree"})).describe(2).words
    named = dict(
        word.removeprefix("--cfg=smpi/").split(":") for word in words if word.startswith("--cfg=smpi/")
    )
    assert named["bcast"] == "flattree"
    assert {"barrier", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce"} <= named.keys()
    # SMPI's selectors cost O(P^2) at their first use
    assert not {"ompi", "mpich", "default"} & {named["allreduce"], named["barrier"], named["allgather"]}


def test_a_launch_line_does_not_tell_where_programs_lie():
    launch = Launch(
        schema=1, launch="0.0", index=0, origin="simulated", started_s=0.0, mpi_standard="3.1",
        library="SMPI", engine="1", compiler="c++", clock=Clock(overhead_s=0.0, resolution_s=0.0),
        ranks=[Rank(host="n0", pid=1, cpus="")],
        command=["A=plan.txt", "/ann/smpirun", "-np", "2", "/ann/hockney-engine", "--plan", "plan.txt"],
    )  # fmt: skip
    assert anonymize(launch).command == [
        "A=plan.txt", "smpirun", "-np", "2", "hockney-engine", "--plan", "plan.txt"
    ]  # fmt: skip


PINGPONG = [Case.of("pingpong", 2, bytes=8)]
KERNELS = [Case.of("ep", 2), Case.of("cg", 2)]
SEEDS = [Case.of("annealing", 2, seeds=5), Case.of("annealing", 2, seeds=3)]


@pytest.mark.parametrize(
    ("plan", "ranks", "verifying", "repetitions"),
    [
        (PINGPONG, 2, (), 2),
        (PINGPONG, 1023, (), 2),
        (PINGPONG, 1024, (), 1),
        (KERNELS, 2, {"ep", "cg"}, 1),
        (KERNELS, 2, {"ep"}, 2),
        (SEEDS, 2, {"annealing"}, 5),
        (SEEDS, 1024, {"annealing"}, 5),
    ],
)
def test_a_simulation_repeats_itself_so_few_repetitions_are_made(plan, ranks, verifying, repetitions):
    """One if each run verifies itself, but one for every seed."""
    assert launcher(platform(), self_verifying_workloads=verifying)._repetitions(plan, ranks) == repetitions
    assert launcher(platform(noise=Noise(relative=0.1)))._repetitions(plan, ranks) == 30


@pytest.mark.parametrize(
    ("output", "code", "named"),
    [
        ("hockney-platform: more than 500 messages were simulated", "too-many-simulated-messages", "500"),
        ("[1.0] [ker_engine/CRITICAL] Oops! Deadlock detected", "simulated-deadlock", ""),
        ("MPI_Mprobe is not yet implemented", "call-not-simulated", "MPI_Mprobe"),
        ("terminate called after throwing an instance of 'std::bad_alloc'", "simulator-out-of-memory", ""),
        ("hockney-platform: unknown word 'tours'", "simulated-platform-error", "unknown word 'tours'"),
        ("and nothing else", "simulator-ended", "smpirun was ended by signal 11"),
    ],
)
def test_the_simulators_output_is_explained(output, code, named):
    explanation = explain_simulator(139, ["earlier output", output])
    assert explanation.code == code and named in explanation.why


def test_only_the_clock_on_the_wall_ends_a_simulation():
    watch = WallClock(LaunchOptions("0.0", 0, budget_s=10.0), cases=3, ranks=4)
    watch.on_start(100.0)
    watch.on_launch(101.0)
    watch.on_case_start(102.0, "pingpong bytes=8 ranks=2", 0)
    assert watch.deadline == 110.0
    problem = watch.failure(1, ())
    assert problem.reason == "time" and problem.case == "pingpong bytes=8 ranks=2"
    assert problem.code == "simulation-out-of-time" and problem.fields["seconds"] == 10.0
