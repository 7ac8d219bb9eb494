# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney reproduce: a paper's printed numbers compared with a simulation of its machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hockney import api
from hockney import reproductions as shelf
from hockney.api import ReproductionResult
from hockney.api.reproduction import results_of
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line, print_table, print_unwrapped
from hockney.cli.output.terminal import echo
from hockney.core.errors import ExitCode, printable
from hockney.draw.page import Table
from hockney.reproductions import ComparedNumber, all_papers, pages, tally_by_status


def action(
    names: tuple[str, ...],
    show: bool,
    out: Path | None,
    figures: Path | None,
    quiet: bool,
    as_json: bool,
    machine: str,
) -> int:
    if show:
        _list(as_json)
        return 0
    with ProgressReporter(quiet) as reporter:
        results = api.reproduce(names, out, figures=figures, machine=machine, listen=reporter)
    if as_json:
        print_json({"reproductions": [_document(result) for result in results]})
    else:
        for result in results:
            _print(result)
        if len(results) > 1:
            print_table(all_papers.papers_table(results_of(results)))
            print_unwrapped(f"report: {results[0].out.parent / 'report.html'}")
    if any(result.left for result in results):
        return ExitCode.INCONCLUSIVE
    return ExitCode.SUCCESS if all(result.holds for result in results) else ExitCode.ANSWER_IS_NO


def _print(done: ReproductionResult) -> None:
    print_line(f"{done.study.NAME}: {done.study.TITLE}")
    echo()
    for name in pages.table_names(done.compared):
        rows = [row for row in done.compared if row.table == name]
        shown = pages.comparison_table(name, rows)
        print_table(replace(shown, columns=(name or shown.columns[0], *shown.columns[1:])))
        echo()
    for table in shelf.summaries(done.study, done.compared):
        print_table(table)
        print_line(table.caption)
        echo()
    for table in done.tables:
        print_table(replace(table, columns=(table.title or table.columns[0], *table.columns[1:])))
        if table.caption:
            print_line(table.caption)
        echo()
    if done.compared:
        agreement = pages.tally_table(done.compared)
        print_table(agreement)
        print_line(agreement.caption)
        echo()
    for check in done.checks:
        print_line(pages.check_text(check))
    for path in done.files:
        print_unwrapped(f"{'report' if path == done.files[0] else 'figure'}: {path}")
    echo()


def _document(done: ReproductionResult) -> dict[str, object]:
    return {
        "name": done.study.NAME,
        "title": done.study.TITLE,
        "paper": done.study.PAPER,
        "out": printable(str(done.out)),
        "report": printable(str(done.files[0])),
        "figures": [printable(str(path)) for path in done.files[1:]],
        "compared": [row_document(row) for row in done.compared],
        "tallies": tally_by_status(done.compared),
        "checks": done.checks,
        "left": done.left,
    }


def row_document(row: ComparedNumber) -> dict[str, object]:
    names = (
        "key",
        "table",
        "what",
        "published",
        "simulated",
        "emulated",
        "predicted",
        "model",
        "unit",
        "error",
        "status",
        "mechanism",
        "note",
    )
    return {name: getattr(row, name) for name in names}


def _list(as_json: bool) -> None:
    all_studies = shelf.all_reproductions()
    if as_json:
        print_json(
            {
                "reproductions": [
                    {"name": study.NAME, "title": study.TITLE, "paper": study.PAPER}
                    for study in all_studies.values()
                ]
            }
        )
        return
    rows = tuple((study.NAME, study.TITLE, study.PAPER) for study in all_studies.values())
    print_table(Table("reproductions", "", ("name", "what", "paper"), rows))
