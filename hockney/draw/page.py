# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Report pages as data: the results of a study in reading order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hockney.draw.figure import Figure


@dataclass(frozen=True)
class Caveat:
    """A reason to doubt numbers, with the affected numbers and the remedy. `code` is a short stable name."""

    code: str
    text: str
    touches: str
    todo: str


@dataclass(frozen=True)
class Table:
    """A table with cells of formatted text. `numeric` lists columns to align right. `parameters` lists
    columns with chosen values; a constant one may be stated once above the table. In `merged` columns, an
    empty cell continues the cell above."""

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
    """An interactive element of the page. `script` is the name of a file in `report/widgets` that draws it
    from `data` (numbers, strings, lists and dicts). `fallback` is shown when scripts are disabled."""

    name: str
    title: str
    script: str
    data: Mapping[str, Any]
    fallback: Table
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A section of a page. Caveats refer to the section by its `id`. A `closed` section shows only its title
    until it is opened, and is printed only if open. The figures of `multiples` are small and side by side."""

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
    """A report page. `headline` contains the answer, one sentence per item. `environment` contains pairs of
    name and value. `lead` is the figure (or widget) next to the headline, `results` the table below it."""

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
        """All figures of the page, beginning with the lead."""
        lead_figures = (self.lead,) if isinstance(self.lead, Figure) else ()
        return (*lead_figures, *(figure for section in self.sections for figure in section.figures))

    @property
    def widgets(self) -> tuple[Widget, ...]:
        lead_widgets = (self.lead,) if isinstance(self.lead, Widget) else ()
        return (*lead_widgets, *(section.widget for section in self.sections if section.widget))
