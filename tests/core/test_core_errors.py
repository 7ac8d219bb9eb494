# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One grammar, one line, nothing a terminal would obey."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.core.errors import (
    EnvironmentProblem,
    Exit,
    HockneyError,
    Inconclusive,
    UsageError,
    one_line,
    printable,
    unknown,
)


def test_the_grammar():
    assert (
        str(HockneyError("no MPI", "nothing can run", "install one"))
        == "no MPI (nothing can run) install one"
    )
    assert str(HockneyError("no MPI")) == "no MPI"
    assert str(HockneyError("no MPI", todo="install one")) == "no MPI install one"


def test_exit_codes():
    kinds = (UsageError, EnvironmentProblem, Inconclusive, HockneyError)
    assert [kind("x").exit_code for kind in kinds] == [2, 3, 4, 3]
    assert [int(code) for code in Exit] == [0, 1, 2, 3, 4, 130]


@given(st.text(), st.text(), st.text())
def test_always_one_printable_line(what, why, todo):
    assert str(HockneyError(what, why, todo)).isprintable()


@given(st.text())
def test_printable_leaves_printable_text_alone(text):
    assert printable(text).isprintable()
    if text.isprintable():
        assert printable(text) == text


@pytest.mark.parametrize("hostile", ["\x1b[2J", "a\nb", "\x00", "\u202egnp", "\x9b31m", "\ud800"])
def test_terminals_are_not_commanded(hostile):
    assert one_line(hostile).isprintable()


def test_did_you_mean():
    assert "did you mean 'survey'?" in str(unknown("study", "surwey", ["survey", "cases"]))
    assert "known: a, b" in str(unknown("thing", "zzz", ["b", "a"]))
    assert str(unknown("thing", "zzz", ["a"], "look it up")).endswith("look it up")
    assert "\x1b" not in str(unknown("thing", "\x1b[2J", ["a"]))
