# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The best barrier of hockney's library against MPI_Barrier, and against what two cores need at least.

    python benchmarks/barriers.py [--launches 9] [--ranks 2,3,4,5,8] [--out benchmarks/results/barriers.md]

Each launch of `barrier_pairs.cpp` asks `best_barrier` for a barrier and then times that barrier, MPI_Barrier
and (two ranks) two cores alone, in alternating batches of about 2 ms. A batch begins with an episode of its
own barrier, and the order changes from round to round. The floor is the quicker of two ways to bounce a line
of memory: each core writes one and waits for the other one's, so that a line goes each way at the same time;
and half of the way there and back. A launch's ratio is the median over its rounds; the result is the median
over launches with the 95% interval of that median. Two ranks are bound; more ranks than cores are not.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
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
HEAD = (
    "| MPI | ranks | barrier | choice took (ms) | ours (us) | MPI_Barrier (us) | ours / MPI_Barrier "
    "| 95% interval | floor (us) | ours / floor | 95% interval |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
)

INTRODUCTION = """\
*ours* is the barrier that `hockney::best_barrier` selects.
*floor* is the fastest way to bounce a cache line between the two cores, without any MPI.
Each launch times them in turn; ratios are medians over launches."""


@dataclass(frozen=True)
class Launch:
    """Seconds an episode, a row a round: ours, MPI_Barrier, the floor."""

    name: str
    found_in_s: float
    rows: tuple[tuple[float, ...], ...]

    def time(self, column: int) -> float:
        return statistics.median(row[column] for row in self.rows)

    def ratio(self, column: int) -> float:
        return statistics.median(row[0] / row[column] for row in self.rows)


def compiled(mpi: Mpi, folder: Path) -> Path:
    build.install_library(mpi, folder)
    program = folder / "barrier_pairs"
    source = str(HERE / "barrier_pairs.cpp")
    library = [f"-I{folder / 'include'}", f"-L{folder / 'lib'}", "-lhockney"]
    subprocess.run([mpi.mpicxx, "-O2", "-std=c++17", source, "-o", str(program), *library], check=True)
    return program


def launch(mpi: Mpi, program: Path, ranks: int, rounds: int) -> Launch:
    words = (str(program), str(rounds))
    asked = command(mpi, words, ranks, processors().cores, bind=True, root=os.geteuid() == 0)
    env = os.environ | dict(asked.environment)
    done = subprocess.run(asked.words, env=env, capture_output=True, text=True, check=True, timeout=300)
    first, *rows = done.stdout.splitlines()
    name, seconds, _ = first.split()
    return Launch(name, float(seconds), tuple(_row(*map(float, row.split())) for row in rows))


def _row(ours: float, mpi: float, each_way: float, half_trip: float) -> tuple[float, float, float]:
    return ours, mpi, min(each_way, half_trip)


def said(ratios: list[float]) -> tuple[str, str]:
    median, low, high = median_interval(ratios)
    return f"{median:.3f}", f"{low:.3f} to {high:.3f}" if low is not None and high is not None else "-"


def line(mpi: Mpi, ranks: int, launches: list[Launch]) -> str:
    names = ", ".join(f"{name} ({n})" for name, n in Counter(each.name for each in launches).most_common())
    found = [each.found_in_s * 1e3 for each in launches]
    ours, mpis, floor = (statistics.median(each.time(k) for each in launches) * 1e6 for k in range(3))
    cells = [title_of(mpi), ranks, names, f"{statistics.median(found):.1f}, at most {max(found):.1f}"]
    cells += [f"{ours:.4g}", f"{mpis:.4g}", *said([each.ratio(1) for each in launches])]
    cells += [f"{floor:.4g}", *said([each.ratio(2) for each in launches])] if ranks == 2 else ["", "", ""]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--launches", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--ranks", default="2,3,4,5,8")
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    lines = list(HEAD)
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for mpi in map(find_mpi, arguments.mpi.split(",")):
            program = compiled(mpi, Path(folder) / mpi.family)
            for ranks in map(int, arguments.ranks.split(",")):
                # a round of MPICH's polling barrier takes a scheduler's turn for each episode
                rounds = arguments.rounds if ranks <= processors().cores.usable else 20
                found = [launch(mpi, program, ranks, rounds) for _ in range(arguments.launches)]
                lines.append(line(mpi, ranks, found))
                print(lines[-1], file=sys.stderr)
    load = f"load average {before:.1f} at the start, {os.getloadavg()[0]:.1f} at the end"
    text = "\n".join(
        [
            *lines,
            "",
            f"{arguments.launches} launches per row; {load}.",
        ]
    )
    print(text)
    if arguments.out:
        title = "# The library's barrier compared with MPI_Barrier"
        run = f"`python benchmarks/barriers.py --launches {arguments.launches} --ranks {arguments.ranks}`"
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(f"{title}\n\n{run}, two ranks bound.\n\n{INTRODUCTION}\n\n{text}\n")


if __name__ == "__main__":
    main()
