# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/extending.md are complete: each is one file, which compiles, verifies and is
measured."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from hockney import build, measurement, studies
from hockney.api import load
from hockney.cli.start import guarded
from hockney.core.machine import Traits
from hockney.core.record import Failure, Launch, Record, decode_line
from hockney.discovery.cpu import processors
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.machines import simulated
from hockney.measurement import kinds
from hockney.models.schedules import SCHEDULES, Tally, collectives
from hockney.pages.caveats import caveats, headline_premises
from hockney.pages.evidence import Evidence
from hockney.store import RunFolder
from hockney.studies.barriers.plan import usable_algorithms

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text("utf-8")


def example(name: str) -> str:
    """The code block after the text that names the file."""
    _, named, rest = PAGE.partition(f"\n`{name}`, ")
    assert named, name
    return rest.partition("\n```")[2].partition("\n")[2].partition("```\n")[0]


@pytest.fixture(scope="module")
def extended(tmp_path_factory) -> Path:
    """A copy of hockney with the three examples of the engine added and nothing else, compiled once."""
    folder = tmp_path_factory.mktemp("extended")
    for part in ("hockney", "engine", "contract"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("patterns/ring", "coll/allgather/pairwise", "kernels/relax"):
        place = folder / "engine" / f"{name}.cpp"
        assert not place.exists()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(example(f"engine/{name}.cpp"))
    return folder


@pytest.mark.mpi
def test_the_workload_compiles_and_verifies_on_1_and_2_ranks(extended):
    from real_mpi import mpi_named

    mpi = mpi_named("openmpi")
    engine = build.engine(mpi, source=extended / "engine")
    assert "ring" in [w.name for w in engine.catalog.workloads]
    launcher = MpiLauncher(mpi, engine.path, processors().cores)
    for ranks in (1, 2):
        words = [f"ring bytes={b} buffers={h} sync=barrier" for b in (0, 8, 100_001) for h in ("hot", "cold")]
        cases = [engine.catalog.case(line, ranks) for line in words]
        options = LaunchOptions("T", 0, budget_s=60.0, max_repetitions=3)
        lines = list(launcher.run(cases, ranks, options))
        assert not [line for line in lines if isinstance(line, Failure)]
        assert len(next(line for line in lines if isinstance(line, Launch)).ranks) == ranks
        records = [line for line in lines if isinstance(line, Record)]
        assert [r.case for r in records] == [case.line for case in cases]
        assert all(r.times_s and r.verified.errors == 0 for r in records)
        # before and after the repetitions, on every rank; the last repetition if that takes little time
        for record, case in zip(records, cases, strict=True):
            at_least = 2 * ranks * int(case["bytes"])
            assert at_least <= record.verified.bytes <= 2 * at_least


def hockney(folder: Path, *words: str) -> str:
    """The program of the copy in `folder`."""
    environ = os.environ | {"PYTHONPATH": str(folder), "HOCKNEY_MACHINE": "", "HOCKNEY_MPI": "openmpi"}
    program = [sys.executable, "-c", "from hockney.cli import main; main()", *words]
    done = subprocess.run(program, cwd=folder, env=environ, capture_output=True, text=True, timeout=900)
    assert done.returncode in (0, 4), done.stderr[-3000:]
    return done.stdout


BRIEFLY = ("--launches", "1", "--budget", "60s", "--precision", "0.9")
"""Precise enough at once, even on a busy machine."""


def measured(folder: Path, run: str) -> list[Record]:
    lines = [decode_line(line) for line in (folder / run / "records.jsonl").read_bytes().splitlines()]
    assert not [line for line in lines if isinstance(line, Failure)]
    return [line for line in lines if isinstance(line, Record)]


@pytest.mark.slow
@pytest.mark.mpi
def test_the_collective_algorithm_runs_on_1_and_3_ranks(extended):
    words = ("allgather algorithm=pairwise bytes=0,8,1001 ranks=1,3", *BRIEFLY)
    hockney(extended, "run", *words, "--out", "allgather", "-q")
    records = measured(extended, "allgather")
    assert sorted({record.parse_case().ranks for record in records}) == [1, 3]
    assert len(records) == 6 and all(record.verified.errors == 0 for record in records)
    assert {record.parse_case()["algorithm"] for record in records} == {"pairwise"}


@pytest.mark.slow
@pytest.mark.mpi
def test_the_kernel_is_listed_compiled_and_measured_on_1_and_2_ranks(extended):
    name = "relax"
    listed = json.loads(hockney(extended, "run", "--list", "--json"))
    assert name in listed["groups"]["hockney-kernels"]
    words = (f"{name} points=100 ranks=1,2", "barrier ranks=2", *BRIEFLY)
    hockney(extended, "run", *words, "--out", "kernel", "-q")
    records = measured(extended, "kernel")
    of_kernel = [record for record in records if record.parse_case().workload == name]
    assert len(records) == 3 and len(of_kernel) == 2
    assert len({record.launch for record in records}) == 3, "a launch has one executable"
    for record in of_kernel:
        ranks = record.parse_case().ranks
        assert record.verified.errors == 0 and record.verified.bytes > 0
        assert set(record.metrics) == {"exchange", "flops", "memory"}
        assert record.metric("flops") == 200 * ranks and record.metric("memory") == 2 * 102 * 8
        exchange = record.metrics["exchange"]
        assert exchange.phase and len(exchange.values) == len(record.times_s)
        assert all(part > 0 for part in exchange.values)


def check_caveats_and_premises(evidence: Evidence) -> None:
    """The page has those that affect a single section too, and the sentences before every headline."""
    first, *others = evidence.run.records
    wrong = structs.replace(first, verified=structs.replace(first.verified, errors=1))
    machine = structs.replace(evidence.machine, platform=simulated.platform("t3e"))
    evidence = replace(evidence, run=replace(evidence.run, records=(wrong, *others)), machine=machine)
    page = studies.find_study("cold").page(evidence)
    assert "verification" in [caveat.code for caveat in page.warnings]
    assert page.warnings == tuple(each.caveat for each in caveats(evidence))
    premises = headline_premises(evidence)
    assert premises and page.headline[: len(premises)] == premises


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
    assert (tmp_path / "r" / "report.html").stat().st_size > 500_000, "figures and their script are in it"
    check_caveats_and_premises(load("r").evidence)
    assert guarded(["plan", "cold", "smallest=1KiB", "factor=4", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["cases"]
    assert {line.split()[2] for line in lines} == {f"bytes={1024 * 4**k}" for k in range(4)}
    assert guarded(["plan", "cold", "factor=1"]) == guarded(["plan", "cold", "fcator=4"]) == 2
    capsys.readouterr()
    assert guarded(["run", "cold", "--help"]) == 0
    text = capsys.readouterr().out
    assert "smallest=SIZE" in text and "factor=N" in text


def test_the_schedule_is_a_broadcast():
    (text,) = (block for block in re.findall(r"```py\n(.*?)```\n", PAGE, re.DOTALL) if "@algorithm(" in block)
    try:
        exec(f"from __future__ import annotations\n{text}", vars(collectives).copy())
        steps = list(SCHEDULES["bcast", "relay"](5, 8))
    finally:
        SCHEDULES.pop(("bcast", "relay"), None)
    tally = Tally.of(steps, 5)
    assert tally.received.tolist() == [0, 8, 8, 8, 8] and tally.depth == 4


def named_example(path: str) -> str:
    """The block after the line that begins with `path`."""
    _, found, rest = PAGE.partition(f"\n`{path}`,")
    assert found, path
    return rest.partition("```python\n")[2].partition("```\n")[0]


def test_the_machine_kind_is_measured_reported_and_predicted(tmp_path, monkeypatch, capsys):
    """One new file: its runs have report, models and predictions with its traits."""
    path = "hockney/measurement/kinds/toy.py"
    (tmp_path / "kinds").mkdir()
    (tmp_path / "kinds" / Path(path).name).write_text(named_example(path))
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path / "kinds")])
    monkeypatch.delenv("HOCKNEY_MACHINE", raising=False)
    monkeypatch.chdir(tmp_path)

    def hockney(*words: str, code: int = 0) -> str:
        assert guarded(list(words)) == code, words
        return capsys.readouterr().out

    cases = "pingpong buffers=hot bytes=0,8,64,512,4096,32768,262144,1048576"
    hockney("run", cases, "--machine", "toy:cable", "--out", "r", "--seed", "1", "-q")
    machine = RunFolder.open(tmp_path / "r").machine()
    assert (machine.kind, machine.host, machine.cores) == ("toy", "cable", 16)
    assert machine.traits == Traits(origin="fake", local=False, shared_memory=False)
    models = json.loads(hockney("models", "r", "--json"))
    (fit,) = [f for f in models["fits"] if f["model"] == "hockney" and "buffers=hot" in f["subject"]]
    assert fit["parameters"][0]["estimate"]["value"] == pytest.approx(1e-3, rel=0.05)
    hockney("report", "r")
    assert (tmp_path / "r" / "report.html").is_file()
    words = ("--work", "1s", "--message", "1kB", "--run", "r", "--json")
    predicted = json.loads(hockney("predict", *words))
    assert "fake" in [warning["code"] for warning in predicted["doubts"]]
    hockney("resume", "r", "-q")
    barriers = usable_algorithms(measurement.bundled_catalog(), machine)
    real = msgspec.structs.replace(machine, traits=Traits())
    assert "dissemination" in barriers and len(barriers) < len(
        usable_algorithms(measurement.bundled_catalog(), real)
    )
    listed = json.loads(hockney("machines", "--machine", "toy:cable", "--json"))["kinds"]
    assert "toy" in [kind["kind"] for kind in listed]
    for wrong in ("toy:cabel", "tyo:cable"):
        assert guarded(["run", "pingpong", "--machine", wrong]) == 2
        assert "cable" in capsys.readouterr().err
