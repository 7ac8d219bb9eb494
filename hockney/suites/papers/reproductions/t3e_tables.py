# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of one operation of the T3E's paper: every printed time next to SimGrid's MPI, the models and each
algorithm."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.core.units import format_value
from hockney.draw.page import Table
from hockney.reference.aggregated_bandwidth import DEFINITIONS
from hockney.reproductions.parts import Answer
from hockney.suites.papers.reproductions import t3e_algorithms
from hockney.suites.papers.reproductions.t3e_cases import (
    ALGORITHMS,
    OPERATIONS,
    PROCESSES,
    SIZE_WORDS,
    SIZES,
    counted,
    printed,
    seconds,
    simulated,
)
from hockney.suites.papers.reproductions.t3e_findings import percent

START = ("size", "processes", "published")


def operation_tables(operation: str, answers: Mapping[str, Answer]) -> tuple[Table, Table]:
    """Every printed time of an operation: with its aggregated bandwidth next to SimGrid's MPI and the models,
    and next to each algorithm."""
    return _models_table(operation, answers), _algorithms_table(operation, answers)


def _models_table(operation: str, answers: Mapping[str, Answer]) -> Table:
    platform, definition = answers[ALGORITHMS].platform, DEFINITIONS[operation]
    own = t3e_algorithms.own(platform, operation)
    rows = []
    for size, p in _printed():
        row, total = printed(operation, size, p), SIZES[size]
        rate = format_value(definition.of_buffer(total, p, row.si), "B/s")
        simgrids = seconds(answers["tables"], operation, total, p) if simulated(operation, size, p) else None
        by_loggp = t3e_algorithms.from_messages(platform, operation, own, total, p)
        times = (simgrids, by_loggp, counted(platform, operation, total, p))
        rows.append((*_start(operation, size, p), rate, *(_cell(time, row.si) for time in times)))
    columns = (*START, "bandwidth", "SimGrid's MPI", f"{own} by LogGP", "counted")
    return Table(
        f"t3e-{operation}",
        f"{OPERATIONS[operation]}: published, simulated and modelled",
        columns,
        tuple(rows),
        numeric=tuple(range(1, len(columns))),
        caption=f"Size: {definition.buffer}. Bandwidth: {definition.rule}, of the published time. SimGrid's "
        f"MPI uses the algorithm in the machine's description ({own}). By LogGP: the same from the costs of "
        "one message; messages do not compete. Counted: whole messages one after the other, as in the "
        "paper's text.",
    )


def _algorithms_table(operation: str, answers: Mapping[str, Answer]) -> Table:
    answer = answers[ALGORITHMS]
    names = t3e_algorithms.of(answer, operation)
    rows = []
    for size, p in _printed():
        times = [t3e_algorithms.seconds(answer, operation, name, SIZES[size], p) for name in names]
        published = printed(operation, size, p).si
        rows.append((*_start(operation, size, p), *(_cell(time, published) for time in times)))
    left = any(not cell for row in rows for cell in row)
    return Table(
        f"t3e-{operation}-algorithms",
        f"{OPERATIONS[operation]}: every algorithm",
        (*START, *names),
        tuple(rows),
        numeric=tuple(range(1, len(START) + len(names))),
        caption="In brackets: error, or x times the published time."
        + (" Empty: too many messages to simulate." if left else ""),
    )


def _printed() -> list[tuple[str, int]]:
    return [(size, p) for size in SIZES for p in PROCESSES]


def _start(operation: str, size: str, processes: int) -> tuple[str, str, str]:
    return SIZE_WORDS[size], str(processes), format_value(printed(operation, size, processes).si, "s")


def _cell(time: float | None, published: float) -> str:
    """ "27.4 us (-13%)"; from five times the published time on "332 us (x9)"."""
    if time is None:
        return ""
    factor = time / published
    return f"{format_value(time, 's')} ({f'x{factor:.0f}' if factor >= 5 else percent(factor - 1)})"
