# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Capabilities of the terminal of stdout or stderr: width and colours."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TextIO

import click

from hockney.core.errors import one_line

MIN_WIDTH = 40
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
    """Width of a line on stdout or another stream: COLUMNS if set, otherwise the terminal's width; None if
    lines may have any length, as in a pipe or a file."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(MIN_WIDTH, int(columns))
    if not _is_terminal(stream or sys.stdout):
        return None
    return max(MIN_WIDTH, shutil.get_terminal_size().columns)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def apply_colour(text: str, word: str, stream: TextIO | None = None) -> str:
    """Apply the style of `word` to `text` if the stream is a terminal with colours and NO_COLOR is not
    set."""
    style = STYLES.get(word)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if style is None or plain or not _is_terminal(stream or sys.stdout):
        return text
    return click.style(text, **style)  # type: ignore[arg-type]


def echo(text: str = "") -> None:
    """Print on stdout without changing colours in the text."""
    click.echo(text, color=True)


def wrap_text(text: str, columns: int | None, indent: str = "", hang: str = "") -> str:
    """Wrap `text` to lines of at most `columns`, between words. The first line begins with `indent`, the
    others with `indent` and `hang`. A longer word, such as a path, is put on a separate line."""
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
