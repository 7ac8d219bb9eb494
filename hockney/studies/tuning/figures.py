# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A figure of all combinations of operation, ranks and size, with the algorithm that decides whether MPI's
own choice is kept."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Tone
from hockney.models.tuning.rules import State
from hockney.pages.format import quantity
from hockney.pages.series import estimates_by_state, row_offsets
from hockney.studies.tuning.results import ComparedChoice, Tuning

STATE_STYLES: tuple[tuple[str, tuple[State, ...], Tone], ...] = (
    ("faster", ("faster",), ""),
    ("not faster", ("not faster",), "neutral"),
    ("undecided", ("undecided", "unknown"), "neutral"),
)
MAX_ROW_HEIGHT = 3.0
"""The maximum height of a row, relative to a row with one size."""
ROW_WIDTH = 0.7
"""The extent of the sizes of one operation, relative to the distance between operations."""


def choices_figure(tuning: Tuning) -> Figure | None:
    """A row for each operation and number of ranks, with the sizes from top to bottom, or a barrier in the
    center; None without any."""
    choices = tuning.deciding_choices
    if not choices:
        return None
    has_several_rank_counts = len({choice.point.ranks for choice in choices}) > 1
    rows = list(dict.fromkeys(_row_title(choice, has_several_rank_counts) for choice in choices))
    sizes = sorted({choice.point.size for choice in choices if choice.point.size})
    offsets = dict(zip(sizes, row_offsets(len(sizes), ROW_WIDTH / max(1, len(sizes) - 1)), strict=True))

    def point(choice: ComparedChoice) -> tuple[State, float, Estimate, str]:
        position = rows.index(_row_title(choice, has_several_rank_counts)) + offsets.get(
            choice.point.size, 0.0
        )
        return choice.state, position, choice.closest.ratio, _detail(choice)

    return Figure(
        "tuning",
        "The best other algorithm compared with MPI's own choice",
        Axis(
            "operation",
            "operation",
            "linear",
            names=tuple(rows),
            row=min(MAX_ROW_HEIGHT, (1 + len(sizes)) / 2),
        ),
        Axis("time relative to MPI's own choice", "times", include=(1.0,)),
        estimates_by_state(STATE_STYLES, map(point, choices)),
        f"{_order_sentence(sizes)}With 95% intervals. An algorithm is faster if its interval is left of "
        "the line. "
        "Hollow: undecided.",
        marks=((1 - tuning.effect, f"{1 - tuning.effect:.4g}"),),
    )


def _row_title(choice: ComparedChoice, has_several_rank_counts: bool) -> str:
    """The text, such as "bcast", with the number of ranks if there are several."""
    return choice.point.operation + (
        f", {plural(choice.point.ranks, 'rank')}" if has_several_rank_counts else ""
    )


def _detail(choice: ComparedChoice) -> str:
    size = f"{quantity(choice.point.size, 'B')}, " if choice.point.size else ""
    return f"{size}{choice.algorithm_name(choice.closest.algorithm)} ({choice.owner})"


def _order_sentence(sizes: Sequence[int]) -> str:
    """A sentence on the order of the sizes in a row if there are several sizes."""
    if len(sizes) < 2:
        return ""
    return f"From {quantity(sizes[0], 'B')} at the top of a row to {quantity(sizes[-1], 'B')} at its bottom. "
