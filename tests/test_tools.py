# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tools of the tests: golden files and catalogs, hidden programs, tiers and groups."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import needs
import pytest
from changed import FOLDERS, ROOT, folders_of
from golden_catalogs import FOLDER, REMEDY, catalog_text, golden_catalog
from golden_files import FOLDER as GOLDEN
from golden_files import Golden, blanks, folder, numbers

from hockney import build
from hockney.build.identity import MAIN


def test_a_file_that_is_missing_or_differs_fails_and_is_rewritten_on_demand(tmp_path):
    compare, rewrite = Golden(tmp_path, regen=False), Golden(tmp_path, regen=True)
    with pytest.raises(AssertionError, match="make golden"):
        compare("a.txt", "one\n")
    rewrite("a.txt", "one\n")
    compare("a.txt", "one")
    with pytest.raises(pytest.fail.Exception, match=r"-one\n\+two"):
        compare("a.txt", "two")


def test_values_are_kept_as_json_in_one_order(tmp_path):
    Golden(tmp_path, regen=True)("a/b.json", {"b": 1, "a": [1.5, "\u00b5"]})
    Golden(tmp_path, regen=False)("a/b.json", {"a": [1.5, "\u00b5"], "b": 1})
    assert (tmp_path / "a/b.json").read_text("utf-8").startswith('{\n "a"')


def test_what_differs_between_runs_is_left_out(tmp_path):
    Golden(tmp_path, regen=True)("a.txt", f"{tmp_path}/x took 1.5 us at r_inf2\n", folder(tmp_path), numbers)
    assert (tmp_path / "a.txt").read_text() == "FOLDER/x took N us at r_inf2\n"
    Golden(tmp_path, regen=False)("a.txt", "FOLDER/x   took 2e-06 us at r_inf2", blanks, numbers)


def test_the_fixture_has_the_folder_of_its_test(golden):
    assert golden.folder == GOLDEN / "tests"


GROUPS = (MAIN, *build.groups(build.source_folder()))


def test_every_executable_has_one_catalog():
    paths = {FOLDER / "catalog.json", *(FOLDER / "groups").glob("*.json")}
    assert paths == set(map(golden_catalog, GROUPS)), REMEDY


@pytest.mark.parametrize("group", GROUPS)
def test_a_catalog_is_as_printed(group):
    text = golden_catalog(group).read_text("utf-8")
    assert catalog_text(text) == text, REMEDY
    first = json.loads(golden_catalog(MAIN).read_text("utf-8"))["workloads"][0]
    for workload in json.loads(text)["workloads"]:
        assert list(workload) == list(first), REMEDY


def test_a_test_sees_no_tool_that_it_does_not_declare():
    every = re.compile("|".join(needs.TOOLS.values()))
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    seen = [path for folder in folders if folder.is_dir() for path in folder.iterdir()]
    assert [path for path in seen if every.fullmatch(path.name)] == []
    assert shutil.which("sh") and shutil.which("git")


@pytest.mark.compiler
def test_a_declared_tool_is_seen():
    assert shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


def test_only_the_programs_of_other_tools_are_hidden(tmp_path, monkeypatch):
    names = ("c++", "x86_64-linux-gnu-gcc-12", "spin", "ip", "awk", "ccache")
    for name in names:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setattr(needs, "PATH", str(tmp_path))
    folders = (needs.programs_of.__wrapped__("SPIN"), needs.path_without_tools())
    assert [sorted(os.listdir(folder)) for folder in folders] == [["spin"], ["awk", "ccache"]]


def test_a_missing_tool_skips_the_test_and_fails_it_in_ci(monkeypatch):
    monkeypatch.setattr(needs, "hidden", False)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(needs.Missing) as skipped:
        needs.need_program("SPIN", "no-such-program")
    assert skipped.value.need == "SPIN"
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception):
        needs.need_program("SPIN", "no-such-program")


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
    counts, out = run(tmp_path, "--box", "0", "tests/test_error_codes.py")
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
