# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which formats a file contains, and what they have in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hockney.imports.formats import all_formats
from hockney.imports.log import MOST_CHARACTERS, Log, cleaned


@dataclass(frozen=True)
class LogFile:
    """What was found in one file, by suite. `modified_s` is when the file was written, in seconds since 1970
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
    lines = [cleaned(line) for line in printed]
    cut = len(lines) if text and not text.endswith(("\n", "\r")) else 0
    used = lines[:-1] if cut and not lines[-1].lstrip().startswith("#") else lines
    logs = {suite: each.read(used) for suite, each in formats.items()}
    found = {suite: log for suite, log in logs.items() if log.tables}
    long = tuple(number for number, line in enumerate(printed, 1) if len(line) > MOST_CHARACTERS)
    return LogFile(name, found, modified_s, cut if len(used) < len(lines) else 0, long)
