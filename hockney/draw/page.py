# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page as data: the results of a study, in the order a reader needs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hockney.draw.figure import Figure


@dataclass(frozen=True)
class Caveat:
    """A reason to doubt numbers, which ones, and the remedy. `code` is a short stable name."""

    code: str
    text: str
    touches: str
    todo: str


@dataclass(frozen=True)
class Table:
    """Cells are text, ready to read; `numeric` lists the columns to align right. `parameters` are the columns
    of what was chosen rather than found: one that is the same in all rows may be stated once, above. In the
    columns `merged` an empty cell continues the one above it."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()
    caption: str = ""
    parameters: tuple[int, ...] = ()
    merged: tuple[int, ...] = ()


@dataclass(frozen=True)
class Widget:
    """An interactive element of the page. `script` names a file in `report/widgets` that draws it from
    `data`: numbers, strings, lists and dicts. `fallback` is shown when scripts are disabled."""

    name: str
    title: str
    script: str
    data: Mapping[str, Any]
    fallback: Table
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """`id` identifies a section to which caveats may belong, whatever its title. A `closed` section shows
    only its title until the reader opens it, and is printed only then. The figures of `multiples` are small,
    side by side."""

    title: str
    text: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[Caveat, ...] = ()
    widget: Widget | None = None
    id: str = ""
    closed: bool = False
    multiples: bool = False


@dataclass(frozen=True)
class Page:
    """`headline` is the answer, one sentence each; `environment` are name and value pairs. `lead` is the
    figure of the first screen, next to the headline, or its replacement; `results` the table below it."""

    title: str
    subtitle: str
    headline: tuple[str, ...]
    warnings: tuple[Caveat, ...]
    sections: tuple[Section, ...]
    environment: tuple[tuple[str, str], ...]
    method: tuple[str, ...]
    lead: Figure | Widget | None = None
    results: Table | None = None

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures of the page, the first screen's first."""
        first = (self.lead,) if isinstance(self.lead, Figure) else ()
        return (*first, *(figure for section in self.sections for figure in section.figures))

    @property
    def widgets(self) -> tuple[Widget, ...]:
        first = (self.lead,) if isinstance(self.lead, Widget) else ()
        return (*first, *(section.widget for section in self.sections if section.widget))
