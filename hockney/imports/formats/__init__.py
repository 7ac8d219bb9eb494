# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The formats of logs. Each module here that has the members of `Format` is one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hockney.core.plugins import plugins
from hockney.imports.log import Log


class Format(Protocol):
    """`SUITE` is its short name, `TITLE` that for people; a log without any of the `MARKS` has none of its
    tables. `read` finds them among the lines of a file; it ignores everything else, as a job's output may
    contain several formats."""

    SUITE: str
    TITLE: str
    MARKS: tuple[str, ...]

    def read(self, lines: Sequence[str]) -> Log: ...


def all_formats() -> dict[str, Format]:
    """Every format, by suite."""
    return {each.SUITE: each for each in plugins(__name__, "SUITE", "TITLE", "MARKS", "read")}
