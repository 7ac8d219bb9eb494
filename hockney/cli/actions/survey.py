# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney survey: the study everyone starts with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney.api import Question, RunOptions
from hockney.cli.arguments import checking
from hockney.cli.arguments.batch import take_batch_options
from hockney.cli.arguments.checking import check_needed
from hockney.cli.output.answer import AnswerForm, measure_and_print, submit_and_print
from hockney.cli.output.judged import check_and_print

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
    wanted, dry_run, wait = take_batch_options(given)
    check = checking.take_check_options(given, force=force, others={"--submit": wanted is not None})
    if force and check is None:
        raise check_needed("--force")
    question, options, form = Question("survey"), RunOptions(**given), AnswerForm(as_json, columns)
    if wanted is not None:
        return submit_and_print(question, options, wanted, out, quiet, form, dry_run, wait)
    if check is not None:
        return check_and_print(None, options, check, out, quiet, form)
    return measure_and_print(question, options, out, quiet, form)
