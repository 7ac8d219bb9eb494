# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of a figure: as a table, and as CSV to download."""

from __future__ import annotations

import csv
import io
import math

from hockney.core.errors import one_line
from hockney.core.units import format_interval
from hockney.core.wording import not_a_formula
from hockney.draw.describe import axis_title, position_text
from hockney.draw.figure import Figure, Series

Rows = tuple[tuple[str, ...], ...]


def table(figure: Figure) -> tuple[tuple[str, ...], Rows]:
    """Columns and rows of the measured values, or of the curves if the figure has no measured values."""
    chosen = [s for s in figure.series if s.kind == "points"] or figure.series
    detailed = any(s.detail for s in chosen)
    value = axis_title(figure.y) + (" [95% interval]" if any(s.low for s in chosen) else "")
    columns = ("series", axis_title(figure.x), value, *(["from"] if detailed else []))
    rows = []
    for series in chosen:
        for k, (x, y) in enumerate(zip(series.x, series.values, strict=True)):
            low, high = _interval(series, k)
            words = (
                series.name,
                position_text(figure.x, x),
                format_interval(y, low, high, figure.y.unit),
            )
            rows.append((*words, series.detail[k] if series.detail else "") if detailed else words)
    return columns, tuple(rows)


def as_csv(figure: Figure) -> str:
    """All series with all digits, in the axes' units."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    x, y = (f"_{_word(axis.unit)}" if axis.unit else "" for axis in (figure.x, figure.y))
    writer.writerow(["series", "kind", f"x{x}", f"y{y}", f"low{y}", f"high{y}", "detail"])
    for series in figure.series:
        for k in range(len(series.x)):
            low, high = _interval(series, k)
            numbers = [_number(v) for v in (series.values[k], low, high)]
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


def _interval(series: Series, k: int) -> tuple[float | None, float | None]:
    return (series.low[k], series.high[k]) if series.low else (None, None)


def _number(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else repr(value)


def _word(unit: str) -> str:
    return one_line(unit).replace("/", "_per_").replace(" ", "_")


def _cell(text: str) -> str:
    return not_a_formula(one_line(text))
