# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history prune: removes old runs by rule."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from hockney.api.history.history import History
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.run_list import run_table
from hockney.cli.output.tables import print_json, print_line, print_table
from hockney.core.errors import Exit
from hockney.core.wording import plural


def action(
    archive: Path | None,
    keep_last: int | None,
    keep_daily: int | None,
    keep_weekly: int | None,
    keep_monthly: int | None,
    older_s: float | None,
    machine: str,
    label: str,
    study: str,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    with ProgressReporter(quiet) as reporter:
        history = History(archive, reporter)
        removed = history.prune(
            keep_last=keep_last or 0,
            keep_daily=keep_daily or 0,
            keep_weekly=keep_weekly or 0,
            keep_monthly=keep_monthly or 0,
            older_than=None if older_s is None else datetime.fromtimestamp(older_s, timezone.utc),
            dry_run=dry_run,
            machine=machine,
            label=label,
            study=study,
        )
    if as_json:
        print_json({"removed": [each.name for each in removed], "dry_run": dry_run})
        return Exit.FINE
    if removed:
        print_table(run_table(removed), keys=2)
    print_line(f"{plural(len(removed), 'run')} {'would be ' if dry_run else ''}removed")
    return Exit.FINE
