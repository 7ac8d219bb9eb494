# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of messages and tables: counts, lists, the names of options, text for spreadsheets."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence


def plural(count: int, singular: str, plural_form: str = "") -> str:
    return f"{count} {singular if count == 1 else plural_form or singular + 's'}"


def verb_form(count: int, singular: str, plural_form: str) -> str:
    """The form of a verb whose subject is `count` things."""
    return singular if count == 1 else plural_form


def list_names(names: Sequence[str], limit: int = 3) -> str:
    """ "a, b, c and 4 more"; with semicolons if a name contains commas."""
    shown = ("; " if any("," in name for name in names[:limit]) else ", ").join(names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def join_words(words: Iterable[object], conjunction: str = "and") -> str:
    """ "a, b and c"."""
    *first, last = map(str, words)
    return f"{', '.join(first)} {conjunction} {last}" if first else last


FLAGS = {"starter": "--launcher", "variables": "-x", "launch_settings": "--setting"}
"""The flags that are not named after their field."""

_flags = False


@contextlib.contextmanager
def as_flags() -> Iterator[None]:
    """Messages that are made inside name flags."""
    global _flags
    before, _flags = _flags, True
    try:
        yield
    finally:
        _flags = before


def option(field: str, value: object = None) -> str:
    """An option of a run by its field of `RunOptions`, with a value: "budget" and "budget='60s'" in Python,
    "--budget" and "--budget 60s" on the command line."""
    if not _flags:
        return field if value is None else f"{field}={value!r}"
    return flag(field) if value is None else f"{flag(field)} {value}"


def flag(field: str) -> str:
    """The command line's flag for a field of `RunOptions`."""
    return FLAGS.get(field) or "--" + field.replace("_", "-")


FORMULA = ("=", "+", "-", "@", "\t", "\r")


def not_a_formula(text: str) -> str:
    """`text`, preceded by an apostrophe if a spreadsheet would interpret it as a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
