# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The entries of a figure's legend: one per series, or one per group in figures with many series."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.draw.figure import Series

MOST = 8
"""With more series, those of a group share an entry: its points and their line have one colour."""


@dataclass(frozen=True)
class Entry:
    """The indices of its series, in order. The entry is drawn as the symbol of `points`, which may be bars,
    the line of `line`, or both."""

    name: str
    series: tuple[int, ...]
    points: int | None
    line: int | None


def entries(series: tuple[Series, ...]) -> list[Entry]:
    """Legend entries in the order of the series. A group shares an entry only if some of its points have the
    group's name, so that the name describes all of it; always if its line has that name too."""
    named = {s.group for s in series if s.kind == "points" and s.name == s.group}
    twins = named & {s.group for s in series if s.kind == "line" and s.name == s.group}
    together: dict[str, list[int]] = {}
    for k, each in enumerate(series):
        shared = each.group in (named if len(series) > MOST else twins)
        together.setdefault(f"group {each.group}" if shared else f"series {k}", []).append(k)
    return [_entry(series, tuple(indices)) for indices in together.values()]


def _entry(series: tuple[Series, ...], indices: tuple[int, ...]) -> Entry:
    points = next((k for k in indices if series[k].kind != "line"), None)
    line = next((k for k in indices if series[k].kind == "line"), None)
    name = series[indices[0]].name if len(indices) == 1 else series[indices[0]].group
    return Entry(name, indices, points, line)
