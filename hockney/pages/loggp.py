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
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import quantity
from hockney.pages.levels import placed, prefixed, where
from hockney.pages.quality import parameter_table

ID = "loggp"
MODEL = "loggp"
POINTS = 60
LEAST = 1e-3
"""Where a bar ends that reaches below 0, relative to its value: beyond the end of a log axis."""


def section(evidence: Evidence) -> Section | None:
    """The section, with all levels at which ranks meet; None if trains were measured at none of them."""
    parts = [part for level in evidence.levels if (part := _of_level(level)) is not None]
    if not parts:
        return None
    return Section(
        "LogGP",
        text=tuple(text for part in parts for text in part.text),
        figures=tuple(figure for part in parts for figure in part.figures),
        tables=tuple(table for part in parts for table in part.tables),
        id=ID,
    )


def _of_level(evidence: Evidence) -> Section | None:
    trains = tuple(m for m in evidence.of_role("train", delay=0) if not m.case.number("pause"))
    if not trains:
        return None
    fits = [fit for fit in evidence.fits.fits if fit.model == MODEL]
    fit = next((f for f in fits if f.verdict != "refused"), None)
    series = [s for n in sorted({_messages(m) for m in trains} - {1}) if (s := _per_message(trains, n)).x]
    if fit is not None and (line := _line(trains, fit)) is not None:
        series.append(line)
    figure = Figure(
        name="loggp",
        title="Cost of each further message in a train",
        x=Axis("message size", "B", "log", zero=True),
        y=Axis("time", "s"),
        series=tuple(series),
        caption="(PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1) for trains of n messages; LogGP predicts g + G s.",
    )
    tables = (_parameters(fit),) if fit is not None else ()
    return Section(
        "",
        text=(prefixed(_text(fit, fits), where(evidence)),),
        figures=(placed(figure, evidence),) if series else (),
        tables=tuple(placed(table, evidence) for table in tables),
    )


def _parameters(fit: Fit) -> Table:
    """The table of parameters, without the model, subject and verdict, which are the same for all."""
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
    """Contradictions between data and parameters: no sentence may be based on these parameters."""
    return [caveat for caveat in fit.caveats if caveat.code in CONTRADICTIONS]


def _messages(m: Measured) -> int:
    return int(m.case.number("messages", 1))


def _per_message(trains: tuple[Measured, ...], n: int) -> Series:
    """Differences of medians; a bar covers both ends of both intervals."""
    single = {m.size: m.summary.typical for m in trains if _messages(m) == 1}
    drawn = []
    for m in trains:
        if _messages(m) == n and m.size in single:
            one, many = single[m.size], m.summary.typical
            drawn.append((float(m.size), *_difference(many, one, n - 1)))
    drawn = [(x, y, max(low, LEAST * y), high) for x, y, low, high in drawn if y > 0]
    x, y, low, high = zip(*drawn, strict=True) if drawn else ((), (), (), ())
    detail = tuple(f"{quantity(a, 'B')}: {quantity(b, 's')} a message" for a, b in zip(x, y, strict=True))
    return Series(f"{n} messages", x, y, low, high, group=f"{n} messages", detail=detail)


def _difference(train: Estimate, one: Estimate, intervals: int) -> tuple[float, float, float]:
    value = (train.value - one.value) / intervals
    if train.low is None or train.high is None or one.low is None or one.high is None:
        return value, UNKNOWN, UNKNOWN
    return value, (train.low - one.high) / intervals, (train.high - one.low) / intervals


def _line(trains: tuple[Measured, ...], fit: Fit) -> Series | None:
    gap, per_byte = fit.parameter("g"), fit.parameter("G")
    if gap is None or per_byte is None:
        return None
    sizes = _between(sorted({float(m.size) for m in trains}))
    if fit.segments:
        y = tuple(_piece(fit, s) for s in sizes)
        return Series("LogGP: at least g, then by G", tuple(sizes), y, kind="line", group="LogGP")
    y = tuple(gap.estimate.value + s * per_byte.estimate.value for s in sizes)
    return Series("LogGP: g + G s", tuple(sizes), y, kind="line", group="LogGP")


def _between(sizes: list[float]) -> list[float]:
    """Enough sizes for a smooth line on a logarithmic axis."""
    positive = [size for size in sizes if size > 0]
    if len(positive) < 2:
        return sizes
    low, high = positive[0], positive[-1]
    return [*(s for s in sizes if s == 0), *(low * (high / low) ** (k / POINTS) for k in range(POINTS + 1))]


def _piece(fit: Fit, size: float) -> float:
    piece = next(s for s in reversed(fit.segments) if s.first <= size)
    return piece.latency.value + size * piece.per_byte.value


def _text(fit: Fit | None, fits: list[Fit]) -> str:
    if fit is None:
        return f"No LogGP parameters: {fits[0].why}." if fits else "No LogGP parameters could be fitted."
    why = f": {fit.why}" if fit.why else ""
    how = "Trains of messages with a single reply at the end separate the parameters."
    return f"{how} The fit is {fit.verdict}{why}."
