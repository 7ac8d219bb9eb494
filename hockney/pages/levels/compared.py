# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The levels at which ranks meet, compared: one message at a time, at each of them."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.catalog import PING_PONG
from hockney.core.fit import Fit, FittedParameter
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import with_interval
from hockney.pages.levels import where
from hockney.pages.series import curve, message_fit, rates, times

COLUMNS = (
    ("t_0", "latency"),
    ("r_inf", "asymptotic bandwidth"),
    ("n_half", "half-bandwidth size"),
)
CAPTION = (
    "Of the piecewise Hockney model of each level: t_0 of the shortest messages, r_inf of the longest, and "
    "the size n_half from which half of that is reached."
)


def compare(levels: Sequence[Evidence]) -> Section | None:
    """A series and a row for each level; None if ping-pongs were not measured at two of them."""
    measured = {
        where(level): (ping_pongs(level), message_fit(level)) for level in levels if ping_pongs(level)
    }
    if len(measured) < 2:
        return None
    return Section(
        title="",
        figures=(_latency(measured), _bandwidth(measured)),
        tables=(_table(measured),),
    )


def ping_pongs(evidence: Evidence) -> tuple[Measured, ...]:
    """The ping-pongs with hot buffers, by size."""
    return evidence.of(evidence.catalog.workload_name(*PING_PONG), buffers="hot")


Levels = dict[str, tuple[tuple[Measured, ...], Fit | None]]


def _latency(measured: Levels) -> Figure:
    series: list[Series] = []
    for name, (cases, fit) in measured.items():
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


def _bandwidth(measured: Levels) -> Figure:
    series: list[Series] = []
    for name, (cases, fit) in measured.items():
        series.append(rates(name, cases))
        if fit is not None:
            series.append(curve(f"{name}, fitted", fit, name, rate=1.0))
    return Figure(
        name="bandwidth",
        title="Bandwidth against message size, at each level",
        x=Axis("message size", "B"),
        y=Axis("bandwidth", "B/s"),
        series=tuple(s for s in series if s.x),
        caption="Ping-pong: payload divided by typical time.",
    )


def _table(measured: Levels) -> Table:
    rows = tuple(
        (
            name,
            *(
                "" if parameter is None else with_interval(parameter.estimate, parameter.unit)
                for parameter in _known(fit)
            ),
            "" if fit is None else fit.verdict,
        )
        for name, (_, fit) in measured.items()
    )
    columns = ("one message", *(title for _, title in COLUMNS), "fit")
    numeric = tuple(range(1, len(columns) - 1))
    title = "One message at each level"
    return Table("levels", title, columns, rows, numeric=numeric, caption=CAPTION)


def _known(fit: Fit | None) -> list[FittedParameter | None]:
    return [None if fit is None else fit.parameter(symbol) for symbol, _ in COLUMNS]
