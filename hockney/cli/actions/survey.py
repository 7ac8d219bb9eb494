# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney survey: the study everyone starts with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney.api import Question, RunOptions
from hockney.cli.output.answer import Form, measure_and_print

if TYPE_CHECKING:
    from hockney.pages.columns import CaseColumn


def action(
    out: Path | None, columns: tuple[CaseColumn, ...], quiet: bool, as_json: bool, **given: Any
) -> int:
    return measure_and_print(Question("survey"), RunOptions(**given), out, quiet, Form(as_json, columns))
