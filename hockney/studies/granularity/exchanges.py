# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Other ways to exchange with one's neighbours: what each costs, and from which grain on it pays."""

from __future__ import annotations

from hockney.core.fit import Estimate
from hockney.draw.page import Section, Table
from hockney.models.exchange import Messages
from hockney.studies.granularity.grain import WANTED
from hockney.studies.granularity.words import length
from hockney.studies.question import Evidence, Measured
from hockney.studies.words import interval, quantity, told

ORDERED = "ordered"
WAYS = {
    ORDERED: "ordered, half sending first",
    "sendrecv": "all at once, MPI_Sendrecv",
    "nonblocking": "MPI_Irecv and MPI_Isend",
    "persistent": "persistent requests",
    "neighborhood": "neighbourhood collective",
}


def section(evidence: Evidence, messages: Messages | None) -> Section | None:
    found = [m for m in evidence.of("round_robin") if m.summary.median.value > 0]
    if not found:
        return None
    return Section("The exchange alone", text=tuple(_text(found)), tables=(_table(found, messages),))


def _way(m: Measured) -> str:
    return str(dict(m.case.parameters).get("exchange", ORDERED))


def _key(m: Measured) -> tuple[int, int]:
    return m.case.ranks, m.size


def _text(found: list[Measured]) -> list[str]:
    """The best other way, where its interval lies below the ordered exchange's."""
    ordered = {_key(m): m for m in found if _way(m) == ORDERED}
    others = [m for m in found if _key(m) in ordered and _way(m) != ORDERED]
    said = []
    for key in sorted({_key(m) for m in others}):
        best = min((m for m in others if _key(m) == key), key=lambda m: m.summary.median.value)
        base = ordered[key].summary.median
        high = best.summary.median.high or best.summary.median.value
        if high < (base.low or base.value):
            said.append(
                f"On {key[0]} ranks with messages of {length(key[1])} the exchange by "
                f"{WAYS.get(_way(best), _way(best))} takes {told(best.summary.median, 's')} instead of "
                f"{told(base, 's')}: that much less work is needed between two exchanges."
            )
    if others and not said:
        said.append("No other way of exchanging is surely faster than the ordered one.")
    return said


def _table(found: list[Measured], messages: Messages | None) -> Table:
    ordered = {_key(m): m.summary.median.value for m in found if _way(m) == ORDERED}
    places = {way: k for k, way in enumerate(WAYS)}
    rows = []
    for m in sorted(found, key=lambda m: (*_key(m), places.get(_way(m), len(places)))):
        median = m.summary.median
        base = ordered.get(_key(m))
        rows.append(
            (
                str(m.case.ranks),
                length(m.size),
                WAYS.get(_way(m), _way(m)),
                quantity(median.value, "s"),
                interval(median, "s"),
                _model(m, messages),
                "" if base is None or _way(m) == ORDERED else f"{median.value / base:.2f}",
                _needed(median, m.case.ranks),
            )
        )
    columns = (
        "ranks", "message", "exchange", "time", "95% interval", "model", "of ordered", f"T for {WANTED:.0%}",
    )  # fmt: skip
    return Table(
        "exchanges",
        "Time of one exchange",
        columns,
        tuple(rows),
        numeric=(0, 3, 4, 5, 6, 7),
        caption="All ranks start at one moment. The model is that of the ordered exchange. The last column "
        "is the work "
        "that this exchange needs by equation 2 for that efficiency.",
    )


def _model(m: Measured, messages: Messages | None) -> str:
    if messages is None or _way(m) != ORDERED:
        return ""
    return quantity(messages.exchange(m.size, m.case.ranks), "s")


def _needed(exchange: Estimate, ranks: int) -> str:
    """Equation 2 solved for T."""
    return quantity(WANTED * ranks * exchange.value / (1 - WANTED), "s")
