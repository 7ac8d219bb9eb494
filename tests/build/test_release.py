# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The archives of a release: what is in them, and that each installs and measures without the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from test_sources import ROOT
from tiers import slow

import hockney


@pytest.fixture(scope="module")
def archives(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return {path.suffix: path for path in folder.iterdir()}


def test_the_archives_are_complete(archives):
    assert archives[".whl"].name == f"hockney-{hockney.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(archives[".whl"]) as archive:
        names = set(archive.namelist())
    product = {path.relative_to(ROOT).as_posix() for path in (ROOT / "hockney").rglob("*.py")}
    tests = {name for name in product if "/tests/" in name}
    assert product - tests <= names and not tests & names
    engine = {path.relative_to(ROOT / "engine") for path in (ROOT / "engine").rglob("*.?pp")}
    assert {f"hockney/_engine/{path.as_posix()}" for path in engine} <= names
    with tarfile.open(archives[".gz"]) as archive:
        top = {name.split("/")[1] for name in archive.getnames()}
    assert {"hockney", "engine", "contract", "tests", "docs", "README.md", "CHANGELOG.md", "LICENSE"} <= top


@pytest.mark.mpi
@pytest.mark.parametrize("suffix", slow(".whl", ".gz"))
def test_an_archive_installs_and_measures_in_an_empty_home(archives, suffix, tmp_path):
    """As a stranger: a new environment and a new home, without this repository."""
    venv, home = tmp_path / "venv", tmp_path / "home"
    home.mkdir()
    hidden = ("PYTHON", "HOCKNEY", "VIRTUAL_ENV", "PYTEST")
    env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    env |= {"HOME": str(home), "PATH": f"{venv / 'bin'}:{os.environ['PATH']}"}

    def run(*words: str, codes: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(words, cwd=home, env=env, capture_output=True, text=True)
        assert done.returncode in codes, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    run(sys.executable, "-m", "venv", str(venv))
    run("pip", "--quiet", "install", str(archives[suffix]))
    assert hockney.__version__ in run("hockney", "--version")
    incomplete = 4  # the budget is for people; a busy machine may leave measurements
    run("hockney", "survey", "--budget", "10s", "--ranks", "2", "--out", "run", codes=(0, incomplete))
    assert "<html" in (home / "run" / "report.html").read_text("utf-8")
