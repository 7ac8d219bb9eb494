# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sentences for users are written only in messages.py, errors have unique codes, caveats and notices have
codes, golden files contain the wording.

`make golden` rewrites the golden files, tests/golden/ROOM/messages.txt.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest
from golden_files import FOLDER, Golden
from message_samples import KEBAB, PACKAGE, SAMPLE_CODE, calls_of, modules, name_of, room_of

import hockney
from hockney.core.errors import HockneyError
from hockney.core.notice import Notice
from hockney.draw.page import Caveat
from hockney.lab.finding import Finding

ERRORS = {
    "HockneyError",
    "UsageError",
    "EnvironmentProblem",
    "Inconclusive",
    "Interrupted",
    "BuildFailed",
    "CannotStart",
    "CannotWrite",
    "LaunchFailed",
    "TookTooLong",
}
NOTES = {"Caveat": Caveat, "Notice": Notice, "Finding": Finding}
"""Notices for users although nothing failed. Several views may give a caveat with the same code."""
NOT_YET: set[str] = set()
"""Rooms that still create errors outside messages.py."""


@pytest.mark.parametrize("file", modules(), ids=name_of)
def test_the_wording(file: Path, golden: Golden):
    calls = calls_of(file)
    parts = [f"{call.function}\n{call.text}" for call in calls]
    Golden(FOLDER, golden.regen)(f"{name_of(file)}.txt", "\n\n".join(dict.fromkeys(parts)))


@pytest.mark.parametrize("file", modules(), ids=name_of)
def test_every_error_has_a_code_and_is_one_line(file: Path):
    for call in calls_of(file):
        if isinstance(call.value, HockneyError):
            assert KEBAB.fullmatch(call.value.code), call
            assert str(call.value).isprintable(), call


def test_the_code_of_an_error_belongs_to_one_function():
    owners: dict[str, set[str]] = {}
    for file in modules():
        for call in calls_of(file):
            if isinstance(call.value, HockneyError) and call.code != SAMPLE_CODE:
                owners.setdefault(call.code, set()).add(f"{name_of(file)}.{call.function}")
    assert {code: functions for code, functions in owners.items() if len(functions) > 1} == {}


@pytest.mark.parametrize("file", modules(), ids=name_of)
def test_every_caveat_notice_and_finding_has_a_code(file: Path):
    for call in calls_of(file):
        if isinstance(call.value, tuple(NOTES.values())):
            assert KEBAB.fullmatch(call.value.code), call


def made_elsewhere() -> dict[str, list[str]]:
    """Errors created outside messages.py, by room."""
    places: dict[str, list[str]] = {}
    allowed = {*modules(), PACKAGE / "core" / "errors.py"}
    for file in sorted(PACKAGE.glob("**/*.py")):
        if file not in allowed:
            lines = error_lines(file.read_text("utf-8"))
            places.setdefault(room_of(file), []).extend(f"{file.relative_to(PACKAGE)}:{n}" for n in lines)
    return {room: lines for room, lines in places.items() if lines}


def error_lines(source: str) -> list[int]:
    """The lines that create an error, by its class or by core's `unknown`, a caveat, a notice or a
    finding."""
    tree = ast.parse(source)
    makers = ERRORS | NOTES.keys()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "hockney.core.errors":
            makers |= {alias.asname or alias.name for alias in node.names if alias.name == "unknown"}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sorted(
        node.lineno
        for node in calls
        if (isinstance(node.func, ast.Name) and node.func.id in makers)
        or (isinstance(node.func, ast.Attribute) and node.func.attr in ERRORS | NOTES.keys())
    )


def test_errors_caveats_and_notices_are_made_in_messages():
    assert {room: lines for room, lines in made_elsewhere().items() if room not in NOT_YET} == {}


def test_the_list_of_rooms_to_convert_shrinks():
    assert NOT_YET - made_elsewhere().keys() == set(), "these rooms are done: take them off NOT_YET"


def test_the_walk_sees_errors():
    source = (
        "from hockney.core.errors import unknown\nunknown('a', 'b', [])\nerrors.UsageError('c')\nother()\n"
        "Notice('d', 'e')\npage.Caveat('f', 'g', '', '')\n"
    )
    assert error_lines(source) == [2, 3, 5, 6]


def test_error_classes_are_complete():
    def below(kind: type) -> set[str]:
        return {kind.__name__}.union(*(below(child) for child in kind.__subclasses__()))

    for module in pkgutil.walk_packages(hockney.__path__, "hockney."):
        importlib.import_module(module.name)
    assert below(HockneyError) <= ERRORS
