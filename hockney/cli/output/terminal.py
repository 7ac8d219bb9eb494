# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The capabilities of the terminal of stdout or stderr: its width, and whether it has colours."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TextIO

import click

from hockney.core.errors import one_line

NARROWEST = 40
"""Lines are never wrapped to fewer columns than this."""

STYLES: dict[str, dict[str, str | bool]] = {
    "head": {"bold": True},
    "good": {"fg": "green"},
    "fair": {"fg": "yellow"},
    "poor": {"fg": "red"},
    "refused": {"fg": "red"},
    "yes": {"fg": "green"},
    "no": {"fg": "red"},
    "note": {"fg": "cyan"},
    "bad": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "error": {"fg": "red", "bold": True},
}
"""The styles, by the word that is coloured."""


def width(stream: TextIO | None = None) -> int | None:
    """Columns of a line on stdout or another stream: COLUMNS if set, otherwise the terminal's width; None if
    lines may have any length, as in a pipe or a file."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(NARROWEST, int(columns))
    if not _is_terminal(stream or sys.stdout):
        return None
    return max(NARROWEST, shutil.get_terminal_size().columns)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def apply_colour(text: str, word: str, stream: TextIO | None = None) -> str:
    """`text` in the style of `word`, if the stream is a terminal that shows colours, and NO_COLOR is not
    set."""
    style = STYLES.get(word)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if style is None or plain or not _is_terminal(stream or sys.stdout):
        return text
    return click.style(text, **style)  # type: ignore[arg-type]


def echo(text: str = "") -> None:
    """Print on stdout; any colours in the text were decided on already."""
    click.echo(text, color=True)


def wrap_text(text: str, columns: int | None, indent: str = "", hang: str = "") -> str:
    """`text` as lines of at most `columns`, broken between words. The first line begins with `indent`, the
    others with `hang` too. A longer word, such as a path, has its own line."""
    line = one_line(text)
    if columns is None:
        return f"{indent}{line}"
    return textwrap.fill(
        line,
        columns,
        initial_indent=indent,
        subsequent_indent=indent + hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
