# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Names of options in messages: keywords for programs, flags on the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

FLAGS = {"starter": "--launcher", "variables": "-x", "launch_settings": "--setting"}
"""Those that are not called as their field is."""

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
