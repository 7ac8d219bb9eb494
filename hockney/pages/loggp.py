# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The section on LogGP: the costs of trains of messages, measured as PRTT(n, d, s)."""

from __future__ import annotations

from dataclasses import replace

from hockney.core.fit import Estimate, Fit, FitCaveat
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.intervals import UNKNOWN
from hockney.draw.page import Section, Table
from hockney.models import CONTRADICTIONS
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import quantity
from hockney.pages.levels import evidence_level_phrase, with_level, with_level_prefix
from hockney.pages.quality import parameter_table

SECTION_ID = "loggp"
MODEL = "loggp"
LINE_POINTS = 60
MIN_BAR_RATIO = 1e-3
"""If a bar reaches below 0, it ends at this multiple of its value, beyond the end of a log axis."""


def section(evidence: Evidence) -> Section | None:
    """Return the section, with all levels at which ranks meet, or None if trains were measured at none of
    them."""
    parts = [part for level in evidence.levels if (part := _level_section(level)) is not None]
    if not parts:
        return None
    return Section(
        "LogGP",
        text=tuple(text for part in parts for text in part.text),
        figures=tuple(figure for part in parts for figure in part.figures),
        tables=tuple(table for part in parts for table in part.tables),
        id=SECTION_ID,
    )


def _level_section(evidence: Evidence) -> Section | None:
    trains = tuple(
        measured_case
        for measured_case in evidence.of_role("train", delay=0)
        if not measured_case.case.number("pause")
    )
    if not trains:
        return None
    fits = [fit for fit in evidence.fits.fits if fit.model == MODEL]
    fit = next((candidate for candidate in fits if candidate.verdict != "refused"), None)
    series = [
        train_series
        for count in sorted({_message_count(measured_case) for measured_case in trains} - {1})
        if (train_series := _per_message_series(trains, count)).x
    ]
    if fit is not None and (line := _fitted_line(trains, fit)) is not None:
        series.append(line)
    figure = Figure(
        name="loggp",
        title="Cost of each further message in a train",
        x=Axis("message size", "B", "log", zero=True),
        y=Axis("time", "s"),
        series=tuple(series),
        caption="(PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1) for trains of n messages; LogGP predicts g + G s.",
    )
    tables = (_parameters_table(fit),) if fit is not None else ()
    return Section(
        "",
        text=(with_level_prefix(_fit_sentence(fit, fits), evidence_level_phrase(evidence)),),
        figures=(with_level(figure, evidence),) if series else (),
        tables=tuple(with_level(table, evidence) for table in tables),
    )


def _parameters_table(fit: Fit) -> Table:
    """Return the table of parameters without model, subject and verdict, which are the same in all rows."""
    table = parameter_table([fit])
    return replace(
        table,
        title=f"LogGP parameters of {fit.line}",
        columns=table.columns[2:6],
        rows=tuple(row[2:6] for row in table.rows),
        numeric=(2, 3),
        caption="o_s and o_r hold for the smallest messages; O_s and O_r are what each additional byte adds.",
    )


def contradictions(fit: Fit) -> list[FitCaveat]:
    """Return the contradictions between data and parameters. If there are any, no sentence may rely on these
    parameters."""
    return [caveat for caveat in fit.caveats if caveat.code in CONTRADICTIONS]


def _message_count(measured_case: MeasuredCase) -> int:
    return int(measured_case.case.number("messages", 1))


def _per_message_series(trains: tuple[MeasuredCase, ...], count: int) -> Series:
    """Return differences of medians. Their error bars combine the bounds of both intervals."""
    single_times = {train.size: train.summary.typical for train in trains if _message_count(train) == 1}
    points = []
    for train in trains:
        if _message_count(train) == count and train.size in single_times:
            single_time, train_time = single_times[train.size], train.summary.typical
            points.append((float(train.size), *_difference(train_time, single_time, count - 1)))
    points = [(x, y, max(low, MIN_BAR_RATIO * y), high) for x, y, low, high in points if y > 0]
    x, y, low, high = zip(*points, strict=True) if points else ((), (), (), ())
    details = tuple(
        f"{quantity(size, 'B')}: {quantity(time, 's')} a message" for size, time in zip(x, y, strict=True)
    )
    return Series(f"{count} messages", x, y, low, high, group=f"{count} messages", detail=details)


def _difference(train: Estimate, single_time: Estimate, intervals: int) -> tuple[float, float, float]:
    value = (train.value - single_time.value) / intervals
    if train.low is None or train.high is None or single_time.low is None or single_time.high is None:
        return value, UNKNOWN, UNKNOWN
    return value, (train.low - single_time.high) / intervals, (train.high - single_time.low) / intervals


def _fitted_line(trains: tuple[MeasuredCase, ...], fit: Fit) -> Series | None:
    gap, per_byte = fit.parameter("g"), fit.parameter("G")
    if gap is None or per_byte is None:
        return None
    sizes = _line_sizes(sorted({float(m.size) for m in trains}))
    if fit.segments:
        y = tuple(_segment_time(fit, size) for size in sizes)
        return Series("LogGP: at least g, then by G", tuple(sizes), y, kind="line", group="LogGP")
    y = tuple(gap.estimate.value + size * per_byte.estimate.value for size in sizes)
    return Series("LogGP: g + G s", tuple(sizes), y, kind="line", group="LogGP")


def _line_sizes(sizes: list[float]) -> list[float]:
    """Return enough sizes for a smooth line on a logarithmic axis."""
    positive_sizes = [size for size in sizes if size > 0]
    if len(positive_sizes) < 2:
        return sizes
    min_size, max_size = positive_sizes[0], positive_sizes[-1]
    return [
        *(zero_size for zero_size in sizes if zero_size == 0),
        *(min_size * (max_size / min_size) ** (k / LINE_POINTS) for k in range(LINE_POINTS + 1)),
    ]


def _segment_time(fit: Fit, size: float) -> float:
    segment = next(candidate for candidate in reversed(fit.segments) if candidate.first <= size)
    return segment.latency.value + size * segment.per_byte.value


def _fit_sentence(fit: Fit | None, fits: list[Fit]) -> str:
    if fit is None:
        return f"No LogGP parameters: {fits[0].why}." if fits else "No LogGP parameters could be fitted."
    reason = f": {fit.why}" if fit.why else ""
    explanation = "Trains of messages with a single reply at the end separate the parameters."
    return f"{explanation} The fit is {fit.verdict}{reason}."
