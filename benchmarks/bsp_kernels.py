# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels on two cores compared with what one or two cores do by themselves.

    python benchmarks/bsp_kernels.py [--pairs 7] [--seconds 1.0] [--out benchmarks/results/bsp_kernels.md]

Each pair is a launch of a kernel and a launch of its peer, one right after the other, so that a load from
outside concerns both. A launch's time is the median of its repetitions (`--best`: the shortest, for a busy
machine); the result is the median of the pairs' ratios with its 95% interval. Peers are `peer_kernels.cpp`:
the BLAS, std::sort, and Floyd and Warshall's loops, compiled for this processor; or the same kernel on a
single rank. Ranks are bound to cores.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney import build
from hockney.core.machine import Mpi
from hockney.core.record import Record
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.command import command
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.models.statistics.interval import median_interval
from hockney.mpi import title_of

HERE = Path(__file__).parent
GROUP = "hockney-kernels"
FLAGS = ("-O3", "-march=native", "-ffast-math", "-std=c++20")
STYLES = "bsp", "bpram", "mpi"
Pick = Callable[[Sequence[float]], float]


@dataclass(frozen=True)
class Pair:
    """`case` on `ranks` ranks does `work` of `unit`; the peer does `peer_work` on `peer_ranks`: a case, or
    words for peer_kernels. `least` is the ratio of the rates that is aimed at, `peers` how many peers that
    ratio counts."""

    case: str
    ranks: int
    work: float
    unit: str
    peer: str
    peer_ranks: int
    peer_work: float
    peer_name: str
    least: float
    peers: int = 1


def pairs() -> list[Pair]:
    flop, keys, paths = 2 * 2048.0**3, 2e6, 1024.0**3
    found = []
    for style in STYLES:
        multiplication = f"matrix_multiplication n=2048 style={style}"
        found += [
            Pair(multiplication, 2, flop, "flop", "multiply 2048", 1, flop, "twice the BLAS", 0.9, 2),
            Pair(
                f"sample_sort keys=1000000 style={style}",
                2, keys, "keys", "sort 1000000", 2, keys, "std::sort on both cores", 2.5,
            ),
            Pair(
                f"sample_sort keys=10000000 type=uint32 style={style}",
                2, 10 * keys, "keys", "sort32 10000000", 2, 10 * keys, "std::sort on both cores", 2.5,
            ),
        ]  # fmt: skip
    found.append(Pair("shortest_paths n=1024", 1, paths, "add-min", "paths 1024", 1, paths, "plain loops", 1))
    for style in STYLES:
        wide = f"shortest_paths n=1024 block=48 style={style}"
        found.append(Pair(wide, 2, paths, "add-min", "shortest_paths n=1024", 1, paths, "one rank", 1.8))
    return found


@dataclass(frozen=True)
class Programs:
    mpi: Mpi
    engine: build.Engine
    peer: Path
    seconds: float
    pick: Pick

    def rate(self, what: str, ranks: int, work: float) -> float:
        words = what.split()
        kernel = words[0] in (w.name for w in self.engine.catalog.workloads)
        return work / self.pick(self._kernel(what, ranks) if kernel else self._peer(words, ranks))

    def _kernel(self, what: str, ranks: int) -> list[float]:
        launcher = MpiLauncher(self.mpi, self.engine.path, processors().cores)
        options = LaunchOptions("B", 0, budget_s=2 * self.seconds, precision=1e-6)
        case = self.engine.catalog.case(what, ranks)
        (record,) = [x for x in launcher.run([case], ranks, options) if isinstance(x, Record)]
        if record.verified.errors:
            raise SystemExit(f"{what}: {record.verified.first}")
        return record.times_s

    def _peer(self, words: list[str], ranks: int) -> list[float]:
        run = (str(self.peer), *words, str(self.seconds))
        asked = command(self.mpi, run, ranks, processors().cores, bind=True, root=os.geteuid() == 0)
        env = os.environ | dict(asked.environment)
        done = subprocess.run(asked.words, env=env, capture_output=True, text=True, check=True, timeout=300)
        return [float(line) for line in done.stdout.split()]


def compiled(mpi: Mpi, folder: Path) -> Path:
    """The peers, with a BLAS if there is one."""
    program = folder / "peer_kernels"
    words = [mpi.mpicxx, *FLAGS, str(HERE / "peer_kernels.cpp"), "-o", str(program)]
    if subprocess.run([*words, "-DBLAS", "-lopenblas"], capture_output=True).returncode:
        subprocess.run(words, check=True)
    return program


def line(pair: Pair, programs: Programs, count: int) -> str:
    rows = []
    for number in range(count):
        order = ("kernel", "peer") if number % 2 == 0 else ("peer", "kernel")
        rates = {
            which: programs.rate(pair.case, pair.ranks, pair.work)
            if which == "kernel"
            else programs.rate(pair.peer, pair.peer_ranks, pair.peer_work)
            for which in order
        }
        rows.append((rates["kernel"], rates["peer"]))
    median, low, high = median_interval([ours / (pair.peers * peer) for ours, peer in rows])
    interval = f"{low:.2f} to {high:.2f}" if low is not None and high is not None else "-"
    ours, peer = (statistics.median(row[k] for row in rows) for k in range(2))
    cells = [
        f"`{pair.case}`", pair.ranks, f"{ours / 1e6:.4g} M{pair.unit}/s", pair.peer_name,
        f"{pair.peers * peer / 1e6:.4g} M{pair.unit}/s", f"{median:.2f}", interval, pair.least,
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


HEAD = (
    "| kernel | ranks | rate | compared with | its rate | ratio | 95% interval | aim |",
    "|---|---|---|---|---|---|---|---|",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--only", default="", help="pairs whose kernel has this text in it")
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    mpi = find_mpi(arguments.mpi)
    lines = list(HEAD)
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(
            mpi,
            build.engine(mpi, group=GROUP),
            compiled(mpi, Path(folder)),
            arguments.seconds,
            min if arguments.best else statistics.median,
        )
        for pair in pairs():
            if arguments.only in pair.case:
                lines.append(line(pair, programs, arguments.pairs))
                print(lines[-1], file=sys.stderr, flush=True)
    load = f"load average {before:.1f} at the start, {os.getloadavg()[0]:.1f} at the end"
    times = "shortest" if arguments.best else "median"
    text = "\n".join([*lines, "", f"{title_of(mpi)}, {arguments.pairs} pairs, {times} times, {load}."])
    print(text)
    if arguments.out:
        arguments.out.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
