# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/extending.md are whole: the workload compiles and verifies, the study answers."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from hockney import build, lab, studies
from hockney.cli.errors import guarded
from hockney.core.machine import Traits
from hockney.core.record import Failure, Launch, Record
from hockney.lab import kinds
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.machine import processors
from hockney.store import RunFolder
from hockney.studies.barriers.plan import algorithms

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text("utf-8")


def example(language: str) -> tuple[str, str]:
    """The path that the text before a code block names, and the block."""
    before, _, rest = PAGE.partition(f"```{language}\n")
    return re.findall(r"^`([\w/]+\.\w+)`,", before, re.MULTILINE)[-1], rest.partition("```\n")[0]


@pytest.mark.mpi
def test_the_workload_compiles_and_verifies_on_1_and_2_ranks(tmp_path):
    """In a copy of the engine whose shelf holds nothing else, which compiles in half the time."""
    from real_mpi import mpi_named

    mpi = mpi_named("openmpi")
    name, text = example("cpp")
    copy = tmp_path / "engine"
    shutil.copytree(
        ROOT / "engine", copy, ignore=lambda folder, names: names if folder.endswith("patterns") else []
    )
    (tmp_path / name).write_text(text)
    engine = build.engine(mpi, source=copy)
    assert [w.name for w in engine.catalog.workloads] == ["ring"]
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


def test_the_study_answers_on_the_fake_machine(tmp_path, monkeypatch, capsys):
    name, text = example("python")
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / Path(name).name).write_text(text)
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


def named_example(path: str) -> str:
    """The block after the line that begins with `path`."""
    _, found, rest = PAGE.partition(f"\n`{path}`,")
    assert found, path
    return rest.partition("```python\n")[2].partition("```\n")[0]


def test_the_machine_kind_is_measured_reported_and_predicted(tmp_path, monkeypatch, capsys):
    """One new file: its runs have report, models and predictions with its traits."""
    path = "hockney/lab/kinds/toy.py"
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
    barriers = algorithms(lab.fake_catalog(), machine)
    real = msgspec.structs.replace(machine, traits=Traits())
    assert "dissemination" in barriers and len(barriers) < len(algorithms(lab.fake_catalog(), real))
    listed = json.loads(hockney("machines", "--machine", "toy:cable", "--json"))["kinds"]
    assert "toy" in [kind["kind"] for kind in listed]
    for wrong in ("toy:cabel", "tyo:cable"):
        assert guarded(["run", "pingpong", "--machine", wrong]) == 2
        assert "cable" in capsys.readouterr().err
