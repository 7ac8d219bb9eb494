# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of a figure: as a table, and as CSV to download."""

from __future__ import annotations

import csv
import io
import math

from hockney.core.errors import one_line
from hockney.core.spreadsheet import not_a_formula
from hockney.core.units import format_interval, format_value, thin
from hockney.draw.describe import axis_title, place_words
from hockney.draw.figure import Figure, Plane, Series

Rows = tuple[tuple[str, ...], ...]


# A plane's table has this many of the grid's values of x and of y.
SEEN_X, SEEN_Y = 7, 5


def table(figure: Figure | Plane) -> tuple[tuple[str, ...], Rows]:
    """Columns and rows of the measured values, or of the curves if the figure has no measured values."""
    if isinstance(figure, Plane):
        return _plane_table(figure)
    chosen = [s for s in figure.series if s.kind == "points"] or figure.series
    detailed = any(s.detail for s in chosen)
    value = axis_title(figure.y) + (" [95% interval]" if any(s.low for s in chosen) else "")
    columns = ("series", axis_title(figure.x), value, *(["from"] if detailed else []))
    rows = []
    for series in chosen:
        for k, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
            low, high = _ends(series, k)
            words = (
                series.name,
                place_words(figure.x, x),
                format_interval(y, low, high, figure.y.unit),
            )
            rows.append((*words, series.detail[k] if series.detail else "") if detailed else words)
    return columns, tuple(rows)


def _plane_table(plane: Plane) -> tuple[tuple[str, ...], Rows]:
    """Some values of each sheet, spread over the grid, with one column for each x."""
    across, along = thin(range(len(plane.grid_x)), SEEN_X), thin(range(len(plane.grid_y)), SEEN_Y)
    places = [format_value(plane.grid_x[i], plane.x.unit) for i in across]
    first = [f"{axis_title(plane.x)} {place}" for place in places[:1]]
    rows = tuple(
        (
            sheet.name,
            format_value(plane.grid_y[j], plane.y.unit),
            *(format_value(sheet.z[j][i], plane.z.unit) for i in across),
        )
        for sheet in plane.sheets
        for j in along
    )
    return ("sheet", axis_title(plane.y), *first, *places[1:]), rows


def as_csv(figure: Figure | Plane) -> str:
    """All series with all digits, in the axes' units. For a plane the whole grid: a line for each sheet and
    y, a column for each x; z with the six significant digits that a model justifies."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if isinstance(figure, Plane):
        y, x = (_cell(f"{axis_title(axis)} {axis.unit}".strip()) for axis in (figure.y, figure.x))
        writer.writerow(["sheet", f"{y}, right {x}", *(_number(v) for v in figure.grid_x)])
        for sheet in figure.sheets:
            for at, row in zip(figure.grid_y, sheet.z, strict=True):
                z = [f"{v:.6g}" if math.isfinite(v) else "" for v in row]
                writer.writerow([_cell(sheet.name), _number(at), *z])
        return text.getvalue()
    x, y = (f"_{_word(axis.unit)}" if axis.unit else "" for axis in (figure.x, figure.y))
    writer.writerow(["series", "kind", f"x{x}", f"y{y}", f"low{y}", f"high{y}", "detail"])
    for series in figure.series:
        for k in range(len(series.x)):
            low, high = _ends(series, k)
            numbers = [_number(v) for v in (series.y[k], low, high)]
            place = _cell(figure.x.names[round(series.x[k])]) if figure.x.names else _number(series.x[k])
            writer.writerow(
                [
                    _cell(series.name),
                    series.kind,
                    place,
                    *numbers,
                    _cell(series.detail[k] if series.detail else ""),
                ]
            )
    return text.getvalue()


def _ends(series: Series, k: int) -> tuple[float | None, float | None]:
    return (series.low[k], series.high[k]) if series.low else (None, None)


def _number(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else repr(value)


def _word(unit: str) -> str:
    return one_line(unit).replace("/", "_per_").replace(" ", "_")


def _cell(text: str) -> str:
    return not_a_formula(one_line(text))
