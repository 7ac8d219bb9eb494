# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history show: how times changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from hockney.api.history.history import History
from hockney.cli import messages
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line, print_table, print_whole
from hockney.cli.output.terminal import echo
from hockney.core.errors import Exit
from hockney.draw.page import Table
from hockney.history import tables, wording


def action(
    case: Sequence[str],
    archive: Path | None,
    machine: str,
    label: str,
    study: str,
    since_s: float | None,
    page: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    since = None if since_s is None else datetime.fromtimestamp(since_s, timezone.utc)
    with ProgressReporter(quiet) as reporter:
        history = History(archive, reporter)
        trends = history.show(" ".join(case), machine=machine, label=label, study=study, since=since)
    if as_json:
        print_json(trends.document)
    else:
        shown = trends.shown
        print_line(wording.shown(shown))
        echo()
        print_table(tables.trends(shown), keys=1)
        for table in (tables.changes(shown), tables.environment(shown)):
            _titled(table)
        if len(shown.trends) == 1:
            _titled(tables.runs(shown.trends[0][1], shown.labels))
    if page is not None:
        with reporter.doing(messages.writing_report()):
            written = trends.report(page)
        if not as_json:
            echo()
            print_whole(f"report: {written}")
    return Exit.FINE


def _titled(table: Table) -> None:
    if table.rows:
        echo()
        print_line(f"{table.title}:")
        print_table(table, keys=3)
