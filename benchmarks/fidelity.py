# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Does hockney add time of its own? Its ping-pong and its collectives against a peer's, in alternating bound
launches.

    python benchmarks/fidelity.py [--pairs 15] [--mpi openmpi] [--operations pingpong,written,allreduce]
                                  [--out benchmarks/results/fidelity.md]

The peer is `peer_loops.cpp`, loops with nothing but the MPI calls; for MPICH's ping-pong it is Intel's
IMB-MPI1 PingPong, an MPICH-ABI binary that the impi-rt wheel carries, run by MPICH's own launcher with
MPICH's libmpi.so.12 found first. Each pair is two launches one after the other, in an order that changes
from pair to pair; both give a mean over the same number of messages, because that is what IMB prints, or the
median: of loops of collectives, or of round trips of messages that were just written (buffers=written). The
result is the median ratio over the pairs with the 95% interval of that median, and the peer against itself as
the noise floor.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from hockney import build
from hockney.core.catalog import Catalog
from hockney.core.machine import Mpi
from hockney.core.paths import cache_folder
from hockney.core.record import Record
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.command import command
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.models.statistics.interval import median_interval
from hockney.mpi import title_of

HERE = Path(__file__).parent
IMB_WHEEL = "impi-rt==2021.18.1"
SIZES = {8: 200000, 1 << 20: 4000}
WRITTEN = "written"
"""The ping-pong of messages that were just written."""
WRITTEN_SIZES = {8 << 10: 20000, 64 << 10: 8000, 1 << 20: 2000}
"""Above these, one round trip is long enough for the clock."""
COLLECTIVES = (
    "bcast", "gather", "scatter", "allgather", "alltoall",
    "reduce", "allreduce", "reduce_scatter_block", "scan",
)  # fmt: skip
LOOP = 64
"""Calls after each barrier, in the engine and in the peer."""
INTRODUCTION = """\
The peer is a plain loop around the same calls (`benchmarks/peer_loops.cpp`); for MPICH's ping-pong it is
Intel's IMB-MPI1 PingPong.
Collectives are called 64 times after each barrier, in hockney by `sync=loop`, and the medians are compared.
*written* is the ping-pong with `buffers=written`; its peer writes and reads every byte of its buffers with
`memset` and a loop before each round trip, and its median is compared.
Launches alternate; *peer / peer* compares the peer with itself and shows the noise."""

Measurement = Callable[[str, int, int], float]
"""The time (s) of an operation, of so many bytes and calls."""


def bound(mpi: Mpi, words: tuple[str, ...], extra: dict[str, str] | None = None) -> str:
    launch = command(mpi, words, 2, processors().cores, bind=True, root=os.geteuid() == 0)
    env = os.environ | dict(launch.environment) | (extra or {})
    done = subprocess.run(launch.words, env=env, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


def plain_loop(mpi: Mpi, folder: Path) -> Measurement:
    program = folder / f"peer_loops-{mpi.family}"
    source = str(HERE / "peer_loops.cpp")
    subprocess.run([mpi.mpicxx, "-O2", "-std=c++20", source, "-o", str(program)], check=True)
    return lambda name, size, calls: float(bound(mpi, (str(program), name, str(size), str(calls))))


def imb(mpi: Mpi, folder: Path) -> Measurement:
    program = folder / "IMB-MPI1"
    if not program.exists():
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), IMB_WHEEL]
        subprocess.run(pip, check=True)
        with zipfile.ZipFile(next(folder.glob("impi_rt*.whl"))) as wheel:
            name = next(n for n in wheel.namelist() if n.endswith("/bin/IMB-MPI1"))
            program.write_bytes(wheel.read(name))
        program.chmod(0o755)
    libraries = next(Path(mpi.prefix).glob("lib/libmpi.so.12")).parent

    def run(_: str, size: int, iterations: int) -> float:
        lengths = folder / "lengths"
        lengths.write_text(f"{size}\n")
        limits = ("-iter", str(iterations), "-iter_policy", "off", "-time", "60")
        words = (str(program), "PingPong", "-msglen", str(lengths), *limits)
        text = bound(mpi, words, {"LD_LIBRARY_PATH": str(libraries)})
        row = re.search(rf"^\s*{size}\s+{iterations}\s+(\S+)", text, re.M)
        if not row:
            raise SystemExit(f"IMB-MPI1 printed no row for {size} bytes:\n{text[-2000:]}")
        return float(row.group(1)) * 1e-6

    return run


def ours(mpi: Mpi) -> Measurement:
    engine = build.engine(mpi)
    launcher = MpiLauncher(mpi, engine.path, processors().cores)
    catalog: Catalog = engine.catalog

    def run(operation: str, size: int, calls: int) -> float:
        looped, written = operation in COLLECTIVES, operation == WRITTEN
        repetitions = calls // LOOP if looped else calls
        options = LaunchOptions("F", 0, budget_s=60, precision=1e-9, max_repetitions=repetitions)
        name = "pingpong buffers=written" if written else operation
        line = f"{name} bytes={size}" + (" sync=loop" if looped else "")
        lines = launcher.run([catalog.case(line, 2)], 2, options)
        times = next(line.times_s for line in lines if isinstance(line, Record))
        return statistics.median(times) if looped or written else statistics.fmean(times)

    return run


def ratios(
    one: Measurement, other: Measurement, operation: str, size: int, calls: int, pairs: int
) -> tuple[float, float, float, float]:
    """Median of one/other over pairs with its 95% interval, and the median time of `other` (s)."""
    found, times = [], []
    for pair in range(pairs):
        first, second = (one, other) if pair % 2 else (other, one)
        a, b = first(operation, size, calls), second(operation, size, calls)
        mine, peers = (a, b) if pair % 2 else (b, a)
        found.append(mine / peers)
        times.append(peers)
    return *median_interval(found), statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--operations", default=",".join(("pingpong", WRITTEN, *COLLECTIVES)))
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    folder = cache_folder(os.environ) / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "| MPI | operation | bytes | peer | peer's time (us) | hockney / peer | 95% interval | peer / peer |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for mpi in map(find_mpi, arguments.mpi.split(",")):
        mine, loops = ours(mpi), plain_loop(mpi, folder)
        for operation in arguments.operations.split(","):
            by_imb = mpi.family == "mpich" and operation == "pingpong"
            title, peer = ("IMB-MPI1", imb(mpi, folder)) if by_imb else ("plain loop", loops)
            for size, calls in (WRITTEN_SIZES if operation == WRITTEN else SIZES).items():
                ratio, low, high, time = ratios(mine, peer, operation, size, calls, arguments.pairs)
                floor = ratios(peer, peer, operation, size, calls, max(5, arguments.pairs // 3))[0]
                interval = f"{low:.3f} to {high:.3f}" if low is not None and high is not None else "-"
                cells = (title_of(mpi), operation, size, title, f"{time * 1e6:.4g}", f"{ratio:.3f}", interval)
                lines.append("| " + " | ".join(map(str, (*cells, f"{floor:.3f}"))) + " |")
                print(lines[-1], file=sys.stderr)
    load = os.getloadavg()[0]
    text = "\n".join([*lines, "", f"{arguments.pairs} pairs; load average at the end {load:.1f}."])
    print(text)
    if arguments.out:
        title = "# Fidelity: hockney's times compared with a peer's"
        run = f"`python benchmarks/fidelity.py --pairs {arguments.pairs}`, ranks bound."
        head = f"{title}\n\n{run}\n\n{INTRODUCTION}\n\n"
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(head + text + "\n")


if __name__ == "__main__":
    main()
