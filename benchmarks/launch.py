# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What leaving an unused network fabric out of a launch saves, and that it changes no message time.

    python benchmarks/launch.py [--pairs 20] [--mpi openmpi] [--out benchmarks/results/launch.md]

Launches of 2 ranks with and without the fabric alternate (ABBA); each measures the same cases. A ratio is the
geometric mean of the pairs' ratios, without over with; its 95% interval is Student's t on their logarithms.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from hockney import build
from hockney.core.record import Record
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.models.statistics import student
from hockney.mpi import title_of

INTRODUCTION = """\
hockney disables network fabrics that no rank uses.
This compares launches of 2 ranks with and without the fabric, in alternating order."""
EVERYTHING = {"OMPI_MCA_btl": "^nothing"}
"""A setting that excludes no transport, which hockney leaves as it is."""
CASES = [
    ("pingpong", {"bytes": "8"}),
    ("pingpong", {"bytes": "65536"}),
    ("pingpong", {"bytes": "4194304"}),
    ("stream", {"bytes": "65536"}),
    ("allreduce", {"bytes": "8"}),
    ("barrier", {"algorithm": "one_sided"}),
]
SECONDS_EACH = 0.2


def ratio(without: list[float], everything: list[float]) -> tuple[float, float]:
    """(ratio, factor): the 95% interval is ratio / factor to ratio * factor."""
    logs = np.log(without) - np.log(everything)
    half = student(len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
    return float(np.exp(logs.mean())), float(np.exp(half))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    mpi = find_mpi(arguments.mpi)
    engine = build.engine(mpi)
    cores = processors().cores
    sides = {
        "without": MpiLauncher(mpi, engine.path, cores, environ={**os.environ}),
        "everything": MpiLauncher(mpi, engine.path, cores, environ={**os.environ, **EVERYTHING}),
    }
    cases = [engine.catalog.complete_case(name, values | {"ranks": "2"}) for name, values in CASES]
    took: dict[tuple[str, str], list[float]] = {}
    for index in range(arguments.pairs):
        for side in ("without", "everything") if index % 2 else ("everything", "without"):
            began = time.monotonic()
            sides[side].check(2)
            took.setdefault(("a launch that measures nothing", side), []).append(time.monotonic() - began)
            options = LaunchOptions("T", index, budget_s=SECONDS_EACH * len(cases))
            for line in sides[side].run(cases, 2, options):
                if isinstance(line, Record):
                    took.setdefault((line.case, side), []).append(float(np.median(line.times_s)))
    table = ["| what | with the fabric | without | ratio | 95% interval |", "|---|---|---|---|---|"]
    for what in dict.fromkeys(name for name, _ in took):
        without, everything = took[what, "without"], took[what, "everything"]
        center, factor = ratio(without, everything)
        times = f"{np.median(everything):.3g} s | {np.median(without):.3g} s"
        table.append(f"| {what} | {times} | {center:.3f} | {center / factor:.3f} to {center * factor:.3f} |")
    load = f"{title_of(mpi)}, {arguments.pairs} pairs; load average at the end {os.getloadavg()[0]:.1f}."
    text = "\n".join([*table, "", load])
    print(text)
    if arguments.out:
        title = "# Launch times without the unused network fabric"
        head = f"{title}\n\n`python benchmarks/launch.py`\n\n{INTRODUCTION}\n\n"
        arguments.out.write_text(head + text + "\n")


if __name__ == "__main__":
    main()
