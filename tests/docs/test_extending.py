# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/extending.md are whole: each is one file, which compiles, verifies and is measured."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hockney import build, studies
from hockney.cli.errors import guarded
from hockney.core.record import Failure, Launch, Record, decode_line
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.machine import processors
from hockney.models.schedules import SCHEDULES, Tally, collectives

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text("utf-8")


def example(name: str) -> str:
    """The code block after the text that names the file."""
    _, named, rest = PAGE.partition(f"\n`{name}`, ")
    assert named, name
    return rest.partition("\n```")[2].partition("\n")[2].partition("```\n")[0]


@pytest.mark.mpi
def test_the_workload_compiles_and_verifies_on_1_and_2_ranks(tmp_path):
    from real_mpi import mpi_named

    mpi = mpi_named("openmpi")
    copy = tmp_path / "engine"
    shutil.copytree(ROOT / "engine", copy)
    (copy / "patterns" / "ring.cpp").write_text(example("engine/patterns/ring.cpp"))
    engine = build.engine(mpi, source=copy)
    assert "ring" in [w.name for w in engine.catalog.workloads]
    launcher = MpiLauncher(mpi, engine.path, processors().cores)
    for ranks in (1, 2):
        words = [f"ring bytes={b} buffers={h} sync=barrier" for b in (0, 8, 100_001) for h in ("hot", "cold")]
        cases = [engine.catalog.case(line, ranks) for line in words]
        options = LaunchOptions("T", 0, budget_s=1.0, max_repetitions=3)
        lines = list(launcher.run(cases, ranks, options))
        assert not [line for line in lines if isinstance(line, Failure)]
        assert len(next(line for line in lines if isinstance(line, Launch)).ranks) == ranks
        records = [line for line in lines if isinstance(line, Record)]
        assert [r.case for r in records] == [case.line for case in cases]
        assert all(r.times_s and r.verified.errors == 0 for r in records)
        # before and after the repetitions, on every rank
        assert [r.verified.bytes for r in records] == [2 * ranks * int(c.value("bytes")) for c in cases]


def tree(folder: Path, name: str) -> Path:
    """A copy of what hockney consists of, with the example `name` added and nothing else."""
    for part in ("hockney", "engine", "contract"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    place = folder / name
    assert not place.exists()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(example(name))
    return folder


def hockney(folder: Path, *words: str) -> str:
    """The program of the copy in `folder`."""
    environ = os.environ | {"PYTHONPATH": str(folder), "HOCKNEY_MACHINE": "", "HOCKNEY_MPI": "openmpi"}
    program = [sys.executable, "-c", "from hockney.cli import main; main()", *words]
    done = subprocess.run(program, cwd=folder, env=environ, capture_output=True, text=True, timeout=900)
    assert done.returncode in (0, 4), done.stderr[-3000:]
    return done.stdout


BRIEFLY = ("--launches", "1", "--budget", "60s", "--precision", "0.9")
"""Precise enough at once, and on a busy machine too."""


def measured(folder: Path, run: str) -> list[Record]:
    lines = [decode_line(line) for line in (folder / run / "records.jsonl").read_bytes().splitlines()]
    assert not [line for line in lines if isinstance(line, Failure)]
    return [line for line in lines if isinstance(line, Record)]


@pytest.mark.mpi
def test_the_collective_algorithm_runs_on_1_and_3_ranks(tmp_path):
    folder = tree(tmp_path, "engine/coll/allgather/ring.cpp")
    words = ("allgather algorithm=ring bytes=0,8,1001 ranks=1,3", *BRIEFLY)
    hockney(folder, "run", *words, "--out", "r", "-q")
    records = measured(folder, "r")
    assert sorted({record.parsed_case().ranks for record in records}) == [1, 3]
    assert len(records) == 6 and all(record.verified.errors == 0 for record in records)
    assert {record.parsed_case().value("algorithm") for record in records} == {"ring"}


@pytest.mark.mpi
def test_the_kernel_is_listed_compiled_and_measured_on_1_and_2_ranks(tmp_path):
    folder, name = tree(tmp_path, "engine/kernels/relax.cpp"), "relax"
    listed = json.loads(hockney(folder, "run", "--list", "--json"))
    assert listed["groups"] == {"hockney-kernels": [name]}
    words = (f"{name} points=100 ranks=1,2", "barrier ranks=2", *BRIEFLY)
    hockney(folder, "run", *words, "--out", "r", "-q")
    records = measured(folder, "r")
    of_kernel = [record for record in records if record.parsed_case().workload == name]
    assert len(records) == 3 and len(of_kernel) == 2
    assert len({record.launch for record in records}) == 3, "a launch has one executable"
    for record in of_kernel:
        ranks = record.parsed_case().ranks
        assert record.verified.errors == 0 and record.verified.bytes > 0
        assert set(record.metrics) == {"exchange", "flops", "memory"}
        assert record.metric("flops") == 200 * ranks and record.metric("memory") == 2 * 102 * 8
        exchange = record.metrics["exchange"]
        assert exchange.phase and len(exchange.values) == len(record.times_s)
        assert all(part > 0 for part in exchange.values)


def test_the_study_answers_on_the_fake_machine(tmp_path, monkeypatch, capsys):
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "cold.py").write_text(example("hockney/studies/cold.py"))
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(tmp_path / "shelf")])
    monkeypatch.setenv("HOCKNEY_MACHINE", "fake")
    monkeypatch.chdir(tmp_path)
    assert "cold" in studies.all_studies()
    assert guarded(["run", "cold", "--out", "r", "--seed", "1", "-q"]) == 0
    out = capsys.readouterr().out
    # the fake world: cold bytes cost 1.6 times as much
    ratio = float(re.search(r"256 KiB: ([\d.]+) times the hot one's time", out)[1])
    assert 1.3 < ratio < 1.6
    assert (tmp_path / "r" / "report.html").stat().st_size > 10**6


def test_the_schedule_is_a_broadcast():
    text = PAGE.partition("```py\n")[2].partition("```\n")[0]
    try:
        exec(f"from __future__ import annotations\n{text}", vars(collectives).copy())
        steps = list(SCHEDULES["bcast", "chain"](5, 8))
    finally:
        SCHEDULES.pop(("bcast", "chain"), None)
    tally = Tally.of(steps, 5)
    assert tally.received.tolist() == [0, 8, 8, 8, 8] and tally.depth == 4
