# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The OSU Micro-Benchmarks, versions 3 to 7 (c/util/osu_util_mpi.c prints them).

    # OSU MPI Allreduce Latency Test v7.5
    # Datatype: MPI_INT.
    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
    4                       1.48              1.40              1.55        1000

Numbers of ranks are printed only by tests of many pairs ([ pairs: 4 ]). There is no line at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hockney.imports.log import BadLine, Invocation, Log, LogTable, Row, launched_ranks, parse_row

SUITE = "osu"
TITLE = "OSU Micro-Benchmarks"

MARKS = ("OSU", "OMB")
HEADLINE = re.compile(r"^#\s*(?:OSU|OMB)\S*\s+(?=\S)(.*?\bTest)\b\s*(?:v(\S+))?")
PAIRS = re.compile(r"\[ pairs: (\d{1,9}) \]", re.ASCII)
WINDOW = re.compile(r"\[ window size: (\d{1,9}) \]", re.ASCII)
OPTION_WINDOW = re.compile(r"\s(?:-W|--window-size)[ =]?(\d{1,9})\b", re.ASCII)
PROGRAM = re.compile(r"\bosu_\w+")
GPU = re.compile(r"-(?:CUDA|ROCM|OPENACC|MANAGED|SYCL)|\b(?:NCCL|RCCL|XCCL)\b", re.IGNORECASE)
PLAIN_TITLE = re.compile(
    r"(?:\S+ )?(?:managed )?(?:persistent )?(?:(?:bi-directional )?bandwidth|latency)(?: persistent)? test"
)
COLUMN_GAP = re.compile(r"\s{2,}")

OPERATION_WORDS = (
    ("all-to-allw", "alltoallw"), ("alltoallw", "alltoallw"), ("all-to-allv", "alltoallv"),
    ("alltoallv", "alltoallv"), ("all-to-all", "alltoall"), ("alltoall", "alltoall"),
    ("allgatherv", "allgatherv"), ("allgather", "allgather"), ("allreduce", "allreduce"),
    ("reduce_scatter_block", "reduce_scatter_block"), ("reduce-scatter-block", "reduce_scatter_block"),
    ("reduce_scatter", "reduce_scatter"), ("reduce-scatter", "reduce_scatter"), ("reduce", "reduce"),
    ("broadcast", "bcast"), ("bcast", "bcast"), ("barrier", "barrier"), ("scatterv", "scatterv"),
    ("scatter", "scatter"), ("gatherv", "gatherv"), ("gather", "gather"),
)  # fmt: skip
"""Words of titles; longer ones precede those that they contain."""
ONE_SIDED_NAMES = {
    "get_accumulate": "get_acc",
    "fetch_and_op": "fop",
    "compare_and_swap": "cas",
    "accumulate": "acc",
    "put": "put",
    "get": "get",
}
OLD_ONE_SIDED_PARAMETERS = {"epoch": "pscw", "memory": "create"}
"""The window and the synchronization of version 3, which did not print them."""
EPOCH_NAMES = {
    "lock": "lock",
    "lock/unlock": "lock",
    "lock_all": "lock_all",
    "lock_all/unlock_all": "lock_all",
    "flush": "flush",
    "flush_local": "flush_local",
    "fence": "fence",
    "post/start/complete/wait": "pscw",
    "pscw": "pscw",
}
MAX_TITLE_DISTANCE = 2
"""Maximum number of lines between identical titles that several ranks print."""
TWO_RANK_PROGRAMS = ("osu_latency", "osu_bw", "osu_bibw", "osu_partitioned")
"""Prefixes of the names of programs that only run on two ranks."""


@dataclass
class _OsuTable:
    """The table that is currently read."""

    benchmark: str
    line: int
    invocation: int
    ranks: int | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)

    def to_log_table(self) -> LogTable:
        return LogTable(
            SUITE, self.benchmark, self.line, tuple(self.rows), self.invocation, self.ranks, self.parameters
        )


def read(lines: Sequence[str]) -> Log:
    invocations: list[Invocation] = []
    tables: list[LogTable] = []
    bad_lines: list[BadLine] = []
    current: _OsuTable | None = None
    command = ""
    for number, line in enumerate(lines, 1):
        headline = HEADLINE.match(line)
        if headline:
            if current is not None:
                tables.append(current.to_log_table())
            invocations.append(Invocation((headline[2] or "").rstrip("."), gpu=bool(GPU.search(line))))
            current = _begin_table(headline[1], number, len(invocations) - 1, command)
            command = ""
        elif PROGRAM.search(line) and launched_ranks(line):
            command = line
            if current is not None and current.rows:
                tables.append(current.to_log_table())
                current = None
        elif current is not None:
            _read_table_line(current, number, line, bad_lines)
    if current is not None:
        tables.append(current.to_log_table())
    return Log(tuple(invocations), tuple(_drop_repeated_titles(tables)), tuple(bad_lines))


