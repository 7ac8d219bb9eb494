# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The presentation of a described program's scaling: sentences and tables, and a document for programs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from hockney.core.units import format_percent
from hockney.core.wording import join_words, plural
from hockney.draw.page import Table
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.programs.scaling import LEAST_EFFICIENCY, TIME_PARTS, ProgramForecast, ProgramRow
from hockney.models.programs.timing import ChosenAlgorithm
from hockney.pages.format import quantity
from hockney.pages.grain_prediction import (
    changes_heading,
    improvements_table,
    ratio_text,
    share_text,
    three_digits,
    time_cell,
)

SCALING = {
    "strong": "strong scaling: the total computation is the same on every number of ranks",
    "weak": "weak scaling: each rank computes as much on every number of ranks",
    "other": "the total computation depends on the number of ranks",
}
BASIS = {
    "measured": "as measured",
    "described": "as the machine's description states",
    "requested": "as the program's description states",
    "assumed": "assumed because it is the fastest algorithm in the model; no time was measured",
}


def contents(made: ProgramForecast, messages: PointToPointCosts) -> tuple[str | Table, ...]:
    """Everything, in the order in which it is shown."""
    levers_shown = (changes_heading(made), levers(made)) if made.changes else ()
    return (*assumed(made, messages), ranks(made), parts(made), *best(made), *levers_shown)


def assumed(made: ProgramForecast, messages: PointToPointCosts) -> tuple[str, ...]:
    """The kind of scaling, and the sources of the costs."""
    return (
        f"{made.name}, {SCALING[made.scaling]}.",
        f"Message costs: {messages.title}, from {messages.source}.",
        *_collectives(made.rows),
    )


def _collectives(rows: Sequence[ProgramRow]) -> list[str]:
    """How the time of each collective operation was computed."""
    used = sorted(
        {each for row in rows for each in row.iteration.algorithms},
        key=lambda each: (each.operation, each.basis, each.algorithm, each.ranks, each.size),
    )

    def alike(each: ChosenAlgorithm) -> tuple[str, str, str]:
        return each.operation, each.basis, each.algorithm

    sentences = []
    for (operation, basis, algorithm), group in groupby(used, key=alike):
        ranks = join_words(sorted({each.ranks for each in group}))
        uses = f" uses {algorithm}" if algorithm else " takes its time"
        sentences.append(f"{operation} on {ranks} ranks{uses}, {BASIS[basis]}.")
    return sentences


def ranks(made: ProgramForecast) -> Table:
    """The table of the numbers of ranks, with the parts of each time."""
    rows = tuple(
        (
            str(each.ranks),
            time_cell(each.time),
            ratio_text(each.speed_up),
            share_text(each.efficiency),
            *(quantity(each.seconds(kind), "s") for kind in TIME_PARTS),
        )
        for each in made.rows
    )
    speed_up = "speed-up" if made.scaling == "strong" else "scaled speed-up"
    columns = ("ranks", "time, model only", speed_up, "efficiency", *TIME_PARTS)
    return Table("program", made.name, columns, rows, numeric=(0, 1, 4, 5, 6, 7))


def parts(made: ProgramForecast) -> Table:
    """Where the time of an iteration goes on each number of ranks."""
    names = dict.fromkeys((p.name, p.kind) for row in made.rows for p in row.iteration.parts)
    rows = [
        (name, kind, *(quantity(_part_seconds(row, name, kind), "s") for row in made.rows))
        for name, kind in names
    ]
    rows.append(("waiting", "", *(quantity(row.iteration.waiting, "s") for row in made.rows)))
    columns = ("part of an iteration", "kind", *(plural(row.ranks, "rank") for row in made.rows))
    numeric = tuple(range(2, len(columns)))
    return Table("program-parts", "Where the time goes", columns, tuple(rows), numeric=numeric)


def _part_seconds(row: ProgramRow, name: str, kind: str) -> float:
    return sum(p.seconds for p in row.iteration.parts if (p.name, p.kind) == (name, kind))


def best(made: ProgramForecast) -> tuple[str, ...]:
    fastest, thrifty = made.fastest, made.thrifty
    listed = f"of {join_words([row.ranks for row in made.rows])}"
    first = f"Best: {fastest.ranks} ranks, speed-up {ratio_text(fastest.speed_up)}, the largest {listed}."
    if fastest.ranks == 1:
        first = f"Best: 1 rank; no other number {listed} is faster."
    if thrifty.efficiency.value < LEAST_EFFICIENCY:
        second = f"The efficiency is below {format_percent(LEAST_EFFICIENCY)} on all of them."
    else:
        most = plural(thrifty.ranks, "rank")
        second = f"Efficiency of at least {format_percent(LEAST_EFFICIENCY)}: up to {most}."
    return (first, second, *_limit(max(made.rows, key=lambda row: row.ranks)))


def _limit(row: ProgramRow) -> tuple[str, ...]:
    """What takes most of the time that is not computation, on the most ranks."""
    others: dict[tuple[str, str], float] = {
        (p.name, p.kind): p.seconds for p in row.iteration.parts if p.kind != "computation"
    }
    others["waiting", ""] = row.iteration.waiting
    (name, kind), seconds = max(others.items(), key=lambda item: item[1])
    if not seconds or not row.iteration.seconds:
        return ()
    what = "waiting" if name == "waiting" else f"{kind} ({name})"
    share = three_digits(100 * seconds / row.iteration.seconds)
    return (f"Limit on {row.ranks} ranks: {what}, {share}% of the time.",)


def levers(made: ProgramForecast) -> Table:
    rows = tuple(
        (
            each.name,
            each.how,
            f"{'at most ' if each.bound else ''}{three_digits(100 * each.efficiency)}%",
            f"+{three_digits(100 * each.gain)}",
        )
        for each in made.changes
    )
    return improvements_table(made.changed, rows)


def document(made: ProgramForecast, messages: PointToPointCosts) -> dict[str, Any]:
    """Seconds and fractions, each with the ends of its 95% interval (null if unknown)."""
    return {
        "program": made.name,
        "scaling": made.scaling,
        "machine": {"name": messages.name, "title": messages.title, "source": messages.source},
        "ranks": [_row(row) for row in made.rows],
        "best": {"fastest": made.fastest.ranks, "half_efficient": made.thrifty.ranks},
        "levers": {"ranks": made.changed, "changes": list(made.changes)},
    }


def _row(row: ProgramRow) -> dict[str, Any]:
    return {
        "ranks": row.ranks,
        "iterations": row.iterations,
        "time_s": row.time,
        "speed_up": row.speed_up,
        "efficiency": row.efficiency,
        "ranks_a_core": row.shared_by,
        **{f"{kind}_s": row.seconds(kind) for kind in TIME_PARTS},
        "parts": [{"name": p.name, "kind": p.kind, "iteration_s": p.seconds} for p in row.iteration.parts],
        "collectives": list(row.iteration.algorithms),
        "shared_links_followed": row.iteration.contention,
    }
