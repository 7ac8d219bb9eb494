# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of messages and tables: counts, lists, names of options, text for spreadsheets."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence


def plural(count: int, singular: str, plural_form: str = "") -> str:
    return f"{count} {singular if count == 1 else plural_form or singular + 's'}"


def verb_form(count: int, singular: str, plural_form: str) -> str:
    """Return the form of a verb with `count` items as its subject."""
    return singular if count == 1 else plural_form


def list_names(names: Sequence[str], limit: int = 3) -> str:
    """Return "a, b, c and 4 more"; with semicolons if a name contains commas."""
    listed = ("; " if any("," in name for name in names[:limit]) else ", ").join(names[:limit])
    return listed + (f" and {len(names) - limit} more" if len(names) > limit else "")


def join_words(words: Iterable[object], conjunction: str = "and") -> str:
    """Return "a, b and c"."""
    *first, last = map(str, words)
    return f"{', '.join(first)} {conjunction} {last}" if first else last


FLAGS = {
    "starter": "--launcher",
    "variables": "-x",
    "launch_settings": "--setting",
    "larger": "--larger-machine",
}
"""Flags that are not named after their field."""

_uses_flags = False


@contextlib.contextmanager
def name_options_as_flags() -> Iterator[None]:
    """Let messages created in this context name flags."""
    global _uses_flags
    previous, _uses_flags = _uses_flags, True
    try:
        yield
    finally:
        _uses_flags = previous


def option(field: str, value: object = None) -> str:
    """Name an option of a run by its field of `RunOptions`, optionally with a value: "budget" and
    "budget='60s'" in Python, "--budget" and "--budget 60s" on the command line."""
    if not _uses_flags:
        return field if value is None else f"{field}={value!r}"
    return flag(field) if value is None else f"{flag(field)} {value}"


def flag(field: str) -> str:
    """Return the command line's flag for a field of `RunOptions`."""
    return FLAGS.get(field) or "--" + field.replace("_", "-")


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def escape_formula(text: str) -> str:
    """Return `text`, preceded by an apostrophe if a spreadsheet would interpret it as a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
