# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The formats of logs, and which of them a file contains. Each module here that has the members of `Format`
is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hockney.core.plugins import plugins
from hockney.imports.log import MOST_CHARACTERS, Log, clean_line


class Format(Protocol):
    """`SUITE` is its short name, `TITLE` that for people; a log without any of the `MARKS` has none of its
    tables. `read` finds them among the lines of a file; it ignores everything else, as a job's output may
    contain several formats."""

    SUITE: str
    TITLE: str
    MARKS: tuple[str, ...]

    def read(self, lines: Sequence[str]) -> Log: ...


def all_formats() -> dict[str, Format]:
    """All formats, by suite."""
    members = ("SUITE", "TITLE", "MARKS", "read")
    return {each.SUITE: each for each in plugins(__name__, *members, name_of=lambda each: each.SUITE)}


@dataclass(frozen=True)
class LogFile:
    """The contents of one file, by suite. `modified_s` is when the file was written, in seconds since 1970
    (0: unknown), `cut` the number of its last line if that has no end, otherwise 0, `long` the numbers of
    lines that are too long to be read."""

    name: str
    logs: Mapping[str, Log]
    modified_s: float = 0.0
    cut: int = 0
    long: tuple[int, ...] = ()


def read_log(name: str, text: str, modified_s: float = 0.0) -> LogFile:
    """A last line without its end may be cut off: it is not used."""
    formats = {
        suite: each for suite, each in all_formats().items() if any(mark in text for mark in each.MARKS)
    }
    if not formats:
        return LogFile(name, {}, modified_s)
    printed = text.splitlines()
    lines = [clean_line(line) for line in printed]
    cut = len(lines) if text and not text.endswith(("\n", "\r")) else 0
    used = lines[:-1] if cut and not lines[-1].lstrip().startswith("#") else lines
    logs = {suite: each.read(used) for suite, each in formats.items()}
    found = {suite: log for suite, log in logs.items() if log.tables}
    long = tuple(number for number, line in enumerate(printed, 1) if len(line) > MOST_CHARACTERS)
    return LogFile(name, found, modified_s, cut if len(used) < len(lines) else 0, long)
