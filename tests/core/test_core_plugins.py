# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A module in a plug-in folder is a plug-in, a part of one, or an error that names its file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from raising import raises_code

from hockney import studies
from hockney.core import plugins as package
from hockney.core.errors import EnvironmentProblem
from hockney.core.plugins import plugin_names, plugins

WHOLE = "NAME = 'made-up'\ndef plan(): ...\n"


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A plug-in folder, whose modules are forgotten after the test."""
    folder = tmp_path / "made_shelf"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("made_shelf")
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "made_shelf"]:
        del sys.modules[name]


def found(**traits) -> list[str]:
    modules = plugins("made_shelf", "NAME", "plan", name_of=lambda module: module.NAME, **traits)
    return [module.__name__ for module in modules]


def test_a_module_with_all_names_is_a_plugin_and_one_with_none_a_part(shelf):
    (shelf / "made_up.py").write_text(WHOLE)
    (shelf / "part.py").write_text("FEW = 5\n")
    assert plugin_names("made_shelf") == ["made_up", "part"]
    assert found() == ["made_shelf.made_up"]
    with pytest.raises(EnvironmentProblem) as caught:
        found(marks=())
    assert caught.value.fields == {"file": str(shelf / "part.py"), "missing": ["NAME", "plan"]}


def test_only_modules_with_a_mark_are_plugins(shelf):
    (shelf / "part.py").write_text("def plan(): ...\n")
    assert found(marks=("NAME",)) == []


@pytest.mark.parametrize(
    ("file", "text", "code", "field", "value"),
    [
        ("made_up.py", "NAME = 'made-up'\n", "plugin-incomplete", "missing", ["plan"]),
        ("made_up.py", "def plan(): ...\n", "plugin-incomplete", "missing", ["NAME"]),
        ("made_upp.py", WHOLE, "plugin-misnamed", "name", "made-up"),
    ],
)
def test_an_almost_plugin_is_not_ignored(shelf, file, text, code, field, value):
    (shelf / file).write_text(text)
    with pytest.raises(EnvironmentProblem) as caught:
        found()
    assert (caught.value.code, caught.value.fields["file"]) == (code, str(shelf / file))
    assert caught.value.fields[field] == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [("x = 1\ndef plan(:\n", "line 2: SyntaxError"), ("\n\n1 / 0\n", "line 3: ZeroDivisionError")],
)
def test_a_module_that_cannot_be_imported_is_named(shelf, text, reason):
    (shelf / "made_up.py").write_text(text)
    with pytest.raises(EnvironmentProblem) as caught:
        found()
    assert (caught.value.code, caught.value.fields["file"]) == (
        "plugin-not-imported",
        str(shelf / "made_up.py"),
    )
    assert f"{shelf / 'made_up.py'}, {reason}" in caught.value.why


def test_an_error_of_hockney_in_a_module_is_kept(shelf):
    line = "from hockney.core.errors import UsageError\nraise UsageError('x', code='some-code')\n"
    (shelf / "made_up.py").write_text(line)
    with raises_code("some-code"):
        found()


def test_two_plugins_of_one_name(shelf, tmp_path, monkeypatch):
    (shelf / "made_up.py").write_text(WHOLE)
    suite = tmp_path / "suites" / "some"
    (suite / "made_shelf").mkdir(parents=True)
    (suite / "__init__.py").write_text("")
    (suite / "made_shelf" / "made_up.py").write_text(WHOLE)
    monkeypatch.setattr(package, "SUITES", tmp_path / "suites")
    with raises_code("plugin-name-twice"):
        plugin_names("made_shelf")


def test_a_suite_is_a_package(shelf, tmp_path, monkeypatch):
    """Its plug-ins would be missing silently. Without sources it is what an earlier version left."""
    suites = tmp_path / "suites"
    (suites / "left" / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(package, "SUITES", suites)
    assert plugin_names("made_shelf") == []
    (suites / "some" / "studies").mkdir(parents=True)
    (suites / "some" / "studies" / "x.py").write_text(WHOLE)
    package._find_modules.cache_clear()
    with raises_code("suite-not-a-package", folder=str(suites / "some")):
        plugin_names("made_shelf")
    monkeypatch.setattr(package, "SUITES", tmp_path / "none")
    assert plugin_names("made_shelf") == []


def test_a_study_with_a_wrong_name_is_an_error_and_no_suggestion(tmp_path, monkeypatch):
    names = "HELP = 'x'\nfrom hockney.studies.ad_hoc import page, plan\n"
    (tmp_path / "colds.py").write_text(f"NAME = 'cold'\n{names}")
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(tmp_path)])
    with pytest.raises(EnvironmentProblem) as caught:
        studies.find_study("cold")
    assert (caught.value.code, Path(caught.value.fields["file"]).name) == ("plugin-misnamed", "colds.py")
    sys.modules.pop("hockney.studies.colds", None)


def test_a_study_has_the_defaults_of_what_it_leaves_out():
    survey, cases = studies.find_study("survey"), studies.find_study("cases")
    assert survey.REFINES and survey.ASKS_FOR_LEVELS and survey.RUN_BY_NAME and not survey.AS_TYPED
    assert cases.AS_TYPED and not (cases.REFINES or cases.ASKS_FOR_LEVELS or cases.RUN_BY_NAME)
    assert (cases.PARAMETERS, cases.WORKLOADS, cases.answer) == ((), (), None)
    assert cases.launch_settings(None, None) == cases.summary(None) == () and cases.is_conclusive(None)
