# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""C++ tests of the folders coll/OPERATION at 1 to 9 ranks, of what their algorithms send, and of per-rank
state: targets of the engine's build."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from engine_lines import launched
from native import compiled_together
from needs import need_gtest
from real_mpi import simgrid_here
from tiers import slow

from hockney import build, process
from hockney.build.compile import PLATFORM as PLUGIN
from hockney.build.engine import SINGLE_HOST
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.launch.smpi import HOSTS, MAX_EVENTS, PLATFORM, SmpiLauncher, platform_lines, rank_hosts
from hockney.models.schedules import SCHEDULES, Tally

pytestmark = pytest.mark.mpi
HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def binaries(mpi) -> Path:
    need_gtest()
    return build.targets(mpi, ["engine-collectives", "collective-traffic", "rank-state"], HERE) / "tests"


@pytest.mark.parametrize("ranks", [3, *slow(1, 2, 4, 5, 6, 7, 8, 9)])
def test_algorithms_of_collectives_give_what_mpi_gives(mpi, mpi_name, binaries, ranks):
    if mpi_name == "mpich" and ranks > 3:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    done = launched(mpi, binaries / "engine-collectives", ranks, "--gtest_brief=1")
    assert done.code == 0 and done.out.count("PASSED") == ranks, done.out + done.err


BYTES = (0, 8, 100_000)
"""No element for some ranks; many segments, and a number of doubles that 3 and 8 ranks do not divide."""


@pytest.mark.parametrize("ranks", [3, *slow(1, 2, 4, 7, 8)])
def test_the_models_schedules_are_what_algorithms_send(mpi, mpi_name, binaries, ranks):
    """Predictions stand on steps that are written down a second time, in Python."""
    if mpi_name == "mpich" and ranks > 3:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    done = launched(mpi, binaries / "collective-traffic", ranks, *map(str, BYTES))
    assert done.code == 0, done.err
    lines = [line.split() for line in done.out.splitlines()]
    assert len(lines) == len(BYTES) * len({(operation, name) for operation, name, *_ in lines}) > 0
    without = {(operation, name) for operation, name, *_ in lines} - SCHEDULES.keys()
    assert without == set(), "algorithms of engine/coll without a schedule in hockney/models/schedules"
    for operation, name, size, messages, *counted in lines:
        tally = Tally.of(SCHEDULES[operation, name](ranks, int(size)), ranks)
        sent, received = ([int(number) for number in numbers.split(",")] for numbers in counted)
        assert tally.messages == int(messages), (operation, name, size)
        assert (tally.sent.tolist(), tally.received.tolist()) == (sent, received), (operation, name, size)


def check_states(done: process.CompletedProgram, ranks: int) -> None:
    lines = done.out.splitlines()
    assert done.code == 0, done.err
    assert [x for x in lines if x.startswith("rank")] == [
        f"rank {r}: {10 * (r + 1)} -1" for r in range(ranks)
    ]
    assert sorted(x for x in lines if x.startswith("destroyed")) == sorted(
        f"destroyed {10 * (r + 1)}" for r in range(ranks)
    )


@pytest.mark.parametrize("ranks", [2, *slow(1, 3)])
def test_each_rank_has_its_own_state(mpi, binaries, ranks):
    check_states(launched(mpi, binaries / "rank-state", ranks), ranks)


def test_simulated_ranks_of_one_process_have_their_own_state(tmp_path):
    need_gtest()
    smpi = simgrid_here()
    program = build.targets(smpi, ["rank-state"], HERE) / "tests" / "rank-state"
    (tmp_path / "alone.xml").write_text(SINGLE_HOST)
    (tmp_path / "hosts.txt").write_text("n0\nn0\n")
    words = [smpi.mpiexec, "-np", "2", "-hostfile", "hosts.txt", "-platform", "alone.xml", "-quiet"]
    done = process.capture([*words, "-no-privatize", str(program)], cwd=tmp_path, timeout=120)
    check_states(done, 2)


def on_a_switch(target: str, ranks: int, tmp_path: Path) -> str:
    """What this program prints on simulated ranks; a message of x bytes takes 10 us + x / (100 MB/s)."""
    need_gtest()
    smpi = simgrid_here()
    folder = build.targets(smpi, [target], HERE)
    assert compiled_together(folder)
    network = Network(shape="switch", nodes=(NodeGroup(count=ranks),))
    machine = Platform(
        name="even", title="Even", network=network, segments=(Segment(latency_s=10e-6, per_byte_s=1e-8),)
    )
    (tmp_path / HOSTS).write_text("".join(f"{host}\n" for host in rank_hosts(machine, ranks)))
    (tmp_path / PLATFORM).write_text(platform_lines(machine, max_events=MAX_EVENTS))
    program = folder / "tests" / target
    launch = SmpiLauncher(smpi, program, folder / PLUGIN, machine).describe(ranks)
    environment = {**os.environ, **dict(launch.environment)}
    done = process.capture(list(launch.words), env=environment, cwd=tmp_path, timeout=600)
    assert done.code == 0, done.err
    return done.out


@pytest.mark.parametrize("ranks", [5, *slow(2, 64, 1024)])
def test_clocks_that_are_off_and_drift_are_synchronised(tmp_path, ranks):
    """In 2 s of simulated time at most, within a microsecond."""
    words = on_a_switch("clock-ranks", ranks, tmp_path).split()
    found = {name: float(value) for name, value in zip(words[::2], words[1::2], strict=True)}
    assert found.keys() == {"seconds", "error", "residual"}
    assert 0 < found["seconds"] <= 2.0
    assert found["error"] <= 1e-6 and found["residual"] <= 1e-6


@pytest.mark.parametrize("ranks", [5, *slow(1, 2)])
def test_a_rank_waits_until_the_last_one_that_it_needs(tmp_path, ranks):
    """Although the clocks of the ranks are off; everything else is computing, or takes some messages."""
    lines = on_a_switch("account-ranks", ranks, tmp_path).splitlines()
    rows = sorted((line.split() for line in lines if line.startswith("rank ")), key=lambda row: int(row[1]))
    assert [int(row[1]) for row in rows] == list(range(ranks))
    near = {"abs": 0.1e-3}
    for rank, row in enumerate(rows):
        assert row[-1] == "received"
        values = [float(word) for word in row[2:-1]]
        sums, pipeline, ring, barrier = (
            dict(zip(("computation", "messages", "collectives", "barriers", "waiting"), part, strict=True))
            for part in zip(*[iter(values)] * 5, strict=True)
        )
        assert sums["computation"] == pytest.approx((rank + 1) * 1e-3, abs=1e-5)
        assert sums["waiting"] == pytest.approx((ranks - rank - 1) * 1e-3, **near)
        assert 0 <= sums["collectives"] <= 0.1e-3 and sums["messages"] == sums["barriers"] == 0
        assert pipeline["waiting"] == pytest.approx(7e-3 if rank else 0, **near)
        assert (pipeline["messages"] > 0) == (ranks > 1)
        last = rank == ranks - 1
        assert ring["computation"] == pytest.approx(3e-3 if last else 0, **near)
        waits = rank == 0 and ranks > 1
        assert ring["waiting"] == pytest.approx(3e-3 if waits else 0, **near)
        assert barrier["waiting"] == pytest.approx(0 if rank == 0 else 2e-3, **near)
        assert 0 <= barrier["barriers"] <= 0.1e-3
