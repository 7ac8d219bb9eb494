# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The presentation of a described program's scaling: sentences, tables, and a JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from hockney.core.units import format_percent
from hockney.core.wording import join_words, plural
from hockney.draw.page import Table
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.programs.scaling import (
    MIN_EFFICIENCY,
    TIME_PARTS,
    ProgramChange,
    ProgramForecast,
    ProgramRow,
)
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

SCALING_PHRASES = {
    "strong": "strong scaling: the total computation is the same on every number of ranks",
    "weak": "weak scaling: each rank computes as much on every number of ranks",
    "other": "the total computation depends on the number of ranks",
}
BASIS_PHRASES = {
    "measured": "as measured",
    "described": "as the machine's description states",
    "requested": "as the program's description states",
    "assumed": "assumed because it is the fastest algorithm in the model; no time was measured",
}


def forecast_contents(forecast: ProgramForecast, messages: PointToPointCosts) -> tuple[str | Table, ...]:
    """Return all sentences and tables, in the order in which they are shown."""
    levers_shown = (changes_heading(forecast), levers_table(forecast)) if forecast.changes else ()
    return (
        *assumption_sentences(forecast, messages),
        ranks_table(forecast),
        parts_table(forecast),
        *best_sentences(forecast),
        *levers_shown,
    )


def assumption_sentences(forecast: ProgramForecast, messages: PointToPointCosts) -> tuple[str, ...]:
    """Return the kind of scaling and the sources of the costs."""
    return (
        f"{forecast.name}, {SCALING_PHRASES[forecast.scaling]}.",
        f"Message costs: {messages.title}, from {messages.source}.",
        *_collective_sentences(forecast.rows),
    )


def _collective_sentences(rows: Sequence[ProgramRow]) -> list[str]:
    """Describe how the time of each collective operation was computed."""
    algorithms = sorted(
        {algorithm_use for row in rows for algorithm_use in row.iteration.algorithms},
        key=lambda algorithm_use: (
            algorithm_use.operation,
            algorithm_use.basis,
            algorithm_use.algorithm,
            algorithm_use.ranks,
            algorithm_use.size,
        ),
    )

    def alike(algorithm_use: ChosenAlgorithm) -> tuple[str, str, str]:
        return algorithm_use.operation, algorithm_use.basis, algorithm_use.algorithm

    sentences = []
    for (operation, basis, algorithm), group in groupby(algorithms, key=alike):
        ranks = join_words(sorted({algorithm_use.ranks for algorithm_use in group}))
        method = f" uses {algorithm}" if algorithm else " takes its time"
        sentences.append(f"{operation} on {ranks} ranks{method}, {BASIS_PHRASES[basis]}.")
    return sentences


def ranks_table(forecast: ProgramForecast) -> Table:
    """Return the table of rank counts, with the parts of each time."""
    rows = tuple(
        (
            str(row.ranks),
            time_cell(row.time),
            ratio_text(row.speed_up),
            share_text(row.efficiency),
            *(quantity(row.seconds(kind), "s") for kind in TIME_PARTS),
        )
        for row in forecast.rows
    )
    speed_up = "speed-up" if forecast.scaling == "strong" else "scaled speed-up"
    columns = ("ranks", "time, model only", speed_up, "efficiency", *TIME_PARTS)
    return Table("program", forecast.name, columns, rows, numeric=(0, 1, 4, 5, 6, 7))


def parts_table(forecast: ProgramForecast) -> Table:
    """Return a table of the parts of an iteration's time for each rank count."""
    names = dict.fromkeys((part.name, part.kind) for row in forecast.rows for part in row.iteration.parts)
    rows = [
        (name, kind, *(quantity(_part_seconds(row, name, kind), "s") for row in forecast.rows))
        for name, kind in names
    ]
    rows.append(("waiting", "", *(quantity(row.iteration.waiting, "s") for row in forecast.rows)))
    columns = ("part of an iteration", "kind", *(plural(row.ranks, "rank") for row in forecast.rows))
    numeric = tuple(range(2, len(columns)))
    return Table("program-parts", "Where the time goes", columns, tuple(rows), numeric=numeric)


