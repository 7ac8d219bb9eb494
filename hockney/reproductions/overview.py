# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The first screen of a reproduction: published against simulated times, and the largest deviations by
name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.reproductions.compared import CLOSE, Compared

NEAR = CLOSE[-1]
"""A time with a larger error counts as a deviation."""
MOST_NAMES = 8


def times(compared: Iterable[Compared]) -> list[Compared]:
    """The times on the machine itself, not on its variants, nor what was tried out."""
    own = [row for row in compared if row.status != "variant" and row.series not in ("tried", "algorithms")]
    return [row for row in own if row.unit == "s" and row.published > 0]


def measured(rows: Iterable[Compared]) -> list[Compared]:
    return [row for row in rows if row.error is not None]


def near(rows: Iterable[Compared], within: float = NEAR) -> list[Compared]:
    return [row for row in measured(rows) if abs(row.error or 0.0) <= within]


def missed(rows: Iterable[Compared], beyond: float = NEAR) -> list[Compared]:
    return [row for row in measured(rows) if abs(row.error or 0.0) > beyond]


def worst(rows: Iterable[Compared]) -> float | None:
    """The largest relative error; None if nothing was measured."""
    return max((abs(row.error or 0.0) for row in measured(rows)), default=None)


def counted(rows: Sequence[Compared], what: str) -> str:
    """ "56 of the 72 printed times within 25%", followed by the number that could not be simulated."""
    missing = len(rows) - len(measured(rows))
    left = f"; {missing} could not be simulated" if missing else ""
    return f"{len(near(rows))} of the {len(rows)} {what} within {NEAR:.0%}{left}"


def misses(rows: Sequence[Compared]) -> str:
    """Rows with a larger error, by the words that several rows share: "MPI_Gather, 8 B (4)"."""
    groups: dict[str, int] = {}
    for row in missed(rows):
        name = row.what.rpartition(", ")[0] or row.what
        groups[name] = groups.get(name, 0) + 1
    if not groups:
        return f"No time is off by more than {NEAR:.0%}."
    names = [f"{name} ({count})" for name, count in groups.items()]
    more = f"; and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"Off by more than {NEAR:.0%}: {'; '.join(names[:MOST_NAMES])}{more}."


def figure(paper: str, compared: Sequence[Compared]) -> Figure | None:
    """A point for each time; None if nothing was simulated."""
    rows = [row for row in measured(times(compared)) if (row.simulated or 0.0) > 0]
    if not rows:
        return None
    off = [row for row in rows if row in missed(rows)]
    close = [row for row in rows if row not in off]
    ends = [value for row in rows for value in (row.published, row.simulated or row.published)]
    low, high = min(ends), max(ends)
    series = (
        _points("predicted", [row for row in close if row.status == "predicted"]),
        _points("fitted", [row for row in close if row.status == "fitted"], True),
        _points(f"off by more than {NEAR:.0%}", off),
        Series(
            f"equal, band: within {NEAR:.0%}",
            (low, high),
            (low, high),
            tuple((1 - NEAR) * end for end in (low, high)),
            tuple((1 + NEAR) * end for end in (low, high)),
            kind="line",
        ),
    )
    return Figure(
        f"{paper}-overview",
        f"{plural(len(rows), 'simulated time')} against the published",
        Axis("published", "s"),
        Axis("simulated", "s"),
        tuple(s for s in series if s.x),
        misses(rows),
    )


def _points(name: str, rows: Sequence[Compared], hollow: bool = False) -> Series:
    return Series(
        name,
        tuple(row.published for row in rows),
        tuple(row.simulated or 0.0 for row in rows),
        detail=tuple(row.what for row in rows),
        hollow=hollow,
    )
