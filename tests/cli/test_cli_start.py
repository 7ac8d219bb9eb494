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
import json, os, sys
from hockney.cli.start import guarded
for line in sys.argv[2:]:  # a process for each
    if os.fork() == 0:
        code = guarded(line.split())
        with open(sys.argv[1], "a") as out:
            out.write(json.dumps([code, list(sys.modules)]) + "\\n")
        os._exit(0)
    os.wait()
"""
LAZY = ("hockney", *(f"hockney.{package}" for package in ("api", "draw", "measurement", "models", "report")))


@pytest.fixture
def started(tmp_path):
    """started("--version", "run -h") returns the exit code of each command, and the modules that its process
    has imported by then."""

    def start(*lines: str, **environ: str) -> list[tuple[int, set[str]]]:
        out = tmp_path / "modules.json"
        out.unlink(missing_ok=True)
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(out), *lines],
            cwd=tmp_path,
            env={**os.environ, "HOCKNEY_MACHINE": "fake", **environ},
            capture_output=True,
            check=True,
        )
        found = map(json.loads, out.read_text().splitlines())
        return [(code, set(modules)) for code, modules in found]

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


def test_no_verb_is_imported_without_need(started):
    words = {"--version": 0, "--help": 0, "-h": 0, "surveyy": 2}
    for (code, modules), expected in zip(started(*words), words.values(), strict=True):
        assert code == expected
        assert {name for name in modules if name.startswith("hockney.cli.verbs.")} == set()
        if code == 0:  # an unknown command may be the name of a study
            assert modules & SLOW == set()
            assert {n for n in modules if n.startswith(("hockney.models", "hockney.studies"))} == set()


def test_verbs_are_completed_without_importing_them(started):
    completing = {"_HOCKNEY_COMPLETE": "bash_complete", "COMP_WORDS": "hockney re", "COMP_CWORD": "1"}
    ((code, modules),) = started("", **completing)
    assert code == 0
    assert modules & SLOW == set()


def test_the_help_of_a_verb_imports_neither_its_action_nor_another_verb(started):
    for verb, (code, modules) in zip(
        verbs.VERBS, started(*(f"{v} --help" for v in verbs.VERBS)), strict=True
    ):
        assert code == 0
        assert modules & SLOW == set(), "what only annotations need is imported below `if TYPE_CHECKING`"
        assert {n for n in modules if n.startswith(("hockney.cli.actions", "hockney.models"))} == set()
        assert {n for n in modules if n.startswith("hockney.cli.verbs.")} == {f"hockney.cli.verbs.{verb}"}


UNUSED_BY_A_CASE = (
    "hockney.suites.npb",
    "hockney.suites.annealing",
    "hockney.suites.papers",
    "hockney.models.applications",
    "hockney.machines",
    "hockney.launch.mpi",
    "hockney.build",
    "hockney.batch",
)


def test_verbs_load_what_they_use_only(started):
    """A case needs no other study, kind of machine or model of a benchmark; a page of stored fits no numpy;
    an archive's list no statistics; a list of machines no models; a plan no page."""
    lines = ["run pingpong bytes=8 --launches 3 --out run", "survey --ranks 2 --sizes 8,1KiB --out s"]
    lines += ["report s", "history add s", "history list", "machines --show t3e", "plan survey"]
    (first, case), (second, _), *others = started(*lines)
    assert {first, second} <= {0, 4} and {code for code, _ in others} == {0}
    report, _, listed, machines, plan = (modules for _, modules in others)
    assert "hockney.studies.ad_hoc" in case and "hockney.studies.survey" not in case
    kinds = {name for name in case if name.startswith("hockney.measurement.kinds.")}
    assert kinds == {"hockney.measurement.kinds.fake"}
    assert [name for name in case if name.startswith(UNUSED_BY_A_CASE)] == []
    assert "numpy" in case and "hockney.report.render" in report
    assert report & {"numpy", "scipy", "rich", "matplotlib", "hockney.draw.files"} == set()
    assert listed & (PAGE | {"scipy", "numpy"}) == machines & (PAGE | {"scipy", "numpy"}) == set()
    assert plan & (PAGE | {"scipy"}) == set()


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
