# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sections on how far the numbers can be trusted: fitted parameters, spread, verification."""

from __future__ import annotations

import math
from dataclasses import replace

from hockney.core.fit import Fit, Summary
from hockney.core.wording import plural
from hockney.draw.page import Section, Table
from hockney.pages import undisturbed
from hockney.pages.columns import COUNT, SECONDS, Column, columns_table
from hockney.pages.evidence import Evidence
from hockney.pages.format import half_width, interval, percent, precision, quantity, range_width, scatter
from hockney.pages.labels import labels

MAX_ROWS = 15


def parameters(evidence: Evidence) -> Section | None:
    if not evidence.fits.fits:
        return None
    return Section(
        title="Fitted parameters",
        text=(
            "The table lists every fitted parameter with its 95% interval. A parameter describes all sizes "
            "of its fit together, so it differs from the measured time of a single case. A model that does "
            "not describe the data is refused.",
        ),
        tables=(once(parameter_table(chosen(evidence.fits.fits)), (0, 1, 6)),),
        closed=True,
    )


def once(table: Table, columns: tuple[int, ...]) -> Table:
    """The table without values that the row above repeats in all of these columns."""
    rows, last = [], None
    for row in table.rows:
        key = tuple(row[k] for k in columns)
        rows.append(tuple("" if k in columns and key == last else cell for k, cell in enumerate(row)))
        last = key
    return replace(table, rows=tuple(rows), merged=columns)


def chosen(fits: list[Fit]) -> list[Fit]:
    """The fits by model and subject, without the forms of a collective's cost for which there is a better
    one."""
    preferred = {f.line for f in fits if f.preferred}
    kept = [f for f in fits if f.line not in preferred or f.preferred]
    order = {"hockney": 0, "loggp": 1}
    return sorted(kept, key=lambda f: (order.get(f.model, 2), f.line))


def parameter_table(fits: list[Fit]) -> Table:
    rows: list[tuple[str, ...]] = []
    for fit in fits:
        why = fit.why if fit.verdict in ("poor", "refused") else fit.two_modes.text if fit.two_modes else ""
        verdict = fit.verdict + (f": {why}" if why else "")
        if not fit.parameters:
            rows.append((fit.model, fit.line, "", "", "", "", verdict))
        for p in fit.parameters:
            value = quantity(p.estimate.value, p.unit)
            rows.append((fit.model, fit.line, p.name, p.symbol, value, interval(p.estimate, p.unit), verdict))
    columns = ("model", "of", "parameter", "symbol", "value", "95% interval", "verdict")
    return Table("parameters", "Fitted parameters", columns, tuple(rows), numeric=(4, 5))


def spread_of_noise(evidence: Evidence) -> Section | None:
    """The section on the spread; None on a machine on which nothing varies."""
    return None if evidence.machine.traits.noiseless else spread(evidence)


def spread(evidence: Evidence) -> Section | None:
    """The cases with the largest uncertainty: widest interval first."""
    ranked = sorted(evidence.fits.summaries, key=_width, reverse=True)
    if not ranked:
        return None
    summaries, named = ranked[:MAX_ROWS], labels(evidence)
    extra = undisturbed.column(summaries, lambda s: s)
    columns: tuple[Column[Summary], ...] = (
        Column("case", lambda s: named(s.case)),
        Column("typical", lambda s: s.typical, SECONDS),
        extra,
        Column("precision", lambda s: _precision_text(s, evidence), COUNT),
        Column("within a launch", lambda s: range_width(s.spread_within), COUNT),
        Column("between launches", lambda s: scatter(s.between), COUNT),
        Column("repetitions", lambda s: s.repetitions, COUNT),
        Column("visits", lambda s: s.visits, COUNT),
        Column("launches", _launches_text, COUNT),
    )
    caption = undisturbed.CAPTION if extra.heading else ""
    goal = evidence.settings.precision
    met = f"{sum(not imprecise(s, evidence) for s in ranked)} of {plural(len(ranked), 'case')}"
    which = (
        f"The {len(summaries)} of {len(ranked)} cases with the widest intervals. "
        if len(summaries) < len(ranked)
        else ""
    )
    return Section(
        title="Spread",
        text=(
            f"{which}{met} reached the goal, a precision of {percent(goal)}. "
            "Precision is the half width of the 95% interval of the typical time, relative to "
            "that time; 'within a launch' is the interquartile range relative to the median; 'between "
            "launches' is a robust standard deviation of the launches' times, relative to the typical time.",
        ),
        tables=(columns_table("spread", "Least precise", columns, summaries, caption),),
        closed=True,
    )


def _precision_text(summary: Summary, evidence: Evidence) -> str:
    missed = " (not reached)" if imprecise(summary, evidence) else ""
    return half_width(precision(summary.typical)) + missed


def _launches_text(summary: Summary) -> str:
    inferred = f" + {summary.inferred_launches} inferred" if summary.inferred_launches else ""
    return f"{summary.launches}{inferred}"


def _width(summary: Summary) -> float:
    width = precision(summary.typical)
    return math.inf if width is None else width


def imprecise(summary: Summary, evidence: Evidence) -> bool:
    """Whether the interval of the typical time is wider than requested, or unknown."""
    return not evidence.machine.traits.noiseless and _width(summary) > evidence.settings.precision


def verification(evidence: Evidence) -> Section | None:
    if not evidence.run.records:
        return None
    verified = [r.verified for r in evidence.run.records]
    checked, runs = sum(v.bytes for v in verified), sum(v.of_runs for v in verified)
    bad = evidence.run.corrupted_records
    share = f" ({percent(sum(v.runs for v in verified) / runs)} of the operations)" if runs else ""
    seconds, launched = sum(v.seconds for v in verified), sum(c.seconds for c in evidence.run.closes)
    took = f", in {percent(seconds / launched)} of the time" if seconds and launched else ""
    text = (
        f"{quantity(checked, 'B')} of payload were compared outside the timed region in "
        f"{plural(len(evidence.run.records), 'measurement')}{share}{took}: "
        + (f"{sum(r.verified.errors for r in bad)} errors." if bad else "no errors.")
    )
    rows = tuple((r.case, r.launch, str(r.verified.errors), r.verified.first) for r in bad[:MAX_ROWS])
    table = Table("verification", "Errors", ("case", "launch", "errors", "first"), rows, numeric=(2,))
    return Section("Verification", text=(text,), tables=(table,) if rows else (), closed=not rows)
