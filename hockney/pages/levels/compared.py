# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of the levels at which ranks meet, by the costs of one message at a time."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.catalog import PING_PONG
from hockney.core.fit import Fit, FittedParameter
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import with_interval
from hockney.pages.levels import evidence_level_phrase
from hockney.pages.series import curve, message_fit, rates, times

PARAMETERS = (
    ("t_0", "latency"),
    ("r_inf", "asymptotic bandwidth"),
    ("n_half", "half-bandwidth size"),
)
CAPTION = (
    "Of the piecewise Hockney model of each level: t_0 of the shortest messages, r_inf of the longest, and "
    "the size n_half from which half of that is reached."
)


def compare_levels(levels: Sequence[Evidence]) -> Section | None:
    """Return a section with a series and a table row for each level, or None unless ping-pongs were measured
    at two levels."""
    measured_levels = {
        evidence_level_phrase(level): (ping_pongs(level), message_fit(level))
        for level in levels
        if ping_pongs(level)
    }
    if len(measured_levels) < 2:
        return None
    return Section(
        title="",
        figures=(_latency(measured_levels), _bandwidth(measured_levels)),
        tables=(_table(measured_levels),),
    )


def ping_pongs(evidence: Evidence) -> tuple[MeasuredCase, ...]:
    """Return the ping-pongs with hot buffers, sorted by size."""
    return evidence.of(evidence.catalog.workload_name(*PING_PONG), buffers="hot")


MeasuredLevels = dict[str, tuple[tuple[MeasuredCase, ...], Fit | None]]


def _latency(measured_levels: MeasuredLevels) -> Figure:
    series: list[Series] = []
    for name, (cases, fit) in measured_levels.items():
        series.append(times(name, cases))
        if fit is not None:
            series.append(curve(f"{name}, fitted", fit, name))
    return Figure(
        name="latency",
        title="Time of one message against its size, at each level",
        x=Axis("message size", "B", "log", zero=True),
        y=Axis("time", "s"),
        series=tuple(series),
        caption="Ping-pong: typical times with 95% intervals. The lines are the piecewise Hockney models.",
    )


def _bandwidth(measured_levels: MeasuredLevels) -> Figure:
    series: list[Series] = []
    for name, (cases, fit) in measured_levels.items():
        series.append(rates(name, cases))
        if fit is not None:
            series.append(curve(f"{name}, fitted", fit, name, rate=1.0))
    return Figure(
        name="bandwidth",
        title="Bandwidth against message size, at each level",
        x=Axis("message size", "B"),
        y=Axis("bandwidth", "B/s"),
        series=tuple(line for line in series if line.x),
        caption="Ping-pong: payload divided by typical time.",
    )


def _table(measured_levels: MeasuredLevels) -> Table:
    rows = tuple(
        (
            name,
            *(
                "" if parameter is None else with_interval(parameter.estimate, parameter.unit)
                for parameter in _fit_parameters(fit)
            ),
            "" if fit is None else fit.verdict,
        )
        for name, (_, fit) in measured_levels.items()
    )
    columns = ("one message", *(title for _, title in PARAMETERS), "fit")
    numeric = tuple(range(1, len(columns) - 1))
    title = "One message at each level"
    return Table("levels", title, columns, rows, numeric=numeric, caption=CAPTION)


def _fit_parameters(fit: Fit | None) -> list[FittedParameter | None]:
    return [None if fit is None else fit.parameter(symbol) for symbol, _ in PARAMETERS]
