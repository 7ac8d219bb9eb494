# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Points without an interval are hollow."""

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


def parted(figure: Figure) -> Figure:
    """The figure with a separate series for those points of a series that have no interval. Series without
    any interval stay as they are if they do not claim one (`low` is empty)."""
    return replace(figure, series=tuple(part for series in figure.series for part in _parts(series)))


def _parts(series: Series) -> list[Series]:
    missing = [
        k for k, ends in enumerate(zip(series.low, series.high, strict=True)) if all(map(math.isnan, ends))
    ]
    if series.kind != "points" or not missing:
        return [series]
    bounded_indices = [k for k in range(len(series.x)) if k not in set(missing)]
    without = replace(
        _of(series, missing),
        name=f"{series.name}{SUFFIX}",
        group=series.group or series.name,
        low=(),
        high=(),
        hollow=True,
    )
    return (
        [replace(_of(series, bounded_indices), group=without.group), without]
        if bounded_indices
        else [without]
    )


def _of(series: Series, points: Sequence[int]) -> Series:
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
