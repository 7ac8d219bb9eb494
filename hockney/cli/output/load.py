# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run that verbs read, and what reading it had to say."""

from __future__ import annotations

from pathlib import Path

from hockney import api
from hockney.api import Run
from hockney.cli.output.progress import ProgressReporter
from hockney.core.fit import Cost


def load_and_note(path: Path, cost: Cost = "typical") -> Run:
    """The run in a folder; the notices of reading it are printed."""
    run = api.load(path, cost)
    for notice in run.reading.notices:
        ProgressReporter(False)(notice)
    return run
