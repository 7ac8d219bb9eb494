# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney replay: a traced program, run again by other executors."""

from __future__ import annotations

from pathlib import Path

from hockney import api
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.results import print_caveats
from hockney.cli.output.tables import print_json, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.errors import ExitCode


def action(
    profile: Path,
    on: tuple[str, ...],
    run: Path | None,
    mpi: str,
    free_matching: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    with ProgressReporter(quiet) as reporter:
        replay = api.replay_trace(profile, on, run=run, mpi=mpi, free_matching=free_matching, listen=reporter)
    if as_json:
        print_json(replay.document)
    else:
        for sentence in replay.sentences:
            print_line(sentence)
        for table in replay.tables:
            echo()
            print_line(table.title)
            print_table(table)
        if replay.caveats:
            echo()
            print_caveats(replay.caveats)
    return ExitCode.SUCCESS if replay.agrees else ExitCode.INCONCLUSIVE
