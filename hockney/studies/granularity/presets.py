# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""By how much computing missed the time that was preset, as the ranks' own clocks have it."""

from __future__ import annotations

from statistics import median

from hockney.draw.page import Table
from hockney.pages.evidence import Evidence
from hockney.pages.format import percent, quantity

CLOCKS = {"thread": "of the thread", "wall": "wall", "simulated": "simulated"}
WALL = " The wall's clock counts other programs' time too: there a thread has none of its own."


def table(evidence: Evidence) -> Table | None:
    """A row for each number of ranks, preset and clock; None where nothing was computed alone."""
    found: dict[tuple[int, float, str], list[float]] = {}
    for record in evidence.run.records:
        case = record.parsed_case()
        preset, error = record.metric("work"), record.metric("work_error")
        if case.workload == "compute" and preset is not None and error is not None:
            key = case.ranks, preset, record.labels.get("work_clock", "thread")
            found.setdefault(key, []).append(error)
    if not found:
        return None
    rows = tuple(
        (
            str(ranks),
            quantity(preset, "s"),
            percent(median(errors)),
            percent(max(errors)),
            CLOCKS[clock],
        )
        for (ranks, preset, clock), errors in sorted(found.items())
    )
    return Table(
        "presets",
        "Computing against its preset",
        ("ranks", "preset", "median error", "largest error", "clock"),
        rows,
        numeric=(0, 1, 2, 3),
        caption="For each launch the error of the rank that missed the preset by most, in the median "
        "repetition, by the clock that said when to stop."
        + (WALL if any(clock == "wall" for _, _, clock in found) else ""),
    )
