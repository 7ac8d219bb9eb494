# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's figures 4 and 5: efficiency by the model over T and the serial fraction, and over T and np."""

from __future__ import annotations

from hockney.draw.figure import Axis, Plane, Sheet
from hockney.models.applications.granularity import Algorithm, break_even, efficiency, work_needed
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.studies.granularity.curves import EFFICIENCY, WORK, spread
from hockney.studies.granularity.plan import half_decades
from hockney.studies.granularity.text import WORD, length

RANKS = (2, 4, 8)
ENDS = (1 * WORD, 10000 * WORD)
LENGTHS = (1 * WORD, 1000 * WORD, 10000 * WORD)
MOST_SERIAL = 0.2
MOST_RANKS = 16
GRID = 40
COARSE = 0.98
LEVELS = ((0.25, "25%"), (0.5, "50%"), (0.8, "80%"), (0.9, "90%"))


def of_serial(messages: PointToPointCosts, name: str, works: tuple[float, ...]) -> tuple[Plane, ...]:
    """Figure 4, once with messages of one word and once of 10000."""
    serial = tuple(MOST_SERIAL * k / (GRID - 1) for k in range(GRID))
    return tuple(
        Plane(
            name=f"plane-serial-{name}-{size // WORD}",
            title=f"Efficiency over T and serial fraction, {length(size)}: {messages.title}",
            x=WORK,
            y=Axis("serial fraction s", "", "linear"),
            z=EFFICIENCY,
            grid_x=works,
            grid_y=serial,
            sheets=tuple(
                Sheet(
                    f"{p} ranks",
                    tuple(
                        tuple(efficiency(Algorithm(t, size, s), messages, p) for t in works) for s in serial
                    ),
                    ((1 / p, f"break-even of {p}"), (0.8, "80%"), (0.9, "90%")),
                )
                for p in RANKS
            ),
            caption=f"Equation 6 with messages of {length(size)}. Left of its break-even line a number of "
            "ranks is slower than one rank.",
        )
        for size in ENDS
    )


def of_ranks(messages: PointToPointCosts, name: str, works: tuple[float, ...]) -> Plane:
    """Figure 5: one sheet for each length, no work serial. Odd numbers of ranks exchange in other steps
    than even ones, and would make waves."""
    ranks = tuple(range(2, MOST_RANKS + 1, 2))
    return Plane(
        name=f"plane-ranks-{name}",
        title=f"Efficiency over T and ranks: {messages.title}",
        x=WORK,
        y=Axis("ranks", "ranks", "linear"),
        z=EFFICIENCY,
        grid_x=works,
        grid_y=tuple(map(float, ranks)),
        sheets=tuple(
            Sheet(
                length(size),
                tuple(tuple(efficiency(Algorithm(t, size), messages, p) for t in works) for p in ranks),
                LEVELS,
            )
            for size in LENGTHS
        ),
        caption="Equation 2 at even numbers of ranks. 50% is the break-even of 2 ranks, 25% that of 4.",
    )


def grid_of(messages: PointToPointCosts) -> tuple[float, ...]:
    """From below the earliest break-even to where the longest messages on 8 ranks hardly matter."""
    low = min(break_even(Algorithm(1.0, ENDS[0]), messages, p) or 1.0 for p in RANKS)
    high = max(work_needed(COARSE, Algorithm(1.0, ENDS[1]), messages, p) or 1.0 for p in RANKS)
    steps = half_decades(low / 3, high)
    return spread(steps[0], steps[-1], GRID)


PAPERS_GRID = spread(0.001, 100.0, GRID)
"""From below the break-even of 8 SUNs to where their longest messages hardly matter."""
