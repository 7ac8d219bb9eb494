# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Moves per second of the annealing library on one core, and how often it finds known optima.

    python benchmarks/annealing.py [--mpi NAME] [--seeds 20] [--repetitions 5] [--out FILE]

`annealing_moves.cpp` is compiled with the installed library. Its travelling salesman is compared with a plain
2-opt program in C++ at the same temperatures. Then every instance that comes with the library, and planted
spin glasses, are annealed with documented parameters; if fewer than 19 of 20 seeds find the optimum, again
with ten times as many steps.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hockney import build
from hockney.core.machine import Mpi
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.command import command
from hockney.mpi import title_of

HERE = Path(__file__).parent
CITIES = (100, 300, 1000)
PLANTED = {"2d": (8, 16, 32), "3d": (4, 6, 8, 10)}
LARGE = ("a280", "pr1002")
"""Need longer annealings than these."""
REQUIRED = 0.95
STEPS = (1000, 10000)
INTRODUCTION = """\
All times are processor time of one core.
All annealings have 300 temperatures with `schedule=constant_speed speed=0.3`, and `setup=original` on one
rank."""
PEER = """\
The plain program is 2-opt as in textbooks (`benchmarks/annealing_moves.cpp`): any two positions,
`std::mt19937`, `std::exp` for each move that is no improvement, and a full matrix of distances.
Both have 8 walkers, 10 steps per city at each temperature, and the same temperatures.
`best / plain` is the length of the best tour divided by that of the plain program's."""
OPTIMA = """\
With 64 walkers and `steps` of each at a temperature: the number of seeds with which the optimum is found, and
the median time of a whole annealing.
By default, instances whose optimum fewer than 95% of the seeds find are listed again with 10,000 steps."""


def compiled(mpi: Mpi, prefix: Path) -> Path:
    build.install_library(mpi, prefix)
    program = prefix / "annealing_moves"
    library = [f"-I{prefix / 'include'}", f"-L{prefix / 'lib'}", "-lhockney-annealing", "-lhockney"]
    source = str(HERE / "annealing_moves.cpp")
    subprocess.run([mpi.mpicxx, "-O2", "-std=c++20", source, "-o", str(program), *library], check=True)
    return program


def printed(mpi: Mpi, *words: str, bind: bool = True) -> list[dict[str, float]]:
    asked = command(mpi, words, 1, processors().cores, bind=bind, root=os.geteuid() == 0)
    env = os.environ | dict(asked.environment)
    done = subprocess.run(asked.words, env=env, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def instances() -> list[tuple[str, str]]:
    """The kind and the name of each, as `annealing_moves` takes them."""
    folder = HERE.parent / "engine" / "ensemble" / "instances"
    files = [("tsp", path.stem) for path in sorted(folder.glob("*.tsp"))]
    files = [(kind, name) for kind, name in files if name not in LARGE]
    files += [("qap", path.stem) for path in sorted(folder.glob("*.dat"))]
    return files + [(kind, str(edge)) for kind, edges in PLANTED.items() for edge in edges]


def title(kind: str, name: str) -> str:
    return f"planted {kind} spin glass, edge {name}" if kind in PLANTED else f"{kind} {name}"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]


def moves_table(mpi: Mpi, program: Path, repetitions: int) -> list[str]:
    rows = []
    for cities in CITIES:
        runs = printed(mpi, str(program), "moves", str(cities), str(repetitions))
        rate = statistics.median(run["moves"] / run["s"] for run in runs)
        lowest = min(run["moves"] / run["s"] for run in runs)
        ratio = statistics.median(run["plain_s"] / run["s"] for run in runs)
        accepted = statistics.median(run["accepted"] / run["moves"] for run in runs)
        length = statistics.median(run["best"] / run["plain_best"] for run in runs)
        rows.append(
            [
                str(cities),
                f"{rate / 1e6:.1f}",
                f"{lowest / 1e6:.1f}",
                f"{accepted:.0%}",
                f"{ratio:.2f}",
                f"{length:.3f}",
            ]
        )
        print(*rows[-1], file=sys.stderr)
    head = ["cities", "moves (million/s)", "lowest", "accepted", "speed / plain", "best / plain"]
    return table(head, rows)


def optima(mpi: Mpi, program: Path, kind: str, name: str, steps: int, seeds: int) -> list[dict[str, float]]:
    """One run for each seed. They share nothing but the memory, so every core runs one at a time."""

    def run(seed: int) -> dict[str, float]:
        return printed(mpi, str(program), "optimum", kind, str(steps), str(seed), name, bind=False)[0]

    with ThreadPoolExecutor(processors().cores.usable) as pool:
        return list(pool.map(run, range(1, seeds + 1)))


def optima_table(mpi: Mpi, program: Path, seeds: int, numbers_of_steps: Sequence[int]) -> list[str]:
    rows = []
    for kind, name in instances():
        for steps in numbers_of_steps:
            runs = optima(mpi, program, kind, name, steps, seeds)
            if any(run["best"] < run["optimum"] for run in runs):
                sys.exit(f"{name}: below its optimum")
            hits = sum(run["best"] == run["optimum"] for run in runs)
            excess = statistics.mean(run["best"] - run["optimum"] for run in runs) / abs(runs[0]["optimum"])
            seconds = [run["s"] for run in runs]
            rate = statistics.median(run["moves"] / run["s"] for run in runs) / 1e6
            row = [title(kind, name), str(runs[0]["size"]), f"{runs[0]['optimum']:.0f}", str(steps)]
            row += [f"{hits} of {seeds}", f"{excess:.2%}", f"{statistics.median(seconds):.2f}", f"{rate:.0f}"]
            rows.append(row)
            print(*row, file=sys.stderr)
            if hits >= REQUIRED * seeds:
                break
    head = ["instance", "size", "optimum", "steps", "found", "mean excess", "time (s)", "moves (million/s)"]
    return table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--steps", type=int, nargs="+", default=STEPS, help="each only if those before fail")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    mpi = find_mpi(arguments.mpi)
    with tempfile.TemporaryDirectory() as prefix:
        program = compiled(mpi, Path(prefix))
        lines = ["## Travelling salesman: moves per second", "", PEER, ""]
        lines += moves_table(mpi, program, arguments.repetitions)
        lines += [
            "",
            "## Known optima",
            "",
            OPTIMA,
            "",
            *optima_table(mpi, program, arguments.seeds, arguments.steps),
        ]
    load = f"{title_of(mpi)}; load average at the end {os.getloadavg()[0]:.1f}."
    text = "\n".join([*lines, "", load])
    print(text)
    if arguments.out:
        head = f"# Simulated annealing\n\n`python benchmarks/annealing.py`\n\n{INTRODUCTION}\n\n"
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(head + text + "\n")


if __name__ == "__main__":
    main()
