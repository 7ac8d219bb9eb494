# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures as text: points, axes, and descriptions for screen readers."""

from __future__ import annotations

import math

from hockney.core.errors import one_line
from hockney.core.units import format_interval, format_value
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.ticks import UNITS


def axis_title(axis: Axis) -> str:
    """Label of the axis, with its unit if that is not part of the tick labels."""
    extra = axis.unit and axis.unit not in UNITS and axis.unit.lower() not in axis.label.lower()
    return one_line(f"{axis.label} ({axis.unit})" if extra else axis.label)


def position_text(axis: Axis, value: float) -> str:
    """Value on the axis with its unit, or the name that it represents."""
    return axis.names[round(value)] if axis.names else format_value(value, axis.unit)


def point_text(figure: Figure, series: Series, k: int) -> str:
    """Text of the k-th point: 435 ns [430, 441] at 8 B, 3 launches."""
    low, high = (series.low[k], series.high[k]) if series.low else (None, None)
    value = format_interval(series.values[k], low, high, figure.y.unit)
    text = f"{value} at {position_text(figure.x, series.x[k])}"
    detail = series.detail[k] if series.detail else ""
    return one_line(f"{text}, {detail}" if detail else text)


def describe(figure: Figure) -> str:
    """Description of the figure for screen readers: its axes and the course of each series."""
    summary = one_line(f"{figure.title}. {axis_title(figure.y)} against {axis_title(figure.x)}.")
    return " ".join([summary, *(_course_text(figure, series) for series in figure.series)])


def _course_text(figure: Figure, series: Series) -> str:
    points = sorted(
        (x, y) for x, y in zip(series.x, series.values, strict=True) if math.isfinite(x) and math.isfinite(y)
    )
    if not points:
        return one_line(f"{series.name}: no values.")
    (x0, y0), (x1, y1) = points[0], points[-1]
    start, end = (
        f"{format_value(y, figure.y.unit)} at {position_text(figure.x, x)}" for x, y in ((x0, y0), (x1, y1))
    )
    return one_line(f"{series.name}: {start}" + (f" to {end}." if len(points) > 1 else "."))
