# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks on one and two bound ranks, compared with the reference implementation.

    python benchmarks/npb.py [--rounds 6] [--seconds 1.0] [--out FILE]

Each round has a launch of every benchmark on one and on two ranks and of the yardsticks, in turns, so that a
load from outside concerns all of them. A launch's time is the median of its repetitions; the result is the
median of the launches with its 95% interval. The reference's rates were measured on another machine
(npb_reference.py), so ratios are given twice: as they are, and divided by the ratio of the two machines in
the yardstick that the benchmark depends on most. `npb_account` measures what the account of time costs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from npb_reference import REFERENCES, SCALAR_MOPS, TRIAD_BYTES_S, Reference

from hockney import build
from hockney.core.machine import Mpi
from hockney.core.record import Failure, Record, decode_engine_line
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.command import command
from hockney.models.statistics.interval import median_interval
from hockney.mpi import title_of

HERE = Path(__file__).parent
GROUP = "hockney-npb"
RANKS = 1, 2
PEAK = """\
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, file=sys.stderr)
sys.exit(code)
"""
"""Runs a rank and prints its peak memory in bytes."""


@dataclass(frozen=True)
class Launched:
    time_s: float
    operations: float
    readings: float
    memory: float
    """The peak of each rank, summed."""

    @property
    def mops(self) -> float:
        return self.operations / self.time_s / 1e6


@dataclass
class Results:
    """By benchmark and ranks, and by ranks."""

    launches: dict[tuple[str, int], list[Launched]] = field(default_factory=dict)
    yardsticks: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    accounted_s: float = 0.0

    def bare_memory(self, ranks: int) -> float:
        """The least of all launches: EP has no arrays, so it is MPI's."""
        return min(each.memory for (_, of), all_ in self.launches.items() if of == ranks for each in all_)


@dataclass(frozen=True)
class Programs:
    mpi: Mpi
    engine: Path
    yardstick: Path
    account: Path
    seconds: float

    def launch(self, kernel: str, name: str, ranks: int) -> Launched:
        """The median repetition. Raises SystemExit if a run is not verified."""
        options = ("--budget", str(self.seconds), "--precision", "1e-6", "--warm-up", "1")
        words = (sys.executable, "-c", PEAK, str(self.engine), *options, kernel, f"class={name}")
        done = self._run(words, ranks)
        lines = [decode_engine_line(line) for line in done.stdout.splitlines() if line.startswith("{")]
        for line in lines:
            if isinstance(line, Failure) or (isinstance(line, Record) and line.verified.errors):
                raise SystemExit(f"{kernel} class={name} on {ranks}: {line}")
        (record,) = [line for line in lines if isinstance(line, Record)]
        peaks = [float(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("peak ")]
        if len(peaks) != ranks:
            raise SystemExit(f"{kernel}: {len(peaks)} peaks of memory from {ranks} ranks")
        operations, readings = record.metric("operations"), record.metric("clock_readings")
        assert operations is not None and readings is not None
        return Launched(statistics.median(record.times_s), operations, readings, sum(peaks))

    def measure_yardsticks(self, ranks: int) -> tuple[float, float]:
        """The mean triad of the ranks in bytes/s, and the sum of their scalar rates in Mop/s."""
        rows = [
            [float(word) for word in line.split()]
            for line in self._run((str(self.yardstick),), ranks).stdout.splitlines()
        ]
        assert len(rows) == ranks
        return 1e9 * statistics.mean(row[0] for row in rows), sum(row[1] for row in rows)

    def measure_account(self) -> float:
        return float(self._run((str(self.account),), 1).stdout)

    def _run(self, words: tuple[str, ...], ranks: int) -> subprocess.CompletedProcess[str]:
        asked = command(self.mpi, words, ranks, processors().cores, bind=True, root=os.geteuid() == 0)
        env = os.environ | dict(asked.environment)
        return subprocess.run(asked.words, env=env, capture_output=True, text=True, check=True, timeout=600)


def compiled(mpi: Mpi, folder: Path, seconds: float) -> Programs:
    yardstick = folder / "npb_yardstick"
    words = [mpi.mpicxx, "-O3", "-std=c++20", str(HERE / "npb_yardstick.cpp"), "-o", str(yardstick)]
    subprocess.run(words, check=True)
    engine = build.engine(mpi, group=GROUP).path
    account = folder / "npb_account"
    built = build.targets(mpi, ["npb-account"], tests=HERE / "npb_account") / "tests" / "npb-account"
    account.write_bytes(built.read_bytes())
    account.chmod(0o755)
    return Programs(mpi, engine, yardstick, account, seconds)


def measured(programs: Programs, name: str, rounds: int, kernels: Sequence[str], limit_s: float) -> Results:
    """Of as many rounds as end within the limit, if the first one does."""
    results = Results(accounted_s=programs.measure_account())
    began = time.monotonic()
    for number in range(rounds):
        if number and (time.monotonic() - began) * (number + 1) / number > limit_s:
            break
        turns = [(kernel, ranks) for kernel in kernels for ranks in RANKS]
        for ranks in RANKS:
            results.yardsticks.setdefault(ranks, []).append(programs.measure_yardsticks(ranks))
        for kernel, ranks in turns if number % 2 == 0 else reversed(turns):
            launched = programs.launch(kernel, name, ranks)
            results.launches.setdefault((kernel, ranks), []).append(launched)
            print(number, kernel, ranks, f"{launched.mops:.5g} Mop/s", file=sys.stderr, flush=True)
    return results


# ---- Tables ----


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]


