# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that are profiled without an MPI: launchers that set the variables of ranks as real ones do, whose
ranks have left files before."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from extrapolation import made_programs
from profiles.written import FUNCTIONS, allreduces
from profiles.written import program as ranks_of
from replay.made_traces import Written, part, written

from hockney.api import profile, replays, scaling_predictions
from hockney.core.layout import Cores
from hockney.discovery.cpu import processors
from hockney.mpi import family_named
from hockney.profiles import interposition, target
from hockney.profiles.program import Library
from hockney.profiles.trace import RankTrace

MPIEXEC = """#!/bin/sh
if [ "$1" = --version ]; then echo 'mpiexec (Open MPI) 5.0.11'; exit; fi
while true; do
  case "$1" in
    -x) export "$2"; shift 2;;
    -n) shift 2;;
    *) break;;
  esac
done
if [ -n "$HOCKNEY_PROFILE_FOLDER" ]; then cp {ranks}/* "$HOCKNEY_PROFILE_FOLDER"; fi
"$@"
"""
APP = """#!/bin/sh
echo "output of $0 $*"
echo "diagnostics" >&2
"""


def harmless_library() -> Path:
    """A library that is loaded anyway, for LD_PRELOAD."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return Path(next(line.split()[-1] for line in lines if "/libc" in line and ".so" in line))


@pytest.fixture
def fake_mpi(hockney, tmp_path, monkeypatch) -> Path:
    """mpiexec and srun on PATH, and ./app, a script. Eight ranks leave files, of which rank 3 is late.
    Returns the folder of these files, which a test may change."""
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    written = ranks_of(8, end=2.0)
    allreduces(written, late=3)
    for each in written:
        each.write(ranks)
    programs = tmp_path / "launchers"
    programs.mkdir()
    for name in ("mpiexec", "srun"):
        script(programs / name, MPIEXEC.format(ranks=ranks))
    script(tmp_path / "app", APP)
    (tmp_path / "app.py").touch()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    library = Library(Path("/usr/lib/libmpi.so"), family_named("openmpi"))
    monkeypatch.setattr(target, "libraries_near", lambda *_: (library,))
    eight = replace(processors(), cores=Cores(tuple(range(8)), tuple(range(8)), 8))
    monkeypatch.setattr(profile, "processors", lambda: eight)
    monkeypatch.setattr(interposition, "build", lambda *_: harmless_library())
    monkeypatch.setattr(interposition, "recorded_symbols", lambda _: [])
    monkeypatch.setattr(interposition, "functions", lambda _: list(FUNCTIONS))
    return ranks


RANKS, ROUNDS, RUN_S = 8, 20, 2.0


def traces(rounds: int = ROUNDS) -> list[RankTrace]:
    """Those of the eight ranks: exchanges with both neighbors, and sums, for 2 s. Rank 3 computes longest."""
    made = written(RANKS)
    for each in made:
        after, before = (each.rank + 1) % RANKS, (each.rank - 1) % RANKS
        computes = 1.0 if each.rank == 3 else 0.8
        for _ in range(rounds):
            receive = part("start receive", before, 64)
            request = each.start_request("Irecv", receive, after=computes * RUN_S / rounds - 1e-5)
            each.call("Send", part("send", after, 64))
            each.call("Wait", each.end(request, before, 64))
            took = 1e-6 + (1 - computes) * RUN_S / rounds
            each.call("Allreduce", part("collective", size=8), took=took, site=2)
    return [each.trace for each in made]


@pytest.fixture
def traced(hockney, fake_mpi, monkeypatch) -> str:
    """The profile runs/app of a program with these traces, which no file has."""
    monkeypatch.setattr(replays, "read_traces", lambda launch: traces())
    done = hockney(
        "profile", "-q", "--survey", "none", "--out", "runs/app", "--", "mpiexec", "-n", "8", "./app"
    )
    assert done.code == 0, done.err
    return "runs/app"


RANK_COUNTS = (2, 4, 8)
START_S = 0.1
"""The start of the ranks, in their files and traces."""


def _traced_ranks(program: made_programs.Program, ranks: int) -> list[Written]:
    made = written(ranks, START_S)
    for each in made:
        program(each, ranks)
    return made


@pytest.fixture
def profiles_by_ranks(hockney, fake_mpi, monkeypatch) -> Callable[[made_programs.Program], None]:
    """The profiles runs/app-2, runs/app-4 and runs/app-8, and a function that chooses the program that their
    traces are of."""
    for ranks in RANK_COUNTS:
        for path in fake_mpi.iterdir():
            path.unlink()
        end = max(each.now for each in _traced_ranks(made_programs.PROGRAMS["ring"], ranks)) - START_S
        for each in ranks_of(ranks, end=end):
            each.write(fake_mpi)
        words = ("--survey", "none", "--out", f"runs/app-{ranks}", "--", "mpiexec", "-n", str(ranks), "./app")
        done = hockney("profile", "-q", *words)
        assert done.code == 0, done.err

    def choose(program: made_programs.Program) -> None:
        monkeypatch.setattr(
            scaling_predictions,
            "read_traces",
            lambda launch: [each.trace for each in _traced_ranks(program, len(launch.ranks))],
        )

    choose(made_programs.PROGRAMS["ring"])
    return choose


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path
