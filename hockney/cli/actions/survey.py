# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney survey: measure this machine's message passing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney.cli.actions.run import answer
from hockney.cli.arguments.checking import check_needed
from hockney.cli.output.answer import AnswerForm

if TYPE_CHECKING:
    from hockney.pages.case_columns import CaseColumn


def action(
    out: Path | None,
    columns: tuple[CaseColumn, ...],
    force: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> int:
    if force and not given["baselines"]:
        raise check_needed("--force")
    form = AnswerForm(as_json, columns)
    return answer(("survey",), given, out, quiet, form, force=force, cases_of_baseline=True)
