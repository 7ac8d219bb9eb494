# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A prediction's tables. Intervals are in brackets, in the unit of the value before them. They contain how
well the costs of messages are known, and nothing of what is `LEFT_OUT`."""

from __future__ import annotations

from hockney.core.fit import Estimate
from hockney.core.units import format_percent
from hockney.draw.amount import Amount
from hockney.draw.page import Table
from hockney.models.applications.grain_prediction import WANTED, Needed, Prediction
from hockney.pages.grain_prediction.words import digits, ratio, share, time

NEVER = "never"
LEFT_OUT = ("waiting", "variation")
"""Waiting for ranks that are late; the variation of computation and messages."""


def ranks(prediction: Prediction) -> Table:
    layouts = [prediction.layout(each.ranks) for each in prediction.rows]
    rows = tuple(
        (
            str(each.ranks),
            *([layout.text] if layout is not None else []),
            _timed(each.time),
            ratio(each.speed_up),
            share(each.efficiency),
            share(each.communication),
        )
        for each, layout in zip(prediction.rows, layouts, strict=True)
    )
    spread = ("nodes x ranks",) if any(layouts) else ()
    columns = ("ranks", *spread, "time, model only", "speed-up", "efficiency", "communication")
    return Table("ranks", "By ranks", columns, rows, numeric=(0, 1 + len(spread)))


def needed(prediction: Prediction) -> Table:
    """The work from which this many ranks break even and reach an efficiency, and the efficiency that none
    exceeds."""
    rows = []
    for even in prediction.break_even:
        rest = [each for each in prediction.needed if each.ranks == even.ranks]
        cells = [_work(each) for each in (even, *rest)]
        rows.append((str(even.ranks), *cells, f"{digits(100 * even.ceiling)}%"))
    columns = ("ranks", "break-even work", *(f"work for {format_percent(w)}" for w in WANTED), "at most")
    return Table("needed", "Work needed", columns, tuple(rows), numeric=tuple(range(len(columns))))


def _work(needed: Needed) -> str:
    if needed.work is None:
        return NEVER
    return "any" if needed.work.value == 0 else _timed(needed.work)


def _timed(estimate: Estimate) -> Amount:
    if estimate.low is None or estimate.high is None:
        return Amount(time(estimate), (estimate.value,), "s")
    return Amount(time(estimate), (estimate.value, estimate.low, estimate.high), "s", "{} [{}, {}]")


def levers(prediction: Prediction) -> Table:
    rows = tuple(
        (
            each.lever.name,
            each.lever.words,
            share(each.efficiency),
            f"+{digits(100 * each.lever.gain)}".replace("+<", "<"),
        )
        for each in prediction.changes
    )
    columns = ("improvement", "how", "new efficiency", "points")
    return Table("levers", f"On {prediction.changed} ranks", columns, rows, numeric=(3,))
