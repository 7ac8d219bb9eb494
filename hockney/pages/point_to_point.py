# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The section on two ranks: latency and bandwidth against size, with the fitted piecewise Hockney model."""

from __future__ import annotations

from hockney.core.fit import Estimate, Fit
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Section, Table
from hockney.pages import undisturbed
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import quantity, rate_of, with_interval
from hockney.pages.levels import placed, prefixed, where
from hockney.pages.levels.compared import compare
from hockney.pages.series import curve, message_fit, rates, times

ID = "point-to-point"
ROLES = ("point-to-point", "stream")

PING_PONG_TITLE = "ping-pong"
TITLES = {
    ("point-to-point", "send", "hot"): PING_PONG_TITLE,
    ("point-to-point", "send", "written"): "ping-pong, written buffers",
    ("point-to-point", "send", "cold"): "ping-pong, cold buffers",
    ("point-to-point", "sendrecv", "hot"): "bidirectional ping-pong",
    ("point-to-point", "isend", "hot"): "nonblocking send, blocking receive",
    ("stream", "isend", "hot"): "unidirectional stream",
    ("stream", "isendrecv", "hot"): "bidirectional stream",
}
"""By role, operation and buffers: series with a title, in drawing order. Others follow under the names of
their workloads."""
NO_LATENCY = "none found"
WITHOUT_LATENCY = (
    "Where no latency is found, bytes cost more than in shorter messages, as beyond a cache, and the "
    "bandwidth is that of an additional byte."
)
HOT_UNLESS_NAMED = (
    "Buffers are hot unless named: never rewritten, which is the best case. A program's messages are written "
    "just before they are sent."
)
SIZE = Axis("message size", "B", "log", zero=True)


def section(evidence: Evidence) -> Section | None:
    """Compares the levels if ranks meet at several, and then shows each of them."""
    parts = [part for level in evidence.levels if (part := _of_level(level)) is not None]
    if not parts:
        return None
    comparison = compare(evidence.levels) if len(evidence.levels) > 1 else None
    if comparison is not None:
        parts = [comparison, *parts]
    return Section(
        title="Between two ranks",
        text=tuple(text for part in parts for text in part.text),
        figures=tuple(figure for part in parts for figure in part.figures),
        tables=tuple(table for part in parts for table in part.tables),
        id=ID,
    )


def _of_level(evidence: Evidence) -> Section | None:
    lines = _lines(evidence)
    if not lines:
        return None
    fit = message_fit(evidence)
    tables = (
        pieces(fit) if fit is not None and fit.segments else None,
        undisturbed.table([m for cases in lines.values() for m in cases]),
    )
    return Section(
        title="",
        text=(prefixed(_text(fit), where(evidence)),),
        figures=(placed(_latency(lines, fit), evidence), placed(_bandwidth(lines, fit), evidence)),
        tables=tuple(placed(table, evidence) for table in tables if table is not None),
    )


def _lines(evidence: Evidence) -> dict[str, list[Measured]]:
    """The measurements between two ranks, by title: each workload with each kind of buffers."""
    titled: dict[str, list[Measured]] = {title: [] for title in TITLES.values()}
    named: dict[str, list[Measured]] = {}
    for m in evidence.of_role(*ROLES):
        buffers = str(m.case.get("buffers", "hot"))
        cases = titled.get(TITLES.get((m.workload.role, m.workload.operation, buffers), ""))
        if cases is None or (cases and cases[0].case.workload != m.case.workload):
            cases = named.setdefault(f"{m.case.workload}, {buffers}", [])
        cases.append(m)
    return {title: cases for title, cases in (titled | named).items() if cases}


def _latency(lines: dict[str, list[Measured]], fit: Fit | None) -> Figure:
    series = [times(name, cases) for name, cases in lines.items() if cases[0].workload.role != "stream"]
    if fit is not None:
        series.append(curve("fitted model, 95% band", fit, PING_PONG_TITLE))
    return Figure(
        name="latency",
        title="Time of one message against its size",
        x=SIZE,
        y=Axis("time", "s"),
        series=tuple(series),
        caption="Typical times with 95% intervals. The line is the ping-pong's piecewise Hockney model; "
        f"dotted lines mark where it changes. {HOT_UNLESS_NAMED}",
        marks=_marks(fit),
    )


def _bandwidth(lines: dict[str, list[Measured]], fit: Fit | None) -> Figure:
    series = [rates(name, cases) for name, cases in lines.items()]
    if fit is not None:
        series.append(curve("fitted model, 95% band", fit, PING_PONG_TITLE, rate=1.0))
    return Figure(
        name="bandwidth",
        title="Bandwidth against message size",
        x=Axis("message size", "B"),
        y=Axis("bandwidth", "B/s", "linear"),
        series=tuple(s for s in series if s.x),
        caption="Payload divided by typical time; if both ranks send, both directions count. "
        f"{HOT_UNLESS_NAMED}",
        marks=_marks(fit),
    )


def _marks(fit: Fit | None) -> tuple[tuple[float, str], ...]:
    return tuple((p.value, quantity(p.value, "B")) for p in fit.change_points) if fit else ()


def _text(fit: Fit | None) -> str:
    if fit is None:
        return "No model could be fitted to the ping-pong; the table of parameters gives the reason."
    typical = f" with a typical error of {100 * fit.error:.1f}%" if fit.error is not None else ""
    lines = plural(len(fit.segments), "straight line describes", "straight lines describe")
    return f"{lines} the ping-pong{typical}."


def pieces(fit: Fit) -> Table:
    """The segments of a piecewise fit."""
    rows = tuple(
        (
            quantity(piece.first, "B"),
            "" if piece.beyond is None else quantity(piece.beyond, "B"),
            _short(piece.latency, "s") if piece.intercept == "found" else NO_LATENCY,
            _short(piece.per_byte, "s/B"),
            _short(rate_of(1.0, piece.per_byte), "B/s") if piece.per_byte.value > 0 else "",
        )
        for piece in fit.segments
    )
    columns = ("from", "below", "latency", "per byte", "bandwidth")
    caption = "A change between two measured sizes may be anywhere between them; the table gives the middle."
    if any(piece.intercept != "found" for piece in fit.segments):
        caption += f" {WITHOUT_LATENCY}"
    return Table("segments", "Time of one message", columns, rows, numeric=(0, 1, 2, 3, 4), caption=caption)


def _short(estimate: Estimate, unit: str) -> str:
    """The value with its interval, unless that is narrower than the digits shown, as for a printed
    formula."""
    value = quantity(estimate.value, unit)
    ends = {quantity(end, unit) for end in (estimate.low, estimate.high) if end is not None}
    return value if ends == {value} else with_interval(estimate, unit)
