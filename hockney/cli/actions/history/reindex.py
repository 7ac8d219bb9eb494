# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history reindex: makes the index again."""

from __future__ import annotations

from pathlib import Path

from hockney.api.history.history import History
from hockney.cli.messages import runs_listed
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.run_list import document
from hockney.cli.output.tables import print_json, print_line
from hockney.core.errors import Exit


def action(archive: Path | None, quiet: bool, as_json: bool) -> int:
    with ProgressReporter(quiet) as reporter:
        history = History(archive, reporter)
        contents = history.reindex()
        for notice in contents.notices:
            reporter(notice)
    if as_json:
        print_json(document(history.path, contents.entries, contents))
    else:
        count = len(contents.entries)
        print_line(runs_listed(count, count, str(history.path)))
    return Exit.FINE
