# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Golden files: wording and layout of output, stored in tests/golden/PACKAGE/NAME, for a suite in its
tests/golden/NAME.

`golden("NAME.txt", text)` compares; `make golden` rewrites all of them, and git shows what changed. A value
that is not text is stored as JSON. `normalise` are functions from text to text, applied in order, for
differences between runs: times, folders, versions.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"
Normalise = Callable[[str], str]


def replaced(pattern: str, by: str) -> Normalise:
    """A normalisation: text that matches `pattern` becomes `by`."""
    return lambda text: re.sub(pattern, by, text, flags=re.MULTILINE)


numbers = replaced(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)", "N")
"""For text whose numbers are tested elsewhere, or differ between runs."""
blanks = replaced(r"[ \t]+", " ")
"""For columns whose widths depend on their numbers."""


def folder(path: Path, name: str = "FOLDER") -> Normalise:
    """A normalisation: the temporary folder `path` becomes `name`."""
    return lambda text: text.replace(str(path), name)


class Golden:
    """Compares values with the files of one package."""

    def __init__(self, folder: Path, regen: bool) -> None:
        self.folder = folder
        self.regen = regen

    def __call__(self, name: str, value: object, *normalise: Normalise) -> None:
        text = (
            value
            if isinstance(value, str)
            else json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
        )
        for function in normalise:
            text = function(text)
        text = text if text.endswith("\n") else f"{text}\n"
        path = self.folder / name
        if self.regen:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            return
        assert path.is_file(), f"there is no golden file {path}; 'make golden' writes it"
        kept = path.read_text("utf-8")
        if text != kept:
            lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), "golden", "now", lineterm="")
            pytest.fail(
                f"{path} differs; is that meant, 'make golden' rewrites it\n" + "\n".join(lines),
                pytrace=False,
            )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regen", action="store_true", help="rewrite the golden files instead of comparing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """golden("NAME.txt", text, *normalise) compares with tests/golden/PACKAGE/NAME.txt."""
    here = request.path.parent
    kept = FOLDER / here.name if here.is_relative_to(FOLDER.parent) else here / "golden"
    return Golden(kept, request.config.getoption("--regen"))
