# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Options as keywords: the fields of RunOptions, as numbers or as words."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from pathlib import Path
from typing import get_type_hints

import click
import numpy as np
import pytest
from click.testing import CliRunner

import hockney
from hockney import api
from hockney.api.notebook.keywords import ResumeKeywords, RunKeywords, run_options, with_run_keywords
from hockney.api.run_options import OPTIONS, REPLACEABLE, options_of, run_option
from hockney.cli import verbs
from hockney.cli.arguments.options import field_options
from hockney.core.settings import Settings
from hockney.core.wording import flag, name_options_as_flags, option

NAMES = [field.name for field in fields(hockney.RunOptions)]


def test_there_is_a_keyword_for_every_field():
    assert set(get_type_hints(RunKeywords)) == set(NAMES)
    assert tuple(ResumeKeywords.__annotations__) == REPLACEABLE


@pytest.mark.parametrize("function", [hockney.survey, hockney.run])
def test_help_and_completion_know_them(function):
    shown = inspect.signature(function).parameters
    assert [name for name in shown if name in NAMES] == NAMES
    assert shown["budget"].default == hockney.RunOptions().budget


@pytest.mark.parametrize(
    ("name", "numbers", "words", "expected"),
    [
        ("budget", 30, "30s", 30.0),
        ("budget", np.float64(30), "0.5m", 30.0),
        ("precision", 0.05, "5%", 0.05),
        ("ranks", [2, 4], "2,4", (2, 4)),
        ("ranks", 2, "2", (2,)),
        ("ranks", np.array([8, 2]), "2,8", (2, 8)),
        ("ranks", range(2, 5), "2,3,4", (2, 3, 4)),
        ("ranks", [], (), ()),
        ("sizes", (0, 4096), "0,4KiB", (0, 4096)),
        ("sizes", ["1kB", 8], "8,1000", (8, 1000)),
        ("through", 28800, "8h", 28800.0),
        ("mpi", Path("opt/mpich"), "opt/mpich", "opt/mpich"),
        ("variables", {"A": "1"}, ["A=1"], ("A=1",)),
        ("variables", "A=1", ("A=1",), ("A=1",)),
        ("launches", 5, 5, 5),
        ("hosts", ["a", "b:4"], "a,b:4", ("a", "b:4")),
        ("refine", False, False, False),
    ],
)
def test_numbers_and_words_mean_the_same(name, numbers, words, expected):
    assert [getattr(run_options({name: given}, {}), name) for given in (numbers, words)] == [expected] * 2


def test_none_is_the_default():
    assert run_options(dict.fromkeys(NAMES), {}) == hockney.RunOptions()
    assert run_options({}, {"HOCKNEY_MACHINE": "fake"}).machine == "fake"
    assert run_options({"machine": "sim:t3e"}, {"HOCKNEY_MACHINE": "fake"}).machine == "sim:t3e"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"bugdet": 30}, "unknown-keyword"),
        ({"budget": "30x"}, "unknown-unit"),
        ({"budget": 0}, "option-not-positive"),
        ({"budget": -1}, "negative-quantity"),
        ({"precision": 2}, "fraction-out-of-range"),
        ({"ranks": 0}, "not-a-count"),
        ({"ranks": 2.5}, "not-a-count"),
        ({"sizes": 0.5}, "fractional-size"),
        ({"launches": 0}, "option-out-of-range"),
        ({"seed": -1}, "option-out-of-range"),
        ({"repeat": 10**6}, "option-out-of-range"),
        ({"every": 60}, "every-without-rounds"),
    ],
)
def test_what_cannot_be_meant(options, code):
    with pytest.raises(hockney.UsageError) as refused:
        run_options(options, {})
    assert refused.value.code == code


CONTRADICTIONS = (
    {"repeat": 2, "through": 600},
    {"every": 60},
    {"repeat": 2, "launches": 3},
    {"repeat": 2, "refine": True},
    {"through": 5, "budget": 60},
    {"repeat": 2, "every": 10, "budget": 60},
    {"label": "x" * 1000},
    {"machine": "sim:t3e", "repeat": 2},
)


@pytest.mark.parametrize("options", CONTRADICTIONS)
def test_messages_name_options_as_they_are_given(options):
    """Keywords to programs, flags on the command line; the code and the fields are the same."""
    with pytest.raises(hockney.UsageError) as refused:
        run_options(options, {})
    with pytest.raises(hockney.UsageError) as typed, name_options_as_flags():
        run_options(options, {})
    names = [option(name) for name in options if name != "machine"]
    assert "--" not in str(refused.value) and any(name in str(refused.value) for name in names)
    assert "--" in str(typed.value)
    assert (typed.value.code, typed.value.fields) == (refused.value.code, refused.value.fields)


def test_every_option_of_a_run_is_a_flag():
    flags = {flag for each in verbs.load("run").params for flag in each.opts}
    with name_options_as_flags():
        assert {option(name) for name in NAMES} - flags == set()
        assert option("budget", "60s") == "--budget 60s"
    assert option("budget", "60s") == "budget='60s'" and option("repeat", 20) == "repeat=20"


def test_a_resumed_run_takes_every_replacement_wherever_it_is_resumed():
    names = set(REPLACEABLE)
    flags = {each for parameter in verbs.load("resume").params for each in parameter.opts}
    assert names <= set(inspect.signature(hockney.resume).parameters)
    assert {flag(name) for name in names} <= flags
    assert names <= {field.name for field in fields(Settings)} & set(NAMES)


def test_an_unknown_keyword_is_told_the_nearest():
    with pytest.raises(hockney.UsageError) as refused:
        hockney.survey(bugdet=30)
    assert refused.value.suggestion == "budget"


def test_an_option_is_described_in_its_field_only(monkeypatch):
    """A field more is an option of the command line, a keyword, and replaceable if it says so."""

    @dataclass(frozen=True)
    class Grown:
        color: str = run_option("", "Color of all.", "NAME", parse=str.upper, replaceable=True)
        bright: bool = run_option(True, "Make it bright.", flag=True, negative=True)

    for name, described in options_of(Grown).items():
        monkeypatch.setitem(OPTIONS, name, described)

    @click.command()
    @field_options("color", "bright")
    def command(**given: object) -> None:
        print(given)

    done = CliRunner().invoke(command, ["--color", "red", "--no-bright"])
    assert done.output == f"{ {'color': 'RED', 'bright': False} }\n"
    assert "--color NAME" in CliRunner().invoke(command, ["--help"]).output
    assert api.Replacements(color="RED", mpi="").given == {"color": "RED"}
    with pytest.raises(TypeError):
        api.Replacements(bright=False)
    shown = inspect.signature(with_run_keywords(lambda **options: options)).parameters
    assert shown["color"].default == "" and shown["bright"].default is True


def test_what_resume_or_a_side_replaces_is_a_setting_of_the_plan():
    settings = {field.name for field in fields(Settings)}
    assert {name for name, (each, _) in OPTIONS.items() if each.replaceable or each.side_specific} <= settings
