# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): the parameters by number of ranks, those of the paper's
machine, and local rates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    RATIO_FORMAT,
    SECONDS_FORMAT,
    Column,
    Format,
    columns_table,
    unit_format,
)
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import interval, quantity, size_of
from hockney.pages.metrics import operation_rate
from hockney.suites.bsp.studies.bsp_parameters.results import (
    METHOD_TITLES,
    PAPER_KEYS,
    PAPER_VALUES,
    ParameterResults,
    paper_values_by_processors,
)

UNITS = {"g": "s", "L": "s", "sigma": "s/B", "l": "s", "o": "s", "G": "s/B"}
PARAMETER_MEANINGS = {
    "g": "a word of 4 bytes of an h-relation",
    "L": "a superstep",
    "sigma": "a byte of a block",
    "l": "a block",
    "o": "a packet of an h-relation",
    "G": "a byte of an h-relation",
}


def parameter_table(run: ParameterResults) -> Table:
    """Returns a table with a row for each parameter at each number of ranks."""
    rows: list[tuple[str, ...]] = []
    for ranks in run.ranks:
        for symbol, unit in UNITS.items():
            estimate, fit = run.estimate(symbol, ranks), run.fit(symbol, ranks)
            if estimate is not None and fit is not None:
                value = quantity(estimate.value, unit)
                rows.append(
                    (
                        str(ranks),
                        symbol,
                        PARAMETER_MEANINGS[symbol],
                        value,
                        interval(estimate, unit),
                        fit.verdict,
                    )
                )
        empty_superstep = run.synchronisation(ranks)
        if empty_superstep is not None:
            empty_s = empty_superstep.summary.typical
            row = (
                str(ranks),
                "",
                "an empty superstep",
                quantity(empty_s.value, "s"),
                interval(empty_s, "s"),
                "",
            )
            rows.append(row)
    columns = ("ranks", "symbol", "cost of", "value", INTERVAL_HEADING, "fit")
    return Table("bsp-parameters", "Parameters", columns, tuple(rows), numeric=(0, 3, 4))


def method_table(run: ParameterResults) -> Table | None:
    """Returns a table of g and L of words by communication method, and the gain of combining words."""

    def gain(row: tuple[int, str]) -> Estimate | None:
        ranks, method = row
        return run.gain_over_put(method, ranks) if method != "put" else None

    columns: tuple[Column[tuple[int, str]], ...] = (
        Column("ranks", lambda row: row[0], COUNT_FORMAT),
        Column("words by", lambda row: METHOD_TITLES[row[1]]),
        Column("g", lambda row: run.estimate("g", *row), SECONDS_FORMAT, interval=f"{INTERVAL_HEADING} of g"),
        Column("L", lambda row: run.estimate("L", *row), SECONDS_FORMAT, interval=f"{INTERVAL_HEADING} of L"),
        Column("g / g of bsp_put", gain, RATIO_FORMAT, interval=f"{INTERVAL_HEADING} of the ratio"),
    )
    caption = (
        "On the Paragon, combining all words for a processor into one message made g 17 to 22 times smaller."
    )
    rows = _method_rows(run)
    return columns_table("bsp-methods", "Words by each method", columns, rows, caption) if rows else None


def _method_rows(run: ParameterResults) -> list[tuple[int, str]]:
    """Returns the ranks and methods for which both g and L are known."""
    rows = [(ranks, method) for ranks in run.ranks for method in METHOD_TITLES]
    return [row for row in rows if None not in (run.estimate("g", *row), run.estimate("L", *row))]


def paper_table(run: ParameterResults) -> Table:
    """Returns a table of the paper's g, L, sigma and l and this machine's at the same numbers of ranks."""
    paper_values = {symbol: paper_values_by_processors(symbol) for symbol in PAPER_KEYS}
    columns: list[Column[int]] = [Column("ranks", int, COUNT_FORMAT)]
    for symbol, values in paper_values.items():
        columns += [
            Column(symbol, partial(run.estimate, symbol), unit_format(UNITS[symbol])),
            Column(f"{symbol}, Paragon", values.get, unit_format(UNITS[symbol])),
        ]
    rows = sorted({p for values in paper_values.values() for p in values} | set(run.ranks))
    return columns_table(
        "bsp-paper", "This machine and the Intel Paragon", columns, rows, PAPER_VALUES.citation
    )


def _range_in_millions(speed: Estimate) -> str:
    if speed.low is None or speed.high is None:
        return "unknown"
    return f"{speed.low / 1e6:.3g} to {speed.high / 1e6:.3g}"


MILLION_FORMAT = Format(lambda speed: quantity(speed.value / 1e6, ""), interval=_range_in_millions)
RATE_COLUMNS: tuple[Column[MeasuredCase], ...] = (
    Column("work", lambda measurement: measurement.workload.operation),
    Column("type", lambda measurement: measurement.case.get("type")),
    Column("size", lambda measurement: _shape_text(measurement) or size_of(measurement), COUNT_FORMAT),
    Column("ranks", lambda measurement: measurement.case.ranks, COUNT_FORMAT),
    Column("time", lambda measurement: measurement.summary.typical, SECONDS_FORMAT),
    Column(
        "million operations a second",
        lambda measurement: operation_rate(measurement.summary),
        MILLION_FORMAT,
        interval=INTERVAL_HEADING,
    ),
)


def _shape_text(measurement: MeasuredCase) -> str:
    return " x ".join(str(measurement.case[name]) for name in ("n", "m", "k") if measurement.case.get(name))


def rate_table(run: ParameterResults) -> Table | None:
    """Returns a table of local work on all ranks at the same time; None without any."""
    rate_cases = [measurement for measurement in run.rates if operation_rate(measurement.summary) is not None]
    rate_cases.sort(
        key=lambda measurement: (
            measurement.workload.operation,
            measurement.case.ranks,
            measurement.size,
            measurement.case.line,
        )
    )
    return columns_table("local-rates", "Local work", RATE_COLUMNS, rate_cases) if rate_cases else None


def summary(evidence: Evidence) -> Sequence[Table]:
    """Returns the table below the sentences on a terminal."""
    return (parameter_table(ParameterResults.of(evidence)),)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Returns every parameter at each number of ranks, and every local rate: in seconds, seconds per byte,
    and operations per second. Unknown ends of intervals are null."""
    run = ParameterResults.of(evidence)
    return {
        "parameters": [
            {"ranks": ranks, "symbol": symbol, "unit": UNITS[symbol], **_interval_fields(estimate)}
            for ranks in run.ranks
            for symbol in UNITS
            if (estimate := run.estimate(symbol, ranks)) is not None
        ],
        "methods": [
            {"ranks": ranks, "method": method, "g_s": g.value, "L_s": superstep.value}
            for ranks in run.ranks
            for method in METHOD_TITLES
            if (g := run.estimate("g", ranks, method)) is not None
            and (superstep := run.estimate("L", ranks, method)) is not None
        ],
        "combining": [
            {"ranks": ranks, "factor": factor and factor.value, **_bound_fields(factor)}
            for ranks in run.ranks
            for factor in [run.combining_gain(ranks)]
        ],
        "rates": [
            {
                "case": measurement.case.line,
                "operation": measurement.workload.operation,
                **_interval_fields(speed),
            }
            for measurement in run.rates
            if (speed := operation_rate(measurement.summary)) is not None
        ],
    }


def _interval_fields(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, **_bound_fields(estimate)}


def _bound_fields(estimate: Estimate | None) -> dict[str, float | None]:
    return {"low": None, "high": None} if estimate is None else {"low": estimate.low, "high": estimate.high}
