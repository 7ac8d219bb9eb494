# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Lines and points over T that several figures share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hockney.core.fit import Estimate
from hockney.draw.figure import Axis, Series
from hockney.models.applications.granularity import Algorithm, efficiency, on_cores
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.format import plural, quantity
from hockney.studies.granularity.cells import Cell
from hockney.studies.granularity.text import told

WORK = Axis("T, work on one rank between two exchanges", "s")
EFFICIENCY = Axis("efficiency", "", "linear")
STEPS = 60


def spread(low: float, high: float, count: int = STEPS) -> tuple[float, ...]:
    """`count` values from `low` to `high`, evenly on a log scale."""
    if count < 2 or high <= low:
        return (low,)
    ratio = math.log(high / low) / (count - 1)
    return (low, *(low * math.exp(k * ratio) for k in range(1, count - 1)), high)


def works(found: Sequence[Cell]) -> tuple[float, ...]:
    """Where to draw a model beside these cells: evenly, and exactly where they are."""
    measured = {cell.work_s for cell in found}
    return tuple(sorted({*measured, *spread(min(measured), max(measured))})) if measured else ()


def points(name: str, found: Sequence[Cell], group: str, x: Sequence[float] = ()) -> Series:
    """Measured efficiencies with their intervals, against T or against `x`."""
    values = [cell.efficiency for cell in found]
    return Series(
        name=name,
        x=tuple(x) or tuple(cell.work_s for cell in found),
        y=tuple(v.value for v in values),
        low=tuple(v.value if v.low is None else v.low for v in values),
        high=tuple(v.value if v.high is None else v.high for v in values),
        group=group,
        detail=tuple(_detail(cell, value) for cell, value in zip(found, values, strict=True)),
    )


def model(
    name: str,
    messages: PointToPointCosts,
    at: Sequence[float],
    ranks: int,
    size: int,
    serial: float = 0.0,
    group: str = "",
) -> Series:
    """Equation 6 over T, ranks that share cores in turn, with the band that comes from the fit's interval."""
    algorithms = [on_cores(Algorithm(work, size, serial), ranks, messages.most_ranks) for work in at]
    y = tuple(efficiency(a, messages, ranks) for a in algorithms)
    low = high = ()
    if (ends := messages.bounds(size, ranks)) is not None:
        low = tuple(efficiency(a, messages, ranks, ends[1]) for a in algorithms)
        high = tuple(efficiency(a, messages, ranks, ends[0]) for a in algorithms)
    return Series(name=name, x=tuple(at), y=y, low=low, high=high, kind="line", group=group or name)


def even(at: Sequence[float], ranks: int, group: str = "") -> Series:
    """Efficiency 1/np: no faster than one rank."""
    return Series(
        f"break-even of {ranks} ranks", (min(at), max(at)), (1 / ranks, 1 / ranks), kind="line", group=group
    )


def _detail(cell: Cell, value: Estimate) -> str:
    s = cell.measured.summary
    counts = f"{plural(s.repetitions, 'run')} in {plural(s.launches, 'launch', 'launches')}"
    return f"{told(value)}, one exchange with its work took {quantity(s.median.value, 's')}, {counts}"
