# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures as files for papers: SVG with text elements, PNG, PDF. Output is reproducible byte for byte."""

from __future__ import annotations

import contextlib
import io
import logging
import math
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from hockney.core.errors import one_line, unknown
from hockney.draw.describe import axis_title
from hockney.draw.figure import Figure, Series, file_name
from hockney.draw.intervals import split_by_interval
from hockney.draw.layout import BAR_HEIGHT, Picture, entries, lay_out
from hockney.draw.palette import DASHES, LIGHT, SYMBOLS, Look, looks
from hockney.draw.ticks import Scale
from hockney.system.files import make_folder, write_user_file

T = TypeVar("T")

FORMATS = ("svg", "png", "pdf")
# Inches and points: two thirds of a page's width, legible when a two-column paper shrinks it to one column.
WIDTH, HEIGHT = 6.4, 3.9
DPI = 200
# Type size in points, and height of a row of the legend in inches.
SIZE, LEGEND_ROW = 9.0, 0.2
AXES_POINTS = 390.0, 210.0
# Inches per row, if names run down the side.
ROW = 0.19
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica Neue", "Helvetica", "Arial", "Liberation Sans", "DejaVu Sans"],
    "font.size": SIZE,
    # A dollar sign in a host's name is not a formula.
    "text.parse_math": False,
    "text.usetex": False,
}
NO_DATE: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
}


def save(figure: Figure, folder: Path, formats: Iterable[str] = ("svg", "png")) -> list[Path]:
    """Write `figure` as folder/NAME.FORMAT for each format and return the paths. The folder is created if
    necessary."""
    paths = []
    make_folder(Path(folder))
    for suffix in formats:
        if suffix not in FORMATS:
            raise unknown("picture format", suffix, FORMATS, code="unknown-picture-format")
        path = Path(folder) / f"{file_name(figure.name)}.{suffix}"
        write_user_file(path, render(figure, suffix))
        paths.append(path)
    return paths


def render(figure: Figure, suffix: str) -> bytes:
    """Render the figure's file in memory."""
    buffer = io.BytesIO()
    with _suppress_warnings():
        # Imported here, since importing matplotlib takes longer than most verbs.
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas

        # matplotlib names clip paths by a hash: a different salt for each figure keeps them apart on one
        # page.
        with matplotlib.rc_context(SETTINGS | {"svg.hashsalt": f"hockney {file_name(figure.name)}"}):
            canvas = Canvas(figsize=(WIDTH, HEIGHT), layout="constrained", facecolor="white")
            FigureCanvasAgg(canvas)
            _draw(canvas, figure)
            canvas.savefig(buffer, format=suffix, dpi=DPI, metadata=NO_DATE[suffix])
    return buffer.getvalue()


