# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer on stdout: in words for people, as one document for programs."""

from __future__ import annotations

import click

from hockney.cli.tables import print_json, print_line, text_table
from hockney.core.fit import Fit
from hockney.draw.page import Page, Table
from hockney.lab import Outcome
from hockney.store import RunFolder
from hockney.studies import Evidence
from hockney.studies.quality import chosen, parameter_table

MAIN = (("hockney", "pingpong buffers=hot"), ("loggp", "prtt"))


def tell_words(folder: RunFolder, evidence: Evidence, page: Page, outcome: Outcome) -> None:
    """Headline, main parameters, doubts, and where the rest is."""
    for sentence in page.headline:
        print_line(sentence)
    fits = [f for f in chosen(evidence.fits.fits) if _is_main(f, evidence)]
    if fits:
        click.echo()
        click.echo(text_table(_short(parameter_table(fits))))
    doubts = [*page.warnings, *(w for section in page.sections for w in section.warnings)]
    if doubts:
        click.echo()
    for doubt in doubts:
        print_line(f"doubt: {doubt.text} (touches {doubt.touches}) {doubt.todo}")
    click.echo()
    if outcome.left:
        print_line(f"{outcome.left} planned measurements are missing: hockney resume {folder.path}")
    print_line(f"report: {folder.report_path}")


def _is_main(fit: Fit, evidence: Evidence) -> bool:
    if evidence.study == "cases":
        return True
    return any(fit.model == model and fit.subject.startswith(subject) for model, subject in MAIN)


def _short(table: Table) -> Table:
    """Without the wide columns that the report has: of, and the verdict's reasons."""
    rows = tuple(
        (model, name, symbol, value, bounds, verdict.partition(":")[0])
        for model, _, name, symbol, value, bounds, verdict in table.rows
    )
    columns = ("model", "parameter", "symbol", "value", "95% interval", "verdict")
    return Table(table.name, table.title, columns, rows, numeric=(3, 4))


def tell_json(folder: RunFolder, evidence: Evidence, page: Page, outcome: Outcome) -> None:
    print_json(
        {
            "run": str(folder.path),
            "report": str(folder.report_path),
            "headline": page.headline,
            "doubts": [*page.warnings, *(w for section in page.sections for w in section.warnings)],
            "outcome": outcome,
            "summaries": evidence.fits.summaries,
            "fits": evidence.fits.fits,
        }
    )
