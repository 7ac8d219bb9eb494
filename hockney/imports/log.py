# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The contents of another benchmark's output: tables of numbers as printed, and lines that were not
understood."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hockney.core.errors import printable

PREFIX = re.compile(r"^(?:\[\d+,\d+\]<std(?:out|err)>: ?|\d+: |\[\d+\] (?!MPI startup\(\)))")
"""The prefix that launchers put before each line: Open MPI's --tag-output, srun --label, -l of MPICH and
Intel MPI. Intel MPI's library prints lines that begin in the last way itself."""
PREFIX_STARTS = frozenset("[0123456789")
"""The characters with which such a prefix begins."""
C_NUMBER = re.compile(r"\+?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
LAUNCHER = re.compile(r"\b(?:mpirun|mpiexec(?:\.\w+)?|orterun|prun|prterun|srun|aprun|jsrun|ibrun)\b")
COUNT = re.compile(r"(?:^|\s)(?:-n|-np|--np|--ntasks|--n)[ =]+(\d{1,9})\b", re.ASCII)
MOST_CHARACTERS = 1 << 16
"""The maximum length of a line that is read. SKaMPI prints the time of each rank; other lines are short."""
MOST_VALUE = 1e18
MOST_RANKS = 1 << 17
"""The maximum number of ranks of an imported launch: a run has a line for each of them."""

IN_GROUPS = "groups of ranks run it at the same time; a case runs on all ranks of its launch"


@dataclass(frozen=True)
class Row:
    """One line of a table: its numbers by column, as printed. `errors` is how many wrong results it
    reports."""

    line: int
    values: Mapping[str, float]
    errors: int = 0


@dataclass(frozen=True)
class LogTable:
    """A table of one benchmark. `benchmark` is its name in the tables of `reference/peers`, or its title as
    printed if there is none. `ranks` is None if the log does not contain their number. `invocation` counts
    the programs that wrote the log: all tables of one belong to one launch. `parameters` replace those of the
    benchmark's case, and `unusable` is why the numbers are not a case's, "" if they are."""

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
    """One program that wrote to the log. Empty if unknown: `version` of the suite, `library` of the MPI,
    `standard` that it implements, `system`, the `hosts` in the order of the ranks. `started_s` is in seconds
    since 1970 (0: unknown), `gpu` whether buffers are in the memory of GPUs, `complete` whether it printed
    its end (None if such programs do not)."""

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
    """A line inside of a table that is not a row of it."""

    line: int
    text: str


@dataclass(frozen=True)
class Log:
    """The contents of one file, as read for one suite. `tables` refer to `invocations` by their index."""

    invocations: tuple[Invocation, ...] = ()
    tables: tuple[LogTable, ...] = ()
    bad: tuple[BadLine, ...] = ()


def clean_line(line: str) -> str:
    """Remove colours, and the prefixes of launchers; other control characters are shown
    as escapes, since parts of lines are printed. A line of more than `MOST_CHARACTERS` is empty."""
    if len(line) > MOST_CHARACTERS:
        return ""
    if "\x1b" in line:
        line = COLOUR.sub("", line)
    if "\t" in line:
        line = line.expandtabs()
    return printable(PREFIX.sub("", line) if line[:1] in PREFIX_STARTS else line)


def launched_ranks(line: str) -> int | None:
    """The number of ranks in a launch command; None if the line is none, or names no number."""
    at = LAUNCHER.search(line)
    counts = COUNT.findall(line, at.end()) if at else []
    return int(counts[0]) or None if counts else None


def parse_number(word: str) -> float | None:
    """Read a number that is not negative, as C prints it; None for any other word, and for sizes and times
    that no machine reaches."""
    if not C_NUMBER.fullmatch(word):
        return None
    value = float(word)
    return value if value < MOST_VALUE else None


def parse_row(line: int, words: Sequence[str], columns: Sequence[str]) -> Row | None:
    """Read a row with these `columns`; None if it is not complete, or has words that are not numbers."""
    numbers = [parse_number(word) for word in words]
    if len(numbers) != len(columns) or None in numbers:
        return None
    return Row(line, {name: value for name, value in zip(columns, numbers, strict=True) if value is not None})
