# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs tell errors apart by their codes: every error has one, and no two places share it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

from layers import modules

import hockney
from hockney.core.errors import HockneyError

PACKAGE = Path(hockney.__file__).parent
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def error_classes() -> set[str]:
    def below(kind: type) -> set[str]:
        return {kind.__name__}.union(*(below(child) for child in kind.__subclasses__()))

    for module in pkgutil.walk_packages(hockney.__path__, "hockney."):
        importlib.import_module(module.name)
    return below(HockneyError)


def codes(source: str, makers: set[str]) -> Iterator[tuple[str, int]]:
    """Code and line of every error that is created: "" if it has none, "*" if the code is computed."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            values = [word.value for word in node.keywords if word.arg == "code"]
            if name in makers:
                code = getattr(values[0], "value", "*") if values else ""
                yield str(code) if isinstance(code, str) else "*", node.lineno


def test_every_error_has_a_code_of_its_own():
    makers = error_classes()
    owners: dict[str, list[str]] = {}
    for file in modules(PACKAGE):
        for code, line in codes(file.read_text("utf-8"), makers):
            owners.setdefault(code, []).append(f"{file.relative_to(PACKAGE)}:{line}")
    assert owners.pop("", []) == [], "errors without a code"
    assert len(owners.pop("*")) <= 10 and len(owners) > 300
    assert [code for code in owners if not KEBAB.fullmatch(code)] == []
    assert {code: places for code, places in owners.items() if len(places) > 1} == {}


def test_the_walk_sees_errors():
    source = "UsageError('a', code='b-c')\nerrors.UsageError('d')\nother(code='e')\nUsageError('f', code=G)\n"
    assert list(codes(source, {"UsageError"})) == [("b-c", 1), ("", 2), ("*", 4)]
