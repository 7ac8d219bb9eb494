# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How times changed in an archive, for programs and notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import report
from hockney.api.export.table import Cell, Rows
from hockney.core.paths import AnyPath, to_path
from hockney.history import ShownHistory
from hockney.models.history import FactChange, Trend

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

    from hockney.api.notebook.frames import Library
    from hockney.api.notebook.page_figures import Figures
    from hockney.draw.page import Page


@dataclass(frozen=True, repr=False)
class Trends:
    """Series over the runs of an archive, and their changes."""

    shown: ShownHistory

    @property
    def trends(self) -> list[tuple[str, Trend]]:
        """The machine and the trend of each series."""
        return self.shown.trends

    @property
    def environment(self) -> dict[str, tuple[FactChange, ...]]:
        """What changed in the environment of each machine, and when."""
        return self.shown.facts

    @property
    def document(self) -> dict[str, Any]:
        """What `hockney history show --json` prints."""
        from hockney.history.document import shown_document

        return shown_document(self.shown)

    @cached_property
    def page(self) -> Page:
        from hockney.history.page import shown_page

        return shown_page(self.shown)

    def report(self, path: AnyPath) -> Path:
        """Write the page, one HTML file."""
        return report.write(self.page, to_path(path))

    def table(self) -> Rows:
        """A row for each run in each series: times in seconds, dates in seconds since 1970. `part` counts
        the changes before it."""
        columns: dict[str, list[Cell]] = {}
        for machine, trend in self.trends:
            changed, part = {change.at.run for change in trend.changes}, 0
            for point in trend.series.points:
                part += point.run in changed
                row: dict[str, Cell] = {
                    "machine": machine,
                    "operation": trend.series.workload,
                    "case": trend.series.case,
                    "level": trend.series.level,
                    "run": point.run,
                    "at_s": point.at_s,
                    "value": point.value.value,
                    "low": point.value.low,
                    "high": point.value.high,
                    "part": part,
                }
                for name, cell in row.items():
                    columns.setdefault(name, []).append(cell)
        return Rows.of(columns)

    def frame(self, library: Library | None = None) -> Any:
        """The same as a DataFrame of pandas or polars."""
        from hockney.api.notebook.frames import frame

        return frame(self.table(), library)

    @property
    def figure_names(self) -> tuple[str, ...]:
        return tuple(self._figures)

    def figure(self, name: str = "") -> PlotlyFigure:
        """A figure of the page, by default the first, as a Plotly figure. Raises UsageError."""
        from hockney.api.notebook.page_figures import drawn

        return drawn(self._figures, name or next(iter(self._figures), ""))

    @cached_property
    def _figures(self) -> Figures:
        from hockney.api.notebook.page_figures import figures_of

        return figures_of(self.page)

    def __repr__(self) -> str:
        changed = sum(bool(trend.changes) for _, trend in self.trends)
        return f"<Trends of {len(self.trends)} series: {changed} changed>"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from hockney.history import tables, wording
        from hockney.report import notebook

        return notebook.summary((wording.shown(self.shown),), (), [tables.trends(self.shown)])
