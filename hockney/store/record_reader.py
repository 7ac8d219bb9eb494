# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reading `records.jsonl`.

A line is written whole or, when the writer was killed or the disk was full, cut off at the end of the
file. So only an unfinished last line is forgiven; anything else that cannot be read is damage.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import msgspec

from hockney.core.errors import UsageError
from hockney.core.notice import Notice
from hockney.core.record import SCHEMA, Line, Record, RunRecords, decode_line
from hockney.store import messages


@dataclass(frozen=True)
class Reading:
    """`good_bytes` is the length of the file up to the last line that counts; `notices` are for the user;
    `lines` has the number of each record's line."""

    run: RunRecords
    good_bytes: int
    notices: tuple[Notice, ...] = ()
    lines: tuple[int, ...] = ()


class _LineHead(msgspec.Struct):
    schema: int


def read_lines(path: Path) -> Reading:
    """All of the file; a missing file is an empty run. Raises EnvironmentProblem for a line that cannot be
    read."""
    lines: list[Line] = []
    numbers: list[int] = []
    good = 0
    notices: tuple[Notice, ...] = ()
    try:
        # a pipe without a writer would be waited for
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):  # a device may never end
                raise messages.records_not_a_file(path)
            for number, raw in enumerate(stream, 1):
                finished = raw.endswith(b"\n")
                line = _decode(raw, path, number, forgive=not finished)
                if line is None:
                    notices = (messages.last_line_dropped(path),)
                    break
                lines.append(line)
                if isinstance(line, Record):
                    numbers.append(number)
                good += len(raw)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise messages.not_readable(path, error) from error
    return Reading(RunRecords.of(lines), good, notices, tuple(numbers))


def _decode(raw: bytes, path: Path, number: int, *, forgive: bool) -> Line | None:
    try:
        line = decode_line(raw)
        if isinstance(line, Record) and line.schema <= SCHEMA:
            line.parsed_case()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, UsageError) as error:
        if _schema_of(raw) > SCHEMA:
            raise messages.newer_line(path, number, _schema_of(raw), SCHEMA) from error
        if forgive:
            return None
        raise messages.line_damaged(path, number, str(error)) from error
    if line.schema > SCHEMA:
        raise messages.newer_line(path, number, line.schema, SCHEMA)
    return line


def _schema_of(raw: bytes) -> int:
    try:
        return msgspec.json.decode(raw, type=_LineHead).schema
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return 0
