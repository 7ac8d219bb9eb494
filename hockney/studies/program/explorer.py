# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The explorer: how a program would scale with faster or slower computation, latency and bandwidth.

The program's time is predicted for all combinations of FACTORS; between them, the page's script
(`report/widgets/scaling.js`) interpolates linearly in each factor."""

from __future__ import annotations

from itertools import product

from hockney.core.errors import UsageError
from hockney.core.units import doubling_series
from hockney.draw.page import Table, Widget
from hockney.models.programs.communication import Communication
from hockney.models.programs.description import ProgramDescription
from hockney.models.programs.scaling import SingleRankBase, with_faster_network
from hockney.models.programs.timing import iteration_time
from hockney.pages.format import quantity

FACTORS = (1 / 8, 1.0, 8.0)
"""The factors for the time of computation, of an empty message in flight, and of a byte."""
FEWEST_RANKS, MOST_RANKS = 16, 256
"""Powers of two up to the measured ranks are explored, and at least, and at most, up to these."""


def explorer(
    name: str, program: ProgramDescription, costs: Communication, measured: int, most: int | None
) -> Widget:
    """`measured` is the largest measured number of ranks; a description has at most `most`."""
    wanted = min(MOST_RANKS, max(FEWEST_RANKS, measured), most or MOST_RANKS)
    networks = [with_faster_network(costs, *each) for each in product(FACTORS, FACTORS)]
    ranks, times, works = [], [], []
    for p in doubling_series(1, wanted):
        try:
            iteration, count = program.iteration(p), program.count(p)
        except UsageError:  # a formula has no value on this number of ranks
            continue
        ranks.append(p)
        works.append(count * float(iteration.computation.sum()))
        slowed = [iteration.with_computation(factor) for factor in FACTORS]
        times.append(
            [
                count * iteration_time(each, network, follow_links=False).seconds
                for each in slowed
                for network in networks
            ]
        )
    now = len(FACTORS) ** 3 // 2
    scaled = [SingleRankBase(times[0][now], works[0], program.scaling).relative_work(work) for work in works]
    rows = tuple(
        (str(p), quantity(of_ranks[now], "s"), f"{scale * times[0][now] / of_ranks[now] / p:.1%}")
        for p, of_ranks, scale in zip(ranks, times, scaled, strict=True)
    )
    fallback = Table("program-explored", name, ("ranks", "time, model only", "efficiency"), rows, (0, 1, 2))
    data = {"ranks": ranks, "factors": FACTORS, "times_s": times, "scaled": scaled}
    caption = (
        "Predicted, with a core for each rank. Factors apply to the time of computation, of an empty message "
        "on its way, and of each byte; links that messages share are bounds."
    )
    return Widget(f"explore-{name.replace(' ', '-')}", f"{name}: what if", "scaling", data, fallback, caption)
