# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Does computing take as long as it was told to? The workload `compute` against its preset.

    python benchmarks/compute.py [--launches 5] [--mpi NAME] [--out benchmarks/results/compute.md]

The median repetition by the thread's own clock, as the record's `work.error` says, and by the clock on the
wall, less what reading that one costs, which computing knows nothing of. On
one bound rank, and on two busy ones.
"""

from __future__ import annotations

import argparse
import os
import statistics
from pathlib import Path

from hockney import build
from hockney.core.record import Launch, Record
from hockney.core.units import format_seconds
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.mpi import title_of

PRESETS = (1e-6, 2e-6, 5e-6, 10e-6, 20e-6, 50e-6, 100e-6, 1e-3, 10e-3, 100e-3)
SECONDS_EACH = 0.7
INTRODUCTION = """\
The workload `compute` consumes a preset amount of processor time.
The table shows by how much it misses, on the thread's clock and on the wall clock."""


def off(record: Record, overhead_s: float) -> float:
    """By how much the median repetition is off its preset, relative."""
    took = statistics.median(record.times_s) - overhead_s / record.batch
    return took / record.metric("work") - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    mpi = find_mpi(arguments.mpi)
    engine = build.engine(mpi)
    launcher = MpiLauncher(mpi, engine.path, processors().cores)
    found: dict[tuple[float, int], list[tuple[float, float]]] = {}
    for index in range(arguments.launches):
        for ranks in (1, 2):
            cases = [
                engine.catalog.complete_case("compute", {"work": repr(p), "ranks": str(ranks)})
                for p in PRESETS
            ]
            options = LaunchOptions("T", index, budget_s=SECONDS_EACH * len(cases), precision=1e-4)
            lines = list(launcher.run(cases, ranks, options))
            overhead_s = next(line for line in lines if isinstance(line, Launch)).clock.overhead_s
            for preset, record in zip(PRESETS, (x for x in lines if isinstance(x, Record)), strict=True):
                errors = record.metric("work_error"), off(record, overhead_s)
                found.setdefault((preset, ranks), []).append(errors)
    table = ["| preset | ranks | thread's clock, worst launch | wall, median launch | wall, worst launch |"]
    table.append("|---|---|---|---|---|")
    for (preset, ranks), launches in sorted(found.items()):
        errors, walls = zip(*launches, strict=True)
        middle, worst = statistics.median(walls), max(walls, key=abs)
        words = f"{format_seconds(preset)} | {ranks} | {max(errors):.2%} | {middle:+.2%} | {worst:+.2%}"
        table.append(f"| {words} |")
    load = (
        f"{title_of(mpi)}, {arguments.launches} launches; load average at the end {os.getloadavg()[0]:.1f}."
    )
    text = "\n".join([*table, "", load])
    print(text)
    if arguments.out:
        head = f"# Accuracy of preset computing times\n\n`python benchmarks/compute.py`\n\n{INTRODUCTION}\n\n"
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(head + text + "\n")


if __name__ == "__main__":
    main()
