# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney resume: continue a run that ended early."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import api
from hockney.cli.arguments.batch import taken
from hockney.cli.output.answer import Form, print_answer
from hockney.cli.output.judged import JudgementForm, print_judgement
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.shares import left_in, print_share
from hockney.cli.output.submitted import submit_again_and_print
from hockney.core.errors import UsageError
from hockney.store import pair_in

if TYPE_CHECKING:
    from hockney.pages.case_columns import CaseColumn
    from hockney.store import LaunchShare


def action(
    run: Path,
    budget: float | None,
    share: LaunchShare | None,
    columns: tuple[CaseColumn, ...],
    quiet: bool,
    as_json: bool,
    **instead: Any,
) -> int:
    wanted, dry_run, wait = taken(instead, waits=True)
    replaced = api.Replacements(**instead)
    typed = replaced.given.keys() - {"machine"}  # it may come from the environment
    if pair_in(run) is not None:
        if wanted is not None or share is not None or columns or typed:
            raise UsageError(
                "an interleaved comparison is resumed as it began",
                "both sides keep their options",
                "use no other option than --budget",
                code="pair-resumed-with-options",
            )
        with ProgressReporter(quiet) as reporter:
            comparison = api.resume_interleaved(run, budget=budget, listen=reporter)
            return print_judgement(comparison, reporter, JudgementForm(as_json))
    form = Form(as_json, columns)
    if wanted is not None:
        if share is not None or budget is not None or typed:
            raise UsageError(
                "'hockney resume --submit' takes only options of the job",
                "the job measures what is missing as the run began",
                "leave the other options out, or resume in your own job",
                code="resubmitted-with-options",
            )
        return submit_again_and_print(run, wanted, quiet, form, dry_run, wait)
    with ProgressReporter(quiet) as reporter:
        made = api.resume(run, budget=budget, share=share, wait=wait, instead=replaced, listen=reporter)
        if share is not None and left_in(made):
            return print_share(made, share.number, share.count, form)
        return print_answer(made, reporter, form)
