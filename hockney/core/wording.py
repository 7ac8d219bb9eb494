# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Counts and lists in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def listing(names: Sequence[str], most: int = 3) -> str:
    """ "a, b, c and 4 more"; with semicolons if a name contains commas."""
    shown = ("; " if any("," in name for name in names[:most]) else ", ").join(names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def together(words: Iterable[object], conjunction: str = "and") -> str:
    """ "a, b and c"."""
    *first, last = map(str, words)
    return f"{', '.join(first)} {conjunction} {last}" if first else last
