# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A verb's module is imported when the verb is used, and slow packages only when they are needed."""

from __future__ import annotations

import ast
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import hockney
from hockney.cli import actions, verbs

PAGE = {"jinja2", "matplotlib", "hockney.report.render", "hockney.draw.files"}
"""Modules needed only for writing a page or a figure."""
SLOW = PAGE | {"numpy", "scipy", "rich", "msgspec", "hockney.api.measure", "hockney.measurement.session"}
PROGRAM = """
import json, sys
from hockney.cli.start import guarded
code = guarded(sys.argv[2:])
with open(sys.argv[1], "w") as out:
    json.dump([code, list(sys.modules)], out)
"""
LAZY = ("hockney", *(f"hockney.{package}" for package in ("api", "draw", "measurement", "models", "report")))


@pytest.fixture
def started(tmp_path):
    """started("--version") returns the exit code, and the modules that a new process has imported by then."""

    def start(*words: str, **environ: str) -> tuple[int, set[str]]:
        out = tmp_path / "modules.json"
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(out), *words],
            cwd=tmp_path,
            env={**os.environ, "HOCKNEY_MACHINE": "fake", **environ},
            capture_output=True,
            check=True,
        )
        code, modules = json.loads(out.read_text())
        return code, set(modules)

    return start


@pytest.mark.parametrize("verb", verbs.VERBS)
def test_the_help_in_the_table_is_that_of_the_command(verb):
    command = verbs.load(verb)
    assert command.name == verb
    assert command.get_short_help_str(1000) == verbs.VERBS[verb]


def test_the_tables_have_every_verb():
    for package in (verbs, actions):
        assert {module.name for module in pkgutil.iter_modules(package.__path__)} == set(verbs.VERBS)


def test_python_m_hockney_is_the_command_line():
    words = [sys.executable, "-m", "hockney", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"hockney {hockney.__version__}")


@pytest.mark.parametrize(("word", "code"), [("--version", 0), ("--help", 0), ("-h", 0), ("surveyy", 2)])
def test_no_verb_is_imported_without_need(started, word, code):
    ended, modules = started(word)
    assert ended == code
    assert {name for name in modules if name.startswith("hockney.cli.verbs.")} == set()
    if code == 0:  # an unknown command may be the name of a study
        assert modules & SLOW == set()
        assert {name for name in modules if name.startswith(("hockney.models", "hockney.studies"))} == set()


def test_verbs_are_completed_without_importing_them(started):
    code, modules = started(_HOCKNEY_COMPLETE="bash_complete", COMP_WORDS="hockney re", COMP_CWORD="1")
    assert code == 0
    assert modules & SLOW == set()


@pytest.mark.parametrize("verb", verbs.VERBS)
def test_the_help_of_a_verb_imports_neither_its_action_nor_another_verb(started, verb):
    code, modules = started(verb, "--help")
    assert code == 0
    assert modules & SLOW == set(), "what only annotations need is imported below `if TYPE_CHECKING`"
    assert {n for n in modules if n.startswith(("hockney.cli.actions", "hockney.models"))} == set()
    assert {n for n in modules if n.startswith("hockney.cli.verbs.")} == {f"hockney.cli.verbs.{verb}"}


def test_a_page_of_stored_fits_needs_no_numpy(started):
    code, modules = started("survey", "--ranks", "2", "--sizes", "8,1KiB", "--out", "run")
    assert code in (0, 4) and "numpy" in modules
    code, modules = started("report", "run")
    assert code == 0
    assert "hockney.report.render" in modules
    assert modules & {"numpy", "scipy", "rich", "matplotlib", "hockney.draw.files"} == set()


def test_a_case_loads_no_other_study_kind_of_machine_or_model_of_a_benchmark(started):
    code, modules = started("run", "pingpong", "bytes=8", "--launches", "3", "--out", "run")
    assert code in (0, 4)
    assert "hockney.studies.ad_hoc" in modules and "hockney.studies.survey" not in modules
    assert {name for name in modules if name.startswith("hockney.measurement.kinds.")} == {
        "hockney.measurement.kinds.fake"
    }
    unused = (
        "suites.npb",
        "suites.annealing",
        "suites.papers",
        "models.applications",
        "machines",
        "launch.mpi",
        "build",
        "batch",
    )
    assert [name for name in modules if name.startswith(tuple(f"hockney.{each}" for each in unused))] == []


def test_a_plan_needs_no_page(started):
    code, modules = started("plan", "survey")
    assert code == 0
    assert modules & (PAGE | {"scipy"}) == set()


def test_the_list_of_an_archive_needs_no_statistics(started):
    code, _ = started("run", "barrier", "--out", "run", "--launches", "1")
    assert code in (0, 4)
    assert started("history", "add", "run")[0] == 0
    code, modules = started("history", "list")
    assert code == 0
    assert modules & (PAGE | {"scipy", "numpy"}) == set()


def test_the_list_of_machines_needs_no_models(started):
    code, modules = started("machines", "--show", "t3e")
    assert code == 0
    assert modules & (PAGE | {"scipy", "numpy"}) == set()


@pytest.mark.parametrize(
    ("shell", "words", "expected"),
    [
        ("bash", "hockney re", ["plain,replay", "plain,report", "plain,resume", "plain,reproduce"]),
        ("bash", "hockney report --f", ["plain,--figures"]),
        ("fish", "hockney mod", ["plain,models\tPrint the models fitted to a run:..."]),
    ],
)
def test_completion(hockney, monkeypatch, shell, words, expected):
    last = words.split()[-1]
    monkeypatch.setenv("_HOCKNEY_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", last if shell == "fish" else str(len(words.split()) - 1))
    assert hockney().out.splitlines() == expected


@pytest.mark.page  # with the real hockney.report.write
@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_package_offers_what_it_declares(name):
    """Every name that is imported for type checkers is found at run time, where it is defined."""
    package = importlib.import_module(name)
    tree = ast.parse(Path(package.__file__).read_text("utf-8"))
    declared = {
        alias.asname or alias.name: node.module
        for block in ast.walk(tree)
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert declared
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert modules & set(declared) == set()
    for name, module in declared.items():
        assert getattr(package, name) is getattr(importlib.import_module(module), name), name
    with pytest.raises(AttributeError):
        _ = package.nothing_of_this_name
