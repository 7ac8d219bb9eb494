# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The formats of logs. Each module here that has the members of `Format` is one of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from typing import Protocol

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
    modules = [importlib.import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)]
    return {
        each.SUITE: each
        for each in modules
        if all(hasattr(each, name) for name in ("SUITE", "TITLE", "MARKS", "read"))
    }
