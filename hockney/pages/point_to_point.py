# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The section on two ranks: latency and bandwidth against size, with the fitted piecewise Hockney model."""

from __future__ import annotations

from hockney.core.fit import Estimate, Fit
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Section, Table
from hockney.pages import undisturbed
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import quantity, rate_from_time, with_interval
from hockney.pages.levels import evidence_level_phrase, with_level, with_level_prefix
from hockney.pages.levels.compared import compare_levels
from hockney.pages.series import curve, message_fit, rates, times

SECTION_ID = "point-to-point"
ROLES = ("point-to-point", "stream")

PING_PONG_TITLE = "ping-pong"
SERIES_TITLES = {
    ("point-to-point", "send", "hot"): PING_PONG_TITLE,
    ("point-to-point", "send", "written"): "ping-pong, written buffers",
    ("point-to-point", "send", "cold"): "ping-pong, cold buffers",
    ("point-to-point", "sendrecv", "hot"): "bidirectional ping-pong",
    ("point-to-point", "isend", "hot"): "nonblocking send, blocking receive",
    ("stream", "isend", "hot"): "unidirectional stream",
    ("stream", "isendrecv", "hot"): "bidirectional stream",
}
"""The titles of series by role, operation and buffers, in drawing order. Other series follow, named after
their workloads."""
NO_LATENCY_TEXT = "none found"
NO_LATENCY_NOTE = (
    "Where no latency is found, bytes cost more than in shorter messages, as beyond a cache, and the "
    "bandwidth is that of an additional byte."
)
BUFFERS_NOTE = (
    "Buffers are hot unless named: never rewritten, which is the best case. A program's messages are written "
    "just before they are sent."
)
SIZE_AXIS = Axis("message size", "B", "log", zero=True)


def section(evidence: Evidence) -> Section | None:
    """Return the section, or None without measurements. If ranks meet at several levels, the levels are
    compared first."""
    parts = [part for level in evidence.levels if (part := _level_section(level)) is not None]
    if not parts:
        return None
    comparison = compare_levels(evidence.levels) if len(evidence.levels) > 1 else None
    if comparison is not None:
        parts = [comparison, *parts]
    return Section(
        title="Between two ranks",
        text=tuple(text for part in parts for text in part.text),
        figures=tuple(figure for part in parts for figure in part.figures),
        tables=tuple(table for part in parts for table in part.tables),
        id=SECTION_ID,
    )


def _level_section(evidence: Evidence) -> Section | None:
    groups = _group_by_title(evidence)
    if not groups:
        return None
    fit = message_fit(evidence)
    tables = (
        segments_table(fit) if fit is not None and fit.segments else None,
        undisturbed.undisturbed_table(
            [measured_case for cases in groups.values() for measured_case in cases]
        ),
    )
    return Section(
        title="",
        text=(with_level_prefix(_fit_sentence(fit), evidence_level_phrase(evidence)),),
        figures=(with_level(_latency(groups, fit), evidence), with_level(_bandwidth(groups, fit), evidence)),
        tables=tuple(with_level(table, evidence) for table in tables if table is not None),
    )


def _group_by_title(evidence: Evidence) -> dict[str, list[MeasuredCase]]:
    """Group the measurements between two ranks by title: each workload with each kind of buffers."""
    standard_groups: dict[str, list[MeasuredCase]] = {title: [] for title in SERIES_TITLES.values()}
    additional_groups: dict[str, list[MeasuredCase]] = {}
    for measured_case in evidence.of_role(*ROLES):
        buffers = str(measured_case.case.get("buffers", "hot"))
        cases = standard_groups.get(
            SERIES_TITLES.get((measured_case.workload.role, measured_case.workload.operation, buffers), "")
        )
        if cases is None or (cases and cases[0].case.workload != measured_case.case.workload):
            cases = additional_groups.setdefault(f"{measured_case.case.workload}, {buffers}", [])
        cases.append(measured_case)
    return {title: cases for title, cases in (standard_groups | additional_groups).items() if cases}


def _latency(groups: dict[str, list[MeasuredCase]], fit: Fit | None) -> Figure:
    series = [times(name, cases) for name, cases in groups.items() if cases[0].workload.role != "stream"]
    if fit is not None:
        series.append(curve("fitted model, 95% band", fit, PING_PONG_TITLE))
    return Figure(
        name="latency",
        title="Time of one message against its size",
        x=SIZE_AXIS,
        y=Axis("time", "s"),
        series=tuple(series),
        caption="Typical times with 95% intervals. The line is the ping-pong's piecewise Hockney model; "
        f"dotted lines mark where it changes. {BUFFERS_NOTE}",
        marks=_change_marks(fit),
    )


def _bandwidth(groups: dict[str, list[MeasuredCase]], fit: Fit | None) -> Figure:
    series = [rates(name, cases) for name, cases in groups.items()]
    if fit is not None:
        series.append(curve("fitted model, 95% band", fit, PING_PONG_TITLE, rate=1.0))
    return Figure(
        name="bandwidth",
        title="Bandwidth against message size",
        x=Axis("message size", "B"),
        y=Axis("bandwidth", "B/s", "linear"),
        series=tuple(line for line in series if line.x),
        caption=f"Payload divided by typical time; if both ranks send, both directions count. {BUFFERS_NOTE}",
        marks=_change_marks(fit),
    )


def _change_marks(fit: Fit | None) -> tuple[tuple[float, str], ...]:
    return (
        tuple((change_point.value, quantity(change_point.value, "B")) for change_point in fit.change_points)
        if fit
        else ()
    )


def _fit_sentence(fit: Fit | None) -> str:
    if fit is None:
        return "No model could be fitted to the ping-pong; the table of parameters gives the reason."
    error_text = f" with a typical error of {100 * fit.error:.1f}%" if fit.error is not None else ""
    segments_text = plural(len(fit.segments), "straight line describes", "straight lines describe")
    return f"{segments_text} the ping-pong{error_text}."


def segments_table(fit: Fit) -> Table:
    """Return a table of the segments of a piecewise fit."""
    rows = tuple(
        (
            quantity(segment.first, "B"),
            "" if segment.beyond is None else quantity(segment.beyond, "B"),
            _format_concisely(segment.latency, "s") if segment.intercept == "found" else NO_LATENCY_TEXT,
            _format_concisely(segment.per_byte, "s/B"),
            _format_concisely(rate_from_time(1.0, segment.per_byte), "B/s")
            if segment.per_byte.value > 0
            else "",
        )
        for segment in fit.segments
    )
    columns = ("from", "below", "latency", "per byte", "bandwidth")
    caption = "A change between two measured sizes may be anywhere between them; the table gives the middle."
    if any(segment.intercept != "found" for segment in fit.segments):
        caption += f" {NO_LATENCY_NOTE}"
    return Table("segments", "Time of one message", columns, rows, numeric=(0, 1, 2, 3, 4), caption=caption)


def _format_concisely(estimate: Estimate, unit: str) -> str:
    """Format the value with its interval. The interval is omitted if it is narrower than the last digit, as
    in a printed formula."""
    value = quantity(estimate.value, unit)
    bounds = {quantity(bound, unit) for bound in (estimate.low, estimate.high) if bound is not None}
    return value if bounds == {value} else with_interval(estimate, unit)
