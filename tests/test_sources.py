# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for every file of the tree: header, nothing unfinished, no machine-specific paths."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("hockney", "engine", "tests", "benchmarks", "contract", "docs", "examples", ".ci")
SOURCE = re.compile(
    r"\.(py|cpp|hpp|h|js|css|j2|cmake|sh|pml|cpp\.in)$|(^|/)(CMakeLists\.txt|Makefile|run|prepare)$"
)
HEADER = ("SPDX-FileCopyrightText: The hockney authors", "SPDX-License-Identifier: Apache-2.0")
MARKERS = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")
UNFINISHED = re.compile(r"\b(" + "|".join(MARKERS) + r")\b")
# a home, or a folder in which the authors worked
PRIVATE = re.compile(r"(?<![\w./~-])/(work|root|home/\w+|tmp/\w+)/")


def committed() -> list[Path]:
    """Tracked files; in a tree without git (an sdist) all files of the known folders."""
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
        names = [name for name in done.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = []
    if not names:
        found = [p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if "__pycache__" not in p.parts]
        names = [str(p.relative_to(ROOT)) for p in found]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def texts() -> list[tuple[str, str]]:
    found = []
    for path in committed():
        try:
            found.append((path.relative_to(ROOT).as_posix(), path.read_text("utf-8")))
        except UnicodeDecodeError:  # a picture
            continue
    return found


def missing_names(script: Path) -> list[str]:
    """What a script imports from hockney that is not there."""
    found = []
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "hockney":
            for alias in node.names:
                try:
                    if not hasattr(importlib.import_module(node.module), alias.name):
                        importlib.import_module(f"{node.module}.{alias.name}")
                except ImportError as error:
                    found.append(f"{script.name}: {error}")
    return found


@pytest.fixture(scope="module")
def tree() -> list[tuple[str, str]]:
    found = texts()
    assert len(found) > 150
    return found


def sources(tree: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in tree if SOURCE.search(name)]


def test_every_source_file_says_whose_it_is(tree):
    """In its first lines, after a shebang at most."""
    for name, text in sources(tree):
        lines = [line for line in text.splitlines() if not line.startswith("#!")][:3]
        head = [words for words in HEADER for line in lines if words in line]
        assert head == list(HEADER), name


def test_nothing_is_left_unfinished(tree):
    found = [(name, match[0]) for name, text in tree for match in UNFINISHED.finditer(text)]
    assert found == []


def test_no_path_of_one_machine(tree):
    outside = [(name, text) for name, text in tree if not name.startswith("tests/")]
    assert [(name, match[0]) for name, text in outside for match in PRIVATE.finditer(text)] == []


def test_benchmarks_import_what_exists(tmp_path):
    """They run only by hand."""
    assert [name for script in (ROOT / "benchmarks").glob("*.py") for name in missing_names(script)] == []
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from hockney.core.nowhere import x\nfrom hockney.core.units import nothing, parse_bytes\n"
    )
    assert len(missing_names(wrong)) == 2


def test_the_walk_finds_what_it_looks_for():
    assert UNFINISHED.search("# TO" + "DO: more") and not UNFINISHED.search("hackney")
    assert PRIVATE.search("see /root/x") and PRIVATE.search("'/tmp/scratch/vm'")
    assert not PRIVATE.search("the grass/root/x") and not PRIVATE.search("/tmp/x")


def test_the_packages_version_is_the_engines():
    import hockney

    assert (ROOT / "engine" / "VERSION").read_text().strip() == hockney.__version__
    assert f'version = "{hockney.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert hockney.__version__ in (ROOT / "CHANGELOG.md").read_text()


def passed_over(path: Path, config: pytest.Config) -> bool:
    """Whether pytest, started without arguments, does not collect this file: because of its folder, its
    folder's name, or its own name."""
    parts = path.relative_to(ROOT).parts
    skipped = any(fnmatch(part, name) for part in parts[:-1] for name in config.getini("norecursedirs"))
    named = any(fnmatch(parts[-1], name) for name in config.getini("python_files"))
    walked = any(path.is_relative_to(ROOT / folder) for folder in config.getini("testpaths"))
    return skipped or not named or not walked


def test_every_test_file_is_collected(pytestconfig):
    """pytest skips folders by their names silently; a test that never runs is worse than none."""
    files = [path for path in committed() if fnmatch(path.name, "test_*.py") and "tests" in path.parts]
    assert len(files) > 100
    assert [str(path.relative_to(ROOT)) for path in files if passed_over(path, pytestconfig)] == []
    assert "collect_ignore" not in "".join(
        path.read_text("utf-8") for path in (ROOT / "tests").rglob("conftest.py")
    )
    assert passed_over(ROOT / "tests" / ".hidden" / "test_x.py", pytestconfig), (
        "the check sees skipped folders"
    )
