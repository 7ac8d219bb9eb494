# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney resume: continue a run that ended early."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import api
from hockney.cli.output.answer import Form, print_answer
from hockney.cli.output.progress import ProgressReporter

if TYPE_CHECKING:
    from hockney.pages.columns import CaseColumn


def action(
    run: Path,
    budget: float | None,
    columns: tuple[CaseColumn, ...],
    quiet: bool,
    as_json: bool,
    **instead: Any,
) -> int:
    with ProgressReporter(quiet) as reporter:
        made = api.resume(run, budget=budget, **instead, listen=reporter)
        return print_answer(made, reporter, Form(as_json, columns))
