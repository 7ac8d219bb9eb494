# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The Intel MPI Benchmarks, versions 3 to 2021 (src_c/IMB_output.c, and src_cpp for IMB-P2P and IMB-MT).

    #    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
    # Benchmarking Allreduce
    # #processes = 4
    #----------------------------------------------------------------
           #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
                8         1000         0.27         0.28         0.27

With -multi, groups of ranks run at the same time ("# ( 2 groups of 2 processes each running simultaneous )"),
as one line, or as one for each group. A program ends with "All processes entering MPI_Finalize".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from hockney.imports.log import GROUPS_REASON, BadLine, Invocation, Log, LogTable, Row, parse_row
from hockney.reference.peers import benchmark_named

SUITE = "imb"
TITLE = "Intel MPI Benchmarks"

MARKS = ("Benchmarking",)
HEADLINE = re.compile(
    r"^#\s+Intel\s*\(R\)\s*MPI Benchmark(?:s| Suite)\s+V?([\d.]+[^,]*),\s*(?:IMB-|MPI-)?(\S+) part"
)
LIBRARY = re.compile(r"MPI startup\(\): (?:Intel\(R\) MPI Library, )?(Version [\d.]+\S*(?: Update \d+)?)")
FACT_LINE = re.compile(r"^#\s*(Date|Machine|System|Release|MPI Version)\s*:(.*)")
BENCHMARK = re.compile(r"^#\s*Benchmarking\s+(Multi-)?(\S+)")
PROCESSES = re.compile(r"^#\s*#processes\s*=\s*(\d{1,9})\b", re.ASCII)
GROUPS = re.compile(r"^#\s*\(\s*(\d{1,9}) groups of (\d{1,9}) processes each", re.ASCII)
MODE = re.compile(r"MODE:\s*(NON-)?AGGREGATE")
THREADS = re.compile(r"#threads\s*=\s*(\d{1,9})\b", re.IGNORECASE | re.ASCII)
COLUMN_NAME = re.compile(
    r"#bytes|#repetitions|Group|t(?:_\w+)?\[usec\]|Mbytes/sec|Msg/sec|overlap\[%\]|defects"
)
TIMEOUT = re.compile(r"^\d+\s+time-out")
FINISHED_TEXT = "All processes entering MPI_Finalize"
PROGRAMS = {
    "1": "IMB-MPI1", "MPI1": "IMB-MPI1", "2": "IMB-EXT", "EXT": "IMB-EXT", "IO": "IMB-IO", "NBC": "IMB-NBC",
    "RMA": "IMB-RMA", "MT": "IMB-MT", "P2P": "IMB-P2P", "4": "IMB-MPI4", "MPI4": "IMB-MPI4",
    "HALO": "IMB-HALO",
}  # fmt: skip
"""The programs by the word before "part" in the headline."""
GUESSED_PROGRAMS = ("IMB-MPI1", "IMB-NBC", "IMB-RMA", "IMB-EXT", "IMB-P2P", "IMB-IO")
"""Programs to which a benchmark may belong if the headline is missing."""
PAIR_BENCHMARKS = {"PingPong": "pairs_pingpong", "PingPing": "pingping"}
"""Benchmarks between two ranks; their groups are the pairs of one case."""


@dataclass
class _ImbTable:
    """The table that is currently read."""

    name: str
    line: int
    invocation: int
    multi: bool = False
    ranks: int | None = None
    groups: int = 1
    aggregate: bool | None = None
    threads: str = ""
    columns: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)


