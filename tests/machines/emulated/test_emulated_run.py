# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Real MPIs on emulated hosts: 2 to 4 ranks, which reach each other by TCP only, or share a host."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hosts import (
    BUS,
    GONE_S,
    NAMESPACES,
    SWITCH,
    Marked,
    all_namespaces,
    comes,
    fastest,
    mounts,
    namespaces_of,
    programs,
    vanishes,
)  # fmt: skip
from signals import heed_interrupts
from tiers import slow

from hockney import api, measurement
from hockney.core.ethernet import Ethernet
from hockney.core.layout import HostOptions
from hockney.core.paths import LAUNCH_FOLDER
from hockney.core.record import Launch, Record
from hockney.launch.launcher import LaunchOptions
from hockney.machines import emulated
from hockney.measurement import doctor

pytestmark = pytest.mark.mpi
OPTIONS = LaunchOptions("L", 0, budget_s=2.0, max_repetitions=5, hang_s=60, origin="emulated")
LARGE = 262144


def machine_file(folder: Path, ethernet: Ethernet) -> str:
    path = folder / f"{ethernet.name}.toml"
    path.write_text(emulated.write(ethernet))
    return f"lan:{path}"


def resumed_bench(
    folder: Path, ethernet: Ethernet, mpi_name: str, hosts: HostOptions | None = None
) -> measurement.Bench:
    programs()
    return measurement.prepare(machine_file(folder, ethernet), mpi_name, hosts=hosts or HostOptions())


def measured(
    bench: measurement.Bench, ranks: int, *names: str, options=OPTIONS
) -> tuple[Launch, list[Record]]:
    cases = [bench.catalog.case(f"{name} ranks={ranks}") for name in names]
    lines = list(bench.launcher.run(cases, ranks, options))
    records = [line for line in lines if isinstance(line, Record)]
    assert [record.case for record in records] == [case.line for case in cases]
    assert all(record.verified.errors == 0 and record.origin == "emulated" for record in records)
    return next(line for line in lines if isinstance(line, Launch)), records


@pytest.mark.parametrize("ethernet", [BUS, *slow(SWITCH)], ids=["bus", "switch"])
def test_messages_of_both_families_keep_to_the_wire(mpi_name, engine, ethernet, tmp_path):
    bench = resumed_bench(tmp_path, ethernet, mpi_name)
    launch, (empty, large) = measured(bench, 2, "pingpong bytes=0", f"pingpong bytes={LARGE}")
    assert [rank.node for rank in launch.ranks] == ["h1", "h2"]
    assert launch.waits == "asleep"
    assert LARGE / min(large.times_s) <= fastest(ethernet)
    assert min(empty.times_s) >= ethernet.wire_s(1) - 12 / ethernet.rate


@pytest.mark.slow
def test_ranks_of_one_host_share_its_memory(mpi_name, engine, tmp_path):
    """A message between them does not touch the wire."""
    bench = resumed_bench(tmp_path, BUS, mpi_name, HostOptions(nodes=2, ranks_per_node=2))
    assert bench.layout is not None and bench.layout.text == "2x2"
    lines = (f"pingpong bytes={LARGE} place=node", f"pingpong bytes={LARGE} place=network")
    cases = [bench.catalog.case(f"{line} ranks=2") for line in lines]
    found = list(bench.launcher.run(cases, 4, OPTIONS))
    launch = next(line for line in found if isinstance(line, Launch))
    assert [rank.node for rank in launch.ranks] == ["h1", "h1", "h2", "h2"]
    near, far = (line for line in found if isinstance(line, Record))
    assert (near.place, far.place) == ("node", "network")
    assert LARGE / min(far.times_s) <= fastest(BUS)
    assert min(near.times_s) < LARGE / fastest(BUS), "faster than the wire can be"


@pytest.mark.slow
def test_cases_choose_their_ranks_by_host(mpi_name, engine, tmp_path):
    """2 hosts with 2 ranks each: 2 and 4 of them."""
    bench = resumed_bench(tmp_path, SWITCH, mpi_name, HostOptions(nodes=2, ranks_per_node=2))
    lines = ("allreduce nodes=2 ranks=2", "allreduce nodes=1 ranks=2", "bisection place=network ranks=4",
             "bisection place=node ranks=4", "barrier nodes=2 ranks=4")  # fmt: skip
    cases = [bench.catalog.case(line) for line in lines]
    found = list(bench.launcher.run(cases, 4, OPTIONS))
    (launch,) = (line for line in found if isinstance(line, Launch))
    records = [line for line in found if isinstance(line, Record)]
    assert [record.case for record in records] == [case.line for case in cases]
    assert [record.place for record in records] == ["network", "node", "network", "node", ""]
    for record, case in zip(records, cases, strict=True):
        hosts = [launch.ranks[rank].node for rank in record.members or range(4)]
        assert record.nodes == len(set(hosts)) and record.verified.errors == 0
        half = case.ranks // 2
        together = [one == other for one, other in zip(hosts[:half], hosts[half:], strict=True)]
        assert together == [record.place == "node"] * half or case.place == ""


