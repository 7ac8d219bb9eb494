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

from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.core.record import SCHEMA, Line, Record, RunRecords, decode_line
from hockney.store.fs_errors import unreadable


@dataclass(frozen=True)
class Reading:
    """`good_bytes` is the length of the file up to the last line that counts; `notices` are for the user."""

    run: RunRecords
    good_bytes: int
    notices: tuple[str, ...] = ()


class _LineHead(msgspec.Struct):
    schema: int


def read_lines(path: Path) -> Reading:
    """All of the file; a file that is not there is an empty run."""
    lines: list[Line] = []
    good = 0
    notices: tuple[str, ...] = ()
    try:
        with path.open("rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):  # a device may never end
                raise EnvironmentProblem(f"{path} is not a file", "records are kept in one", "remove it")
            for number, raw in enumerate(stream, 1):
                finished = raw.endswith(b"\n")
                line = _decode(raw, path, number, forgive=not finished)
                if line is None:
                    notices = (
                        f"the last line of {path} was cut off and is dropped (its writer was ended in it)",
                    )
                    break
                lines.append(line)
                good += len(raw)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise unreadable(path, error) from error
    return Reading(RunRecords.of(lines), good, notices)


def _decode(raw: bytes, path: Path, number: int, *, forgive: bool) -> Line | None:
    try:
        line = decode_line(raw)
        if isinstance(line, Record) and line.schema <= SCHEMA:
            line.parsed_case()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, UsageError) as error:
        if _schema_of(raw) > SCHEMA:
            raise _newer(path, number, _schema_of(raw)) from error
        if forgive:
            return None
        why = printable(str(error))
        raise EnvironmentProblem(
            f"line {number} of {path} cannot be read", why, "remove the line to use the rest"
        ) from error
    if line.schema > SCHEMA:
        raise _newer(path, number, line.schema)
    return line


def _schema_of(raw: bytes) -> int:
    try:
        return msgspec.json.decode(raw, type=_LineHead).schema
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return 0


def _newer(path: Path, number: int, schema: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"line {number} of {path} has schema {schema}",
        f"this hockney reads up to {SCHEMA}",
        "use a newer hockney",
    )
