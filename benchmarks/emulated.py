# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How well emulated machines match their description, and how fast they start and stop.

    python benchmarks/emulated.py [--kills 100] [--repeat 10] [--out benchmarks/results/emulated.md]

1. The bandwidth of long messages compared with the payload rate of the wire, and the time of an empty one.
2. The same and a barrier on 8 hosts with MPI as it polls, and as it waits (libhockney-waiting.so).
3. The frames on the wire for each barrier of 16 hosts, acknowledgements included.
4. The time until a program runs among N hosts, and from its end until none of their processes is left.
5. What is left after SIGKILL of `hockney run` at a random moment.

1 and 2 are measured with each MPI of --mpi.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from hockney import build, measurement
from hockney.core.ethernet import Ethernet, Medium
from hockney.core.record import Record
from hockney.discovery.find import find_mpi
from hockney.launch.launcher import LaunchOptions
from hockney.machines import emulated
from hockney.mpi import title_of
from hockney.suites.papers.reproductions import ethernet as barriers

LONG, LONGER = 64 << 10, 256 << 10
"""The bandwidth is that of the bytes between these sizes, so that no part of the latency is in it."""
HOSTS = (2, 4, 8, 16)
MOST = HOSTS[-1]
RATES = (10e6, 100e6)
FEW, MANY, LOOP = 1, 3, 200
"""Repetitions of a loop of so many barriers: the frames between them are those of barriers alone."""
CABLES: dict[Medium, int] = {"bus": 1, "switch": 2}
"""On the way of a frame."""
MARK = "HOCKNEY_BENCHMARK_KILL"
KILL_WITHIN_S = 3.0
"""Of the start of hockney, or every second time of the first Ethernet."""
BANDWIDTH = f"""The bandwidth is that of the bytes between {LONG >> 10} and {LONGER >> 10} KiB.
An empty message takes the time of its frames on the wire and that of MPI, TCP and the wire's process."""
WAITING = "On a bus of 8 hosts at 10 Mbit/s: an MPI that polls, and one that sleeps until something arrives."
FRAMES = f"""On a bus of {MOST} hosts: messages of a barrier, and frames by the counters of the hosts.
A frame without a message is an acknowledgement."""
COMINGS = "From the start until a command runs among the hosts, and from its end until no process is left."


def described(hosts: int, bits: float, medium: Medium) -> Ethernet:
    return Ethernet(name=f"{medium}-{hosts}", title=medium, hosts=hosts, rate=bits / 8, medium=medium)


@contextlib.contextmanager
def bench(ethernet: Ethernet, mpi: str) -> Iterator[measurement.Bench]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "machine.toml"
        path.write_text(emulated.write(ethernet))
        yield measurement.prepare(f"lan:{path}", mpi)


def medians(prepared: measurement.Bench, ranks: int, lines: list[str], launches: int) -> dict[str, float]:
    """The median over launches of the medians of a case."""
    cases = [prepared.catalog.case(f"{line} ranks={ranks}") for line in lines]
    named = {case.line: line for case, line in zip(cases, lines, strict=True)}
    found: dict[str, list[float]] = {}
    for index in range(launches):
        options = LaunchOptions("T", index, budget_s=1.0 * len(cases), origin="emulated")
        for line in prepared.launcher.run(cases, ranks, options):
            if isinstance(line, Record):
                found.setdefault(named[line.case], []).append(float(np.median(line.times_s)))
    return {name: float(np.median(times)) for name, times in found.items()}


