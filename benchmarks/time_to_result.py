# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How long until there is an answer? Build, launch, sweep and fit, each timed.

    python benchmarks/time_to_result.py [--repeat 5] [--mpi NAME] [--out benchmarks/results/time_to_result.md]

The sweep is the 2-rank ping-pong from 0 B to 4 MiB in powers of two, one launch, until every median's 95%
interval is within 2%. Also: a clean build of the engine on all cores, and what a launch of 200 cases costs
beside a launch of one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from hockney import build
from hockney.core.record import Launch, Record, RunRecords
from hockney.core.units import parse_sizes
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.models import fit_all
from hockney.mpi import title_of
from hockney.system.bundled import bundled_catalog


def timed(work):
    start = time.monotonic()
    result = work()
    return time.monotonic() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    mpi = find_mpi(arguments.mpi)
    with tempfile.TemporaryDirectory() as cache:
        build_s = build.engine(mpi, cache=Path(cache)).seconds
    engine = build.engine(mpi)
    launcher = MpiLauncher(mpi, engine.path, processors().cores)

    def sweep(cases, budget: float, repetitions: int = 20000):
        options = LaunchOptions("T", 0, budget_s=budget, precision=0.02, max_repetitions=repetitions)
        return list(launcher.run(cases, 2, options))

    cases = [engine.catalog.case(f"pingpong bytes={size}", 2) for size in parse_sizes("0:4MiB")]
    walls, measuring, fitting, reached, widest = [], [], [], [], []
    for _ in range(arguments.repeat):
        wall, lines = timed(lambda: sweep(cases, 60.0))
        records = [line for line in lines if isinstance(line, Record)]
        launch = next(line for line in lines if isinstance(line, Launch))
        last = records[-1].started_s + sum(records[-1].times_s) * 2 * records[-1].batch
        measuring.append(last - launch.started_s)
        walls.append(wall)
        reached.append(sum(r.stop.reason == "precision" for r in records))
        widest.append(max(r.stop.achieved or float("inf") for r in records))
        run = RunRecords((launch,), tuple(records))
        fit_s, fits = timed(lambda run=run: fit_all(run, bundled_catalog(), cores=2))
        fitting.append(fit_s)
        verdict = fits.fits[0].verdict

    many = [engine.catalog.case(f"pingpong bytes={8 * i}", 2) for i in range(200)]
    many_s, many_lines = timed(lambda: sweep(many, 2.0, 20))
    one_s, _ = timed(lambda: sweep(many[:1], 0.01, 20))
    launches = sum(isinstance(line, Launch) for line in many_lines)
    middle = statistics.median
    rows = [
        ("clean build of the engine", f"{build_s:.1f} s", "at most 60 s"),
        ("sweep, measuring", f"{middle(measuring):.2f} s, longest {max(measuring):.2f} s", "at most 5 s"),
        ("sweep, with mpiexec and MPI_Init", f"{middle(walls):.2f} s", ""),
        ("sizes within 2%", f"at least {min(reached)} of {len(cases)}, widest {max(widest):.1%}", "all"),
        ("fit of the sweep", f"{middle(fitting):.2f} s, verdict of the last {verdict}", ""),
        ("200 cases in one launch", f"{many_s:.2f} s, {launches} MPI_Init", "one MPI_Init"),
        ("one case in one launch", f"{one_s:.2f} s", ""),
    ]
    table = ["| what | measured | aim |", "|---|---|---|", *(f"| {a} | {b} | {c} |" for a, b, c in rows)]
    load = f"{title_of(mpi)}, {arguments.repeat} sweeps; load average at the end {os.getloadavg()[0]:.1f}."
    text = "\n".join([*table, "", load])
    print(text)
    if arguments.out:
        head = "# Time to a result\n\n`python benchmarks/time_to_result.py`\n\n"
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(head + text + "\n")


if __name__ == "__main__":
    main()