def _part_seconds(row: ProgramRow, name: str, kind: str) -> float:
    return sum(part.seconds for part in row.iteration.parts if (part.name, part.kind) == (name, kind))


def best_sentences(forecast: ProgramForecast) -> tuple[str, ...]:
    fastest, efficient = forecast.fastest, forecast.most_efficient
    range_text = f"of {join_words([row.ranks for row in forecast.rows])}"
    best_sentence = (
        f"Best: {fastest.ranks} ranks, speed-up {ratio_text(fastest.speed_up)}, the largest {range_text}."
    )
    if fastest.ranks == 1:
        best_sentence = f"Best: 1 rank; no other number {range_text} is faster."
    if efficient.efficiency.value < MIN_EFFICIENCY:
        efficiency_sentence = f"The efficiency is below {format_percent(MIN_EFFICIENCY)} on all of them."
    else:
        max_ranks = plural(efficient.ranks, "rank")
        efficiency_sentence = f"Efficiency of at least {format_percent(MIN_EFFICIENCY)}: up to {max_ranks}."
    return (
        best_sentence,
        efficiency_sentence,
        *_limit_sentence(max(forecast.rows, key=lambda row: row.ranks)),
    )


def _limit_sentence(row: ProgramRow) -> tuple[str, ...]:
    """Return a sentence on the largest part of the time apart from computation."""
    part_seconds: dict[tuple[str, str], float] = {
        (part.name, part.kind): part.seconds for part in row.iteration.parts if part.kind != "computation"
    }
    part_seconds["waiting", ""] = row.iteration.waiting
    (name, kind), seconds = max(part_seconds.items(), key=lambda item: item[1])
    if not seconds or not row.iteration.seconds:
        return ()
    description = "waiting" if name == "waiting" else f"{kind} ({name})"
    share = three_digits(100 * seconds / row.iteration.seconds)
    return (f"Limit on {row.ranks} ranks: {description}, {share}% of the time.",)


def levers_table(forecast: ProgramForecast) -> Table:
    rows = tuple(
        (
            lever.name,
            lever.description,
            f"{'at most ' if lever.is_bound else ''}{three_digits(100 * lever.efficiency)}%",
            f"+{three_digits(100 * lever.gain)}",
        )
        for lever in forecast.changes
    )
    return improvements_table(forecast.changed_ranks, rows)


def document(forecast: ProgramForecast, messages: PointToPointCosts) -> dict[str, Any]:
    """Return the forecast in seconds and fractions, each with its 95% interval (null if unknown)."""
    return {
        "program": forecast.name,
        "scaling": forecast.scaling,
        "machine": {"name": messages.name, "title": messages.title, "source": messages.source},
        "ranks": [_row_document(row) for row in forecast.rows],
        "best": {"fastest": forecast.fastest.ranks, "half_efficient": forecast.most_efficient.ranks},
        "levers": {
            "ranks": forecast.changed_ranks,
            "changes": [_change_document(each) for each in forecast.changes],
        },
    }


def _change_document(change: ProgramChange) -> dict[str, Any]:
    return {
        "name": change.name,
        "how": change.description,
        "efficiency": change.efficiency,
        "gain": change.gain,
        "bound": change.is_bound,
    }


def _row_document(row: ProgramRow) -> dict[str, Any]:
    return {
        "ranks": row.ranks,
        "iterations": row.iterations,
        "time_s": row.time,
        "speed_up": row.speed_up,
        "efficiency": row.efficiency,
        "ranks_a_core": row.shared_by,
        **{f"{kind}_s": row.seconds(kind) for kind in TIME_PARTS},
        "parts": [
            {"name": part.name, "kind": part.kind, "iteration_s": part.seconds}
            for part in row.iteration.parts
        ],
        "collectives": list(row.iteration.algorithms),
        "shared_links_followed": row.iteration.contention,
    }
