# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The twin in SimGrid behaves like the machine from which it was calibrated, also with more ranks.

Starts 2 simulated ranks (64 in the last test), and 2 real ones if a real machine is surveyed.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from calibrate_runs import free_clock, placed_survey_of, survey_of
from real_mpi import simgrid_here

from hockney import build, measurement
from hockney.core.case import parse_canonical
from hockney.core.layout import HostOptions, Layout
from hockney.core.machine import Traits
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.core.record import RunRecords
from hockney.core.settings import Settings
from hockney.launch.fake_world import World
from hockney.launch.launcher import LaunchOptions
from hockney.launch.smpi import SmpiLauncher
from hockney.machines import simulated
from hockney.machines.simulated.calibrate import Agreement, Survey, calibrate, compare
from hockney.models.collective_costs import errors_by_layout

pytestmark = pytest.mark.simgrid

SMPI_TREES = ("allreduce", "bcast", "reduce")
"""Operations for which SMPI uses the engine's tree by default."""
SLOWER = ("allreduce", "bcast", "gather", "reduce", "scan")
"""Operations that take longer on the fake machine than their messages."""


@pytest.fixture(scope="module", autouse=True)
def _simgrid():
    simgrid_here()


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> Survey:
    """A fake machine with so little noise that its parameters are well determined."""
    world = replace(World(), noise=0.02, launch_noise=0.002, tail=0.01)
    with pytest.MonkeyPatch.context() as patch:
        free_clock(patch)
        return survey_of(tmp_path_factory.mktemp("twin") / "mine", world, ranks=(2,))


def twin_of(real: Survey, **changes) -> list[Agreement]:
    machine = msgspec.structs.replace(calibrate(real), **changes)
    return compare(real, measurement.survey_twin(machine, real, lambda text: None, lambda event: None))


def with_interval(found: list[Agreement]) -> list[str]:
    return [f"{each.what}: {each.real} but {each.twin}" for each in found if each.verdict == "disagrees"]


def test_the_twin_of_a_known_machine_has_its_parameters(real):
    """The fake machine's streams, and some of its collectives, cannot be derived from its messages."""
    found = twin_of(real)
    messages = [each for each in found if "pingpong" in each.what or "prtt" in each.what]
    assert {"L of prtt ranks=2", "o_s of prtt ranks=2", "g of prtt ranks=2"} <= {m.what for m in messages}
    assert with_interval(messages) == []
    # Shorter ones depend on the number of operations timed together; at 16 KiB the fake machine is faster
    # than its messages.
    names = [f"{name} {size} B" for name in SLOWER for size in (1024, 131072, 4194304)]
    collectives = [each for each in found if each.what in names]
    assert len(collectives) == len(names)
    assert with_interval(collectives) == []


@pytest.mark.slow
def test_a_twin_with_another_latency_is_told(real):
    segments = calibrate(real).on_node
    slow = tuple(msgspec.structs.replace(s, latency_s=2 * s.latency_s) for s in segments)
    wrong = {each.what for each in twin_of(real, on_node=slow) if each.verdict == "disagrees"}
    assert {"pingpong 8 B", "L of prtt ranks=2", "t_0 of pingpong buffers=hot ranks=2"} <= wrong


@pytest.mark.slow
def test_the_twin_of_this_machine(tmp_path):
    """Whatever was measured beside other programs: the twin's messages take what was calibrated."""
    bench = measurement.prepare("", "", True, lambda text: None)
    sizes = (0, 8, 64, 512, 4096, 32768, 262144)
    lines = [
        *(f"pingpong bytes={s} buffers=hot ranks=2" for s in sizes),
        *(f"pingpong_double bytes={s} buffers=hot ranks=2" for s in (0, 64, 4096, 262144)),
        *(f"{name} bytes={s} ranks=2" for name in ("allreduce", "alltoall", "gather") for s in (1024, 32768)),
        "barrier sync=barrier ranks=2",
    ]
    cases = [bench.catalog.case(line) for line in lines]
    folder = measurement.create_run(tmp_path / "real", cases, Settings("cases", budget_s=12.0, seed=1), bench)
    measurement.measure(folder, bench, lambda event: None)
    here, _ = measurement.calibration_survey(folder)
    machine = calibrate(here)
    found = {each.what: each for each in twin_of(here) if each.unit == "s" and " of " not in each.what}
    assert len(found) == 14
    for size in sizes:
        one_way = machine.segment(size, on_node=True).one_way(size)
        assert 0.98 * one_way <= found[f"pingpong {size} B"].twin <= 1.02 * (one_way + machine.clock_s)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Survey:
    """The same with two ranks on each of two nodes."""
    world = replace(World(), noise=0.02, launch_noise=0.002, tail=0.01)
    with pytest.MonkeyPatch.context() as patch:
        free_clock(patch)
        return placed_survey_of(tmp_path_factory.mktemp("cluster") / "mine", world, Layout(2, 2))


