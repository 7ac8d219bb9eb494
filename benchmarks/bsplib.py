# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""BSPlib compared with what MPI and the memory of the machine need, on two bound processes.

    python benchmarks/bsplib.py [--launches 7] [--rounds 60] [--out benchmarks/results/bsplib.md]

Each launch of `bsplib_pairs.cpp` measures supersteps, MPI's barrier, all-to-all and exchange, and copies in
turns, in batches of about 2 ms. A launch's ratio is the median over its rounds; the result is the median over
launches with the 95% interval of that median. A second table has the ratios of the fastest rounds of all
launches, which other programs disturb least. `bsplib_memory.c` measures memory, on four processes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hockney import build
from hockney.core.machine import Mpi
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.command import command
from hockney.models.statistics.interval import median_interval
from hockney.mpi import title_of

HERE = Path(__file__).parent
PATHS = {
    "shared memory": {"HOCKNEY_BSP_PATH": "shared"},
    "messages": {"HOCKNEY_BSP_PATH": "messages"},
    "messages, headers in log p steps": {"HOCKNEY_BSP_PATH": "messages", "HOCKNEY_BSP_HEADERS": "log"},
}
MIB = 1 << 20

INTRODUCTION = """\
In each launch, the two measurements of a ratio alternate. The table has the medians of the launches' ratios.
*1000 puts* are of 8 bytes to every second element; *adjacent* ones are combined into one record.
Both processes put to each other, and the slower of the two determines the time.
*Two copies* are two `memcpy` of 1 MiB on each core.
*Exchange* is `MPI_Isend` and `MPI_Irecv` of 1 MiB in both directions."""

RATIOS = (
    ("empty sync / 64 B MPI_Alltoall", "sync", "alltoall_64"),
    ("empty sync / MPI_Barrier", "sync", "barrier"),
    ("one put / 64 B MPI_Alltoall", "put_1", "alltoall_64"),
    ("1000 puts / 64 B MPI_Alltoall", "put_1000", "alltoall_64"),
    ("1000 adjacent puts / 1000 puts", "put_1000_adjacent", "put_1000"),
    ("1000 hpputs / 1000 puts", "hpput_1000", "put_1000"),
    ("1 MiB put / two copies", "put_1MiB", "two_memcpys"),
    ("1 MiB put / exchange", "put_1MiB", "exchange_1MiB"),
    ("1 MiB hpput / exchange", "hpput_1MiB", "exchange_1MiB"),
    ("1 MiB get / exchange", "get_1MiB", "exchange_1MiB"),
)


@dataclass(frozen=True)
class Launch:
    """Seconds by name, a list over the rounds."""

    times: dict[str, list[float]]

    def time(self, name: str) -> float:
        return statistics.median(self.times[name])

    def ratio(self, name: str, other: str) -> float:
        pairs = zip(self.times[name], self.times[other], strict=True)
        return statistics.median(one / two for one, two in pairs)

    def fastest(self, name: str) -> float:
        return min(self.times[name])


def compiled(mpi: Mpi, prefix: Path) -> tuple[Path, Path]:
    build.install_library(mpi, prefix)
    pairs, memory = prefix / "pairs", prefix / "memory"
    words = [str(prefix / "bin" / "hockney-bspc++"), "-O2", "-std=c++20"]
    subprocess.run([*words, str(HERE / "bsplib_pairs.cpp"), "-o", str(pairs)], check=True)
    words = [str(prefix / "bin" / "hockney-bspcc"), "-O2", str(HERE / "bsplib_memory.c")]
    subprocess.run([*words, "-o", str(memory)], check=True)
    return pairs, memory


def printed(mpi: Mpi, words: tuple[str, ...], ranks: int, variables: dict[str, str]) -> list[str]:
    asked = command(mpi, words, ranks, processors().cores, bind=True, root=os.geteuid() == 0)
    env = os.environ | {"OMPI_MCA_osc": "^ucx"} | dict(asked.environment) | variables
    done = subprocess.run(asked.words, env=env, capture_output=True, text=True, check=True, timeout=600)
    return done.stdout.splitlines()


def launch(mpi: Mpi, program: Path, rounds: int, variables: dict[str, str]) -> Launch:
    names, *rows = printed(mpi, (str(program), str(rounds)), 2, variables)
    columns = zip(*(map(float, row.split()) for row in rows), strict=True)
    return Launch({name: list(times) for name, times in zip(names.split(), columns, strict=True)})


def with_interval(ratios: list[float]) -> str:
    median, low, high = median_interval(ratios)
    return f"{median:.3f}" + (f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else "")


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]


def report(mpi: Mpi, rounds: int, launches: int, prefix: Path) -> list[str]:
    pairs, memory = compiled(mpi, prefix)
    found = {}
    for path, variables in PATHS.items():
        found[path] = [launch(mpi, pairs, rounds, variables) for _ in range(launches)]
        print(path, *(f"{n} {found[path][0].time(n) * 1e6:.3g} us" for _, n, _ in RATIOS), file=sys.stderr)
    rows = [
        [title, *(with_interval([one.ratio(a, b) for one in found[path]]) for path in PATHS)]
        for title, a, b in RATIOS
    ]
    lines = [f"## {title_of(mpi)}", "", *table(["ratio", *PATHS], rows), ""]

    def fastest(path: str, name: str) -> float:
        return min(one.fastest(name) for one in found[path])

    rows = [
        [title, *(f"{fastest(path, a) / fastest(path, b):.3f}" for path in PATHS)] for title, a, b in RATIOS
    ]
    lines += ["The same for the fastest rounds, which other programs disturb least:", ""]
    lines += [*table(["ratio", *PATHS], rows), ""]
    lines += ["The parts of a superstep's cost, of the fastest rounds:", ""]
    rows = []
    for path in PATHS:
        fixed = fastest(path, "sync")
        each = (fastest(path, "put_1000") - fixed) / 1000
        per_byte = (fastest(path, "put_1MiB") - fixed) / MIB
        rows.append([path, f"{fixed * 1e6:.3f}", f"{each * 1e9:.2f}", f"{per_byte * 1e9:.4f}"])
    head = ["path", "fixed: empty sync (us)", "each put of 8 B (ns)", "each byte of 1 MiB (ns)"]
    lines += [*table(head, rows), ""]
    rows = []
    for path, variables in PATHS.items():
        rows.append([path, ", ".join(printed(mpi, (str(memory),), 4, variables))])
    lines += ["A put of 64 MiB from process 1 to process 2 of 4 adds to the peak memory of each process:", ""]
    return [*lines, *table(["path", "multiples of 64 MiB, processes 0 to 3"], rows), ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--launches", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    before = os.getloadavg()[0]
    lines: list[str] = []
    for mpi in map(find_mpi, arguments.mpi.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            lines += report(mpi, arguments.rounds, arguments.launches, Path(folder))
    load = f"load average {before:.1f} at the start, {os.getloadavg()[0]:.1f} at the end"
    text = "\n".join([*lines, f"{arguments.launches} launches per path; {load}."])
    print(text)
    if arguments.out:
        run = f"`python benchmarks/bsplib.py --launches {arguments.launches} --rounds {arguments.rounds}`"
        title = f"# BSPlib compared with MPI\n\n{run}, two processes bound."
        arguments.out.write_text(f"{title}\n\n{INTRODUCTION}\n\n{text}\n")


if __name__ == "__main__":
    main()
