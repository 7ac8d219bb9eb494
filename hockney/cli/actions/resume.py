# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney resume: continue a run that ended early."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import api
from hockney.api import Run
from hockney.cli.arguments.batch import take_batch_options
from hockney.cli.output.answer import AnswerForm, print_answer, print_submitted
from hockney.cli.output.judged import JudgementForm, print_judgement
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line
from hockney.core.errors import ExitCode, UsageError
from hockney.core.wording import plural
from hockney.store import missing_items, pair_in

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
    batch_options, dry_run, wait = take_batch_options(instead, waits=True)
    replacements = api.Replacements(**instead)
    kept_options = replacements.given.keys() - {"machine"}  # it may come from the environment
    if pair_in(run) is not None:
        if batch_options is not None or share is not None or columns or kept_options:
            raise UsageError(
                "an interleaved comparison is resumed as it began",
                "both sides keep their options",
                "use no other option than --budget",
                code="pair-resumed-with-options",
            )
        with ProgressReporter(quiet) as reporter:
            comparison = api.resume_interleaved(run, budget=budget, listen=reporter)
            return print_judgement(comparison, reporter, JudgementForm(as_json))
    form = AnswerForm(as_json, columns)
    if batch_options is not None:
        if share is not None or budget is not None or kept_options:
            raise UsageError(
                "'hockney resume --submit' takes only options of the job",
                "the job measures what is missing as the run began",
                "leave the other options out, or resume in your own job",
                code="resubmitted-with-options",
            )
        submit = partial(api.submit_again, run, batch_options, only_script=dry_run)
        return print_submitted(submit, quiet, form, wait)
    with ProgressReporter(quiet) as reporter:
        resumed_run = api.resume(
            run, budget=budget, share=share, wait=wait, replacements=replacements, listen=reporter
        )
        if share is not None and missing_count(resumed_run):
            return print_share(resumed_run, share.number, share.count, form)
        return print_answer(resumed_run, reporter, form)


def missing_count(run: Run) -> int:
    """Number of missing measurements of the whole run."""
    return len(missing_items(run.plan, run.reading.run))


def print_share(run: Run, number: int, count: int, form: AnswerForm) -> int:
    """Print the state of one share of a run, as an answer needs the other shares too. Returns the exit
    code."""
    own_missing, missing = 0 if run.outcome is None else run.outcome.missing_count, missing_count(run)
    if form.as_json:
        share = {"share": number, "shares": count, "outcome": run.outcome, "left": missing}
        print_json({"run": str(run.path), **share})
    else:
        state = f"{plural(own_missing, 'measurement')} missing" if own_missing else "complete"
        other_missing = plural(missing - own_missing, "measurement")
        print_line(f"share {number} of {count}: {state}; the others lack {other_missing}")
    return ExitCode.INCONCLUSIVE if own_missing else ExitCode.SUCCESS
