# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page on described programs: its example is the file, its output is the command's, it has all keys."""

from __future__ import annotations

import re
from pathlib import Path

import console
import pytest

from hockney.models.programs.description import COLLECTIVES, PHASE_KEYS, PROGRAM_KEYS
from hockney.models.programs.formulas import FUNCTIONS
from hockney.models.programs.patterns import CALLS, PATTERNS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "programs.md").read_text("utf-8")


def test_the_example_is_the_file():
    example = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    assert example == (ROOT / "examples" / "programs" / "jacobi.toml").read_text("utf-8")


def test_the_output_is_that_of_the_command(hockney, monkeypatch):
    monkeypatch.chdir(ROOT / "examples" / "programs")
    monkeypatch.setenv("COLUMNS", "110")
    (step,) = console.steps(PAGE)
    done = hockney(*step.command.split()[1:])
    assert done.code == 0 and console.matches(step.expected, done.out, 0.001)


@pytest.mark.parametrize(
    "key",
    sorted(
        {*PROGRAM_KEYS, *PHASE_KEYS, *COLLECTIVES, *FUNCTIONS, *PATTERNS}
        | {key for pattern in PATTERNS.values() for key in pattern.KEYS}
    ),
)
def test_every_key_is_described(key):
    assert re.search(rf"`\[*{key}\]*`", PAGE)


def test_every_way_of_calling_is_described():
    assert all(f'`"{name}"`' in PAGE for name in CALLS)