@contextlib.contextmanager
def _suppress_warnings() -> Iterator[None]:
    """Suppress matplotlib's warnings about missing fonts or a read-only home, which do not help users."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _draw(canvas: Any, figure: Figure) -> None:
    figure = split_by_interval(figure)
    picture = lay_out(figure)
    axes = canvas.add_subplot()
    if figure.x.names:
        canvas.set_figheight(1.0 + ROW * figure.x.rows)
        _format_axes(axes, picture.y, picture.x)
    else:
        _format_axes(axes, picture.x, picture.y)
    if picture.gap is not None:
        axes.axvline(picture.gap, color=LIGHT.line, linewidth=0.8, linestyle=DASHES[2][1], zorder=1)
    for mark in picture.marks:
        axes.axvline(mark.at, color=LIGHT.muted, linewidth=0.9, linestyle=DASHES[2][1], zorder=1)
        axes.annotate(
            mark.label,
            (mark.at, 1),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            xytext=(0, 2 + 10 * mark.row),
            ha=mark.anchor,
            va="bottom",
            color=LIGHT.muted,
            fontsize=SIZE - 1,
        )
    handles = [
        DRAW_FUNCTIONS[series.kind](axes, series, look, picture)
        for series, look in zip(figure.series, looks(figure), strict=True)
    ]
    legend = entries(figure.series)
    if len(legend) > 1:
        handle_groups = [
            tuple(handles[k] for k in (legend_entry.line, legend_entry.points) if k is not None)
            for legend_entry in legend
        ]
        _legend(canvas, handle_groups, [entry.name for entry in legend])


def _points(axes: Any, series: Series, look: Look, picture: Picture) -> Any:
    colour = LIGHT.series[look.slot]
    positions = [
        (picture.x.place(x), picture.y.place(y), picture.bar(series, k))
        for k, (x, y) in enumerate(zip(series.x, series.y, strict=True))
    ]
    drawn_points = [(x, y, bar) for x, y, bar in positions if x is not None and y is not None]
    bars = (
        [
            [error_bar.below for _, _, error_bar in drawn_points],
            [error_bar.above for _, _, error_bar in drawn_points],
        ]
        if series.low
        else None
    )
    xs, ys = [x for x, _, _ in drawn_points], [y for _, y, _ in drawn_points]
    if picture.x.axis.names:
        xs, ys = ys, xs
    for cut_off in picture.cut_offs(series):
        position, markers = (
            ((cut_off.at, cut_off.x), "<>") if picture.x.axis.names else ((cut_off.x, cut_off.at), "v^")
        )
        axes.plot(*position, markers[cut_off.high], color=colour, markersize=4.2, clip_on=False, zorder=4)
    return axes.errorbar(
        xs,
        ys,
        **{"xerr" if picture.x.axis.names else "yerr": bars},
        linestyle="none",
        marker=SYMBOLS[look.symbol][1],
        markersize=4.2,
        color=colour,
        ecolor=colour,
        elinewidth=0.9,
        capsize=1.8,
        capthick=0.9,
        markerfacecolor="white" if look.hollow else colour,
        markeredgecolor=colour,
        markeredgewidth=1.0,
        zorder=4,
    )


def _line(axes: Any, series: Series, look: Look, picture: Picture) -> Any:
    colour = LIGHT.series[look.slot]
    for band in picture.bands(series):
        axes.fill_between(
            [x for x, _, _ in band],
            [low for _, low, _ in band],
            [high for _, _, high in band],
            color=colour,
            alpha=0.18,
            linewidth=0,
            zorder=2,
        )
    path = picture.path(series)
    nan = math.nan
    (line,) = axes.plot(
        [nan if x is None else x for x, _ in path],
        [nan if k is None else series.y[k] for _, k in path],
        color=colour,
        linestyle=DASHES[look.dash][1],
        linewidth=1.4,
        zorder=3,
    )
    return line


def _blocks(axes: Any, series: Series, look: Look, picture: Picture) -> Any:
    blocks = picture.blocks(series)
    return axes.barh(
        [block.x for block in blocks],
        [block.end - block.start for block in blocks],
        BAR_HEIGHT,
        [block.start for block in blocks],
        color=LIGHT.series[look.slot],
        linewidth=0,
        zorder=3,
    )


DRAW_FUNCTIONS = {"points": _points, "line": _line, "bars": _blocks}


def _format_axes(axes: Any, x: Scale, y: Scale) -> None:
    """Set scales, ticks, grid and titles of axes with a width and height of AXES_POINTS."""
    from matplotlib.ticker import NullLocator

    for set_scale, set_limits, axis, scale, room in (
        (
            axes.set_xscale,
            axes.set_xlim,
            axes.xaxis,
            x,
            (AXES_POINTS[0], lambda t: 0.55 * SIZE * len(t) + 12),
        ),
        (axes.set_yscale, axes.set_ylim, axes.yaxis, y, (AXES_POINTS[1], lambda t: 2.2 * SIZE)),
    ):
        set_scale(scale.axis.scale)
        set_limits(scale.low, scale.high)
        ticks = scale.ticks(*room)
        axis.set_ticks(ticks.values, labels=ticks.labels)
        axis.set_minor_locator(NullLocator())
        axis.set_label_text(axis_title(scale.axis), color=LIGHT.muted)
    axes.grid(True, color=LIGHT.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(color=LIGHT.line, labelcolor=LIGHT.muted, length=3)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(LIGHT.line)


def _legend(canvas: Any, handles: list[Any], names: list[str], characters: int = 95) -> None:
    """Add a legend at the top, in rows of about `characters` characters of the names, each with its symbol
    and a gap."""
    names = [_shortened(one_line(name)) for name in names]
    columns = max(1, min(len(names), math.floor(characters / (max(map(len, names)) + 9))))
    columns = math.ceil(len(names) / math.ceil(len(names) / columns))
    canvas.legend(
        _order_by_row(handles, columns),
        _order_by_row(names, columns),
        loc="outside upper left",
        ncols=columns,
        frameon=False,
        labelcolor=LIGHT.ink,
        handlelength=1.8,
        columnspacing=1.6,
        borderpad=0.2,
        borderaxespad=0.1,
    )
    canvas.set_figheight(canvas.get_figheight() + LEGEND_ROW * (math.ceil(len(names) / columns) - 1))


def _shortened(name: str, max_length: int = 60) -> str:
    return name if len(name) <= max_length else name[: max_length - 1] + "…"


def _order_by_row(items: list[T], columns: int) -> list[T]:
    """Order legend entries so that they read row by row, as matplotlib fills a legend column by column."""
    return [item for start in range(columns) for item in items[start::columns]]
