# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters as tables: by number of ranks, next to those of the paper's machine."""

from __future__ import annotations

from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.pages.format import interval, quantity, ratio_interval, size_of
from hockney.suites.bsp.studies.bsp_parameters.results import (
    METHODS,
    PAPER,
    PRINTED,
    ParameterResults,
    printed,
    rate,
)

UNITS = {"g": "s", "L": "s", "sigma": "s/B", "l": "s", "o": "s", "G": "s/B"}
MEANING = {
    "g": "a word of 4 bytes of an h-relation",
    "L": "a superstep",
    "sigma": "a byte of a block",
    "l": "a block",
    "o": "a packet of an h-relation",
    "G": "a byte of an h-relation",
}


def parameters(run: ParameterResults) -> Table:
    """A row for each parameter at each number of ranks."""
    rows: list[tuple[str, ...]] = []
    for ranks in run.ranks:
        for symbol, unit in UNITS.items():
            estimate, fit = run.estimate(symbol, ranks), run.fit(symbol, ranks)
            if estimate is not None and fit is not None:
                value = quantity(estimate.value, unit)
                rows.append(
                    (str(ranks), symbol, MEANING[symbol], value, interval(estimate, unit), fit.verdict)
                )
        empty = run.synchronisation(ranks)
        if empty is not None:
            time = empty.summary.typical
            row = (str(ranks), "", "an empty superstep", quantity(time.value, "s"), interval(time, "s"), "")
            rows.append(row)
    columns = ("ranks", "symbol", "cost of", "value", "95% interval", "fit")
    return Table("bsp-parameters", "Parameters", columns, tuple(rows), numeric=(0, 3, 4))


def methods(run: ParameterResults) -> Table | None:
    """g and L of words by each way of communicating them, and what combining gains."""
    rows = []
    for ranks in run.ranks:
        for method, words in METHODS.items():
            g, startup = (run.estimate(symbol, ranks, method) for symbol in ("g", "L"))
            if g is None or startup is None:
                continue
            gain = run.gain(method, ranks) if method != "put" else None
            rows.append(
                (
                    str(ranks),
                    words,
                    quantity(g.value, "s"),
                    interval(g, "s"),
                    quantity(startup.value, "s"),
                    interval(startup, "s"),
                    f"{gain.value:.2f}" if gain else "",
                    ratio_interval(gain) if gain else "",
                )
            )
    if not rows:
        return None
    columns = (
        "ranks", "words by", "g", "95% interval of g", "L", "95% interval of L", "g / g of bsp_put",
        "95% interval of the ratio",
    )  # fmt: skip
    caption = (
        "On the Paragon, combining all words for a processor into one message made g 17 to 22 times smaller."
    )
    return Table("bsp-methods", "Words by each method", columns, tuple(rows), (0, 2, 3, 4, 5, 6, 7), caption)


def paper(run: ParameterResults) -> Table:
    """The paper's tables of g, L, sigma and l next to this machine's at the same numbers of ranks."""
    known = {symbol: dict(printed(symbol)) for symbol in PRINTED}
    every = sorted({p for values in known.values() for p in values} | set(run.ranks))
    rows = []
    for ranks in every:
        row = [str(ranks)]
        for symbol, values in known.items():
            own = run.estimate(symbol, ranks)
            unit = UNITS[symbol]
            row += [
                "" if own is None else quantity(own.value, unit),
                quantity(values[ranks], unit) if ranks in values else "",
            ]
        rows.append(tuple(row))
    columns = ["ranks"]
    for symbol in known:
        columns += [symbol, f"{symbol}, Paragon"]
    numeric = tuple(range(len(columns)))
    return Table(
        "bsp-paper",
        "This machine and the Intel Paragon",
        tuple(columns),
        tuple(rows),
        numeric,
        PAPER.citation,
    )


def rates(run: ParameterResults) -> Table | None:
    """Local work on all ranks at once."""
    rows = []
    for m in sorted(run.rates, key=lambda m: (m.workload.operation, m.case.ranks, m.size, m.case.line)):
        speed = rate(m)
        if speed is None:
            continue
        kind = str(m.case.get("type", ""))
        shape = " x ".join(str(m.case[name]) for name in ("n", "m", "k") if m.case.get(name))
        what = (m.workload.operation, kind, shape or size_of(m), str(m.case.ranks))
        per_second = quantity(speed.value / 1e6, "")
        rows.append((*what, quantity(m.summary.typical.value, "s"), per_second, range_in_millions(speed)))
    columns = ("work", "type", "size", "ranks", "time", "million operations a second", "95% interval")
    return Table("local-rates", "Local work", columns, tuple(rows), (2, 3, 4, 5, 6)) if rows else None


def range_in_millions(speed: Estimate) -> str:
    if speed.low is None or speed.high is None:
        return "unknown"
    return f"{speed.low / 1e6:.3g} to {speed.high / 1e6:.3g}"
