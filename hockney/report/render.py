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
from hockney.system.files import write_own_file, write_user_file

Spans = dict[tuple[int, int], int]
"""The number of rows that a cell spans, by row and column: 0 if it is left out, 1 if it is not listed."""


@dataclass(frozen=True)
class ShownFigure:
    """A figure as the template expects it. `id` is unique on the page, `file` a file name without suffix."""

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
class ShownTable:
    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...]
    caption: str
    spans: Spans


@dataclass(frozen=True)
class ShownWidget:
    """`table` is shown if the page's scripts do not run; `data` is the input of `script`."""

    id: str
    title: str
    caption: str
    script: str
    table: Table
    data: dict[str, Any]


@dataclass(frozen=True)
class ShownSection:
    id: str
    title: str
    text: tuple[str, ...]
    figures: tuple[ShownFigure, ...]
    tables: tuple[ShownTable, ...]
    warnings: tuple[Caveat, ...]
    widget: ShownWidget | None
    closed: bool
    layout: str


def render(page: Page) -> str:
    """The whole HTML text. Every text of `page` is treated as untrusted: displayed, never interpreted."""
    # Compressing takes as long as everything else, and is done concurrently.
    with ThreadPoolExecutor(1) as executor:
        packing = executor.submit(assets.plotly) if page.figures else None
        return _fill_template(page, packing)


def _fill_template(page: Page, packing: Future[assets.Script] | None) -> str:
    identities = _Identities()
    lead = page.lead
    lead_figure = _figure(lead, identities) if isinstance(lead, Figure) else None
    lead_widget = _widget(lead, identities) if isinstance(lead, Widget) else None
    results = _table(page.results, identities) if page.results else None
    sections = [_section(section, identities) for section in page.sections]
    drawn = [*([lead_figure] if lead_figure else []), *(f for section in sections for f in section.figures)]
    widgets = [*([lead_widget] if lead_widget else []), *(s.widget for s in sections if s.widget)]
    scripts = [_resource(name) for name in _scripts(page)]
    library = packing and packing.result()
    allowed = [assets.policy(script.encode()) for script in scripts]
    live = {
        "figures": {f.id: f.live for f in drawn},
        "csv": {f.id: f.csv for f in drawn},
        "dark": _dark(),
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
        plotly=library and Markup(library.base64_gzip),
        script_hashes=Markup(" ".join([*allowed, *([library.policy] if library else [])])),
        figures_packed=Markup(assets.compress_to_base64(html_text.embedded_json(live).encode()))
        if drawn
        else None,
        widgets_json=html_text.embedded_json({w.id: w.data for w in widgets}) if widgets else None,
        version=__version__,
    )


MODELS = {"efficiency": ("efficiency_model",)}
"""Models used by a widget's script, in separate files."""


def _scripts(page: Page) -> list[str]:
    """The scripts that the page needs, in order of dependency."""
    widgets = dict.fromkeys(widget.script for widget in page.widgets)
    shared = ["units.js", "sketch.js"] if widgets else []
    specific = [f"widgets/{name}.js" for widget in widgets for name in (*MODELS.get(widget, ()), widget)]
    return [*shared, *specific, "report.js"]


@functools.cache
def _template() -> Callable[..., str]:
    cache = assets.folder()
    environment = Environment(
        bytecode_cache=None if cache is None else assets.Template(str(cache)),
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


def _dark() -> dict[str, str]:
    """Each colour of the light theme with its counterpart in the dark theme."""
    return {colour: DARK.variables[name] for name, colour in LIGHT.variables.items()}


class _Identities:
    """Anchors: readable, stable, unique on the page."""

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


def _section(section: Section, identities: _Identities) -> ShownSection:
    layout = _layout(section)
    return ShownSection(
        identities.new("", section.title),
        section.title,
        section.text,
        tuple(_figure(f, identities, layout == MULTIPLES) for f in section.figures),
        tuple(_table(t, identities) for t in section.tables),
        section.warnings,
        None if section.widget is None else _widget(section.widget, identities),
        section.closed,
        layout,
    )


MULTIPLES = "multiples"


def _layout(section: Section) -> str:
    """The layout of the figures: three or two side by side, or below each other."""
    count = len(section.figures)
    if section.multiples and count > 2:
        return MULTIPLES
    return "many" if count > 2 or (section.multiples and count == 2) else ""


def _widget(widget: Widget, identities: _Identities) -> ShownWidget:
    return ShownWidget(
        identities.new("", widget.name or "widget"),
        widget.title,
        widget.caption,
        widget.script,
        widget.fallback,
        html_text.printable_data(widget.data),
    )


def _figure(figure: Figure, identities: _Identities, small: bool = False) -> ShownFigure:
    identity = identities.new("figure", figure.name)
    columns, rows = data.table(figure)
    return ShownFigure(
        id=identity,
        file=file_name(figure.name),
        title=figure.title,
        caption=figure.caption,
        warnings=figure.warnings,
        described=describe(figure),
        svg=draw_still(figure, identity, small),
        live=make_interactive(figure),
        tall=_height(figure),
        columns=columns,
        rows=rows,
        numeric=(1, 2),
        csv=data.as_csv(figure),
    )


ROW_REM, AROUND_REM, LEAST_REM = 1.0, 5.0, 10.0
"""For a figure with names down its side: the height of a row for one point, of the space around, and of the
whole figure at least, so that its axis title has room below the ticks."""


def _height(figure: Figure) -> float:
    """The figure's height if it needs a custom one, otherwise 0."""
    rows = figure.x.rows
    return round(max(LEAST_REM, AROUND_REM + ROW_REM * rows), 1) if rows else 0.0


def _table(table: Table, identities: _Identities) -> ShownTable:
    return ShownTable(
        identities.new("table", table.name),
        table.title,
        table.columns,
        table.rows,
        table.numeric,
        table.caption,
        _spans(table),
    )


def _spans(table: Table) -> Spans:
    """The number of rows that each cell in merged columns spans: its own and the empty ones below it, which
    are left out (0)."""
    spans = {}
    for column in table.merged:
        first = 0
        for k, row in enumerate(table.rows):
            first = k if row[column] or not k else first
            spans[k, column] = 0
            spans[first, column] += 1
    return spans


def write(page: Page, path: Path, *, in_run_folder: bool = False) -> Path:
    """Write the report to `path`, completely or not at all, and return it. `in_run_folder`: the path is not
    the user's choice."""
    (write_own_file if in_run_folder else write_user_file)(Path(path), render(page).encode("utf-8"))
    return Path(path)


def figures(page: Page, folder: Path, formats: Iterable[str] = ("svg", "png")) -> list[Path]:
    """Write every figure into `folder` (created if missing), each under a different name."""
    from hockney.draw.files import save

    formats, paths = tuple(formats), []
    for name, figure in with_unique_names(page.figures).items():
        paths += save(changed(figure, name=name), Path(folder), formats)
    return paths
