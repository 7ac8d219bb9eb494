# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The names of files that hockney keeps in run folders and archives."""

from __future__ import annotations

from fnmatch import fnmatch

PLAN = "plan.txt"
"""A folder with this file is a run."""
INDEX = "index.sqlite"
"""Of an archive."""
OF_RUNS = (
    PLAN, "machine.json", "survey.json", "catalog.json", "records.jsonl", "records-*of*.jsonl", "fits.json",
    "report.html", "job.json", "job.sh", "job-*.log",
)  # fmt: skip
"""Patterns of the names in a run folder."""


def is_of_run(name: str) -> bool:
    """Whether a file of this name in a run folder belongs to the run."""
    return any(fnmatch(name, pattern) for pattern in OF_RUNS)
