# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Loads the run that a verb reads, and prints the notices of reading it."""

from __future__ import annotations

from pathlib import Path

from hockney import api
from hockney.api import Run
from hockney.cli import messages
from hockney.cli.output.progress import ProgressReporter
from hockney.core.fit import Cost


def load_and_note(run: Path | Run, cost: Cost = "typical", *, quiet: bool, fit: bool = False) -> Run:
    """The run in a folder, or one that has been found, with its models where they are needed; the notices of
    reading it are printed, unless `quiet`."""
    reporter = ProgressReporter(quiet)
    run = api.load(run, cost)
    with reporter.doing(messages.reading_run(run.path)):
        notices = run.reading.notices
        if fit:
            _ = run.fits
    for notice in notices:
        reporter(notice)
    return run
