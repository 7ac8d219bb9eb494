# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How large a simulated machine may be: time and memory of a study by its number of ranks.

    python benchmarks/simulated_scale.py [--ranks 256,1024] [--out benchmarks/results/simulated_scale.md]

The study is MPI_Barrier and an MPI_Allreduce of 8 bytes, verified, on a torus of Cray T3E nodes, as a user
runs it: `hockney run barrier "allreduce bytes=8" --machine sim:t3e-8x8x4 --ranks 256`. The engine is
compiled before. Once for each SimGrid found. Wall and CPU time are the whole command's, Python's start
included; memory is that of its largest process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from hockney import build, process
from hockney.core.machine import Mpi
from hockney.core.record import Record
from hockney.discovery.cpu import processors
from hockney.discovery.simgrid import find_all_simgrids
from hockney.mpi import title_of
from hockney.store import RunFolder

STUDY = ("barrier", "allreduce bytes=8")
AIMS = {1024: (5.0, None), 4096: (20.0, 600.0), 16384: (90.0, 2000.0)}
"""Seconds and megabytes at most, on 2 cores."""
TIME_LIMIT_S = 600.0


def torus(ranks: int) -> str:
    """The machine of at least so many nodes, its sides as equal as powers of two allow."""
    sides = [1, 1, 1]
    while sides[0] * sides[1] * sides[2] < ranks:
        sides[sides.index(min(sides))] *= 2
    return "sim:t3e-" + "x".join(map(str, sides))


def study(ranks: int) -> dict[str, float]:
    """Run it once; in a process of its own, whose children's largest memory is the study's."""
    with tempfile.TemporaryDirectory() as folder:
        words = [
            sys.executable,
            "-c",
            "import sys; from hockney.cli import main; sys.exit(main())",
            "run",
            *STUDY,
        ]
        words += ["--machine", torus(ranks), "--ranks", str(ranks), "--budget", f"{TIME_LIMIT_S:g}s"]
        began = time.monotonic()
        done = process.capture([*words, "--out", f"{folder}/run", "-q"], timeout=TIME_LIMIT_S + 60)
        wall = time.monotonic() - began
        if not done.ok:
            sys.exit(f"{ranks} ranks: {done.err}")
        records = [
            r for r in RunFolder.open(Path(folder) / "run").read().run.records if isinstance(r, Record)
        ]
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall_s": wall,
        "cpu_s": spent.ru_utime + spent.ru_stime,
        "megabytes": spent.ru_maxrss * 1024 / 1e6,  # Linux counts in KiB
        **{record.case.split()[0]: record.times_s[-1] for record in records},
    }


def measured(found: Mpi, ranks: int) -> dict[str, float]:
    words = [sys.executable, __file__, "--one", str(ranks)]
    done = process.capture(words, env={"HOCKNEY_SIMGRID": found.prefix}, timeout=TIME_LIMIT_S + 120)
    if not done.ok:
        sys.exit(f"{title_of(found)}: {done.err}")
    return json.loads(done.out)


def row(found: Mpi, ranks: int, runs: list[dict[str, float]]) -> str:
    middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    most_s, most_mb = AIMS.get(ranks, (None, None))
    aim = ", ".join(
        f"{limit:g} {unit}" for limit, unit in ((most_s, "s"), (most_mb, "MB")) if limit is not None
    )
    longest = f"{middle['wall_s']:.1f} ({max(run['wall_s'] for run in runs):.1f})"
    simulated = f"{middle['barrier'] * 1e6:.1f} | {middle['allreduce'] * 1e6:.1f}"
    return (
        f"| {title_of(found)} | {ranks} | {longest} | {middle['cpu_s']:.1f} | {middle['megabytes']:.0f} "
        f"| {aim} | {simulated} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", default="256,1024,4096,16384")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(study(arguments.one)))
        return
    rows = []
    for found in find_all_simgrids(os.environ):
        build.engine(found)
        for ranks in map(int, arguments.ranks.split(",")):
            rows.append(row(found, ranks, [measured(found, ranks) for _ in range(arguments.repeat)]))
            print(rows[-1], flush=True)
    head = (
        "| SimGrid | ranks | wall, s (longest) | CPU, s | memory, MB | aim | barrier, us | allreduce, us |\n"
        "|---|--:|--:|--:|--:|---|--:|--:|"
    )
    here = processors()
    text = "\n".join(
        [
            head,
            *rows,
            "",
            f"Medians of {arguments.repeat} runs of the whole command; the last two columns are simulated. "
            f"{here.cores.usable} cores ({here.model}); load average at the end {os.getloadavg()[0]:.1f}.",
        ]
    )
    if arguments.out:
        intro = __doc__.partition("\n\n")[2].partition("\n\n")[2].strip()
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        title = "# How large a simulated machine can be\n\n`python benchmarks/simulated_scale.py`\n\n"
        arguments.out.write_text(f"{title}{intro}\n\n{text}\n")


if __name__ == "__main__":
    main()
