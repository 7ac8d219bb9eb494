# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/extending.md are whole: the workload compiles and verifies, the study answers."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from hockney import build, studies
from hockney.cli.errors import guarded
from hockney.core.record import Failure, Launch, Record
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.machine import processors

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
