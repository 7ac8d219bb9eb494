# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The explorer: how a program would scale with faster or slower computation, latency and bandwidth.

The program's time is predicted for all combinations of FACTORS. Between these, the page's script
(`report/widgets/scaling.js`) interpolates linearly in each factor.
"""

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
MIN_EXPLORED_RANKS, MAX_EXPLORED_RANKS = 16, 256
"""The limits for the largest explored number of ranks. Powers of two up to the measured ranks are
explored."""


def explorer(
    name: str,
    program: ProgramDescription,
    costs: Communication,
    max_measured_ranks: int,
    max_ranks: int | None,
) -> Widget:
    """The widget. `max_measured_ranks` is the largest measured number of ranks, `max_ranks` that of a
    description."""
    max_explored = min(
        MAX_EXPLORED_RANKS, max(MIN_EXPLORED_RANKS, max_measured_ranks), max_ranks or MAX_EXPLORED_RANKS
    )
    networks = [
        with_faster_network(costs, *scaled_iteration) for scaled_iteration in product(FACTORS, FACTORS)
    ]
    ranks, times, work_times = [], [], []
    for rank_count in doubling_series(1, max_explored):
        try:
            iteration, count = program.iteration(rank_count), program.count(rank_count)
        except UsageError:  # a formula has no value on this number of ranks
            continue
        ranks.append(rank_count)
        work_times.append(count * float(iteration.computation.sum()))
        scaled_iterations = [iteration.with_computation(factor) for factor in FACTORS]
        times.append(
            [
                count * iteration_time(scaled_iteration, network, follow_links=False).seconds
                for scaled_iteration in scaled_iterations
                for network in networks
            ]
        )
    unchanged = len(FACTORS) ** 3 // 2
    scaled = [
        SingleRankBase(times[0][unchanged], work_times[0], program.scaling).relative_work(work)
        for work in work_times
    ]
    rows = tuple(
        (
            str(rank_count),
            quantity(rank_times[unchanged], "s"),
            f"{scale * times[0][unchanged] / rank_times[unchanged] / rank_count:.1%}",
        )
        for rank_count, rank_times, scale in zip(ranks, times, scaled, strict=True)
    )
    fallback = Table("program-explored", name, ("ranks", "time, model only", "efficiency"), rows, (0, 1, 2))
    data = {"ranks": ranks, "factors": FACTORS, "times_s": times, "scaled": scaled}
    caption = (
        "Predicted, with a core for each rank. Factors apply to the time of computation, of an empty message "
        "on its way, and of each byte; links that messages share are bounds."
    )
    return Widget(f"explore-{name.replace(' ', '-')}", f"{name}: what if", "scaling", data, fallback, caption)
