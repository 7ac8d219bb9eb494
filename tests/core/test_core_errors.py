# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One grammar, one line, nothing that a terminal would interpret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.core.errors import (
    EnvironmentProblem,
    ExitCode,
    HockneyError,
    Inconclusive,
    Interrupted,
    UsageError,
    one_line,
    printable,
    unknown,
)


def test_the_grammar():
    """What, then why after a colon, then the remedy as a sentence, with no punctuation mark twice."""
    lines = {
        ("no MPI", "nothing can run", "install one"): "no MPI: nothing can run. Install one.",
        ("no MPI", "", ""): "no MPI",
        ("no MPI", "", "install one"): "no MPI. Install one.",
        ("no MPI", "", "is there one?"): "no MPI. Is there one?",
        ("no MPI", "nothing runs.", "install one."): "no MPI: nothing runs. Install one.",
    }
    for parts, line in lines.items():
        assert str(HockneyError(*parts)) == line


def test_an_error_keeps_its_parts():
    error = UsageError("a", "b", "c", code="d", limit=3)
    assert (error.what, error.why, error.remedy, error.code, error.fields) == (
        "a",
        "b",
        "c",
        "d",
        {"limit": 3},
    )


def test_an_error_inside_something():
    error = UsageError("a", "b", "c", code="d", limit=3)
    inner = error.with_context("--budget")
    assert isinstance(inner, UsageError) and str(inner).startswith("--budget: a")
    assert (inner.code, inner.fields, inner.why, inner.remedy) == ("d", {"limit": 3}, "b", "c")
    assert error.what == "a"


def test_exit_codes():
    kinds = (UsageError, EnvironmentProblem, Inconclusive, Interrupted, HockneyError)
    assert [kind("x").exit_code for kind in kinds] == [2, 3, 4, 130, 3]
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 4, 130]


@given(st.text(), st.text(), st.text())
def test_always_one_printable_line(what, why, remedy):
    assert str(HockneyError(what, why, remedy)).isprintable()


@given(st.text())
def test_printable_leaves_printable_text_alone(text):
    assert printable(text).isprintable()
    if text.isprintable():
        assert printable(text) == text


@pytest.mark.parametrize("hostile", ["\x1b[2J", "a\nb", "\x00", "\u202egnp", "\x9b31m", "\ud800"])
def test_terminals_are_not_commanded(hostile):
    assert one_line(hostile).isprintable()


def test_did_you_mean():
    close = unknown("study", "surwey", ["survey", "cases"])
    assert (close.code, close.suggestion, close.fields["name"]) == ("unknown-study", "survey", "surwey")
    far = unknown("simulated machine", "zzz", ["b", "a"], code="no-such-machine")
    assert (far.code, far.suggestion) == ("no-such-machine", "") and "a, b" in far.remedy
    assert unknown("simulated machine", "zzz", []).code == "unknown-simulated-machine"
    assert unknown("thing", "zzz", ["a"], "look it up").remedy == "look it up"
    assert unknown("thing", "a", ["aa"], "look it up").suggestion == "aa"
    assert unknown("thing", "some", ["some", "same"]).suggestion == "same", "never the name itself"
    assert unknown("thing", "some", ["some"], "look it up").suggestion == ""
    assert "\x1b" not in str(unknown("thing", "\x1b[2J", ["a"]))
