# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page as one self-contained HTML file, and its figures as files for papers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from dataclasses import replace as changed
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hockney import __version__
from hockney.draw.describe import describe
from hockney.draw.figure import Figure, file_name, with_unique_names
from hockney.draw.figure_interactive import make_interactive
from hockney.draw.page import Caveat, Page, Section, Table, Widget
from hockney.draw.palette import DARK, LIGHT
from hockney.draw.svg import draw_still
from hockney.report import assets, data, html_text
from hockney.system.files import write_internal_file, write_user_file

RowSpans = dict[tuple[int, int], int]
"""The number of rows that a cell spans, by row and column: 0 if the cell is omitted, 1 if it is not
listed."""


@dataclass(frozen=True)
class RenderedFigure:
    """A figure as the template expects it. `id` is unique on the page, and `file` is a file name without
    suffix."""

    id: str
    file: str
    title: str
    caption: str
    warnings: tuple[str, ...]
    described: str
    svg: Markup
    live: dict[str, Any]
    tall: float
    columns: tuple[str, ...]
    rows: data.Rows
    numeric: tuple[int, ...]
    csv: str


@dataclass(frozen=True)
class RenderedTable:
    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...]
    caption: str
    spans: RowSpans


@dataclass(frozen=True)
class RenderedWidget:
    """`table` is shown if the page's scripts do not run; `data` is the input of `script`."""

    id: str
    title: str
    caption: str
    script: str
    table: Table
    data: dict[str, Any]


@dataclass(frozen=True)
class RenderedSection:
    id: str
    title: str
    text: tuple[str, ...]
    figures: tuple[RenderedFigure, ...]
    tables: tuple[RenderedTable, ...]
    warnings: tuple[Caveat, ...]
    widget: RenderedWidget | None
    closed: bool
    layout: str


def render(page: Page) -> str:
    """Return the complete HTML text. Every text of `page` is untrusted: it is displayed, never
    interpreted."""
    # Compressing takes as long as everything else, and is done concurrently.
    with ThreadPoolExecutor(1) as executor:
        plotly_future = executor.submit(assets.plotly_script) if page.figures else None
        return _fill_template(page, plotly_future)


def _fill_template(page: Page, plotly_future: Future[assets.Script] | None) -> str:
    anchors = _AnchorNames()
    lead = page.lead
    lead_figure = _figure(lead, anchors) if isinstance(lead, Figure) else None
    lead_widget = _widget(lead, anchors) if isinstance(lead, Widget) else None
    results = _table(page.results, anchors) if page.results else None
    sections = [_section(section, anchors) for section in page.sections]
    all_figures = [
        *([lead_figure] if lead_figure else []),
        *(figure for section in sections for figure in section.figures),
    ]
    widgets = [*([lead_widget] if lead_widget else []), *(s.widget for s in sections if s.widget)]
    scripts = [_resource(name) for name in _scripts(page)]
    plotly_script = plotly_future and plotly_future.result()
    script_policies = [assets.script_policy(script.encode()) for script in scripts]
    figure_data = {
        "figures": {figure.id: figure.live for figure in all_figures},
        "csv": {figure.id: figure.csv for figure in all_figures},
        "dark": _dark_colours(),
    }
    return _template()(
        page=page,
        lead=lead_figure,
        lead_widget=lead_widget,
        results=results,
        sections=sections,
        light=LIGHT.variables,
        dark=DARK.variables,
        style=Markup(_resource("style.css")),
        scripts=[Markup(script) for script in scripts],
        plotly=plotly_script and Markup(plotly_script.base64_gzip),
        script_hashes=Markup(
            " ".join([*script_policies, *([plotly_script.policy] if plotly_script else [])])
        ),
        figures_packed=Markup(assets.compress_to_base64(html_text.embedded_json(figure_data).encode()))
        if all_figures
        else None,
        widgets_json=html_text.embedded_json({w.id: w.data for w in widgets}) if widgets else None,
        version=__version__,
    )


WIDGET_MODELS = {"efficiency": ("efficiency_model",)}
"""Models used by a widget's script, which are in separate files."""


def _scripts(page: Page) -> list[str]:
    """Return the scripts that the page needs, in order of dependency."""
    widgets = dict.fromkeys(widget.script for widget in page.widgets)
    shared_scripts = ["units.js", "sketch.js"] if widgets else []
    widget_scripts = [
        f"widgets/{name}.js" for widget in widgets for name in (*WIDGET_MODELS.get(widget, ()), widget)
    ]
    return [*shared_scripts, *widget_scripts, "report.js"]


