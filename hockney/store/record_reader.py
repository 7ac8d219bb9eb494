# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Read `records.jsonl`, and check that it belongs to its plan.

A line is complete or, if the writer was killed or the disk was full, cut off at the end of the file. So only
an unfinished last line is tolerated; any other unreadable line is damage. Each record occurs once in its
launch and belongs to a planned case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.core.notice import Notice
from hockney.core.record import SCHEMA, Launch, Line, Record, RunRecords, decode_line
from hockney.store import messages
from hockney.store.checksums import NO_CHECKSUM, Chain
from hockney.store.plan import Plan
from hockney.system.files import NotRegularFile, open_regular

SHORTEST_S, LONGEST_S = 1e-15, 1e12
"""Plausible times of operations. Light travels less than a micrometre in the shortest one."""
MOST_BYTES = 1 << 26
"""The maximum length of a line: a record contains the times of at most 10,000 repetitions on each rank, most
of them a few kB."""


@dataclass(frozen=True)
class Reading:
    """Contents of a file of records. `valid_bytes` is its length up to the last valid line; `notices` are for
    the user; `lines` are the line numbers of the records; `checksum_problem` is the first line whose
    checksums do not match; `digest` is the BLAKE2b digest of the `count` valid lines."""

    run: RunRecords
    valid_bytes: int
    notices: tuple[Notice, ...] = ()
    lines: tuple[int, ...] = ()
    checksum_problem: EnvironmentProblem | None = None
    count: int = 0
    digest: str = ""


class _LineHead(msgspec.Struct):
    schema: int


def read_lines(path: Path, before: str = NO_CHECKSUM) -> Reading:
    """Read the whole file. `before` is the checksum to which its first line refers. Raises EnvironmentProblem
    for an unreadable line, and if the file is missing."""
    lines: list[Line] = []
    numbers: list[int] = []
    valid_bytes = 0
    notices: tuple[Notice, ...] = ()
    chain = Chain(before)
    checksum_problem: EnvironmentProblem | None = None
    digest = hashlib.blake2b(digest_size=32)
    for number, raw in raw_lines(path):
        try:
            line = decoded(raw, path, number)
        except EnvironmentProblem as problem:
            if raw.endswith(b"\n") or problem.code != messages.RECORD_DAMAGED:
                raise
            notices = (last_line_dropped(path),)
            break
        state = chain.next(raw)
        if checksum_problem is None and state == "changed":
            checksum_problem = EnvironmentProblem(
                f"line {number} of {path} was changed after it was written",
                "its checksum does not match",
                messages.SALVAGE,
                code="line-changed",
                path=str(path),
                line=number,
            )
        elif checksum_problem is None and state == "moved":
            checksum_problem = messages.line_out_of_order(path, number)
        lines.append(line)
        if isinstance(line, Record):
            numbers.append(number)
        valid_bytes += len(raw)
        digest.update(raw)
    return Reading(
        RunRecords.of(lines),
        valid_bytes,
        notices,
        tuple(numbers),
        checksum_problem=checksum_problem,
        count=len(lines),
        digest=digest.hexdigest(),
    )


def raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers, from 1. Raises EnvironmentProblem if the file is missing
    or not regular, or if a line is too long."""
    try:
        with open_regular(path) as stream:
            for number, raw in enumerate(iter(lambda: stream.readline(MOST_BYTES), b""), 1):
                if len(raw) == MOST_BYTES:
                    raise _line_damaged(path, number, f"it has more than {MOST_BYTES} bytes")
                yield number, raw
    except NotRegularFile as error:
        raise EnvironmentProblem(
            f"{path} is not a regular file",
            "records need a regular file",
            "remove it",
            code="records-not-a-file",
        ) from error
    except FileNotFoundError as error:
        raise EnvironmentProblem(
            f"{path} is missing",
            "every run has this file from the start, so it was removed or not copied",
            "restore it from a copy, or measure again",
            code="records-missing",
            path=str(path),
        ) from error
    except OSError as error:
        raise messages.not_readable(path, error) from error


def decoded(raw: bytes, path: Path, number: int) -> Line:
    """Decode a line of the file `path`. Raises EnvironmentProblem."""
    try:
        line = decode_line(raw)
        if isinstance(line, Record) and line.schema <= SCHEMA:
            line.parse_case()
            if not _is_possible(line):
                raise _line_damaged(path, number, "no operation takes such a time")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, UsageError) as error:
        if _schema_of(raw) > SCHEMA:
            raise _newer_line(path, number, _schema_of(raw), SCHEMA) from error
        raise _line_damaged(path, number, str(error)) from error
    if line.schema > SCHEMA:
        raise _newer_line(path, number, line.schema, SCHEMA)
    return line


def _is_possible(record: Record) -> bool:
    """Return whether operations can take these times. On simulated machines some take no time."""
    shortest_s = 0.0 if record.simulated else SHORTEST_S
    times = record.times_s
    return not times or (shortest_s <= min(times) and max(times) <= LONGEST_S)


def _schema_of(raw: bytes) -> int:
    try:
        return msgspec.json.decode(raw, type=_LineHead).schema
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return 0


def _newer_line(path: Path, number: int, schema: int, supported: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"line {number} of {path} has schema {schema}",
        f"this hockney reads up to {supported}",
        "use a newer hockney",
        code="line-of-newer-hockney",
        path=str(path),
        line=number,
        schema=schema,
    )


def _line_damaged(path: Path, number: int, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot read line {number} of {path}",
        printable(reason),
        messages.SALVAGE,
        code=messages.RECORD_DAMAGED,
        path=str(path),
        line=number,
    )


def last_line_dropped(path: Path) -> Notice:
    return Notice(
        f"the last line of {path} is incomplete and was dropped (its writer was interrupted)",
        "last-line-dropped",
    )


class Consistency:
    """Checks the lines of the file `path`. If sizes were added (`refine`), cases need not be planned."""

    def __init__(self, plan: Plan, path: Path) -> None:
        self._planned = None if plan.settings.refine else set(plan.cases)
        self._path = path
        self._launches: set[str] = set()
        self._first: dict[tuple[str, str], int] = {}

    def begin(self, line: Line) -> None:
        """Register a line that is not a record."""
        if isinstance(line, Launch):
            self._launches.add(line.launch)

    def add(self, record: Record, number: int) -> None:
        """Register a record with this line number. Raises EnvironmentProblem without registering it."""
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
                f"no line for launch '{printable(record.launch)}' comes before it",
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
    """Check the records of the file `path`. Raises EnvironmentProblem with the number of the first
    inconsistent line."""
    consistency = Consistency(plan, path)
    for launch in reading.run.launches:
        consistency.begin(launch)
    for record, number in zip(reading.run.records, reading.lines, strict=True):
        consistency.add(record, number)
