# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SKaMPI 5 and 4.

SKaMPI 5: a block for each measurement, named by the user; a line has the values of the variables, the size in
bytes (unless there is none, as for barriers), the time in microseconds, its standard error, the number of
repetitions, and the time of each rank:

    # SKaMPI Version 5.0 rev. 191
    # begin result "MPI_Bcast-nodes-length"
    nodes= 2 count= 1        4       6.6       0.1       54       3.1       6.6
    # end result "MPI_Bcast-nodes-length"

SKaMPI 4: x, time, standard deviation, number, then the same again. What x is follows from the name: the size,
or the number of ranks if it contains "-nodes" (then the log does not contain the size):

    #/*@insyncol_MPI_Bcast-length.ski*/
           4      12.7      0.2      8      12.7      0.2      8
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from hockney.imports.log import BadLine, Invocation, Log, LogTable, Row, launched_ranks, parse_number

SUITE = "skampi"
TITLE = "SKaMPI"

MARKS = ("begin result", ".ski*/")
VERSION = re.compile(r"^#\s*SKaMPI\s+Version\s+(\S+)(?:\s+rev\.\s*(\d+))?")
BEGIN = re.compile(r'^#\s*begin result "([^"]*)"')
END = re.compile(r"^#\s*end result\b")
VERSION_4_BEGIN = re.compile(r"^#/\*@in(?:[a-z0-9]+_)?(\S+?)\.ski\*/")
VARIABLE = re.compile(r"\b([A-Za-z_]\w*)=\s*(\S+)", re.ASCII)
COUNT = re.compile(r"\d{1,9}", re.ASCII)
CALL = re.compile(r"^(?:MPI_)?([A-Z][a-z]+(?:_[a-z]+)*)(?=$|[-_ ]|[A-Z])")
PROGRAM = re.compile(r"\bskampi\w*", re.IGNORECASE)
CALLS_WITHOUT_SIZE = ("Barrier",)
NO_SIZE_REASON = "the numbers are for different numbers of ranks, and the log does not contain the size"
PING_PONG_NAMES = {
    "MPI_Send-MPI_Recv": "Pingpong_Send_Recv",
    "MPI_Ssend-MPI_Recv": "Pingpong_Ssend_Recv",
    "MPI_Bsend-MPI_Recv": "Pingpong_Bsend_Recv",
}
"""Names in SKaMPI 5 by their names in SKaMPI 4."""


@dataclass
class _SkampiBlock:
    """The block that is currently read. `is_version_4` is set for the format of SKaMPI 4."""

    name: str
    line: int
    invocation: int
    is_version_4: bool
    ranks: int | None = None
    rows: dict[int, list[Row]] = field(default_factory=dict)
    """Rows by number of ranks; the key is 0 if that is unknown."""


def read(lines: Sequence[str]) -> Log:
    invocations: list[Invocation] = []
    tables: list[LogTable] = []
    bad_lines: list[BadLine] = []
    current: _SkampiBlock | None = None
    version = ""
    ranks: int | None = None
    for line_number, line in enumerate(lines, 1):
        text = line.strip()
        if match := VERSION.match(text):
            version = match[1]
            invocations.append(Invocation(version))
        elif PROGRAM.search(text) and launched_ranks(text):
            ranks = launched_ranks(text)
            invocations.append(Invocation())
        elif block_start := BEGIN.match(text) or VERSION_4_BEGIN.match(text):
            is_version_4 = text.startswith("#/*")
            tables += _finish_block(current)
            if not invocations:
                invocations.append(Invocation())
            if is_version_4 and not invocations[-1].version:
                invocations[-1] = Invocation("4")
            current = _SkampiBlock(block_start[1], line_number, len(invocations) - 1, is_version_4, ranks)
        elif END.match(text):
            tables += _finish_block(current)
            current = None
        elif current is not None and text and not text.startswith("#"):
            row = (
                _read_version_4(current, line_number, text)
                if current.is_version_4
                else _read_version_5(current, line_number, text)
            )
            if row is None and (parse_number(text.split()[0]) is not None or "=" in text):
                bad_lines.append(BadLine(line_number, text))
    tables += _finish_block(current)
    return Log(tuple(invocations), tuple(tables), tuple(bad_lines))


def _read_version_5(current: _SkampiBlock, line_number: int, text: str) -> Row | None:
    variables = VARIABLE.findall(text)
    words = [parse_number(word) for word in VARIABLE.sub("", text).split()]
    if None in words or not words:
        return None
    numbers = [value for value in words if value is not None]
    has_size = not benchmark_name(current.name).endswith(CALLS_WITHOUT_SIZE)
    names = ["size", "time", "error", "repetitions"] if has_size else ["time", "error", "repetitions"]
    if len(numbers) <= len(names):
        return None
    values = dict(zip(names, numbers, strict=False))
    ranks = next((int(value) for name, value in variables if name == "nodes" and COUNT.fullmatch(value)), 0)
    row = Row(line_number, values)
    current.rows.setdefault(ranks or len(numbers) - len(names), []).append(row)
    return row


def _read_version_4(current: _SkampiBlock, line_number: int, text: str) -> Row | None:
    numbers = [parse_number(word) for word in text.split()[:4]]
    if len(numbers) < 4 or None in numbers:
        return None
    x, time, deviation, count = (value or 0.0 for value in numbers)
    row = Row(line_number, {"size": x, "time": time, "deviation": deviation, "repetitions": count})
    nodes = "-nodes" in current.name
    current.rows.setdefault(int(x) if nodes else 0, []).append(row)
    return row


def _finish_block(current: _SkampiBlock | None) -> list[LogTable]:
    if current is None:
        return []
    name = benchmark_name(current.name)
    lacks_size = current.is_version_4 and "-nodes" in current.name and not name.endswith(CALLS_WITHOUT_SIZE)
    known_ranks = 2 if name.startswith("Pingpong_") else current.ranks
    return [
        LogTable(
            SUITE,
            name,
            current.line,
            tuple(rows),
            current.invocation,
            ranks or known_ranks,
            unusable=NO_SIZE_REASON if lacks_size else "",
        )
        for ranks, rows in (current.rows or {0: []}).items()
    ]


def benchmark_name(name: str) -> str:
    """Return the measured function, such as MPI_Bcast for "MPI_Bcast-nodes-length", or the full name of a
    ping-pong."""
    if name.startswith("Pingpong_"):
        return re.split(r"[- ]", name)[0]
    for version_4_name, version_5_name in PING_PONG_NAMES.items():
        if name.startswith(version_4_name):
            return version_5_name
    call = CALL.match(name)
    return f"MPI_{call[1]}" if call else name
