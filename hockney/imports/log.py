# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The contents of another benchmark's output: tables of numbers as printed, and lines that were not
understood."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hockney.core.errors import printable

LINE_PREFIX = re.compile(r"^(?:\[\d+,\d+\]<std(?:out|err)>: ?|\d+: |\[\d+\] (?!MPI startup\(\)))")
"""The prefix that launchers put before each line: Open MPI's --tag-output, srun --label, and -l of MPICH and
Intel MPI. Intel MPI's library itself prints lines that start like the last one."""
PREFIX_STARTS = frozenset("[0123456789")
"""The characters with which such a prefix can start."""
C_NUMBER = re.compile(r"\+?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
COLOUR_SEQUENCE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
LAUNCHER = re.compile(r"\b(?:mpirun|mpiexec(?:\.\w+)?|orterun|prun|prterun|srun|aprun|jsrun|ibrun)\b")
RANKS_OPTION = re.compile(r"(?:^|\s)(?:-n|-np|--np|--ntasks|--n)[ =]+(\d{1,9})\b", re.ASCII)
MAX_LINE_LENGTH = 1 << 16
"""The maximum length of a line that is read. SKaMPI prints the time of each rank; other lines are short."""
MAX_VALUE = 1e18
MAX_RANKS = 1 << 17
"""The maximum number of ranks of an imported launch: a run contains a line for each of them."""

GROUPS_REASON = "groups of ranks run it at the same time; a case runs on all ranks of its launch"


@dataclass(frozen=True)
class Row:
    """One line of a table: its numbers by column, as printed. `errors` is the number of wrong results that it
    reports."""

    line: int
    values: Mapping[str, float]
    errors: int = 0


@dataclass(frozen=True)
class LogTable:
    """A table of one benchmark. `benchmark` is its name in `reference/peers`, or else its title as printed.
    `ranks` is None if the log does not contain the rank count. `invocation` is the index of the program that
    wrote the table: all tables of one program belong to one launch. `parameters` replace those of the
    benchmark's case. `unusable` is the reason why the numbers do not belong to a case, "" if they do."""

    suite: str
    benchmark: str
    line: int
    rows: tuple[Row, ...]
    invocation: int = 0
    ranks: int | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    unusable: str = ""


@dataclass(frozen=True)
class Invocation:
    """One program that wrote to the log. Empty if unknown: the `version` of the suite, the MPI `library`, the
    `standard` that it implements, the `system`, and the `hosts` in the order of the ranks. `started_s` is in
    seconds since 1970 (0: unknown). `gpu` is set if buffers are in the memory of GPUs. `complete` is set if
    the program printed its end (None if such programs do not print it)."""

    version: str = ""
    library: str = ""
    standard: str = ""
    system: str = ""
    hosts: tuple[str, ...] = ()
    started_s: float = 0.0
    gpu: bool = False
    complete: bool | None = None


@dataclass(frozen=True)
class BadLine:
    """A line inside a table that is not a row of it."""

    line: int
    text: str


@dataclass(frozen=True)
class Log:
    """The contents of one file that belong to one suite. `tables` refer to `invocations` by index."""

    invocations: tuple[Invocation, ...] = ()
    tables: tuple[LogTable, ...] = ()
    bad_lines: tuple[BadLine, ...] = ()


def clean_line(line: str) -> str:
    """Remove colours and the prefixes of launchers. Other control characters become escapes, because parts of
    lines are printed. A line of more than `MAX_LINE_LENGTH` characters becomes empty."""
    if len(line) > MAX_LINE_LENGTH:
        return ""
    if "\x1b" in line:
        line = COLOUR_SEQUENCE.sub("", line)
    if "\t" in line:
        line = line.expandtabs()
    return printable(LINE_PREFIX.sub("", line) if line[:1] in PREFIX_STARTS else line)


def launched_ranks(line: str) -> int | None:
    """Return the number of ranks in a launch command, or None if the line is not a launch command or contains
    no number."""
    launcher_match = LAUNCHER.search(line)
    counts = RANKS_OPTION.findall(line, launcher_match.end()) if launcher_match else []
    return int(counts[0]) or None if counts else None


def parse_number(word: str) -> float | None:
    """Parse a nonnegative number as printed by C. Return None for any other word, and for sizes and times
    that no machine reaches."""
    if not C_NUMBER.fullmatch(word):
        return None
    value = float(word)
    return value if value < MAX_VALUE else None


def parse_row(line: int, words: Sequence[str], columns: Sequence[str]) -> Row | None:
    """Parse a row with these `columns`; None if it is incomplete or contains words that are not numbers."""
    numbers = [parse_number(word) for word in words]
    if len(numbers) != len(columns) or None in numbers:
        return None
    return Row(line, {name: value for name, value in zip(columns, numbers, strict=True) if value is not None})
