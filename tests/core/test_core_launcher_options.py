# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The user's additions to the launch command, as typed."""

from __future__ import annotations

import pytest
from raising import raises_code

from hockney.core.launcher_options import NO_LAUNCHER_OPTIONS, LauncherOptions, parse_launcher_options


def test_arguments_are_split_as_a_shell_does():
    made = parse_launcher_options("--mca btl 'self,tcp' --prefix \"/a b\"", ("A=1", "B=x=y", "C="))
    assert made.arguments == ("--mca", "btl", "self,tcp", "--prefix", "/a b")
    assert made.variables == (("A", "1"), ("B", "x=y"), ("C", ""))
    assert parse_launcher_options(made.line, ()).arguments == made.arguments
    assert (
        made
        and parse_launcher_options("", ()) == NO_LAUNCHER_OPTIONS == LauncherOptions()
        and not NO_LAUNCHER_OPTIONS
    )


def test_more_variables_replace_those_of_the_same_name():
    made = parse_launcher_options("--mca btl self", ("A=1", "B=2")).with_variables((("B", "3"), ("C", "4")))
    assert made == LauncherOptions(("--mca", "btl", "self"), (("A", "1"), ("B", "3"), ("C", "4")))


@pytest.mark.parametrize(
    ("code", "arguments", "variables"),
    [
        ("mpiexec-args-not-words", "--mca 'btl", ()),
        ("mpiexec-args-not-words", "a\0b", ()),
        ("mpiexec-args-with-ranks", "-np 4", ()),
        ("mpiexec-args-with-ranks", "--host a --np=4", ()),
        ("not-a-variable", "", ("UCX_TLS",)),
        ("not-a-variable", "", ("=tcp",)),
        ("not-a-variable", "", ("A B=1",)),
        ("not-a-variable", "", ("A=\x1b",)),
        ("variable-given-twice", "", ("A=1", "A=2")),
    ],
)
def test_mistakes(code, arguments, variables):
    with raises_code(code):
        parse_launcher_options(arguments, variables)
