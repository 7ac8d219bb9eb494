# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Does hockney add time of its own? Its ping-pong against a peer's, in alternating bound launches.

    python benchmarks/fidelity.py [--pairs 15] [--out docs/benchmarks/fidelity.md]

On Open MPI the peer is `peer_pingpong.cpp`, a loop with nothing around it; on MPICH it is Intel's
IMB-MPI1 PingPong, an MPICH-ABI binary that the impi-rt wheel carries, run by MPICH's own launcher with
MPICH's libmpi.so.12 found first. Each pair is two launches one after the other, in an order that changes
from pair to pair; both give a mean over the same number of messages, because that is what IMB prints. The
result is the median ratio over the pairs with the 95% interval of that median, and the peer against itself
as the noise floor.
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
from hockney.launch.command import command
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.machine import find_mpi, processors
from hockney.models.statistics.interval import median_interval

HERE = Path(__file__).parent
IMB_WHEEL = "impi-rt==2021.18.1"
SIZES = {8: 20000, 1 << 20: 2000}
INTRODUCTION = """\
On Open MPI the peer is a plain loop around the same calls (`benchmarks/peer_pingpong.cpp`), on MPICH it is
Intel's IMB-MPI1 PingPong.
Launches alternate; *peer / peer* compares the peer with itself and shows the noise."""


def bound(mpi: Mpi, words: tuple[str, ...], extra: dict[str, str] | None = None) -> str:
    launch = command(mpi, words, 2, processors().cores, bind=True, root=os.geteuid() == 0)
    env = os.environ | dict(launch.environment) | (extra or {})
    done = subprocess.run(launch.words, env=env, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


def plain_loop(mpi: Mpi, folder: Path) -> Callable[[int, int], float]:
    program = folder / "peer_pingpong"
    source = str(HERE / "peer_pingpong.cpp")
    subprocess.run([mpi.mpicxx, "-O2", "-std=c++20", source, "-o", str(program)], check=True)
    return lambda size, iterations: float(bound(mpi, (str(program), str(size), str(iterations))))


def imb(mpi: Mpi, folder: Path) -> Callable[[int, int], float]:
    program = folder / "IMB-MPI1"
    if not program.exists():
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), IMB_WHEEL]
        subprocess.run(pip, check=True)
        with zipfile.ZipFile(next(folder.glob("impi_rt*.whl"))) as wheel:
            name = next(n for n in wheel.namelist() if n.endswith("/bin/IMB-MPI1"))
            program.write_bytes(wheel.read(name))
        program.chmod(0o755)
    libraries = next(Path(mpi.prefix).glob("lib/libmpi.so.12")).parent

    def run(size: int, iterations: int) -> float:
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


def ours(mpi: Mpi) -> Callable[[int, int], float]:
    engine = build.engine(mpi)
    launcher = MpiLauncher(mpi, engine.path, processors().cores)
    catalog: Catalog = engine.catalog

    def run(size: int, iterations: int) -> float:
        options = LaunchOptions("F", 0, budget_s=60, precision=1e-9, max_repetitions=iterations)
        lines = launcher.run([catalog.case(f"pingpong bytes={size}", 2)], 2, options)
        times = next(line.times_s for line in lines if isinstance(line, Record))
        return statistics.fmean(times)

    return run


def ratios(one: Callable, other: Callable, size: int, pairs: int) -> tuple[float, float, float, float]:
    """Median of one/other over pairs with its 95% interval, and the median time of `other` (s)."""
    found, times = [], []
    for pair in range(pairs):
        first, second = (one, other) if pair % 2 else (other, one)
        a, b = first(size, SIZES[size]), second(size, SIZES[size])
        mine, peers = (a, b) if pair % 2 else (b, a)
        found.append(mine / peers)
        times.append(peers)
    return *median_interval(found), statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    folder = cache_folder(os.environ) / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "| MPI | bytes | peer | peer's time (us) | hockney / peer | 95% interval | peer / peer |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, title, make in (("openmpi", "plain loop", plain_loop), ("mpich", "IMB-MPI1", imb)):
        mpi = find_mpi(name)
        peer, mine = make(mpi, folder), ours(mpi)
        for size in SIZES:
            ratio, low, high, time = ratios(mine, peer, size, arguments.pairs)
            floor = ratios(peer, peer, size, max(5, arguments.pairs // 3))[0]
            interval = f"{low:.3f} to {high:.3f}" if low is not None and high is not None else "-"
            cells = (mpi.title, size, title, f"{time * 1e6:.4g}", f"{ratio:.3f}", interval, f"{floor:.3f}")
            lines.append("| " + " | ".join(map(str, cells)) + " |")
            print(lines[-1], file=sys.stderr)
    load = os.getloadavg()[0]
    text = "\n".join([*lines, "", f"{arguments.pairs} pairs; load average at the end {load:.1f}."])
    print(text)
    if arguments.out:
        title = "# Fidelity: hockney's ping-pong compared with a peer's"
        run = f"`python benchmarks/fidelity.py --pairs {arguments.pairs}`, ranks bound."
        head = f"{title}\n\n{run}\n\n{INTRODUCTION}\n\n"
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(head + text + "\n")


if __name__ == "__main__":
    main()
