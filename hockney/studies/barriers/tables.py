# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables: the cost of each barrier next to its prediction, and failures."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.models.barriers import traffic
from hockney.pages.evidence import Evidence
from hockney.pages.format import interval, quantity
from hockney.pages.levels import place_words
from hockney.studies.barriers.empty_messages import EmptyMessages
from hockney.studies.barriers.results import BarrierResult, BarrierResults


def costs(every: Sequence[BarrierResult], name: str, title: str) -> Table:
    placed = any(each.nodes for each in every)
    rows = tuple(
        (
            each.algorithm,
            str(each.ranks),
            *nodes(each, placed),
            _value(each.loop),
            _interval(each.loop),
            _value(each.times.get("alone")),
            _seconds(each.structure_s),
            error(each.error(each.structure_s)),
            _seconds(each.messages_s),
            error(each.error(each.messages_s)),
        )
        for each in every
    )
    columns = (
        "barrier", "ranks", *(("nodes",) if placed else ()), "back to back", "95% interval", "alone",
        "by structure", "error", "by messages", "error",
    )  # fmt: skip
    return Table(name, title, columns, rows, numeric=tuple(range(1, len(columns))))


def nodes(each: BarrierResult, placed: bool) -> tuple[str, ...]:
    """The cell of the nodes, if results of the run are `placed`."""
    return (str(each.nodes or ""),) if placed else ()


def predictions(every: Sequence[BarrierResult]) -> Table:
    """The counts on which the predictions are based."""
    counted_for = dict.fromkeys((x.algorithm, x.ranks) for x in every if x.structure_s is not None)
    rows = []
    for name, ranks in counted_for:
        counted = traffic(name, ranks)
        rows.append((name, str(ranks), *map(str, (counted.messages, counted.depth, counted.busiest))))
    columns = ("barrier", "ranks", "messages", "one after the other", "of the busiest rank")
    return Table("traffic", "Messages of a call", columns, tuple(rows), numeric=(1, 2, 3, 4))


def arrivals(every: Sequence[BarrierResult]) -> Table:
    placed = any(each.nodes for each in every)
    rows = tuple(
        (
            each.algorithm,
            str(each.ranks),
            *nodes(each, placed),
            *(
                cell
                for way in ("late", "skew")
                for cell in (_value(each.times.get(way)), _interval(each.times.get(way)))
            ),
        )
        for each in every
        if {"late", "skew"} & each.times.keys()
    )
    columns = (
        "barrier", "ranks", *(("nodes",) if placed else ()), "after the last", "95% interval", "exits apart",
        "95% interval",
    )  # fmt: skip
    return Table(
        "arrivals", "Entered one after another", columns, rows, numeric=tuple(range(1, len(columns)))
    )


def messages(known: EmptyMessages) -> Table:
    """The measured costs; predictions shorten o_s and o_r if their sum exceeds T."""
    used, measured = known.costs, known.overheads
    rows = [
        ("T", "unidirectional, ping-pong", known.one_way),
        ("E", "bidirectional, MPI_Sendrecv", known.exchange),
        ("base", "unidirectional, MPI_Isend and MPI_Recv (the base line)", known.base),
        (
            "T_b",
            "unidirectional with one byte, by MPI_Send or MPI_Bcast, whichever takes longer",
            known.broadcast,
        ),
    ]
    if measured is not None:
        send, receive = (
            f" (predictions use {quantity(seconds, 's')}, so that o_s + o_r is at most T)"
            if used.shortened
            else ""
            for seconds in used.overheads
        )
        rows += [
            ("o_s (0 B)", f"the sender's processor is busy{send}", measured.send),
            ("o_r (0 B)", f"the receiver's processor is busy{receive}", measured.receive),
            ("g", "from one message to the next", measured.gap),
        ]
    where = place_words(known.place)
    return Table(
        f"messages-{known.place}" if where else "messages",
        "Empty messages between two ranks" + (f", {where}" if where else ""),
        ("symbol", "what", "time", "95% interval"),
        tuple((symbol, what, _value(time), _interval(time)) for symbol, what, time in rows),
        numeric=(2, 3),
    )


def failed(evidence: Evidence) -> Table | None:
    rows = tuple((case.line, words) for case, words in BarrierResults.of(evidence).failures)
    return Table("failed", "No result", ("case", "what happened"), rows) if rows else None


def error(value: float | None) -> str:
    return "" if value is None else f"{value:+.0%}"


def _value(estimate: Estimate | None) -> str:
    return "" if estimate is None else quantity(estimate.value, "s")


def _interval(estimate: Estimate | None) -> str:
    return "" if estimate is None else interval(estimate, "s")


def _seconds(value: float | None) -> str:
    return "" if value is None else quantity(value, "s")