@pytest.mark.slow
def test_the_twin_of_a_cluster_has_the_messages_of_both_levels(cluster):
    found = twin_of(cluster)
    messages = [each for each in found if "pingpong" in each.what or "prtt" in each.what]
    for place, words in (("node", "within a node"), ("network", "between nodes")):
        names = [each.what for each in messages]
        assert f"pingpong 8 B, {words}" in names and f"g of prtt place={place} ranks=2" in names
    assert with_interval(messages) == []
    slow = tuple(msgspec.structs.replace(s, latency_s=2 * s.latency_s) for s in calibrate(cluster).on_node)
    wrong = {each.what for each in twin_of(cluster, on_node=slow) if each.verdict == "disagrees"}
    assert "pingpong 8 B, within a node" in wrong and "pingpong 8 B, between nodes" not in wrong


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "within", "words"),
    [
        (Layout(2, 2), ("cache",), {"within a cache", "between nodes"}),
        (Layout(1, 4), ("cache", "socket"), {"within a socket"}),
        (Layout(2, 1), (), {"between nodes"}),
    ],
)
def test_a_twin_has_the_levels_of_the_run_whatever_is_nearest(tmp_path, layout, within, words):
    """A description has one level within a node: it stands for the farthest one that was measured."""
    world = replace(World(), noise=0.02, launch_noise=0.002, tail=0.01)
    with pytest.MonkeyPatch.context() as patch:
        free_clock(patch)
        real = placed_survey_of(tmp_path / "mine", world, layout, within)
    found = twin_of(real)
    messages = [each for each in found if each.what.startswith("pingpong ")]
    assert {each.what.split(", ")[-1] for each in messages} == words
    assert with_interval(messages) == []
    assert any(each.what.startswith("o_s of") for each in found), "parameters are compared too"


@pytest.mark.slow
def test_a_described_cluster_surveyed_in_simulation_gives_itself(tmp_path):
    """Two nodes with four cores, of which the survey uses two."""
    between = Segment(send_s=1e-6, latency_s=28e-6, per_byte_s=8e-9, receive_s=1e-6)
    on_node = Segment(send_s=1e-7, latency_s=4e-7, per_byte_s=1e-10, receive_s=1e-7)
    platform = Platform(
        name="two", title="Two", network=Network(nodes=(NodeGroup(count=2, cores=4),)),
        segments=(between,), on_node=(on_node,),
    )  # fmt: skip
    description = tmp_path / "two.toml"
    description.write_text(simulated.write(platform))
    bench = measurement.find_levels(
        measurement.prepare(f"sim:{description}", hosts=HostOptions(nodes=2, ranks_per_node=2))
    )
    sizes = (0, 8, 64, 512, 4096, 16384, 131072)
    lines = [f"pingpong bytes={s} buffers=hot ranks=2 place={p}" for p in ("node", "network") for s in sizes]
    lines += [f"{name} bytes={s} ranks=4 nodes=2" for name in SMPI_TREES for s in (8, 4096)]
    cases = [bench.catalog.case(line) for line in lines]
    folder = measurement.create_run(tmp_path / "run", cases, Settings("cases", seed=1, launches=1), bench)
    measurement.measure(folder, bench, lambda event: None)
    seen, _ = measurement.calibration_survey(folder)
    records = tuple(msgspec.structs.replace(r, origin="measured") for r in seen.run.records)
    machine = msgspec.structs.replace(seen.machine, traits=Traits(), platform=None)
    found = calibrate(replace(seen, run=RunRecords(seen.run.launches, records), machine=machine))
    assert [(group.count, group.cores) for group in found.nodes] == [(2, 2)]
    for size in sizes:
        for near in (True, False):
            took = found.segment(size, on_node=near).one_way(size)
            assert took == pytest.approx(platform.segment(size, on_node=near).one_way(size), rel=0.03)
    errors = errors_by_layout(seen.fits, seen.machine)
    assert sorted(each.operation for each in errors) == sorted(SMPI_TREES)
    assert all(abs(error) < 0.02 for each in errors for error in each.errors), errors


@pytest.mark.slow
def test_the_machine_grows(real):
    """Recursive doubling takes log2(ranks) steps, each an exchange."""
    machine = calibrate(real)
    times = {ranks: allreduce(machine, ranks) for ranks in (2, 64)}
    size = 8
    segment = machine.segment(size)
    exchange = segment.one_way(size) + segment.exchange_s + segment.exchange_s_per_byte * size
    assert times[64] - times[2] == pytest.approx(5 * exchange, rel=0.1)


def allreduce(machine, ranks: int) -> float:
    found = simgrid_here()
    engine = build.engine(found)
    launcher = SmpiLauncher(found, engine.path, engine.platform, machine)
    case = engine.catalog.case(f"allreduce bytes=8 ranks={ranks}")
    options = LaunchOptions("grown", 0, budget_s=60.0, origin="simulated")
    lines = [line for line in launcher.run([case], ranks, options) if getattr(line, "times_s", None)]
    assert [parse_canonical(line.case).ranks for line in lines] == [ranks]
    return lines[0].times_s[-1]
