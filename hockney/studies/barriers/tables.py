# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables: the cost of each barrier next to its prediction, and failures."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.models.barriers import MessageCosts, traffic
from hockney.pages.evidence import Evidence
from hockney.pages.format import interval, quantity
from hockney.studies.barriers.results import BarrierResult, BarrierResults


def costs(every: Sequence[BarrierResult], name: str, title: str) -> Table:
    rows = tuple(
        (
            each.algorithm,
            str(each.ranks),
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
        "barrier", "ranks", "back to back", "95% interval", "alone",
        "by structure", "error", "by messages", "error",
    )  # fmt: skip
    return Table(name, title, columns, rows, numeric=tuple(range(1, 9)))


def predictions(every: Sequence[BarrierResult]) -> Table:
    """The counts on which the predictions are based."""
    rows = []
    for each in every:
        if each.structure_s is not None:
            counted = traffic(each.algorithm, each.ranks)
            rows.append(
                (
                    each.algorithm,
                    str(each.ranks),
                    *map(str, (counted.messages, counted.depth, counted.busiest)),
                )
            )
    columns = ("barrier", "ranks", "messages", "one after the other", "of the busiest rank")
    return Table("traffic", "Messages of a call", columns, tuple(rows), numeric=(1, 2, 3, 4))


def arrivals(every: Sequence[BarrierResult]) -> Table:
    rows = tuple(
        (
            each.algorithm,
            str(each.ranks),
            *(
                cell
                for way in ("late", "skew")
                for cell in (_value(each.times.get(way)), _interval(each.times.get(way)))
            ),
        )
        for each in every
        if {"late", "skew"} & each.times.keys()
    )
    columns = ("barrier", "ranks", "after the last", "95% interval", "exits apart", "95% interval")
    return Table("arrivals", "Entered one after another", columns, rows, numeric=(1, 2, 3, 4, 5))


def messages(known: MessageCosts) -> Table:
    send_s, receive_s = known.overheads
    rows = (
        ("T", "unidirectional, ping-pong", quantity(known.one_way_s, "s")),
        ("E", "bidirectional, MPI_Sendrecv", quantity(known.exchange_s, "s")),
        (
            "base",
            "unidirectional, MPI_Isend and MPI_Recv (the base line)",
            quantity(known.base_s, "s"),
        ),
        (
            "T_b",
            "unidirectional with one byte, by MPI_Send or MPI_Bcast, whichever takes longer",
            quantity(known.broadcast_s, "s"),
        ),
        ("o_s (0 B)", f"the sender's processor is busy{_shortened(known)}", quantity(send_s, "s")),
        ("o_r (0 B)", f"the receiver's processor is busy{_shortened(known)}", quantity(receive_s, "s")),
        ("g", "from one message to the next", quantity(known.gap_s, "s")),
    )
    return Table(
        "messages", "Empty messages between two ranks", ("symbol", "what", "time"), rows, numeric=(2,)
    )


def _shortened(known: MessageCosts) -> str:
    """Where both overheads, measured apart, are longer than the message."""
    return ", shortened so that o_s + o_r is at most T" if known.shortened else ""


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
