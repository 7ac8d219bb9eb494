# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Counts and lists in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def plural(count: int, singular: str, plural_form: str = "") -> str:
    return f"{count} {singular if count == 1 else plural_form or singular + 's'}"


def list_names(names: Sequence[str], limit: int = 3) -> str:
    """ "a, b, c and 4 more"; with semicolons if a name contains commas."""
    shown = ("; " if any("," in name for name in names[:limit]) else ", ").join(names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def join_words(words: Iterable[object], conjunction: str = "and") -> str:
    """ "a, b and c"."""
    *first, last = map(str, words)
    return f"{', '.join(first)} {conjunction} {last}" if first else last
