# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The formats of logs, and the detection of the formats in a file. Each module in this folder with the
members of `Format` is a format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hockney.core.plugins import plugins
from hockney.imports.log import MAX_LINE_LENGTH, Log, clean_line


class Format(Protocol):
    """A format of logs. `SUITE` is its short name, `TITLE` its name for users. A log without any of the
    `MARKS` contains no tables of the format. `read` finds the tables among the lines of a file and ignores
    everything else, because a job's output can contain several formats."""

    SUITE: str
    TITLE: str
    MARKS: tuple[str, ...]

    def read(self, lines: Sequence[str]) -> Log: ...


def all_formats() -> dict[str, Format]:
    """Return all formats, by suite."""
    members = ("SUITE", "TITLE", "MARKS", "read")
    return {
        log_format.SUITE: log_format
        for log_format in plugins(__name__, *members, name_of=lambda log_format: log_format.SUITE)
    }


@dataclass(frozen=True)
class LogFile:
    """The contents of one file, by suite. `modified_s` is the time when the file was written, in seconds
    since 1970 (0: unknown). `cut_line` is the number of the last line if that line has no end, otherwise 0.
    `long_lines` are the numbers of lines that are too long to be read."""

    name: str
    logs: Mapping[str, Log]
    modified_s: float = 0.0
    cut_line: int = 0
    long_lines: tuple[int, ...] = ()


def read_log(name: str, text: str, modified_s: float = 0.0) -> LogFile:
    """Read the contents of a log. A last line without a line end may be cut off and is ignored."""
    formats = {
        suite: log_format
        for suite, log_format in all_formats().items()
        if any(mark in text for mark in log_format.MARKS)
    }
    if not formats:
        return LogFile(name, {}, modified_s)
    raw_lines = text.splitlines()
    lines = [clean_line(line) for line in raw_lines]
    cut_line = len(lines) if text and not text.endswith(("\n", "\r")) else 0
    complete_lines = lines[:-1] if cut_line and not lines[-1].lstrip().startswith("#") else lines
    logs = {suite: log_format.read(complete_lines) for suite, log_format in formats.items()}
    logs_with_tables = {suite: log for suite, log in logs.items() if log.tables}
    long_lines = tuple(number for number, line in enumerate(raw_lines, 1) if len(line) > MAX_LINE_LENGTH)
    return LogFile(
        name, logs_with_tables, modified_s, cut_line if len(complete_lines) < len(lines) else 0, long_lines
    )
