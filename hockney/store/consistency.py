# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the records of a run are consistent: each occurs once in its launch and belongs to a planned
case."""

from __future__ import annotations

from pathlib import Path

from hockney.core.errors import EnvironmentProblem, printable
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
            first = self._first[key]
            raise EnvironmentProblem(
                f"line {number} of {self._path} is a duplicate",
                f"line {first} has the same launch and case",
                messages.SALVAGE,
                code="record-repeated",
                path=str(self._path),
                line=number,
                first=first,
            )
        if record.launch not in self._launches:
            raise EnvironmentProblem(
                f"line {number} of {self._path} belongs to no launch",
                f"there is no line of launch '{printable(record.launch)}' before it",
                messages.SALVAGE,
                code="record-without-launch",
                path=str(self._path),
                line=number,
                launch=record.launch,
            )
        if self._planned is not None and record.parse_case() not in self._planned:
            raise EnvironmentProblem(
                f"line {number} of {self._path} has a case that was not planned",
                f"plan.txt has no '{printable(record.case)}'",
                messages.SALVAGE,
                code="record-not-planned",
                path=str(self._path),
                line=number,
                case=record.case,
            )
        self._first[key] = number


def refuse_inconsistent(reading: Reading, plan: Plan, path: Path) -> None:
    """Checks the records in the file `path`. Raises EnvironmentProblem, which gives the line."""
    consistency = Consistency(plan, path)
    for launch in reading.run.launches:
        consistency.begin(launch)
    for record, number in zip(reading.run.records, reading.lines, strict=True):
        consistency.add(record, number)
