# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's own model with the SUNs' parameters: equations 3 and 6, without measurements."""

from __future__ import annotations

from functools import cache

from hockney.draw.figure import Figure, Series
from hockney.draw.page import Section, Table
from hockney.models.applications.granularity import Algorithm, break_even, efficiency
from hockney.models.applications.ring_exchange import exchange_time
from hockney.pages.format import quantity
from hockney.studies.granularity import figures
from hockney.studies.granularity.columns import length_text, percent_text
from hockney.studies.granularity.costs import PUBLICATION, printed_costs
from hockney.studies.granularity.figures import EFFICIENCY_AXIS, WORK_AXIS
from hockney.studies.granularity.plan import WORD_BYTES

WORKS = (0.1, 1.0, 10.0)
SERIAL = (0.0, 0.01)
LENGTHS = (1 * WORD_BYTES, 10000 * WORD_BYTES)
RANK_COUNTS = figures.RANK_COUNTS
DROP_CASE = (4, 1 * WORD_BYTES, 0.01, 10.0)
"""Ranks, message, serial fraction and work for which the paper states the drop. Exchanges hardly matter
there."""


@cache
def section() -> Section:
    """The section on the paper, which is the same on every page."""
    return Section(
        "The paper's machine",
        text=(
            f"{PUBLICATION.citation}, equation 3: Tcom = 2 (1500 us + 5 us (np/2) L) with L in words of 4 "
            "bytes. "
            "Break-even is an efficiency of 50% on two and of 25% on four SUNs.",
            drop_sentence(),
        ),
        figures=(_curves_figure(), *_level_figures()),
        tables=(_table(),),
        closed=True,
    )


def drop_sentence() -> str:
    """A sentence on the visible drop caused by a serial fraction of 1%."""
    ranks, size, serial, work = DROP_CASE
    suns = printed_costs()
    parallel_efficiency, serial_efficiency = (
        efficiency(Algorithm(work, size, fraction), suns, ranks) for fraction in (0.0, serial)
    )
    max_efficiency = 1 / (1 - serial + ranks * serial)
    return (
        f"A serial fraction of {serial:.0%} is clearly visible: on {ranks} SUNs with messages of "
        f"{length_text(size)}, the efficiency at T = {quantity(work, 's')} drops from "
        f"{percent_text(parallel_efficiency)} to "
        f"{percent_text(serial_efficiency)}, and no granularity raises it above "
        f"{percent_text(max_efficiency)}."
    )


def _curves_figure() -> Figure:
    suns = printed_costs()
    works = figures.PAPERS_GRID
    drawn: list[Series] = []
    for ranks in RANK_COUNTS:
        for size in LENGTHS:
            group = f"{ranks} SUNs, {length_text(size)}"
            drawn.append(figures.efficiency_curve(group, suns, works, ranks, size, group=group))
    ranks, size, serial, _ = DROP_CASE
    drawn.append(
        figures.efficiency_curve(
            f"{ranks} SUNs, {length_text(size)}, s = {serial:.0%}",
            suns,
            works,
            ranks,
            size,
            serial,
            f"{ranks} SUNs, {length_text(size)}",
        )
    )
    return Figure(
        "paper-efficiency",
        "Efficiency of the paper's SUNs by its model",
        WORK_AXIS,
        EFFICIENCY_AXIS,
        tuple(drawn),
        "Equations 2, 3 and 6 with the paper's parameters. The axes are separate because the same T is a "
        "different amount of work on another machine.",
    )


def _level_figures() -> tuple[Figure, ...]:
    suns = printed_costs()
    grid = figures.PAPERS_GRID
    return (
        *figures.serial_level_figures(suns, "paper", grid),
        figures.ranks_level_figure(suns, "paper", grid),
    )


def _table() -> Table:
    suns = printed_costs()
    rows = []
    for ranks in RANK_COUNTS:
        for size in LENGTHS:
            break_even_work = break_even(Algorithm(1.0, size), suns, ranks)
            for serial in SERIAL:
                rows.append(
                    (
                        str(ranks),
                        length_text(size),
                        f"{100 * serial:g}%",
                        quantity(exchange_time(suns, size, ranks), "s"),
                        percent_text(1 / ranks) if not serial else "",
                        quantity(break_even_work, "s") if break_even_work and not serial else "",
                        *(
                            percent_text(efficiency(Algorithm(work, size, serial), suns, ranks))
                            for work in WORKS
                        ),
                        percent_text(1 / (1 - serial + ranks * serial)),
                    )
                )
    columns = (
        "np", "L", "s", "Tcom", "break-even", "at T", *(f"T = {work:g} s" for work in WORKS), "at most",
    )  # fmt: skip
    return Table(
        "paper",
        "Efficiency of the SUNs by the paper's model",
        columns,
        tuple(rows),
        numeric=tuple(index for index in range(len(columns)) if index != 1),
    )
