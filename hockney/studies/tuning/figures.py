# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""All combinations of operation, ranks and size in one figure: the algorithm that decides whether MPI's own
choice is kept."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Tone
from hockney.models.tuning.rules import State
from hockney.pages.format import quantity
from hockney.pages.series import estimates_by_state, row_offsets
from hockney.studies.tuning.results import ComparedChoice, Tuning

SERIES: tuple[tuple[str, tuple[State, ...], Tone], ...] = (
    ("faster", ("faster",), ""),
    ("not faster", ("not faster",), "neutral"),
    ("undecided", ("undecided", "unknown"), "neutral"),
)
HIGHEST = 3.0
"""The height of a row, where 1 is enough for one size."""
WIDTH = 0.7
"""The width of the sizes of one operation, relative to the distance between operations."""


def kept_and_changed(tuning: Tuning) -> Figure | None:
    """A row for each operation and number of ranks, in it the sizes from top to bottom, or a barrier in its
    middle; None without any."""
    choices = tuning.deciding
    if not choices:
        return None
    several = len({each.point.ranks for each in choices}) > 1
    rows = list(dict.fromkeys(_row(each, several) for each in choices))
    sizes = sorted({each.point.size for each in choices if each.point.size})
    offsets = dict(zip(sizes, row_offsets(len(sizes), WIDTH / max(1, len(sizes) - 1)), strict=True))

    def point(each: ComparedChoice) -> tuple[State, float, Estimate, str]:
        place = rows.index(_row(each, several)) + offsets.get(each.point.size, 0.0)
        return each.state, place, each.closest.ratio, _detail(each)

    return Figure(
        "tuning",
        "The best other algorithm compared with MPI's own choice",
        Axis("operation", "operation", "linear", names=tuple(rows), row=min(HIGHEST, (1 + len(sizes)) / 2)),
        Axis("time relative to MPI's own choice", "times", include=(1.0,)),
        estimates_by_state(SERIES, map(point, choices)),
        f"{_order(sizes)}With 95% intervals. An algorithm is faster if its interval is left of the line. "
        "Hollow: undecided.",
        marks=((1 - tuning.effect, f"{1 - tuning.effect:.4g}"),),
    )


def _row(each: ComparedChoice, several: bool) -> str:
    """ "bcast", with the number of ranks if there are several."""
    return each.point.operation + (f", {plural(each.point.ranks, 'rank')}" if several else "")


def _detail(each: ComparedChoice) -> str:
    size = f"{quantity(each.point.size, 'B')}, " if each.point.size else ""
    return f"{size}{each.name(each.closest.algorithm)} ({each.whose})"


def _order(sizes: Sequence[int]) -> str:
    """A sentence on the order of the sizes in a row, if there are several."""
    if len(sizes) < 2:
        return ""
    return f"From {quantity(sizes[0], 'B')} at the top of a row to {quantity(sizes[-1], 'B')} at its bottom. "
