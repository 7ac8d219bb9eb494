# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sections on how far the numbers can be trusted: fitted parameters, spread, verification."""

from __future__ import annotations

from hockney.core.fit import Fit
from hockney.core.record import Record
from hockney.core.wording import plural
from hockney.draw.page import Section, Table
from hockney.pages.evidence import Evidence
from hockney.pages.format import interval, percent, quantity

MOST_ROWS = 15


def parameters(evidence: Evidence) -> Section | None:
    if not evidence.fits.fits:
        return None
    return Section(
        title="Fitted parameters",
        text=("Every parameter with its 95% interval. A model that does not describe the data is refused.",),
        tables=(parameter_table(chosen(evidence.fits.fits)),),
    )


def chosen(fits: list[Fit]) -> list[Fit]:
    """Without the forms of a collective's cost that another one describes better; by model and subject."""
    preferred = {f.line for f in fits if f.preferred}
    kept = [f for f in fits if f.line not in preferred or f.preferred]
    order = {"hockney": 0, "loggp": 1}
    return sorted(kept, key=lambda f: (order.get(f.model, 2), f.line))


def parameter_table(fits: list[Fit]) -> Table:
    rows: list[tuple[str, ...]] = []
    for fit in fits:
        verdict = fit.verdict + (f": {fit.why}" if fit.why and fit.verdict in ("poor", "refused") else "")
        if not fit.parameters:
            rows.append((fit.model, fit.line, "", "", "", "", verdict))
        for p in fit.parameters:
            value = quantity(p.estimate.value, p.unit)
            rows.append((fit.model, fit.line, p.name, p.symbol, value, interval(p.estimate, p.unit), verdict))
    columns = ("model", "of", "parameter", "symbol", "value", "95% interval", "verdict")
    return Table("parameters", "Fitted parameters", columns, tuple(rows), numeric=(4, 5))


def spread(evidence: Evidence) -> Section | None:
    """The cases that settled worst: widest achieved interval first."""
    records = evidence.run.by_case()
    ranked = sorted(evidence.fits.summaries, key=lambda s: -_widest(records.get(s.case, [])))
    if not ranked:
        return None
    rows = tuple(
        (
            s.case,
            quantity(s.typical.value, "s"),
            percent(_widest(records.get(s.case, [])))
            + ("" if _settled(records.get(s.case, [])) else " (not reached)"),
            percent(s.within),
            percent(s.between),
            str(s.repetitions),
            str(s.launches),
        )
        for s in ranked[:MOST_ROWS]
    )
    columns = ("case", "typical", "reached", "within a launch", "between launches", "repetitions", "launches")
    shown = (
        f"The {len(rows)} of {len(ranked)} cases with the widest intervals. "
        if len(rows) < len(ranked)
        else ""
    )
    return Section(
        title="Spread",
        text=(
            f"{shown}Reached is the half width of the 95% interval of a launch's median; within is the "
            "interquartile range over the median inside a launch; between is the standard deviation of the "
            "launches' medians over their mean.",
        ),
        tables=(Table("spread", "Slowest to settle", columns, rows, numeric=(1, 2, 3, 4, 5, 6)),),
    )


def _widest(records: list[Record]) -> float:
    return max((1.0 if r.stop.achieved is None else r.stop.achieved for r in records), default=0.0)


def _settled(records: list[Record]) -> bool:
    return all(r.stop.achieved is not None and r.stop.achieved <= r.stop.precision for r in records)


def verification(evidence: Evidence) -> Section | None:
    if not evidence.run.records:
        return None
    checked = sum(r.verified.bytes for r in evidence.run.records)
    bad = [r for r in evidence.run.records if r.verified.errors]
    text = (
        f"{quantity(checked, 'B')} of payload were compared outside the timed region in "
        f"{plural(len(evidence.run.records), 'measurement')}: "
        + (f"{sum(r.verified.errors for r in bad)} errors." if bad else "no error.")
    )
    rows = tuple((r.case, r.launch, str(r.verified.errors), r.verified.first) for r in bad[:MOST_ROWS])
    table = Table("verification", "Errors", ("case", "launch", "errors", "first"), rows, numeric=(2,))
    return Section("Verification", text=(text,), tables=(table,) if rows else ())
