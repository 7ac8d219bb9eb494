# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer on stdout: in words for people, as one document for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from hockney import studies
from hockney.cli import messages
from hockney.cli.output.cases import print_cases, print_metrics
from hockney.cli.output.caveats import print_caveats
from hockney.cli.output.fits import print_fits
from hockney.cli.output.tables import print_json, print_line, print_table, print_whole
from hockney.cli.output.terminal import echo
from hockney.core.case import HOT, WRITTEN
from hockney.core.catalog import PING_PONG
from hockney.core.errors import printable
from hockney.core.fit import Fit
from hockney.core.notice import Notice
from hockney.core.wording import plural
from hockney.pages.case_columns import CaseColumn
from hockney.pages.caveats import premises
from hockney.pages.quality import chosen

if TYPE_CHECKING:
    from hockney.api import Run

TYPED = "cases"
"""The study of cases as they were typed."""
NOTHING: Mapping[str, object] = MappingProxyType({})


def print_summary(run: Run, columns: Sequence[CaseColumn] = ()) -> None:
    """Headline, of typed cases its premises, which the table of their costs follows; cases with their
    metrics, main parameters, warnings, and where the rest is. With `columns` there is a table of the cases
    also where the headline is the answer."""
    typed = run.settings.study == TYPED
    for sentence in premises(run.evidence) if typed and run.summaries else run.page.headline:
        print_line(sentence)
    for table in studies.summary(studies.study(run.settings.study), run.evidence):
        echo()
        print_line(table.title)
        print_table(table)
    if columns and not typed:
        echo()
    if columns or typed:
        print_cases(run, columns)
    if typed:
        print_metrics(run.evidence.measured)
    fits = [f for f in chosen(run.fits.fits) if f.parameters and _is_main(f, run)]
    if fits:
        echo()
        if not typed:
            print_line("Fitted to all sizes together; the times above are from single cases:")
        print_fits(fits, reasons=False)
    caveats = [caveat for caveat in run.caveats if caveat.code != "incomplete"]
    if caveats:
        echo()
    print_caveats(caveats)
    echo()
    if left := run.evidence.left:
        of = plural(run.evidence.planned, "planned measurement")
        print_line(messages.missing(f"{left} of {of}", run.path))
    print_whole(f"report: {run.folder.report_path}")


def _is_main(fit: Fit, run: Run) -> bool:
    if run.settings.study == TYPED:
        return True
    workload = run.evidence.catalog.entry(fit.subject.workload)
    if not workload.performs(*PING_PONG):
        return workload.role == "train"
    buffers = {each.subject.get("buffers") for each in run.fits.select_by_role("hockney", *PING_PONG)}
    return fit.subject.get("buffers") == (HOT if HOT in buffers else WRITTEN)


def print_document(run: Run, notices: Sequence[Notice] = (), more: Mapping[str, object] = NOTHING) -> None:
    """`notices` are those of measuring, which people read on stderr; `more` follows what every run has."""
    print_json(
        {
            "run": printable(str(run.path)),
            "report": printable(str(run.folder.report_path)),
            "label": run.settings.label,
            "machine": run.machine,
            "headline": run.page.headline,
            "doubts": run.caveats,
            "notices": notices,
            **studies.answer(studies.study(run.settings.study), run.evidence),
            "outcome": run.outcome,
            "summaries": run.summaries,
            "fits": run.fits.fits,
            **more,
        }
    )
