# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What is read from the output of another benchmark: tables of numbers as printed, and lines that were not
understood."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hockney.core.errors import printable

PREFIX = re.compile(r"^(?:\[\d+,\d+\]<std(?:out|err)>: ?|\d+: |\[\d+\] (?!MPI startup\(\)))")
"""What launchers put before each line: Open MPI's --tag-output, srun --label, -l of MPICH and Intel MPI.
Intel MPI's library prints lines that begin in the last way itself."""
PREFIXED = frozenset("[0123456789")
"""What such a prefix begins with."""
C_NUMBER = re.compile(r"\+?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
LAUNCHER = re.compile(r"\b(?:mpirun|mpiexec(?:\.\w+)?|orterun|prun|prterun|srun|aprun|jsrun|ibrun)\b")
COUNT = re.compile(r"(?:^|\s)(?:-n|-np|--np|--ntasks|--n)[ =]+(\d{1,9})\b", re.ASCII)
MOST_CHARACTERS = 1 << 16
"""Of a line that is read. SKaMPI prints the time of each rank; other lines are short."""
BEYOND = 1e18
MOST_RANKS = 1 << 17
"""Of a launch that is imported: a run has a line for each of them."""

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

    suite: str
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
    """What one reader found in one file. `tables` refer to `invocations` by their index."""

    invocations: tuple[Invocation, ...] = ()
    tables: tuple[LogTable, ...] = ()
    bad: tuple[BadLine, ...] = ()


def cleaned(line: str) -> str:
    """The line without colours and without what launchers put before it; other control characters are shown
    as escapes, since parts of lines are printed. A line of more than `MOST_CHARACTERS` is empty."""
    if len(line) > MOST_CHARACTERS:
        return ""
    if "\x1b" in line:
        line = COLOUR.sub("", line)
    if "\t" in line:
        line = line.expandtabs()
    return printable(PREFIX.sub("", line) if line[:1] in PREFIXED else line)


def launched_ranks(line: str) -> int | None:
    """The number of ranks in a launch command; None if the line is none, or names no number."""
    at = LAUNCHER.search(line)
    counts = COUNT.findall(line, at.end()) if at else []
    return int(counts[0]) or None if counts else None


def number(word: str) -> float | None:
    """A number that is not negative, as C prints it; None for any other word, and for sizes and times that no
    machine reaches."""
    if not C_NUMBER.fullmatch(word):
        return None
    value = float(word)
    return value if value < BEYOND else None


def row_of(line: int, words: Sequence[str], columns: Sequence[str]) -> Row | None:
    """The row with these `columns`; None if it is not complete, or has words that are no numbers."""
    numbers = [number(word) for word in words]
    if len(numbers) != len(columns) or None in numbers:
        return None
    return Row(line, {name: value for name, value in zip(columns, numbers, strict=True) if value is not None})
