# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney without a suite, or without any: the folder is removed from a copy of the tree, in which the core
is imported, plans, measures and passes its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_sources import ROOT, committed
from tiers import slow

SUITES = sorted(path.parent.name for path in (ROOT / "hockney" / "suites").glob("*/__init__.py"))
WITHOUT_RANKS = "not mpi and not simgrid and not browser and not compiler"
FOLDERS = ("core", "studies", "models", "launch", "measurement", "api", "pages", "store")

IMPORTS = """
import importlib, pkgutil, hockney
for module in pkgutil.walk_packages(hockney.__path__, "hockney."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""


def without(names: list[str], folder: Path) -> Path:
    """A copy of the tree without these suites."""
    for path in committed():
        place = folder / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
    for name in names:
        shutil.rmtree(folder / "hockney" / "suites" / name)
    return folder


def run(tree: Path, *words: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    env |= {"PYTHONPATH": str(tree), "HOCKNEY_MACHINE": "fake"}
    done = subprocess.run([sys.executable, *words], cwd=tree, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


@pytest.mark.parametrize("names", [SUITES, *slow(*([name] for name in SUITES))], ids="-".join)
def test_hockney_works_without_suites(names, tmp_path):
    tree = without(names, tmp_path)
    run(tree, "-c", IMPORTS)
    run(tree, "-m", "hockney", "plan", "survey")
    run(tree, "-m", "hockney", "run", "pingpong", "bytes=8:1KiB", "--launches", "3", "--out", "r")
    run(tree, "-m", "hockney", "report", "r")


@pytest.mark.slow(300)
def test_the_core_passes_its_tests_without_suites(tmp_path):
    words = ("-q", "-p", "no:cacheprovider", "-m", WITHOUT_RANKS)
    run(without(SUITES, tmp_path), "-m", "pytest", *words, *(f"tests/{folder}" for folder in FOLDERS))
