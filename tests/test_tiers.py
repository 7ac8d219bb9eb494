# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which tests run, and that those which disturb each other do not run at the same time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from changed import FOLDERS, ROOT, folders_of

TESTS = ROOT / "tests"
SUITES = ROOT / "hockney" / "suites"


def run(folder: Path, *options: str) -> tuple[dict[str, int], str]:
    """How many tests of a folder failed, were skipped, ..., and the output."""
    report = folder / "report.xml"
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}", *options]
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    (suite,) = ET.parse(report).getroot()
    counts = {name: int(suite.get(name, "0")) for name in ("tests", "errors", "failures", "skipped")}
    return counts, done.stdout + done.stderr


def test_tests_that_disturb_each_other_are_grouped(request: pytest.FixtureRequest) -> None:
    """pytest-xdist marks the names of grouped tests; otherwise real ranks would run side by side."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("tests run in one process")
    assert "@" in request.node.nodeid


def test_without_tools_nothing_fails(tmp_path: Path) -> None:
    """Of the tests that declare a tool; the others never see one. Each of them is skipped."""
    markers = ("mpi", "simgrid", "browser", "compiler", "needs")
    declaring = re.compile(rf"\bmark\.({'|'.join(markers)})\b")
    every = (file for folder in (TESTS, SUITES) for file in folder.rglob("test_*.py"))
    files = [str(file) for file in every if declaring.search(file.read_text("utf-8"))]
    counts, out = run(tmp_path, "--without-tools", "-m", " or ".join(markers), *files)
    assert counts["errors"] == counts["failures"] == 0, out
    assert counts["tests"] == counts["skipped"] > 50, out


def test_a_box_without_time_leaves_all_tests_out(tmp_path: Path) -> None:
    counts, out = run(tmp_path, "--box", "0", "tests/test_golden_files.py")
    assert counts["tests"] == counts["skipped"] > 0, out


def test_files_belong_to_the_tests_of_their_folder() -> None:
    assert folders_of(["hockney/store/parts.py"]) == {"store", "faults"}
    assert folders_of(["hockney/models/fits/loggp.py"]) == {"models"}
    assert folders_of(["tests/golden/cli/help.txt", "tests/cli/test_cli_check.py"]) == {"cli"}
    assert folders_of(["engine/coll/bcast/x.cpp"]) == {"engine", "library", "lint"}
    assert folders_of(["hockney/suites/npb/programs/kernels.py"]) == {"suites/npb"}
    assert folders_of(["hockney/suites/bsp/tests/golden/x.txt"]) == {"suites/bsp"}
    assert "spin" in folders_of(["engine/sync/mcs_tree.cpp"])
    assert folders_of(["docs/levels.md", "README.md", "Makefile", "hockney/__init__.py"]) == {"docs"}


def folder_with_tests(folder: str) -> Path:
    return SUITES.parent / folder / "tests" if folder.startswith("suites/") else TESTS / folder


def test_the_folders_exist() -> None:
    assert [path for path in FOLDERS if not (ROOT / path).is_dir()] == []
    named = {folder for folders in FOLDERS.values() for folder in folders}
    assert [folder for folder in named if not folder_with_tests(folder).is_dir()] == []
    packages = {path.name for path in (ROOT / "hockney").iterdir() if (path / "__init__.py").exists()}
    without = {name for name in packages if not (TESTS / name).is_dir()}
    without -= {Path(path).name for path in FOLDERS}
    assert without == {"suites"}, "tested by the folders that use them"
