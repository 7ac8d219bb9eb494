# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Separation of points without an interval, which are drawn hollow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from hockney.draw.figure import Figure, Series

T = TypeVar("T")
UNKNOWN = math.nan
"""The label for an unknown end of an interval."""
SUFFIX = ", no interval"


def split_by_interval(figure: Figure) -> Figure:
    """Copy of the figure in which points without an interval form separate series. Series that have no
    intervals at all (`low` is empty) are unchanged."""
    return replace(
        figure,
        series=tuple(split_series for series in figure.series for split_series in _split_series(series)),
    )


def _split_series(series: Series) -> list[Series]:
    unbounded_indices = [
        k
        for k, bounds in enumerate(zip(series.low, series.high, strict=True))
        if all(map(math.isnan, bounds))
    ]
    if series.kind != "points" or not unbounded_indices:
        return [series]
    bounded_indices = [k for k in range(len(series.x)) if k not in set(unbounded_indices)]
    unbounded_series = replace(
        _select_points(series, unbounded_indices),
        name=f"{series.name}{SUFFIX}",
        group=series.group or series.name,
        low=(),
        high=(),
        hollow=True,
    )
    return (
        [replace(_select_points(series, bounded_indices), group=unbounded_series.group), unbounded_series]
        if bounded_indices
        else [unbounded_series]
    )


def _select_points(series: Series, points: Sequence[int]) -> Series:
    def chosen(values: tuple[T, ...]) -> tuple[T, ...]:
        return tuple(values[k] for k in points) if values else ()

    return replace(
        series,
        x=chosen(series.x),
        y=chosen(series.y),
        low=chosen(series.low),
        high=chosen(series.high),
        detail=chosen(series.detail),
    )
