# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How often `hockney compare` is right on this machine, where the truth is known because it is made.

    python benchmarks/comparison_machine.py shim      FOLDER
    python benchmarks/comparison_machine.py same      FOLDER [--pairs 20] [--budget 30] [--how turns]
    python benchmarks/comparison_machine.py slowdown  FOLDER [--pairs 20] [--budget 30] [--factors 1.10 1.05]
    python benchmarks/comparison_machine.py table     FOLDER [--json]

- shim: how much longer each call takes with the library that slows it down (`pmpi_slowdown.cpp`), from the
  fastest repetitions of 16 alternate launches.
- same: pairs of surveys of the same program. Every report of a change is false, every ratio is 1.
- slowdown: pairs in which one collective takes a known factor longer in B, at all sizes or up to 64 KiB.
  Both sides load the library, which in A only reads the clock.
- table: what is reported of all the pairs in FOLDER, at several tolerances. A of a pair that was measured in
  turns and A of the next one are a pair, too: of the same program, measured `apart`.

`--how turns` measures a pair with `hockney.compare_interleaved`, with the time of both surveys; `--how
surveys` one survey after the other, of which B is the first in every second pair. Each pair is kept in
FOLDER: a part that was interrupted continues, and another rule for verdicts needs no new measurements.
`--others` runs other programs meanwhile: `bursts` come and go, `growing` takes more of the processors from
the beginning of a pair to its end, so that the machine drifts."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import numpy as np
from compared_pairs import Plan, all_judged, table

import hockney
from hockney.core.fit import Cost
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.mpi import environment_of

SHIM = Path(__file__).with_name("pmpi_slowdown.cpp")
CALLS = ("Allreduce", "Bcast", "Allgather", "Alltoall", "Reduce")
RANGES = ((1, 2**40), (1, 2**16))
"""The smallest and the largest slow message. One without data takes no longer than the clock's reading."""
SLOWER = (1.05, 1.10, 2.0)
FAST = 0.02
"""The share of repetitions that are faster than those that `shim` compares: the modes of a machine differ by
more than the factors."""
OTHERS = {
    "none": "",
    "bursts": """
import random, time
while True:
    end = time.monotonic() + random.uniform(0.2, 4)
    while time.monotonic() < end: pass
    time.sleep(random.uniform(0.2, 6))
""",
    "growing": """
import sys, time
began, whole = time.monotonic(), float(sys.argv[1])
while True:
    share = min(1.0, (time.monotonic() - began) / whole)
    end = time.monotonic() + 0.05 * share
    while time.monotonic() < end: pass
    time.sleep(0.05 * (1 - share) + 0.001)
""",
}


def planned(given: argparse.Namespace) -> Iterator[Plan]:
    for number in range(given.pairs):
        fixed = given.part, number, given.how, given.budget, given.others, given.question
        if given.part == "same":
            yield Plan(*fixed)
            continue
        for factor in given.factors:
            call = CALLS[number % len(CALLS)]
            yield Plan(*fixed, call, factor, *RANGES[number // len(CALLS) % len(RANGES)])


def measure(plan: Plan, folder: Path, shim: Path | None) -> None:
    """The pair's folder exists when the pair is complete."""
    unfinished = folder / f".{plan.name}"
    shutil.rmtree(unfinished, ignore_errors=True)
    began, load = time.time(), os.getloadavg()[0]
    a, b = (plan.variables(factor, shim) for factor in (1.0, plan.factor if shim else 2.0))
    with others(plan.others, 2 * plan.budget):
        if plan.how == "turns":
            options = {"budget": 2 * plan.budget, "ranks": 2}
            sides = [{"variables": side} for side in (a, b)]
            hockney.compare_interleaved(*sides, plan.question, out=unfinished, **options)
        else:
            for side, variables in sorted({"a": a, "b": b}.items(), reverse=plan.number % 2 == 1):
                options = {"budget": plan.budget, "ranks": 2, "variables": variables}
                hockney.run(plan.question, out=unfinished / side, **options)
    kept = asdict(plan) | {"began": began, "seconds": time.time() - began, "load": load}
    (unfinished / "pair.json").write_text(json.dumps(kept) + "\n")
    unfinished.rename(folder / plan.name)


@contextlib.contextmanager
def others(kind: str, seconds: float) -> Iterator[None]:
    """Two other programs for each processor, of this kind."""
    count = 2 * processors().cores.usable if OTHERS[kind] else 0
    running = [subprocess.Popen([sys.executable, "-c", OTHERS[kind], str(seconds)]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def compiled(folder: Path) -> Path:
    """The library, next to the pairs that were measured with it."""
    mpi = find_mpi()
    library = (folder / "pmpi_slowdown.so").resolve()
    command = [mpi.mpicxx, "-O2", "-fPIC", "-shared", "-o", str(library), str(SHIM)]
    subprocess.run(command, check=True, env={**os.environ, **environment_of(mpi)})
    return library


def shim(folder: Path) -> Iterator[str]:
    """Of each call: its fastest repetitions relative to those of the same program without slowdown. The
    launches of a call are spread over the whole time, since a mode of the machine may outlast several."""
    library = compiled(folder)
    fast: dict[tuple[str, int, float], list[float]] = {}
    for number, call, factor in itertools.product(range(4), CALLS, (1.0, *SLOWER)):
        plan = Plan("shim", number, "surveys", 1.0, "none", "", call, factor, 64, 2**40)
        out = folder / f".shim-{call}-{factor}-{number}"
        shutil.rmtree(out, ignore_errors=True)
        options = {"budget": 1.0, "launches": 1, "ranks": 2, "variables": plan.variables(factor, library)}
        for record in hockney.run(f"{call.lower()} bytes=8,64,1KiB,16KiB,256KiB", out=out, **options).records:
            fast.setdefault((call, record.parse_case().bytes, factor), []).extend(record.times_s)
        shutil.rmtree(out)
    yield f"| call | bytes | {' | '.join(f'{factor:.2f}' for factor in SLOWER)} |"
    yield "|---|---:|---:|---:|---:|"
    for call, size in dict.fromkeys((call, size) for call, size, _ in sorted(fast)):
        plain, *slow = (np.quantile(fast[call, size, factor], FAST) for factor in (1.0, *SLOWER))
        yield f"| {call} | {size} | {' | '.join(f'{each / plain:.3f}' for each in slow)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("part", choices=("shim", "same", "slowdown", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=20, help="of `slowdown`: for each factor")
    parser.add_argument("--budget", type=float, default=30, help="of each side (s)")
    parser.add_argument("--factors", type=float, nargs="+", default=[1.10, 1.05])
    parser.add_argument("--how", choices=("surveys", "turns"), default="turns")
    parser.add_argument("--others", choices=OTHERS, default="none")
    parser.add_argument("--question", default="survey")
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no pair that would end later")
    parser.add_argument("--costs", choices=get_args(Cost), nargs="+", default=["typical"])
    parser.add_argument("--json", action="store_true", help="of `table`: a line for each pair")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.part == "shim":
        print(*shim(given.folder), sep="\n")
        return
    if given.part != "table":
        series(given)
        return
    rows = all_judged(given.folder, given.costs)
    print(*(map(json.dumps, rows) if given.json else table(rows)), sep="\n")


def series(given: argparse.Namespace) -> None:
    library = compiled(given.folder) if given.part == "slowdown" else None
    ends = time.monotonic() + 60 * given.minutes
    for plan in planned(given):
        if (given.folder / plan.name).exists():
            continue
        if time.monotonic() + 2 * plan.budget > ends:
            break
        began = time.monotonic()
        measure(plan, given.folder, library)
        print(f"{plan.name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
