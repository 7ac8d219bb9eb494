# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Names of figures: as file names, and unique."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hockney.draw.figure import Figure


def file_name(name: str) -> str:
    """`name` as a file name that is valid on any system and stays inside its folder."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")[:100] or "figure"


def named(figures: Iterable[Figure]) -> dict[str, Figure]:
    """The figures under file names that differ in more than capitals: the second figure of a name gets -2."""
    found: dict[str, Figure] = {}
    taken: set[str] = set()
    for figure in figures:
        stem = name = file_name(figure.name)
        k = 1
        while name.lower() in taken:
            k += 1
            name = f"{stem}-{k}"
        taken.add(name.lower())
        found[name] = figure
    return found
