# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What recording the calls of a program costs: launches with and without the library of `hockney profile`, in
random order, on two bound ranks.

    python benchmarks/profile.py [--pairs 11] [--mpi openmpi] [--class A] [--peer mpiP=LIBRARY] [--out FILE]

Three tables: the time that a call takes and what is added to it, without and with a trace, as the library
measures it in the program before MPI_Finalize; the time of an 8-byte ping-pong; the eight NAS Parallel
Benchmarks. Ratios are medians of pairs with their 95% interval. Where launches vary too much for these, the
last columns of the NAS benchmarks tell more: the calls of a rank for each repetition, with those before and
after the repetitions; the sum of what each adds, as the same launch measured its kind; that as a share of the
fastest repetition of all launches. They have the highest values of all ranks and launches. `--peer` names
another profiler's library, which takes part in the rotation.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from npb_reference import REFERENCES

from hockney import build
from hockney.core.launcher_options import LauncherOptions
from hockney.core.machine import Mpi
from hockney.core.record import Record, decode_engine_line
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.command import command
from hockney.models.statistics import median_interval
from hockney.mpi import title_of
from hockney.profiles import interposition, target
from hockney.profiles.explanation import recording_cost
from hockney.profiles.launching import FOLDER, TRACE
from hockney.profiles.operations import kind_of
from hockney.profiles.rank_file import PATTERN, RankFile, read_rank_file
from hockney.profiles.trace import RAW

RANKS = 2
PINGPONG = ("--budget", "1", "--precision", "1e-6", "pingpong", "bytes=8")
OWN, TRACED = "hockney", "hockney --trace"


@dataclass(frozen=True)
class Launched:
    """The times of repetitions (s), the number of those before, and the rank files."""

    times_s: tuple[float, ...]
    warm_up: int
    files: tuple[RankFile, ...]

    @property
    def seconds(self) -> float:
        return statistics.median(self.times_s)

    def added(self, functions: Sequence[str]) -> Iterator[tuple[float, float]]:
        """Of each rank: its calls for each repetition, and what recording them added (s). Calls outside of
        repetitions are counted as well."""
        repetitions = len(self.times_s) + self.warm_up
        for file in self.files:
            kinds = [kind_of(functions[int(number)]) for number in file.entries["function"]]
            costs = [recording_cost(file.overheads, kind) for kind in kinds]
            calls = file.entries["calls"].astype(float)
            yield float(calls.sum()) / repetitions, float(calls @ costs) / repetitions


@dataclass(frozen=True)
class Profilers:
    """The engines to run, and the environment of the ranks with each profiler; without one it is empty.
    `functions` are those of the rank files."""

    mpi: Mpi
    main: Path
    npb: Path
    functions: Sequence[str]
    variables: Mapping[str, Mapping[str, str]]
    folder: Path

    def launch(self, engine: Path, words: Sequence[str], profiler: str) -> Launched:
        ours = Path(tempfile.mkdtemp(dir=self.folder))
        variables = {**self.variables[profiler]}
        if profiler in (OWN, TRACED):
            variables[FOLDER] = str(ours)
        if profiler == TRACED:
            variables[TRACE] = "all"
        user = LauncherOptions(variables=tuple(variables.items()))
        cores, root = processors().cores, os.geteuid() == 0
        asked = command(self.mpi, (str(engine), *words), RANKS, cores, bind=True, root=root, user=user)
        env = os.environ | dict(asked.environment)
        done = subprocess.run(
            asked.words, env=env, capture_output=True, text=True, check=True, timeout=900, cwd=self.folder
        )
        lines = [decode_engine_line(line) for line in done.stdout.splitlines() if line.startswith("{")]
        (record,) = [line for line in lines if isinstance(line, Record)]
        files = tuple(read_rank_file(path) for path in sorted(ours.glob(PATTERN)))
        for path in ours.glob(RAW):
            path.unlink()
        return Launched(tuple(record.times_s), len(record.warmup_s), files)

    def rotation(self, engine: Path, words: Sequence[str], pairs: int) -> dict[str, list[Launched]]:
        """Launches with each profiler and without one ("")."""
        launches: dict[str, list[Launched]] = {name: [] for name in self.variables}
        for _ in range(pairs):
            for name in random.sample(list(launches), len(launches)):
                launches[name].append(self.launch(engine, words, name))
        return launches


def prepared(mpi: Mpi, folder: Path, peers: Mapping[str, str]) -> Profilers:
    engine = build.engine(mpi).path
    words = (mpi.mpiexec, "-n", str(RANKS), str(engine))
    libraries = target.find_target(words, os.environ).paths
    library = str(interposition.build(libraries))
    preloaded = {OWN: library, TRACED: library, **peers}
    functions = interposition.functions(interposition.recorded_symbols(libraries))
    variables = {"": {}, **{name: {"LD_PRELOAD": path} for name, path in preloaded.items()}}
    npb = build.engine(mpi, group="hockney-npb").path
    return Profilers(mpi, engine, npb, functions, variables, folder)


