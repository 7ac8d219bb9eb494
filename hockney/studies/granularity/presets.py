# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""By how much computing missed the time that was preset, as the ranks' own clocks have it."""

from __future__ import annotations

from statistics import median

from hockney.core.record import Work
from hockney.draw.page import Table
from hockney.pages.evidence import Evidence
from hockney.pages.format import percent, quantity

CLOCKS = {"thread": "of the thread", "wall": "wall", "simulated": "simulated"}
WALL = " The wall's clock counts other programs' time too: there a thread has none of its own."


def table(evidence: Evidence) -> Table | None:
    """A row for each number of ranks, preset and clock; None where nothing was computed alone."""
    found: dict[tuple[int, float, str], list[Work]] = {}
    for record in evidence.run.records:
        case = record.parsed_case()
        if case.workload == "compute" and record.work is not None:
            key = case.ranks, record.work.preset_s, record.work.clock
            found.setdefault(key, []).append(record.work)
    if not found:
        return None
    rows = tuple(
        (
            str(ranks),
            quantity(preset, "s"),
            percent(median(work.error for work in works)),
            percent(max(work.error for work in works)),
            CLOCKS[clock],
        )
        for (ranks, preset, clock), works in sorted(found.items())
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
