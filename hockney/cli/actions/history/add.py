# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history add: copies runs into the archive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney.api.history.history import History
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_whole
from hockney.core.errors import Exit


def action(runs: Sequence[Path], archive: Path | None, quiet: bool, as_json: bool) -> int:
    with ProgressReporter(quiet) as reporter:
        history = History(archive, reporter)
        with reporter.doing("adding runs to the archive"):
            added = history.add(*runs)
    if as_json:
        print_json(
            {
                "archive": str(history.path),
                "added": [
                    {"run": each.entry.name, "new": each.new, "replaced": list(each.replaced)}
                    for each in added
                ],
            }
        )
    else:
        for each in added:
            print_whole(str(history.path / each.entry.name))
    return Exit.FINE
