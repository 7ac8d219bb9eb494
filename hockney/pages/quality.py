# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sections on the reliability of the numbers: fitted parameters, spread, verification."""

from __future__ import annotations

import math
from dataclasses import replace

from hockney.core.fit import Fit, Summary
from hockney.core.wording import plural
from hockney.draw.page import Section, Table
from hockney.pages import undisturbed
from hockney.pages.columns import COUNT_FORMAT, SECONDS_FORMAT, Column, columns_table
from hockney.pages.evidence import Evidence
from hockney.pages.format import (
    format_half_width,
    format_range_width,
    format_scatter,
    format_share,
    interval,
    precision,
    quantity,
)
from hockney.pages.labels import case_labels

MAX_ROWS = 15


def parameters_section(evidence: Evidence) -> Section | None:
    if not evidence.fits.fits:
        return None
    return Section(
        title="Fitted parameters",
        text=(
            "The table lists every fitted parameter with its 95% interval. A parameter describes all sizes "
            "of its fit together, so it differs from the measured time of a single case. A model that does "
            "not describe the data is refused.",
        ),
        tables=(without_repeated_values(parameter_table(select_fits(evidence.fits.fits)), (0, 1, 6)),),
        closed=True,
    )


def without_repeated_values(table: Table, columns: tuple[int, ...]) -> Table:
    """Return the table without values that repeat the previous row in all of these columns."""
    rows, previous_key = [], None
    for row in table.rows:
        key = tuple(row[k] for k in columns)
        rows.append(tuple("" if k in columns and key == previous_key else cell for k, cell in enumerate(row)))
        previous_key = key
    return replace(table, rows=tuple(rows), merged=columns)


def select_fits(fits: list[Fit]) -> list[Fit]:
    """Select fits, sorted by model and subject. Forms of a collective's cost are excluded if there is a
    better one."""
    preferred_lines = {fit.line for fit in fits if fit.preferred}
    selected = [fit for fit in fits if fit.line not in preferred_lines or fit.preferred]
    order = {"hockney": 0, "loggp": 1}
    return sorted(selected, key=lambda fit: (order.get(fit.model, 2), fit.line))


def parameter_table(fits: list[Fit]) -> Table:
    rows: list[tuple[str, ...]] = []
    for fit in fits:
        reason = (
            fit.why if fit.verdict in ("poor", "refused") else fit.two_modes.text if fit.two_modes else ""
        )
        verdict = fit.verdict + (f": {reason}" if reason else "")
        if not fit.parameters:
            rows.append((fit.model, fit.line, "", "", "", "", verdict))
        for parameter in fit.parameters:
            value = quantity(parameter.estimate.value, parameter.unit)
            rows.append(
                (
                    fit.model,
                    fit.line,
                    parameter.name,
                    parameter.symbol,
                    value,
                    interval(parameter.estimate, parameter.unit),
                    verdict,
                )
            )
    columns = ("model", "of", "parameter", "symbol", "value", "95% interval", "verdict")
    return Table("parameters", "Fitted parameters", columns, tuple(rows), numeric=(4, 5))


def noise_section(evidence: Evidence) -> Section | None:
    """Return the section on the spread, or None on a machine without noise."""
    return None if evidence.machine.traits.noiseless else spread_section(evidence)


def spread_section(evidence: Evidence) -> Section | None:
    """Return the section on the cases with the largest uncertainty: widest interval first."""
    summaries_by_width = sorted(evidence.fits.summaries, key=_relative_width, reverse=True)
    if not summaries_by_width:
        return None
    shown_summaries, label = summaries_by_width[:MAX_ROWS], case_labels(evidence)
    undisturbed_column = undisturbed.undisturbed_column(shown_summaries, lambda s: s)
    columns: tuple[Column[Summary], ...] = (
        Column("case", lambda s: label(s.case)),
        Column("typical", lambda s: s.typical, SECONDS_FORMAT),
        undisturbed_column,
        Column("precision", lambda s: _precision_text(s, evidence), COUNT_FORMAT),
        Column("within a launch", lambda s: format_range_width(s.spread_within), COUNT_FORMAT),
        Column("between launches", lambda s: format_scatter(s.between), COUNT_FORMAT),
        Column("repetitions", lambda s: s.repetitions, COUNT_FORMAT),
        Column("visits", lambda s: s.visits, COUNT_FORMAT),
        Column("launches", _launches_text, COUNT_FORMAT),
    )
    caption = undisturbed.CAPTION if undisturbed_column.heading else ""
    goal = evidence.settings.precision
    goal_text = (
        f"{sum(not is_imprecise(s, evidence) for s in summaries_by_width)} of "
        f"{plural(len(summaries_by_width), 'case')}"
    )
    selection_text = (
        f"The {len(shown_summaries)} of {len(summaries_by_width)} cases with the widest intervals. "
        if len(shown_summaries) < len(summaries_by_width)
        else ""
    )
    return Section(
        title="Spread",
        text=(
            f"{selection_text}{goal_text} reached the goal, a precision of {format_share(goal)}. "
            "Precision is the half width of the 95% interval of the typical time, relative to "
            "that time; 'within a launch' is the interquartile range relative to the median; 'between "
            "launches' is a robust standard deviation of the launches' times, relative to the typical time.",
        ),
        tables=(columns_table("spread", "Least precise", columns, shown_summaries, caption),),
        closed=True,
    )


def _precision_text(summary: Summary, evidence: Evidence) -> str:
    note = " (not reached)" if is_imprecise(summary, evidence) else ""
    return format_half_width(precision(summary.typical)) + note


def _launches_text(summary: Summary) -> str:
    inferred = f" + {summary.inferred_launches} inferred" if summary.inferred_launches else ""
    return f"{summary.launches}{inferred}"


def _relative_width(summary: Summary) -> float:
    width = precision(summary.typical)
    return math.inf if width is None else width


def is_imprecise(summary: Summary, evidence: Evidence) -> bool:
    """Check whether the interval of the typical time is wider than requested, or unknown."""
    return not evidence.machine.traits.noiseless and _relative_width(summary) > evidence.settings.precision


def verification_section(evidence: Evidence) -> Section | None:
    if not evidence.run.records:
        return None
    verifications = [record.verified for record in evidence.run.records]
    checked, runs = (
        sum(verification.bytes for verification in verifications),
        sum(verification.of_runs for verification in verifications),
    )
    corrupted_records = evidence.run.corrupted_records
    share = (
        f" ({format_share(sum(verification.runs for verification in verifications) / runs)} of the "
        "operations)"
        if runs
        else ""
    )
    seconds, launch_seconds = (
        sum(verification.seconds for verification in verifications),
        sum(close.seconds for close in evidence.run.closes),
    )
    time_text = (
        f", in {format_share(seconds / launch_seconds)} of the time" if seconds and launch_seconds else ""
    )
    text = (
        f"{quantity(checked, 'B')} of payload were compared outside the timed region in "
        f"{plural(len(evidence.run.records), 'measurement')}{share}{time_text}: "
        + (
            f"{sum(record.verified.errors for record in corrupted_records)} errors."
            if corrupted_records
            else "no errors."
        )
    )
    rows = tuple(
        (record.case, record.launch, str(record.verified.errors), record.verified.first)
        for record in corrupted_records[:MAX_ROWS]
    )
    table = Table("verification", "Errors", ("case", "launch", "errors", "first"), rows, numeric=(2,))
    return Section("Verification", text=(text,), tables=(table,) if rows else (), closed=not rows)
