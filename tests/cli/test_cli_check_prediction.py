# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney profile --check, with a launcher whose ranks have left files before, and with real MPIs, whose
collectives it replaces."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fake_profile import script
from native import library
from test_cli_profile import as_root, compiled

from hockney import build
from hockney.core.fit import Estimate
from hockney.replay.predictions import Change, Choice, PredictedRun, Prediction, TracedRun, freeze

MPIEXEC = ("--", "mpiexec", "-n", "8", "./app")


def frozen(
    path: Path = Path("p.json"), run_s: Estimate | None = None, ranks: int = 8, **changes: Any
) -> Path:
    """The ranks of the fake launcher run for 2 s."""
    values: dict[str, Any] = {
        "created": "", "hockney": "0.1", "program": "app", "command": ["./app"], "mpi": "Open MPI 5",
        "traces": [TracedRun(ranks=ranks, recorded_s=2.0, sha256="ab")], "method": "static",
        "runs": [PredictedRun(ranks=ranks, run_s=run_s or Estimate(2.0, 1.9, 2.1))],
        "unchanged_s": Estimate(2.0, 1.9, 2.1), "ratio": Estimate(1.0, 0.9, 1.1),
    }  # fmt: skip
    freeze(Prediction(**{**values, **changes}), path)
    return path


@pytest.fixture(autouse=True)
def archive(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOCKNEY_ARCHIVE", str(tmp_path / "archive"))


def test_repeats_of_the_program_are_compared(hockney, fake_mpi, golden):
    frozen()
    done = hockney("profile", "--check", "p.json", "--out", "c", *MPIEXEC)
    assert done.code == 0 and done.out.count("output of ./app") == 0, "stdout is the program's"
    assert "launch 5 of 5" in done.err
    golden("check-prediction.txt", done.err.partition("Predicted")[2])
    frozen(run_s=Estimate(1.0, 0.9, 1.1), changes=[Change(kind="overlap", text="--overlap")])
    words = ("profile", "--check", "p.json", "--repeat", "1", "--out", "d", "--json", "-q", *MPIEXEC)
    done = hockney(*words)
    document = json.loads(done.out)
    assert done.code == 1 and document["verdict"] == "missed" and not document["applied"]
    assert document["rows"][0]["error"] == pytest.approx(-0.5) and len(document["unchanged_s"]) == 1
    scores = [json.loads(line) for line in Path("archive/predictions.jsonl").read_text().splitlines()]
    assert [(score["kinds"], score["covered"]) for score in scores] == [([], True), (["overlap"], False)]


def test_settings_are_those_of_the_changed_launches_only(hockney, fake_mpi, tmp_path):
    script(tmp_path / "app", f'#!/bin/sh\necho "${{LIMIT-none}}" >> {tmp_path}/seen\n')
    frozen(changes=[Change(kind="eager limit", text="--eager-limit 64 KiB")], variables={"LIMIT": "65536"})
    done = hockney("profile", "--check", "p.json", "--repeat", "3", "--out", "c", "--json", *MPIEXEC)
    document = json.loads(done.out)
    assert document["applied"] and len(document["changed_s"]) == len(document["unchanged_s"]) == 3
    assert sorted(Path("seen").read_text().split()) == ["65536"] * 3 + ["none"] * 3
    assert re.findall(r"launch (\d) of 6, (?:un)?changed", done.err) == ["1", "2", "3", "4", "5", "6"]
    assert hockney("compare", "c/unchanged", "c/changed").out.startswith("B takes as long as A")


def test_what_cannot_be_checked(hockney, fake_mpi):
    path = frozen()
    for words, code in {
        ("--check", "none.json", *MPIEXEC): "no-prediction",
        ("--check", "p.json"): "profile-without-command",
        ("--check", "p.json", "--overhead", *MPIEXEC): "option-without-launch",
        ("--archive", "a", *MPIEXEC): "archive-without-check",
        ("--check", "p.json", "--out", "/proc/c", *MPIEXEC): "profile-folder-not-writable",
    }.items():
        assert hockney("profile", *words).error.code == code
    path.write_text(path.read_text().replace('"ranks":8', '"ranks":4'))
    done = hockney("profile", "--check", "p.json", "--out", "c", *MPIEXEC)
    assert (done.code, done.error.code) == (2, "prediction-changed") and not Path("c").exists()
    frozen(ranks=4)
    done = hockney("profile", "--check", "p.json", "--repeat", "1", "--out", "c", *MPIEXEC)
    assert (done.code, done.error.code) == (2, "check-on-other-ranks")
    assert not Path("archive").exists()


@pytest.mark.mpi
def test_a_real_program_has_the_algorithm_on_2_ranks(hockney, mpi, tmp_path, monkeypatch):
    """Each call is recorded once, and made by the library's algorithm in half of the launches."""
    for name, value in as_root().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(build, "preloaded_library", lambda *_: library(mpi) / "lib/libhockney-pmpi.so")
    program = compiled(mpi, tmp_path)
    frozen(
        ranks=2,
        changes=[Change(kind="algorithm", text="--allreduce ring")],
        choices=[Choice(operation="allreduce", algorithm="ring")],
        run_s=Estimate(1.0, 1e-6, 1e6),
    )
    words = ("--repeat", "2", "--json", "-q", "--", mpi.mpiexec, "-n", "2", str(program))
    done = hockney("profile", "--check", "p.json", "--out", "c", *words)
    assert done.code == 0, done.err
    assert "operation=allreduce algorithm=ring calls=60" in Path("c/changed/collectives.txt").read_text()
    for side in ("changed", "unchanged"):
        document = json.loads(hockney("profile", "--json", "--survey", "none", f"c/{side}").out)
        calls = {each["function"]: each["calls"] for each in document["call_sites"]}
        assert calls["MPI_Allreduce"] == 60 and document["launches"] == 2
    frozen(
        ranks=2,
        changes=[Change(kind="algorithm", text="--bcast binomial")],
        choices=[Choice(operation="bcast", algorithm="binomial")],
    )
    done = hockney("profile", "--check", "p.json", "--out", "d", *words)
    assert (done.code, done.error.code) == (4, "change-not-applied")
