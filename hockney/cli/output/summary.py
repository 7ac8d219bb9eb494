# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer on stdout: in words for people, as one document for programs."""

from __future__ import annotations

import click

from hockney.cli.output.tables import print_json, print_line, text_table
from hockney.core.errors import printable
from hockney.core.fit import Fit
from hockney.draw.page import Page, Table
from hockney.lab import Outcome
from hockney.pages.format import plural
from hockney.pages.quality import chosen, parameter_table
from hockney.store import RunFolder
from hockney.studies import Evidence

MAIN = (("hockney", "pingpong buffers=hot"), ("loggp", "prtt"))


def tell_words(folder: RunFolder, evidence: Evidence, page: Page, outcome: Outcome) -> None:
    """Headline, main parameters, warnings, and where the rest is."""
    cases = _cases(page)
    if cases.rows:
        click.echo(text_table(cases))
    else:
        for sentence in page.headline:
            print_line(sentence)
    fits = [f for f in chosen(evidence.fits.fits) if f.parameters and _is_main(f, evidence)]
    if fits:
        click.echo()
        click.echo(text_table(_short(parameter_table(fits))))
    caveats = [*page.warnings, *(w for section in page.sections for w in section.warnings)]
    if caveats:
        click.echo()
    for caveat in caveats:
        print_line(f"warning: {caveat.text} (touches {caveat.touches}) {caveat.todo}")
    click.echo()
    if outcome.left:
        print_line(
            f"missing: {plural(outcome.left, 'planned measurement')}, made by hockney resume {folder.path}"
        )
    print_line(f"report: {folder.report_path}")


def _cases(page: Page) -> Table:
    """All cases in one table, where they and not the headline are the answer."""
    tables = [t for section in page.sections for t in section.tables if t.name == "cases"]
    columns = tables[0].columns if tables else ()
    rows = tuple(row for table in tables for row in table.rows)
    return Table("cases", "", columns, rows, numeric=tables[0].numeric if tables else ())


def _is_main(fit: Fit, evidence: Evidence) -> bool:
    if evidence.study == "cases":
        return True
    return any(fit.model == model and fit.subject.startswith(subject) for model, subject in MAIN)


def _short(table: Table) -> Table:
    """Without the verdict's reasons, and without the subject where it is the same throughout."""
    rows = [(*row[:6], row[6].partition(":")[0]) for row in table.rows]
    if len({row[1] for row in rows if row[0] == rows[0][0]}) > 1:
        return Table(table.name, table.title, table.columns, tuple(rows), numeric=(4, 5))
    columns = (table.columns[0], *table.columns[2:])
    return Table(table.name, table.title, columns, tuple((row[0], *row[2:]) for row in rows), numeric=(3, 4))


def tell_json(folder: RunFolder, evidence: Evidence, page: Page, outcome: Outcome) -> None:
    print_json(
        {
            "run": printable(str(folder.path)),
            "report": printable(str(folder.report_path)),
            "headline": page.headline,
            "doubts": [*page.warnings, *(w for section in page.sections for w in section.warnings)],
            "outcome": outcome,
            "summaries": evidence.fits.summaries,
            "fits": evidence.fits.fits,
        }
    )