def median_time(launches: Sequence[Launched]) -> float:
    return statistics.median(each.seconds for each in launches)


def ratio_cells(launches: Mapping[str, Sequence[Launched]], name: str) -> list[str]:
    """The median of the ratios of a pair, and its interval."""
    pairs = zip(launches[name], launches[""], strict=True)
    ratios = [profiled.seconds / bare.seconds for profiled, bare in pairs]
    median, low, high = median_interval(ratios)
    interval = "-" if low is None or high is None else f"{low:.4f} to {high:.4f}"
    return [f"{median:.4f}", interval]


def added_cells(launches: Mapping[str, Sequence[Launched]], name: str, functions: Sequence[str]) -> list[str]:
    """The most calls for a repetition, what recording added to one, and that as a share of the fastest."""
    fastest_s = min(min(launched.times_s) for each in launches.values() for launched in each)
    added = [each for launched in launches[name] for each in launched.added(functions)]
    if not added:
        return ["-", "-", "-"]
    calls, added_s = (max(each) for each in zip(*added, strict=True))
    return [f"{calls:.0f}", f"{1e3 * added_s:.2f}", f"{added_s / fastest_s:.2%}"]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]


def call_rows(recorded: Mapping[str, Sequence[Launched]]) -> list[list[str]]:
    """By kind of call: medians over the rank files (ns)."""
    bare: dict[str, list[float]] = {}
    added: dict[tuple[str, str], list[float]] = {}
    for name, launches in recorded.items():
        for file in (file for launched in launches for file in launched.files):
            for kind, (bare_s, added_s) in file.overheads.items():
                bare.setdefault(kind, []).append(bare_s * 1e9)
                added.setdefault((kind, name), []).append(added_s * 1e9)
    return [
        [
            kind,
            *(
                f"{statistics.median(each):.1f}"
                for each in (bare[kind], *(added[kind, name] for name in recorded))
            ),
        ]
        for kind in bare
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--class", dest="name", default="A", help="of the NAS benchmarks")
    parser.add_argument("--only", default=",".join(REFERENCES), help="NAS benchmarks, separated by commas")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=LIBRARY")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    mpi = find_mpi(arguments.mpi)
    before = os.getloadavg()[0]
    peers = dict(each.split("=", 1) for each in arguments.peer)
    with tempfile.TemporaryDirectory() as folder:
        profilers = prepared(mpi, Path(folder), peers)
        pingpong = profilers.rotation(profilers.main, PINGPONG, arguments.pairs)
        head = ["profiler", "half a round trip (ns)", "ratio", "95% interval"]
        rows = [
            [name or "none", f"{1e9 * median_time(pingpong[name]):.0f}"]
            + (ratio_cells(pingpong, name) if name else ["-", "-"])
            for name in pingpong
        ]
        lines = ["## A ping-pong of 8 bytes", "", *table(head, rows), ""]
        rows, recorded = [], {name: list(pingpong[name]) for name in (OWN, TRACED)}
        for kernel in filter(None, arguments.only.split(",")):
            words = (
                "--budget",
                "1",
                "--precision",
                "1e-6",
                "--warm-up",
                "1",
                kernel,
                f"class={arguments.name}",
            )
            launches = profilers.rotation(profilers.npb, words, arguments.pairs)
            for name, own in recorded.items():
                own += launches[name]
            for name in filter(None, launches):
                bare = f"{median_time(launches['']):.3f}"
                added = added_cells(launches, name, profilers.functions)
                rows.append([kernel.upper(), name, bare, *ratio_cells(launches, name), *added])
                print(*rows[-1], file=sys.stderr, flush=True)
        head = [
            "benchmark",
            "profiler",
            "without (s)",
            "ratio",
            "95% interval",
            "calls",
            "added (ms)",
            "share",
        ]
        lines += [f"## NAS Parallel Benchmarks, class {arguments.name}", "", *table(head, rows), ""]
        calls = table(["kind of call", "bare (ns)", "added (ns)", "traced (ns)"], call_rows(recorded))
    load = f"load average {before:.1f} at the start, {os.getloadavg()[0]:.1f} at the end"
    lines = ["## One call", "", *calls, "", *lines]
    text = "\n".join([*lines, f"{title_of(mpi)}, {RANKS} ranks, {arguments.pairs} pairs, {load}."])
    print(text)
    if arguments.out:
        arguments.out.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
