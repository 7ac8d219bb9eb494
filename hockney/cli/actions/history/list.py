# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history list: the runs of the archive."""

from __future__ import annotations

from pathlib import Path

from hockney.api.history.history import History
from hockney.api.history.selection import Selection
from hockney.cli.messages import runs_listed
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.run_list import document, run_table
from hockney.cli.output.tables import print_json, print_line, print_table
from hockney.core.errors import Exit


def action(
    archive: Path | None,
    machine: str,
    label: str,
    study: str,
    since_s: float | None,
    quiet: bool,
    as_json: bool,
) -> int:
    with ProgressReporter(quiet) as reporter:
        history = History(archive, reporter)
        contents = history.contents()
    chosen = Selection(machine, label, study, since_s).of(contents.entries)
    if as_json:
        print_json(document(history.path, chosen, contents))
        return Exit.FINE
    if chosen:
        print_table(run_table(chosen), keys=2)
    print_line(runs_listed(len(chosen), len(contents.entries), str(history.path)))
    return Exit.FINE