def accuracy(mpis: Sequence[str], launches: int) -> list[str]:
    rows = [
        "| MPI | medium | Mbit/s | payload rate (MB/s) | measured (MB/s) | error | 0 B (us) | wire (us) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines = [f"pingpong bytes={size}" for size in (0, LONG, LONGER)]
    for mpi, bits, (medium, cables) in product(mpis, RATES, CABLES.items()):
        ethernet = described(2, bits, medium)
        with bench(ethernet, mpi) as prepared:
            found = medians(prepared, 2, lines, launches)
        empty, long, longer = (found[line] for line in lines)
        rate, payload = (LONGER - LONG) / (longer - long), ethernet.payload_rate
        rows.append(
            f"| {title_of(find_mpi(mpi))} | {medium} | {bits / 1e6:g} | {payload / 1e6:.4f} "
            f"| {rate / 1e6:.4f} | {rate / payload - 1:+.2%} "
            f"| {empty * 1e6:.0f} | {cables * ethernet.wire_s(1) * 1e6:.0f} |"
        )
    return rows


def waiting(mpis: Sequence[str], launches: int) -> list[str]:
    rows = ["| MPI | case | polling (us) | waiting (us) |", "|---|---|---|---|"]
    eight = described(8, 10e6, "bus")
    cases = (
        (2, ["pingpong bytes=0", "pingpong bytes=512", f"pingpong bytes={LONG}"]),
        (8, ["barrier algorithm=dissemination", "allreduce bytes=8"]),
    )
    for mpi, (ranks, lines) in product(mpis, cases):
        sides = []
        for ethernet in (replace(eight, wait_s=0.0), eight):
            with bench(ethernet, mpi) as prepared:
                sides.append(medians(prepared, ranks, lines, launches))
        for line in lines:
            times = " | ".join(f"{side.get(line, float('nan')) * 1e6:.0f}" for side in sides)
            rows.append(f"| {title_of(find_mpi(mpi))} | {line} ranks={ranks} | {times} |")
    return rows


def frames(mpi: str) -> list[str]:
    rows = ["| barrier | messages | frames |", "|---|---|---|"]
    with bench(described(MOST, 10e6, "bus"), mpi) as prepared:
        for name, title in barriers.ALGORITHM_TITLES.items():
            line = f"barrier algorithm={barriers.ENGINE_NAMES[name]} iterations={LOOP} sync=loop ranks={MOST}"
            few, many = (sent_frames(prepared, line, repetitions) for repetitions in (FEW, MANY))
            each = (many - few) / (MANY - FEW) / LOOP
            rows.append(f"| {title} | {barriers.message_count(name, MOST)} | {each:.0f} |")
    return rows


def sent_frames(prepared: measurement.Bench, line: str, repetitions: int) -> int:
    """By all hosts in a launch of the case `line`."""
    launcher = prepared.launcher
    hosts, agent = launcher.cluster.hosts, launcher.cluster.agent[0]
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.txt"
        plan.write_text(prepared.catalog.case(line).line + "\n")
        made = launcher.describe(len(hosts))
        inside = made.words.index("--") + 1
        options = ("--waits", "asleep", "--budget", "100", "--max-repetitions", str(repetitions))
        engine = shlex.join([*made.words[inside:-1], str(plan), *options])
        count = "; ".join(f"{agent} {host} grep eth0 /proc/net/dev" for host in hosts)
        words = [*made.words[:inside], "sh", "-c", f"{engine}; {count}"]
        environ = {**os.environ, **dict(made.environment)}
        done = subprocess.run(words, env=environ, check=True, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    return sum(int(each.split(":")[1].split()[9]) for each in lines if "eth0:" in each)


def comings(program: Path, repeat: int) -> list[str]:
    rows = ["| hosts | set-up (s), median and longest | tear-down (s) |", "|---|---|---|"]
    for hosts in HOSTS:
        ups, downs = [], []
        words = emulated.ethernet_words(described(hosts, 10e6, "switch"), program)
        for _ in range(repeat):
            began = time.monotonic()
            with subprocess.Popen([*words, "sh", "-c", "echo; read x"], stdin=-1, stdout=-1) as process:
                assert process.stdin is not None and process.stdout is not None
                process.stdout.readline()
                ups.append(time.monotonic() - began)
                began = time.monotonic()
                process.stdin.close()
                process.wait()
                downs.append(time.monotonic() - began)
        rows.append(
            f"| {hosts} | {np.median(ups):.3f}, {max(ups):.3f} | {np.median(downs):.3f}, {max(downs):.3f} |"
        )
    return rows


def marked(value: str, name: str = "") -> bool:
    """Whether a process with this value of MARK exists, which has this name if one is given."""
    text = f"{MARK}={value}\0".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            known = text in path.read_bytes() + b"\0"
            if known and (not name or (path.parent / "comm").read_text() == f"{name}\n"):
                return True
    return False


def kills(mpi: str, count: int) -> list[str]:
    took, launched = [], 0
    with tempfile.TemporaryDirectory() as folder:
        machine = Path(folder) / "bus.toml"
        machine.write_text(emulated.write(described(8, 10e6, "bus")))
        words = [sys.executable, "-m", "hockney", "run", "allreduce bytes=8,4KiB", "--ranks", "8", "-q"]
        words += ["--machine", f"lan:{machine}", "--mpi", mpi, "--budget", "10m"]
        for k in range(count):
            value = f"{os.getpid()}-{k}"
            process = subprocess.Popen(
                [*words, "--out", f"{folder}/{k}"], env={**os.environ, MARK: value}, stdout=-3, stderr=-3
            )
            while k % 2 and process.poll() is None and not marked(value, "wire"):
                time.sleep(0.05)
            time.sleep(random.uniform(0, KILL_WITHIN_S))
            launched += marked(value, "wire")
            process.send_signal(signal.SIGKILL)
            began = time.monotonic()
            process.wait()
            while marked(value):
                if time.monotonic() - began > 30:
                    return [f"Kill {k}: processes are left after 30 s."]
                time.sleep(0.005)
            took.append(time.monotonic() - began)
    return [
        f"{count} times SIGKILL of `hockney run`, {launched} of them with an Ethernet: no process was left, "
        f"and so no namespace, after at most {max(took):.2f} s."
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    programs = build.ethernet_programs()
    mpis = arguments.mpi.split(",")
    parts = [
        "## Bandwidth of two ranks", "", BANDWIDTH, "", *accuracy(mpis, arguments.launches), "",
        "## Ranks that wait", "", WAITING, "", *waiting(mpis, arguments.launches), "",
        "## Frames of a barrier", "", FRAMES, "", *frames(mpis[0]), "",
        "## Set-up and tear-down", "", COMINGS, "", *comings(programs.ethernet, arguments.repeat), "",
        "## Killed", "", *kills(mpis[0], arguments.kills), "",
        f"{os.cpu_count()} CPUs, {arguments.launches} launches, {arguments.repeat} set-ups; load average at "
        f"the end {os.getloadavg()[0]:.1f}. Barriers and kills: {title_of(find_mpi(mpis[0]))}.",
    ]  # fmt: skip
    text = "\n".join(parts)
    print(text)
    if arguments.out:
        given = f"--mpi {arguments.mpi} --launches {arguments.launches} --repeat {arguments.repeat}"
        command = f"python benchmarks/emulated.py {given} --kills {arguments.kills}"
        head = f"# Accuracy of emulated machines\n\n`{command}`\n\n"
        arguments.out.write_text(head + text + "\n")


if __name__ == "__main__":
    main()
