# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""nccl-tests and rccl-tests (src/common.cu): two groups of columns, for separate and for the same buffers.

    # Collective test starting: all_reduce_perf
    # nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 ...
    #  Rank  0 Group  0 Pid    855 on node1 device  0 [0xa4] NVIDIA A100
    #                                                       out-of-place                       in-place
    #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw ...
               8             2     float     sum      -1    18.45    0.00    0.00      0    18.12    0.00 ...

Older versions print the error instead of #wrong, and have no column root where there is none. Before 2.17 the
name of the program is not printed; it is taken from the command, if the log has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hockney.imports.log import GROUPS_REASON, BadLine, Invocation, Log, LogTable, Row, parse_number

SUITE = "nccl"
TITLE = "nccl-tests"

MARKS = ("algbw",)
PROGRAM = re.compile(r"\b((?:all_reduce|all_gather|alltoall|broadcast|gather|reduce_scatter|reduce|scatter"
                     r"|sendrecv|hypercube)_perf)\b")  # fmt: skip
SETTINGS = re.compile(r"^\s*#?\s*nThread\s+\d+\s+nGpus\s+\d+\s+minBytes")
ITERATIONS = re.compile(r"(?<!warmup )\biters: (\d{1,9})\b", re.ASCII)
DEVICE = re.compile(
    r"^\s*#\s*Rank\s+(\d{1,9})\s+(?:Group\s+(\d+)\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device", re.ASCII
)
VERSION = re.compile(r"\b[nr]ccl-tests:? version (\S+)", re.IGNORECASE)
LIBRARY = re.compile(r"\b([NR]CCL) version[ :]+(\S+)")
COLUMNS = re.compile(r"^\s*#\s+size\s+count\b.*\btime\s+algbw\s+busbw")
END = re.compile(r"^\s*#?\s*Avg bus bandwidth")
TEXT_COLUMNS = ("type", "redop")
"""Columns that do not contain numbers."""
NO_PROGRAM_REASON = "the log does not name the program, for example all_reduce_perf"


@dataclass
class _NcclTable:
    """The table that is currently read."""

    line: int
    program: str = ""
    iterations: int = 0
    hosts: dict[int, str] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    columns: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)
    version: str = ""
    library: str = ""
    complete: bool = False


def read(lines: Sequence[str]) -> Log:
    tables: list[_NcclTable] = []
    bad_lines: list[BadLine] = []
    program = version = library = ""
    for line_number, line in enumerate(lines, 1):
        program = PROGRAM.findall(line)[-1] if PROGRAM.search(line) else program
        version = match[1] if (match := VERSION.search(line)) else version
        library = f"{match[1]} {match[2]}" if (match := LIBRARY.search(line)) else library
        if SETTINGS.match(line):
            counts = ITERATIONS.findall(line)
            tables.append(_NcclTable(line_number, program, int(counts[0]) if counts else 0, version=version))
            program = version = library = ""
            continue
        if COLUMNS.match(line) and (not tables or tables[-1].rows):
            tables.append(_NcclTable(line_number, program, version=version))
        if tables:
            current = tables[-1]
            if not current.rows:
                current.program, current.library = current.program or program, library or current.library
                current.version = current.version or version
            _read_table_line(current, line_number, line, bad_lines)
    filled_tables = [table for table in tables if table.columns]
    return Log(
        tuple(_make_invocation(table) for table in filled_tables),
        tuple(_make_table(table, k) for k, table in enumerate(filled_tables)),
        tuple(bad_lines),
    )


def _read_table_line(current: _NcclTable, line_number: int, line: str, bad_lines: list[BadLine]) -> None:
    text = line.strip()
    if device := DEVICE.match(line):
        current.hosts[int(device[1])] = device[3]
        current.groups.add(device[2] or "0")
    elif COLUMNS.match(line):
        current.columns, current.line = tuple(text.lstrip("# ").split()), line_number
    elif END.match(line):
        current.complete = True
    elif current.columns and text[:1].isdigit() and not current.complete:
        words = text.split()
        row = _parse_nccl_row(line_number, words, current.columns)
        if row is not None:
            current.rows.append(row)
        elif len(words) > 5 and all(word.isdecimal() for word in words[:2]):
            bad_lines.append(BadLine(line_number, text))


def _parse_nccl_row(line_number: int, words: Sequence[str], columns: Sequence[str]) -> Row | None:
    """Parse a row. Columns of the second group, for in-place buffers, get the names of the first group with a
    quote. Numbers that are not available (N/A) are omitted."""
    if len(words) != len(columns):
        return None
    values: dict[str, float] = {}
    error_count = 0
    for name, word in zip(columns, words, strict=True):
        if name in TEXT_COLUMNS or name == "root":
            continue
        key = f"{name}'" if name in values or (name == "time" and "time" in values) else name
        value = parse_number(word)
        if value is None:
            if word.upper() != "N/A":
                return None
            continue
        if name == "#wrong":
            error_count = max(error_count, round(value))
        values[key] = value
    return Row(line_number, values, error_count) if {"size", "time"} <= values.keys() else None


def _make_invocation(table: _NcclTable) -> Invocation:
    hosts = tuple(table.hosts[rank] for rank in sorted(table.hosts))
    return Invocation(table.version, table.library, hosts=hosts, gpu=True, complete=table.complete)


def _make_table(table: _NcclTable, invocation: int) -> LogTable:
    ranks = max(table.hosts) + 1 if table.hosts else None
    iterations = {"iterations": float(table.iterations)} if table.iterations else {}
    rows = tuple(replace(row, values={**row.values, **iterations}) for row in table.rows)
    benchmark = table.program or "nccl-tests"
    unusable = NO_PROGRAM_REASON if not table.program else GROUPS_REASON if len(table.groups) > 1 else ""
    return LogTable(SUITE, benchmark, table.line, rows, invocation, ranks, {}, unusable)
