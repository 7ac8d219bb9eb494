# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of a figure as a table, and as CSV to download."""

from __future__ import annotations

import csv
import io
import math

from hockney.core.errors import one_line
from hockney.core.units import format_interval
from hockney.core.wording import escape_formula
from hockney.draw.describe import axis_title, position_text
from hockney.draw.figure import Figure, Series

Rows = tuple[tuple[str, ...], ...]


def figure_table(figure: Figure) -> tuple[tuple[str, ...], Rows]:
    """Return columns and rows of the measured values, or of the curves if the figure contains no measured
    values."""
    table_series = [line for line in figure.series if line.kind == "points"] or figure.series
    has_details = any(line.detail for line in table_series)
    value_heading = axis_title(figure.y) + (
        " [95% interval]" if any(line.low for line in table_series) else ""
    )
    columns = ("series", axis_title(figure.x), value_heading, *(["from"] if has_details else []))
    rows = []
    for series in table_series:
        for k, (x, y) in enumerate(zip(series.x, series.values, strict=True)):
            low, high = _interval(series, k)
            texts = (
                series.name,
                position_text(figure.x, x),
                format_interval(y, low, high, figure.y.unit),
            )
            rows.append((*texts, series.detail[k] if series.detail else "") if has_details else texts)
    return columns, tuple(rows)


def figure_csv(figure: Figure) -> str:
    """Return all series with all digits, in the axes' units."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    x, y = (f"_{_unit_word(axis.unit)}" if axis.unit else "" for axis in (figure.x, figure.y))
    writer.writerow(["series", "kind", f"x{x}", f"y{y}", f"low{y}", f"high{y}", "detail"])
    for series in figure.series:
        for k in range(len(series.x)):
            low, high = _interval(series, k)
            numbers = [_format_number(value) for value in (series.values[k], low, high)]
            x_text = (
                _cell(figure.x.names[round(series.x[k])]) if figure.x.names else _format_number(series.x[k])
            )
            writer.writerow(
                [
                    _cell(series.name),
                    series.kind,
                    x_text,
                    *numbers,
                    _cell(series.detail[k] if series.detail else ""),
                ]
            )
    return output.getvalue()


def _interval(series: Series, k: int) -> tuple[float | None, float | None]:
    return (series.low[k], series.high[k]) if series.low else (None, None)


def _format_number(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else repr(value)


def _unit_word(unit: str) -> str:
    return one_line(unit).replace("/", "_per_").replace(" ", "_")


def _cell(text: str) -> str:
    return escape_formula(one_line(text))
