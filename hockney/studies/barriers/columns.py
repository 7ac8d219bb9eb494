# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables: the cost of each barrier next to its prediction, and failures."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.models.barriers import traffic
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    SECONDS_FORMAT,
    Column,
    Format,
    columns_table,
)
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.pages.levels import level_phrase
from hockney.studies.barriers.results import BarrierResult, BarrierResults, EmptyMessages


def format_error(value: float) -> str:
    return f"{value:+.0%}"


ERROR = Format(format_error)
NODES: Column[BarrierResult] = Column("nodes", lambda each: each.nodes or "", COUNT_FORMAT)
BARRIER: tuple[Column[BarrierResult], ...] = (
    Column("barrier", lambda each: each.algorithm),
    Column("ranks", lambda each: each.ranks, COUNT_FORMAT),
)
COSTS: tuple[Column[BarrierResult], ...] = (
    Column("back to back", lambda each: each.loop, SECONDS_FORMAT, interval=INTERVAL_HEADING),
    Column("alone", lambda each: each.times.get("alone"), SECONDS_FORMAT),
    Column("by structure", lambda each: each.structure_s, SECONDS_FORMAT),
    Column("error", lambda each: each.error(each.structure_s), ERROR),
    Column("by messages", lambda each: each.messages_s, SECONDS_FORMAT),
    Column("error", lambda each: each.error(each.messages_s), ERROR),
)
ARRIVALS: tuple[Column[BarrierResult], ...] = (
    Column("after the last", lambda each: each.times.get("late"), SECONDS_FORMAT, interval=INTERVAL_HEADING),
    Column("exits apart", lambda each: each.times.get("skew"), SECONDS_FORMAT, interval=INTERVAL_HEADING),
)


def costs_table(results: Sequence[BarrierResult], name: str, title: str) -> Table:
    return columns_table(name, title, (*_barrier_columns(results), *COSTS), results)


def _barrier_columns(results: Sequence[BarrierResult]) -> tuple[Column[BarrierResult], ...]:
    """The columns that identify a result. They include the nodes if some results have any."""
    return (*BARRIER, NODES) if any(each.nodes for each in results) else BARRIER


def traffic_table(results: Sequence[BarrierResult]) -> Table:
    """The message counts on which the predictions are based."""
    predicted_barriers = dict.fromkeys(
        (result.algorithm, result.ranks) for result in results if result.structure_s is not None
    )
    rows = []
    for algorithm, ranks in predicted_barriers:
        counts = traffic(algorithm, ranks)
        rows.append((algorithm, str(ranks), *map(str, (counts.messages, counts.depth, counts.busiest))))
    columns = ("barrier", "ranks", "messages", "one after the other", "of the busiest rank")
    return Table("traffic", "Messages of a call", columns, tuple(rows), numeric=(1, 2, 3, 4))


def arrivals_table(results: Sequence[BarrierResult]) -> Table:
    rows = [each for each in results if {"late", "skew"} & each.times.keys()]
    return columns_table(
        "arrivals", "Entered one after another", (*_barrier_columns(results), *ARRIVALS), rows
    )


def messages_table(level: EmptyMessages) -> Table:
    """The measured costs. Predictions reduce o_s and o_r if their sum exceeds T."""
    used_costs, measured_overheads = level.costs, level.overheads
    rows = [
        ("T", "unidirectional, ping-pong", level.one_way),
        ("E", "bidirectional, MPI_Sendrecv", level.exchange),
        ("base", "unidirectional, MPI_Isend and MPI_Recv (the base line)", level.base),
        (
            "T_b",
            "unidirectional with one byte, by MPI_Send or MPI_Bcast, whichever takes longer",
            level.broadcast,
        ),
    ]
    if measured_overheads is not None:
        send, receive = (
            f" (predictions use {quantity(seconds, 's')}, so that o_s + o_r is at most T)"
            if used_costs.shortened
            else ""
            for seconds in used_costs.overheads
        )
        rows += [
            ("o_s (0 B)", f"the sender's processor is busy{send}", measured_overheads.send),
            ("o_r (0 B)", f"the receiver's processor is busy{receive}", measured_overheads.receive),
            ("g", "from one message to the next", measured_overheads.gap),
        ]
    place_text = level_phrase(level.place)
    columns: tuple[Column[tuple[str, str, Estimate]], ...] = (
        Column("symbol", lambda row: row[0]),
        Column("what", lambda row: row[1]),
        Column("time", lambda row: row[2], SECONDS_FORMAT, interval=INTERVAL_HEADING),
    )
    return columns_table(
        f"messages-{level.place}" if place_text else "messages",
        "Empty messages between two ranks" + (f", {place_text}" if place_text else ""),
        columns,
        rows,
    )


def failures_table(evidence: Evidence) -> Table:
    columns: tuple[Column[tuple[Case, str]], ...] = (
        Column("case", lambda row: row[0].line),
        Column("what happened", lambda row: row[1]),
    )
    return columns_table("failed", "No result", columns, BarrierResults.of(evidence).failures)