def _drop_repeated_titles(tables: Sequence[LogTable]) -> list[LogTable]:
    """Return the tables without titles that are repeated before the table starts, because several ranks may
    print the title."""
    remaining = []
    for k, table in enumerate(tables):
        next_table = tables[k + 1] if k + 1 < len(tables) else None
        is_repeated = next_table is not None and next_table.benchmark == table.benchmark
        if (
            table.rows
            or next_table is None
            or not is_repeated
            or next_table.line - table.line > MAX_TITLE_DISTANCE
        ):
            remaining.append(table)
    return remaining


def _begin_table(title: str, number: int, invocation: int, command: str) -> _OsuTable:
    table = _OsuTable(benchmark_name(title), number, invocation)
    if "one sided" in title.lower().replace("-", " "):
        table.parameters |= OLD_ONE_SIDED_PARAMETERS
    if PROGRAM.findall(command)[-1:] != [table.benchmark]:
        command = ""  # of another program, for example in a script that the log shows
    if table.benchmark.startswith(TWO_RANK_PROGRAMS) or table.benchmark.endswith(
        ("_latency", "_bw", "_bibw")
    ):
        table.ranks = 2
    elif command:
        table.ranks = launched_ranks(command)
    program = PROGRAM.search(command)
    if program and (window := OPTION_WINDOW.search(command, program.end())):
        table.parameters["window"] = window[1]
    return table


def _read_table_line(current: _OsuTable, number: int, line: str, bad_lines: list[BadLine]) -> None:
    text = line.strip()
    if pairs := PAIRS.search(text):
        current.ranks = 2 * int(pairs[1])
    if window := WINDOW.search(text):
        current.parameters["window"] = window[1]
    if text.startswith("# Window creation:"):
        current.parameters["memory"] = text.rpartition("MPI_Win_")[2].removeprefix("create_")
    elif text.startswith("# Synchronization:"):
        name = text.partition(":")[2].replace("MPI_Win_", "").strip().lower()
        current.parameters["epoch"] = EPOCH_NAMES.get(name, name)
    elif "(us)" in text or "MB/s" in text:
        columns = tuple(COLUMN_GAP.split(text.lstrip("# ")))
        current.columns = tuple(name.replace(" (us)", "(us)") for name in columns)
    elif text[:1].isdigit() and current.columns:
        words = text.split()
        failed = 0
        if words[-1].lower() in ("pass", "fail"):
            failed = int(words.pop().lower() == "fail")
        columns = tuple(name for name in current.columns if name.lower() != "validation")
        row = parse_row(number, words, columns)
        if row is None:
            bad_lines.append(BadLine(number, text))
        else:
            current.rows.append(replace(row, errors=failed))


def benchmark_name(title: str) -> str:
    """Return the name of the program that prints a title such as "MPI Bandwidth Test", or the title if the
    program is unknown."""
    text = title.lower()
    persistent = "_persistent" if "persistent" in text else ""
    kind = (
        "bibw" if "bi-directional" in text or "bidirectional" in text
        else "bw" if "bandwidth" in text
        else "latency"
    )  # fmt: skip
    for words, name in ONE_SIDED_NAMES.items():
        if f"mpi_{words}" in text:
            return f"osu_{name}_{kind}"
    if "message rate" in text:
        return "osu_mbw_mr"
    for words, name in (
        ("multi-threaded", "latency_mt"),
        ("multi threaded", "latency_mt"),
        ("multi-process", "latency_mp"),
        ("multi process", "latency_mp"),
        ("multi latency", "multi_lat"),
        ("multi-pair", "multi_lat"),
        ("partitioned", "partitioned_latency"),
        ("mpi init", "init"),
        ("mpi hello", "hello"),
    ):
        if words in text:
            return f"osu_{name}"
    suite = next((f"{name}_" for name in ("nccl", "rccl", "xccl") if name in text), "")
    suite = suite and "xccl_"
    for words, name in OPERATION_WORDS:
        if words in text:
            nonblocking = "i" if "non-blocking" in text or "nonblocking" in text else ""
            neighbor = "neighbor_" if "neighbor" in text else ""
            return f"osu_{suite}{nonblocking}{neighbor}{name}{persistent}"
    if PLAIN_TITLE.fullmatch(text):
        return f"osu_{suite}{kind}{persistent}"
    return title