@functools.cache
def _template() -> Callable[..., str]:
    cache = assets.page_cache_folder()
    environment = Environment(
        bytecode_cache=None if cache is None else assets.TemplateCache(str(cache)),
        loader=PackageLoader("hockney.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=html_text.to_printable,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "keep_units_together": html_text.keep_units_together,
        "emphasise_results": html_text.emphasise_results,
        "to_sentence": html_text.to_sentence,
    }
    return environment.get_template("page.html.j2").render


def _resource(name: str) -> str:
    return files("hockney.report").joinpath(name).read_text(encoding="utf-8")


def _dark_colours() -> dict[str, str]:
    """Map each colour of the light theme to its counterpart in the dark theme."""
    return {colour: DARK.variables[name] for name, colour in LIGHT.variables.items()}


class _AnchorNames:
    """Generates anchors: readable, stable, unique on the page."""

    def __init__(self) -> None:
        self._taken = {"content", "environment", "method", "theme", "figures", "plotly", "widgets"}

    def new(self, kind: str, text: str) -> str:
        word = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-")
        base = "-".join(filter(None, [kind, word])) or "section"
        name, k = base, 1
        while name in self._taken:
            k += 1
            name = f"{base}-{k}"
        self._taken |= {name, f"{name}-title"}
        return name


def _section(section: Section, anchors: _AnchorNames) -> RenderedSection:
    layout = _layout(section)
    return RenderedSection(
        anchors.new("", section.title),
        section.title,
        section.text,
        tuple(_figure(figure, anchors, layout == MULTIPLES) for figure in section.figures),
        tuple(_table(table, anchors) for table in section.tables),
        section.warnings,
        None if section.widget is None else _widget(section.widget, anchors),
        section.closed,
        layout,
    )


MULTIPLES = "multiples"


def _layout(section: Section) -> str:
    """Return the layout of the figures: three or two side by side, or one below the other."""
    count = len(section.figures)
    if section.multiples and count > 2:
        return MULTIPLES
    return "many" if count > 2 or (section.multiples and count == 2) else ""


def _widget(widget: Widget, anchors: _AnchorNames) -> RenderedWidget:
    return RenderedWidget(
        anchors.new("", widget.name or "widget"),
        widget.title,
        widget.caption,
        widget.script,
        widget.fallback,
        html_text.printable_data(widget.data),
    )


def _figure(figure: Figure, anchors: _AnchorNames, small: bool = False) -> RenderedFigure:
    anchor = anchors.new("figure", figure.name)
    columns, rows = data.figure_table(figure)
    return RenderedFigure(
        id=anchor,
        file=file_name(figure.name),
        title=figure.title,
        caption=figure.caption,
        warnings=figure.warnings,
        described=describe(figure),
        svg=draw_still(figure, anchor, small),
        live=make_interactive(figure),
        tall=_height(figure),
        columns=columns,
        rows=rows,
        numeric=(1, 2),
        csv=data.figure_csv(figure),
    )


ROW_REM, MARGIN_REM, MIN_HEIGHT_REM = 1.0, 5.0, 10.0
"""Heights for a figure with names along its side: of a row for one point, of the surrounding space, and of
the smallest figure, which leaves room for the axis title below the ticks."""


def _height(figure: Figure) -> float:
    """Return the figure's height if it needs a custom one, otherwise 0."""
    rows = figure.x.rows
    return round(max(MIN_HEIGHT_REM, MARGIN_REM + ROW_REM * rows), 1) if rows else 0.0


def _table(table: Table, anchors: _AnchorNames) -> RenderedTable:
    return RenderedTable(
        anchors.new("table", table.name),
        table.title,
        table.columns,
        table.rows,
        table.numeric,
        table.caption,
        _spans(table),
    )


def _spans(table: Table) -> RowSpans:
    """Return the number of rows that each cell in merged columns spans: its own row and the empty cells below
    it, which are omitted (0)."""
    spans = {}
    for column in table.merged:
        first_row = 0
        for k, row in enumerate(table.rows):
            first_row = k if row[column] or not k else first_row
            spans[k, column] = 0
            spans[first_row, column] += 1
    return spans


def write(page: Page, path: Path, *, in_run_folder: bool = False) -> Path:
    """Write the report to `path`, completely or not at all, and return the path. `in_run_folder` is set if
    the user did not choose the path."""
    (write_internal_file if in_run_folder else write_user_file)(Path(path), render(page).encode("utf-8"))
    return Path(path)


def figures(page: Page, folder: Path, formats: Iterable[str] = ("svg", "png")) -> list[Path]:
    """Write every figure into `folder` (created if missing), each under a different name."""
    from hockney.draw.files import save

    formats, paths = tuple(formats), []
    for name, figure in with_unique_names(page.figures).items():
        paths += save(changed(figure, name=name), Path(folder), formats)
    return paths