def scales(results: Results, ranks: int) -> dict[str, float]:
    """How much faster this machine is than the reference machine."""
    triad, scalar = (statistics.median(each) for each in zip(*results.yardsticks[ranks], strict=True))
    return {"triad": triad / TRIAD_BYTES_S, "scalar": scalar / SCALAR_MOPS[RANKS.index(ranks)]}


def yardstick_rows(results: Results) -> Iterator[list[str]]:
    for ranks in RANKS:
        triad, scalar = zip(*results.yardsticks[ranks], strict=True)
        scale = scales(results, ranks)
        here, there = f"{statistics.median(triad) / 1e9:.1f} GB/s", f"{TRIAD_BYTES_S / 1e9:.0f} GB/s"
        yield [str(ranks), "triad, per core", here, there, f"{scale['triad']:.2f}"]
        here, there = f"{statistics.median(scalar):.0f} Mop/s", f"{SCALAR_MOPS[RANKS.index(ranks)]:.0f} Mop/s"
        yield [str(ranks), "scalar, all cores", here, there, f"{scale['scalar']:.2f}"]


def rate_row(kernel: str, ranks: int, results: Results, reference: Reference) -> list[str]:
    launches = results.launches[kernel, ranks]
    median, low, high = median_interval([each.mops for each in launches])
    there = reference.mops[RANKS.index(ranks)]
    scale = scales(results, ranks)[reference.yardstick]
    interval = "-" if low is None or high is None else f"{low:.0f} to {high:.0f}"
    cells = [kernel.upper(), ranks, f"{median:.0f}", interval, f"{there:.0f}", f"{median / there:.2f}"]
    scaled = median / there / scale
    reached = "yes" if scaled >= reference.aim else "no"
    return [str(cell) for cell in (*cells, reference.yardstick, f"{scaled:.2f}", reference.aim, reached)]


def memory_row(kernel: str, ranks: int, results: Results, reference: Reference) -> list[str]:
    peak = statistics.median(each.memory for each in results.launches[kernel, ranks])
    own = max(0.0, peak - results.bare_memory(ranks))
    there = reference.memory[RANKS.index(ranks)]
    cells = [kernel.upper(), ranks, f"{peak / 1e6:.0f} MB", f"{own / 1e6:.1f} MB", f"{there / 1e6:.1f} MB"]
    reached = "yes" if own <= there else "no"
    return [
        str(cell) for cell in (*cells, reference.ranks[RANKS.index(ranks)], f"{own / there:.2f}", reached)
    ]


def account_row(kernel: str, ranks: int, results: Results) -> list[str]:
    launches = results.launches[kernel, ranks]
    readings = max(each.readings for each in launches)
    # A communication has two readings; a change of the phase has one and does less.
    share = readings / 2 * results.accounted_s / min(each.time_s for each in launches)
    reached = "yes" if share <= 0.02 else "no"
    return [kernel.upper(), str(ranks), f"{readings:.0f}", f"{100 * share:.4f}%", reached]


def report(results: Results, kernels: Sequence[str]) -> list[str]:
    both = [(kernel, ranks, results, REFERENCES[kernel]) for kernel in kernels for ranks in RANKS]
    lines = ["## Yardsticks", ""]
    head = ["cores", "yardstick", "here", "reference machine", "scale"]
    lines += table(head, list(yardstick_rows(results)))
    lines += ["", "## Rates", ""]
    head = ["benchmark", "ranks", "Mop/s", "95% interval", "reference", "ratio", "yardstick", "scaled ratio"]
    lines += table([*head, "aim", "reached"], [rate_row(*each) for each in both])
    lines += ["", "## Memory", ""]
    head = ["benchmark", "ranks", "peak", "without MPI", "reference's arrays", "on ranks", "ratio", "reached"]
    lines += table(head, [memory_row(*each) for each in both])
    lines += ["", "## The account of time", ""]
    lines += [f"It adds {1e9 * results.accounted_s:.1f} ns to a communication with a message.", ""]
    head = ["benchmark", "ranks", "clock readings", "of the run, at most", "below 2%"]
    return [*lines, *table(head, [account_row(*each[:3]) for each in both])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1.0, help="measuring time of a launch")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds for all rounds")
    parser.add_argument("--class", dest="name", default="A", help="other classes only try the benchmark out")
    parser.add_argument("--only", default=",".join(REFERENCES), help="benchmarks, separated by commas")
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    mpi = find_mpi(arguments.mpi)
    kernels = arguments.only.split(",")
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        programs = compiled(mpi, Path(folder), arguments.seconds)
        results = measured(programs, arguments.name, arguments.rounds, kernels, arguments.limit)
    load = f"load average {before:.1f} at the start, {os.getloadavg()[0]:.1f} at the end"
    rounds = f"{len(results.yardsticks[1])} rounds"
    text = "\n".join([*report(results, kernels), "", f"{title_of(mpi)}, {rounds}, {load}."])
    print(text)
    if arguments.out:
        arguments.out.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
