# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Other ways to exchange with neighbors: the cost of each, and the work from which it pays off."""

from __future__ import annotations

from hockney.core.fit import Estimate
from hockney.draw.page import Section, Table
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_time
from hockney.pages.cells import COUNT, RATIO, SECONDS
from hockney.pages.columns import INTERVAL, Column, columns_table
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import with_interval
from hockney.studies.granularity.results import WANTED
from hockney.studies.granularity.text import length

ORDERED = "ordered"
WAYS = {
    ORDERED: "ordered, half of the ranks send first",
    "sendrecv": "all at once, MPI_Sendrecv",
    "nonblocking": "MPI_Irecv and MPI_Isend",
    "persistent": "persistent requests",
    "neighborhood": "neighborhood collective",
}


def section(evidence: Evidence, messages: PointToPointCosts | None) -> Section | None:
    measured = [m for m in evidence.of("round_robin") if m.summary.typical.value > 0]
    if not measured:
        return None
    return Section("The exchange alone", text=tuple(_text(measured)), tables=(_table(measured, messages),))


def _way(m: Measured) -> str:
    return str(dict(m.case.parameters).get("exchange", ORDERED))


def _key(m: Measured) -> tuple[int, int]:
    return m.case.ranks, m.case.bytes


def _text(measured: list[Measured]) -> list[str]:
    """A sentence for each number of ranks, on the alternative with the largest significant gain."""
    ordered = {_key(m): m.summary.typical for m in measured if _way(m) == ORDERED}
    others = [m for m in measured if _key(m) in ordered and _way(m) != ORDERED]
    texts = []
    for p in sorted({m.case.ranks for m in others}):
        sure = [m for m in others if m.case.ranks == p and _faster(m.summary.typical, ordered[_key(m)])]
        if not sure:
            continue
        best = min(sure, key=lambda m: m.summary.typical.value / ordered[_key(m)].value)
        base, median = ordered[_key(best)], best.summary.typical
        texts.append(
            f"On {p} ranks the largest gain comes from {WAYS.get(_way(best), _way(best))} with "
            f"messages of {length(best.case.bytes)}: {with_interval(median, 's')} instead of "
            f"{with_interval(base, 's')}, so {median.value / base.value:.0%} of the work between "
            "exchanges is enough."
        )
    if others and not texts:
        texts.append("No other kind of exchange is significantly faster than the ordered one.")
    return texts


def _faster(median: Estimate, than: Estimate) -> bool:
    """Whether the intervals show it."""
    return (median.high or median.value) < (than.low or than.value)


def _table(measured: list[Measured], messages: PointToPointCosts | None) -> Table:
    ordered = {_key(m): m.summary.typical.value for m in measured if _way(m) == ORDERED}
    places = {way: k for k, way in enumerate(WAYS)}

    def model(m: Measured) -> float | None:
        if messages is None or _way(m) != ORDERED:
            return None
        return exchange_time(messages.spread(m.case.nodes), m.size, m.case.ranks)

    def of_ordered(m: Measured) -> float | None:
        base = None if _way(m) == ORDERED else ordered.get(_key(m))
        return None if base is None else m.summary.typical.value / base

    columns: tuple[Column[Measured], ...] = (
        Column("ranks", lambda m: m.case.ranks, COUNT),
        Column("message", lambda m: length(m.case.bytes)),
        Column("exchange", lambda m: WAYS.get(_way(m), _way(m))),
        Column("time", lambda m: m.summary.typical, SECONDS, interval=INTERVAL),
        Column("model", model, SECONDS),
        Column("of ordered", of_ordered, RATIO),
        Column(f"T for {WANTED:.0%}", _needed_s, SECONDS),
    )
    rows = sorted(measured, key=lambda m: (*_key(m), places.get(_way(m), len(places))))
    caption = (
        "All ranks start at the same moment. The model is that of the ordered exchange. The last "
        "column is the work that this exchange needs to reach that efficiency, by equation 2."
    )
    return columns_table("exchanges", "Time of one exchange", columns, rows, caption)


def _needed_s(m: Measured) -> float:
    """Equation 2 solved for T."""
    return WANTED * m.case.ranks * m.summary.typical.value / (1 - WANTED)
