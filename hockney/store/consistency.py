# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the records of a run are consistent: each occurs once in its launch and belongs to a planned
case."""

from __future__ import annotations

from pathlib import Path

from hockney.core.record import Launch, Line, Record
from hockney.store import messages
from hockney.store.plan import Plan
from hockney.store.record_reader import Reading


class Consistency:
    """Takes the lines of the file `path`. If sizes were added (`refine`), cases need not be planned."""

    def __init__(self, plan: Plan, path: Path) -> None:
        self._planned = None if plan.settings.refine else set(plan.cases)
        self._path = path
        self._launches: set[str] = set()
        self._first: dict[tuple[str, str], int] = {}

    def begin(self, line: Line) -> None:
        """Take a line that is not a record."""
        if isinstance(line, Launch):
            self._launches.add(line.launch)

    def add(self, record: Record, number: int) -> None:
        """Take a record with this line number. Raises EnvironmentProblem, and then does not take it."""
        key = record.launch, record.case
        if key in self._first:
            raise messages.line_repeated(self._path, number, self._first[key])
        if record.launch not in self._launches:
            raise messages.record_without_launch(self._path, number, record.launch)
        if self._planned is not None and record.parsed_case() not in self._planned:
            raise messages.record_not_planned(self._path, number, record.case)
        self._first[key] = number


def refuse_inconsistent(reading: Reading, plan: Plan, path: Path) -> None:
    """Checks the records in the file `path`. Raises EnvironmentProblem, which gives the line."""
    consistency = Consistency(plan, path)
    for launch in reading.run.launches:
        consistency.begin(launch)
    for record, number in zip(reading.run.records, reading.lines, strict=True):
        consistency.add(record, number)
