# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which formats a file contains, and what they have in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hockney.imports.formats import all_formats
from hockney.imports.log import Log, lines_of


@dataclass(frozen=True)
class LogFile:
    """What was found in one file, by suite. `modified_s` is when the file was written, in seconds since 1970
    (0: unknown), `cut` the number of its last line if that has no end, otherwise 0."""

    name: str
    logs: Mapping[str, Log]
    modified_s: float = 0.0
    cut: int = 0


def read_log(name: str, text: str, modified_s: float = 0.0) -> LogFile:
    """A last line without its end may be cut off: it is not used."""
    lines = lines_of(text)
    cut = len(lines) if text and not text.endswith(("\n", "\r")) else 0
    used = lines[:-1] if cut and not lines[-1].lstrip().startswith("#") else lines
    logs = {suite: each.read(used) for suite, each in all_formats().items()}
    found = {suite: log for suite, log in logs.items() if log.tables}
    return LogFile(name, found, modified_s, cut if len(used) < len(lines) else 0)
