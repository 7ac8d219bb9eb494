# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer on stdout: in words for people, as one document for programs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hockney import api
from hockney.cli import messages
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line, text_table
from hockney.core.catalog import PING_PONG
from hockney.core.errors import Exit, keeping, printable
from hockney.core.fit import Fit
from hockney.core.wording import plural
from hockney.draw.page import Page, Table
from hockney.pages import metrics
from hockney.pages.evidence import Measured
from hockney.pages.quality import chosen, parameter_table

if TYPE_CHECKING:
    from hockney.api import Question, Run, RunOptions


def measure_and_print(
    question: Question, options: RunOptions, out: Path | None, quiet: bool, as_json: bool
) -> int:
    """From a question to its answer; returns the exit code."""
    with ProgressReporter(quiet) as reporter:
        run = api.run(question, options, out=out, listen=reporter)
    return print_answer(run, as_json)


def print_answer(run: Run, as_json: bool) -> int:
    """Write the report of a run just measured and print its results; returns the exit code."""
    left = 0 if run.outcome is None else run.outcome.left
    with keeping(run.folder.path, complete=not left):
        run.report()
        (print_document if as_json else print_summary)(run)
    if run.wrong:
        return Exit.ANSWER_IS_NO
    return Exit.INCONCLUSIVE if left else Exit.FINE


def print_summary(run: Run) -> None:
    """Headline or cases with their metrics, main parameters, warnings, and where the rest is."""
    folder, page = run.folder, run.page
    cases = _cases(page)
    if cases.rows:
        click.echo(text_table(cases))
        _print_metrics([m for m in run.evidence.measured if m.summary.metrics])
    else:
        for sentence in page.headline:
            print_line(sentence)
    fits = [f for f in chosen(run.fits.fits) if f.parameters and _is_main(f, run)]
    if fits:
        click.echo()
        click.echo(text_table(_short(parameter_table(fits))))
    if run.caveats:
        click.echo()
    for caveat in run.caveats:
        print_line(messages.warning(caveat.text, caveat.touches, caveat.todo))
    click.echo()
    if run.outcome is not None and run.outcome.left:
        print_line(messages.missing(plural(run.outcome.left, "planned measurement"), folder.path))
    print_line(f"report: {folder.report_path}")


def _cases(page: Page) -> Table:
    """All cases in one table, where they and not the headline are the answer."""
    tables = [t for section in page.sections for t in section.tables if t.name == "cases"]
    columns = tables[0].columns if tables else ()
    rows = tuple(row for table in tables for row in table.rows)
    return Table("cases", "", columns, rows, numeric=tables[0].numeric if tables else ())


def _print_metrics(measured: Sequence[Measured]) -> None:
    """The metrics of each case, indented below it."""
    if not measured:
        return
    head, *rows = text_table(metrics.listing(measured)).splitlines()
    click.echo(f"\n  {head}")
    lines = iter(rows)
    for m in measured:
        print_line(m.case.line)
        for line in islice(lines, len(m.summary.metrics)):
            click.echo(f"  {line}")


def _is_main(fit: Fit, run: Run) -> bool:
    if run.settings.study == "cases":
        return True
    workload = run.evidence.catalog.entry(fit.subject.workload)
    return workload.role == "train" or (workload.performs(*PING_PONG) and fit.subject.has(buffers="hot"))


def _short(table: Table) -> Table:
    """Without the verdict's reasons, and without the subject where it is the same throughout."""
    rows = [(*row[:6], row[6].partition(":")[0]) for row in table.rows]
    if len({row[1] for row in rows if row[0] == rows[0][0]}) > 1:
        return Table(table.name, table.title, table.columns, tuple(rows), numeric=(4, 5))
    columns = (table.columns[0], *table.columns[2:])
    return Table(table.name, table.title, columns, tuple((row[0], *row[2:]) for row in rows), numeric=(3, 4))


def print_document(run: Run) -> None:
    print_json(
        {
            "run": printable(str(run.path)),
            "report": printable(str(run.folder.report_path)),
            "label": run.settings.label,
            "machine": run.machine,
            "headline": run.page.headline,
            "doubts": run.caveats,
            "outcome": run.outcome,
            "summaries": run.summaries,
            "fits": run.fits.fits,
        }
    )