@pytest.mark.slow
def test_other_hosts_come_first_in_every_launch(mpi_name, engine, tmp_path):
    bench = resumed_bench(tmp_path, BUS, mpi_name)
    used = []
    for turn in range(2):
        options = LaunchOptions("L", turn, budget_s=1.0, max_repetitions=2, origin="emulated", turn=turn)
        launch, _ = measured(bench, 2, "pingpong bytes=0", options=options)
        used.append([rank.node for rank in launch.ranks])
    assert used[0] != used[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("places", "named"), [(HostOptions(), BUS.hosts), (HostOptions(nodes=2, ranks_per_node=2), 2)]
)
def test_the_doctor_starts_the_ranks_of_a_survey(mpi_name, engine, places, named, tmp_path, monkeypatch):
    programs()
    monkeypatch.setattr(doctor, "LOAD_SAMPLE_S", 0.01)
    monkeypatch.setattr(doctor, "ability_findings", lambda *_: [])
    found = {
        each.code: each for each in measurement.examine(machine_file(tmp_path, BUS), mpi_name, 0.0, places)
    }
    assert not [each.text for each in found.values() if each.verdict == "bad"]
    text = found["emulated-hosts-start"].text
    assert [f"h{number}" in text for number in range(1, BUS.hosts + 1)] == [
        number <= named for number in range(1, BUS.hosts + 1)
    ]


@pytest.mark.slow
def test_a_run_stores_its_description_and_resumes_with_it(mpi_name, engine, tmp_path):
    """Even if the file has changed."""
    programs()
    machine = machine_file(tmp_path, BUS)
    options = api.RunOptions(machine=machine, launches=2, budget=4.0)
    run = api.run("pingpong bytes=0,1KiB ranks=2", options, out=tmp_path / "r")
    assert run.machine.emulated == BUS
    assert (run.machine.kind, run.machine.host, run.machine.traits.origin) == ("emulated", "bus", "emulated")
    records = tmp_path / "r" / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[: len(lines) // 2]))
    machine_file(tmp_path, msgspec.structs.replace(BUS, rate=12.5e6))
    heard: list[object] = []
    again = api.resume(tmp_path / "r", listen=heard.append)
    assert any("described differently" in getattr(each, "text", "") for each in heard)
    rates = {1024 / min(record.times_s) for record in again.records if "bytes=1024" in record.case}
    assert rates and max(rates) <= fastest(BUS)


def missing_count(folder: Path) -> set[Path]:
    """Folders of launches that no process names. Other tests may be running launches of their own."""
    folders = set(folder.glob(f"{LAUNCH_FOLDER}*"))
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes())
    return {each for each in folders if not any(each.name.encode() in line for line in lines)}


@contextlib.contextmanager
def measuring(machine: str, out: Path, mark: Marked) -> Iterator[subprocess.Popen[bytes]]:
    """`hockney run` with a budget that outlasts the test."""
    words = ["run", "allreduce bytes=8,4KiB", "--machine", machine, "--ranks", "4", "--budget", "10m"]
    with subprocess.Popen(
        [sys.executable, "-m", "hockney", *words, "--out", str(out)],
        env=mark.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=heed_interrupts,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=str)
def test_nothing_is_left_when_hockney_is_ended(mpi_name, engine, ending, tmp_path):
    """While it measures: neither processes nor namespaces, mounts or plans of launches."""
    programs()
    machine, mark, before = machine_file(tmp_path, BUS), Marked(f"run-{ending}"), mounts()
    with measuring(machine, tmp_path / "r", mark) as process:
        most = 1 + (BUS.hosts + 1) * (len(NAMESPACES) - 1)
        assert comes(lambda: len(namespaces_of(mark.processes())) == most), "no launch began"
        spaces = namespaces_of(mark.processes())
        process.send_signal(ending)
        process.wait(timeout=GONE_S)
    assert vanishes(mark.processes)
    assert vanishes(lambda: spaces & all_namespaces())
    assert mounts() == before
    assert vanishes(lambda: missing_count(engine.path.parent))


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 20])
def test_nothing_is_left_after_a_kill_at_any_moment(mpi_name, engine, count, tmp_path):
    programs()
    machine, before = machine_file(tmp_path, BUS), mounts()
    for k in range(count):
        mark = Marked(f"run-{count}-{k}")
        with measuring(machine, tmp_path / f"r{k}", mark) as process:
            time.sleep(random.uniform(0.3, 5.0))
            spaces = namespaces_of(mark.processes())
            assert process.poll() is None, "it would measure for longer"
            process.send_signal(signal.SIGKILL)
        assert vanishes(mark.processes)
        assert vanishes(lambda spaces=spaces: spaces & all_namespaces())
    assert mounts() == before
    assert vanishes(lambda: missing_count(engine.path.parent))
