# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The presentation of a predicted benchmark: sentences and tables, and a document for programs."""

from __future__ import annotations

from typing import Any

from hockney.core.units import format_percent
from hockney.draw.page import Table
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.programs.forecast import LEAST_EFFICIENCY, KernelForecast, KernelRow
from hockney.models.programs.prediction import RateSource
from hockney.pages.format import quantity
from hockney.pages.grain_prediction import improvements_table, ratio_text, share_text, three_digits, time_cell

PARTS = ("computation", "waiting", "messages", "collectives")


def assumed(made: KernelForecast, messages: PointToPointCosts, rates: RateSource) -> tuple[str, ...]:
    """The sources of rates and of the times of messages."""
    if rates.run is not None:
        other = "" if rates.size == made.size else f", which has class {rates.size} and not {made.size}"
        rate = f"as one rank did in each phase in {rates.run}{other}"
    else:
        by = ", by the machine's description" if rates.described else ""
        rate = f"at {rates.operations_per_second:.3g} operations per second{by}"
    return (
        f"Assumed: every rank computes {rate}, and waits only for the busiest rank or a pipeline to fill.",
        f"Messages on {messages.title}, by {messages.source}.",
    )


def ranks(made: KernelForecast) -> Table:
    """The table of the numbers of ranks, with the parts of each time, the mean computation first."""
    rows = tuple(
        (
            str(each.ranks),
            time_cell(each.time),
            ratio_text(each.speed_up),
            share_text(each.efficiency),
            *(quantity(getattr(each.terms, part), "s") for part in PARTS),
        )
        for each in made.rows
    )
    columns = ("ranks", "time, model only", "speed-up", "efficiency", *PARTS)
    title = f"{made.kernel}, class {made.size}"
    return Table("npb-prediction", title, columns, rows, numeric=(0, 1, 4, 5, 6, 7))


def best(made: KernelForecast) -> tuple[str, ...]:
    fastest, thrifty = made.fastest, made.thrifty
    if fastest.ranks == 1:
        first = f"Best: 1 rank; no other number of 1 to {made.most} is faster."
    else:
        first = (
            f"Best: {fastest.ranks} ranks, speed-up {ratio_text(fastest.speed_up)}, "
            f"the largest of 1 to {made.most} ranks."
        )
    if thrifty.ranks == 1:
        return (
            first,
            f"With more than 1 rank, the efficiency is below {format_percent(LEAST_EFFICIENCY)}.",
        )
    return (
        first,
        f"Up to {thrifty.ranks} ranks have an efficiency of at least {format_percent(LEAST_EFFICIENCY)}.",
    )


def levers(made: KernelForecast) -> Table:
    rows = tuple(
        (
            each.name,
            each.words,
            f"{three_digits(100 * each.efficiency)}%",
            f"+{three_digits(100 * each.gain)}",
        )
        for each in made.changes
    )
    return improvements_table(made.changed, rows)


def document(made: KernelForecast, messages: PointToPointCosts, rates: RateSource) -> dict[str, Any]:
    """Seconds and fractions, each with the ends of its 95% interval (null if unknown)."""
    return {
        "kernel": made.kernel,
        "class": made.size,
        "machine": {"name": messages.name, "title": messages.title, "source": messages.source},
        "rate": {
            "run": None if rates.run is None else str(rates.run),
            "class": rates.size or None,
            "operations_per_second": rates.operations_per_second or None,
            "described": rates.described,
        },
        "ranks": [_row(each) for each in made.rows],
        "indivisible": list(made.indivisible),
        "best": {
            "most": made.most,
            "fastest": _row(made.fastest),
            "half_efficient": _row(made.thrifty),
        },
        "levers": {"ranks": made.changed, "changes": list(made.changes)},
    }


def _row(row: KernelRow) -> dict[str, Any]:
    return {
        "ranks": row.ranks,
        "time_s": row.time,
        "speed_up": row.speed_up,
        "efficiency": row.efficiency,
        "communication_share": row.communication,
        "ranks_a_core": row.shared_by,
        **{f"{part}_s": getattr(row.terms, part) for part in PARTS},
    }