def read(lines: Sequence[str]) -> Log:
    invocations: list[Invocation] = []
    tables: list[LogTable] = []
    bad_lines: list[BadLine] = []
    current: _ImbTable | None = None
    program = library = ""
    for number, line in enumerate(lines, 1):
        if match := LIBRARY.search(line):
            library = f"Intel MPI {match[1].removeprefix('Version ')}"
        if headline := HEADLINE.match(line):
            tables += _finish_table(current, program)
            current, program = None, PROGRAMS.get(headline[2].upper(), f"IMB-{headline[2]}")
            invocations.append(Invocation(headline[1].strip(), library, complete=False))
        elif (fact := FACT_LINE.match(line)) and invocations:
            invocations[-1] = _add_fact(invocations[-1], fact[1], fact[2].strip())
        elif benchmark := BENCHMARK.match(line):
            tables += _finish_table(current, program)
            if not invocations:  # the beginning of the log is missing
                invocations.append(Invocation(complete=False))
            current = _ImbTable(benchmark[2], number, len(invocations) - 1, multi=bool(benchmark[1]))
        elif FINISHED_TEXT in line and invocations:
            tables += _finish_table(current, program)
            current = None
            invocations[-1] = replace(invocations[-1], complete=True)
        elif current is not None:
            _read_table_line(current, number, line, bad_lines)
    tables += _finish_table(current, program)
    return Log(tuple(invocations), tuple(tables), tuple(bad_lines))


def _add_fact(invocation: Invocation, name: str, text: str) -> Invocation:
    if name == "Date":
        return replace(invocation, started_s=_parse_date(text))
    if name == "MPI Version":
        return replace(invocation, standard=text)
    return replace(invocation, system=f"{invocation.system} {text}".strip())


def _parse_date(date: str) -> float:
    """Parse a date as printed by asctime, in seconds since 1970. Its time zone is unknown; UTC is assumed. 0
    for any other text."""
    try:
        return datetime.strptime(date, "%a %b %d %H:%M:%S %Y").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return 0.0


def _read_table_line(current: _ImbTable, number: int, line: str, bad_lines: list[BadLine]) -> None:
    text = line.strip()
    if match := PROCESSES.match(text):
        current.ranks = int(match[1])
    elif match := GROUPS.match(text):
        current.groups, current.ranks = int(match[1]), int(match[1]) * int(match[2])
    elif match := MODE.search(text):
        current.aggregate = match[1] is None
    elif "#repetitions" in text:
        current.columns = tuple(COLUMN_NAME.findall(text))
    elif TIMEOUT.match(text):
        bad_lines.append(BadLine(number, text))
    elif text[:1].isdigit() and current.columns:
        row = parse_row(number, text.split(), current.columns)
        if row is None:
            bad_lines.append(BadLine(number, text))
        else:
            current.rows.append(replace(row, errors=round(row.values.get("defects", 0))))
    if match := THREADS.search(text):
        current.threads = match[1]


def _finish_table(current: _ImbTable | None, program: str) -> list[LogTable]:
    if current is None:
        return []
    candidates = (
        guess for guess in GUESSED_PROGRAMS if benchmark_named(f"{guess}/{current.name}") is not None
    )
    program = program or next(candidates, "")
    name = f"{program}/{current.name}" if program else current.name
    parameters: dict[str, str] = {}
    unusable = ""
    if current.multi or current.groups > 1:
        case = PAIR_BENCHMARKS.get(current.name)
        unusable = "" if case else GROUPS_REASON
        name = f"IMB-P2P/{current.name}" if case else name
    if program == "IMB-MT":
        parameters["threads"] = current.threads or "1"
        unusable = unusable or ("" if current.threads else "the log does not contain the number of threads")
    if current.aggregate and (program in ("IMB-EXT", "IMB-RMA")):
        parameters["operations"] = "repetitions"
    if program == "IMB-IO" and "Write" in current.name and current.aggregate is not None:
        parameters["storage"] = "no" if current.aggregate else "yes"
    rows = (
        _slowest_groups(current.rows, current.groups) if "Group" in current.columns else tuple(current.rows)
    )
    table = LogTable(SUITE, name, current.line, rows, current.invocation, current.ranks, parameters, unusable)
    return [table]


def _slowest_groups(rows: Sequence[Row], groups: int) -> tuple[Row, ...]:
    """Return the row of the slowest group for each size. Sizes without the rows of all groups, as at the end
    of a log, are omitted."""
    by_size: dict[float, list[Row]] = {}
    for row in rows:
        by_size.setdefault(row.values.get("#bytes", -1.0), []).append(row)
    return tuple(max(size_rows, key=_max_time) for size_rows in by_size.values() if len(size_rows) >= groups)


def _max_time(row: Row) -> float:
    return max((value for name, value in row.values.items() if name.endswith("[usec]")), default=0.0)
