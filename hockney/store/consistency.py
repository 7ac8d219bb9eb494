# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the records of a run can be what was measured: each once in its launch, and of a case planned."""

from __future__ import annotations

from pathlib import Path

from hockney.store import messages
from hockney.store.plan import Plan
from hockney.store.record_reader import Reading


def refuse_inconsistent(reading: Reading, plan: Plan, path: Path) -> None:
    """Of the records in the file `path`. Raises EnvironmentProblem, which names the line."""
    launches = {launch.launch for launch in reading.run.launches}
    planned = set(plan.cases)
    first: dict[tuple[str, str], int] = {}
    for record, number in zip(reading.run.records, reading.lines, strict=True):
        key = record.launch, record.case
        if key in first:
            raise messages.line_repeated(path, number, first[key])
        if record.launch not in launches:
            raise messages.record_without_launch(path, number, record.launch)
        if not plan.settings.refine and record.parsed_case() not in planned:  # else sizes were added
            raise messages.record_not_planned(path, number, record.case)
        first[key] = number
