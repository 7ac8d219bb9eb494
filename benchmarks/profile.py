# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What recording the calls of a program costs: launches with and without the library of `hockney profile`, in
random order, on two bound ranks.

    python benchmarks/profile.py [--pairs 11] [--mpi openmpi] [--class A] [--peer mpiP=LIBRARY] [--out FILE]

Three tables: the time that a call takes and what is added to it, as the library measures both in the program
before MPI_Finalize; the time of an 8-byte ping-pong; the eight NAS Parallel Benchmarks. Ratios are medians of
pairs with their 95% interval. `--peer` names another profiler's library, which takes part in the rotation.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
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
from hockney.profiles.rank_file import PATTERN, read_rank_file

RANKS = 2
PINGPONG = ("--budget", "1", "--precision", "1e-6", "pingpong", "bytes=8")
OWN = "hockney"


@dataclass(frozen=True)
class Profilers:
    """The engines to run, and the environment of the ranks with each profiler; without one it is empty."""

    mpi: Mpi
    main: Path
    npb: Path
    variables: Mapping[str, Mapping[str, str]]
    folder: Path

    def launch(self, engine: Path, words: Sequence[str], profiler: str) -> float:
        """The median time of a repetition (s)."""
        user = LauncherOptions(variables=tuple(self.variables[profiler].items()))
        cores, root = processors().cores, os.geteuid() == 0
        asked = command(self.mpi, (str(engine), *words), RANKS, cores, bind=True, root=root, user=user)
        env = os.environ | dict(asked.environment)
        done = subprocess.run(
            asked.words, env=env, capture_output=True, text=True, check=True, timeout=900, cwd=self.folder
        )
        lines = [decode_engine_line(line) for line in done.stdout.splitlines() if line.startswith("{")]
        (record,) = [line for line in lines if isinstance(line, Record)]
        return statistics.median(record.times_s)

    def rotation(self, engine: Path, words: Sequence[str], pairs: int) -> dict[str, list[float]]:
        """Times of launches with each profiler and without one ("")."""
        times: dict[str, list[float]] = {name: [] for name in self.variables}
        for _ in range(pairs):
            for name in random.sample(list(times), len(times)):
                times[name].append(self.launch(engine, words, name))
        return times


def prepared(mpi: Mpi, folder: Path, peers: Mapping[str, str]) -> Profilers:
    engine = build.engine(mpi).path
    words = (mpi.mpiexec, "-n", str(RANKS), str(engine))
    library = interposition.build(target.find_target(words, os.environ).paths)
    ours = {"LD_PRELOAD": str(library), "HOCKNEY_PROFILE_FOLDER": str(folder)}
    variables = {"": {}, OWN: ours, **{name: {"LD_PRELOAD": path} for name, path in peers.items()}}
    npb = build.engine(mpi, group="hockney-npb").path
    return Profilers(mpi, engine, npb, variables, folder)


def ratio_cells(times: Mapping[str, Sequence[float]], name: str) -> list[str]:
    """The median of the ratios of a pair, and its interval."""
    ratios = [profiled / bare for profiled, bare in zip(times[name], times[""], strict=True)]
    median, low, high = median_interval(ratios)
    interval = "-" if low is None or high is None else f"{low:.4f} to {high:.4f}"
    return [f"{median:.4f}", interval]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]


def call_rows(folder: Path) -> list[list[str]]:
    """By kind of call: medians over the rank files (ns)."""
    bare: dict[str, list[float]] = {}
    added: dict[str, list[float]] = {}
    for path in folder.glob(PATTERN):
        header = read_rank_file(path).header
        for row in header["overhead"][: int(header["overheads"])]:
            kind = bytes(row["kind"]).decode()
            bare.setdefault(kind, []).append(float(row["bare_ns"]))
            added.setdefault(kind, []).append(float(row["added_ns"]))
    return [
        [kind, f"{statistics.median(bare[kind]):.1f}", f"{statistics.median(added[kind]):.1f}"]
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
            [name or "none", f"{1e9 * statistics.median(pingpong[name]):.0f}"]
            + (ratio_cells(pingpong, name) if name else ["-", "-"])
            for name in pingpong
        ]
        lines = ["## A ping-pong of 8 bytes", "", *table(head, rows), ""]
        rows = []
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
            times = profilers.rotation(profilers.npb, words, arguments.pairs)
            for name in filter(None, times):
                bare = f"{statistics.median(times['']):.3f}"
                rows.append([kernel.upper(), name, bare, *ratio_cells(times, name)])
                print(*rows[-1], file=sys.stderr, flush=True)
        head = ["benchmark", "profiler", "without (s)", "ratio", "95% interval"]
        lines += [f"## NAS Parallel Benchmarks, class {arguments.name}", "", *table(head, rows), ""]
        calls = table(["kind of call", "bare (ns)", "added (ns)"], call_rows(Path(folder)))
    load = f"load average {before:.1f} at the start, {os.getloadavg()[0]:.1f} at the end"
    lines = ["## One call", "", *calls, "", *lines]
    text = "\n".join([*lines, f"{title_of(mpi)}, {RANKS} ranks, {arguments.pairs} pairs, {load}."])
    print(text)
    if arguments.out:
        arguments.out.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
