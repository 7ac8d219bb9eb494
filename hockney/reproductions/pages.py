# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The common parts of the pages of all reproductions: the first screen with simulated against published times
and the largest deviations by name, the tables, and the environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hockney.core.platform import Platform
from hockney.core.units import format_value
from hockney.core.wording import plural
from hockney.draw.amount import Amount
from hockney.draw.figure import Axis, Figure, Kind, Series
from hockney.draw.page import Page, Section, Table
from hockney.reproductions.compared import (
    CLOSE_ERRORS,
    NOT_SIMULATED_TEXT,
    Check,
    ComparedNumber,
    Status,
    tally_by_status,
)
from hockney.reproductions.parts import Answer

MAX_CLOSE_ERROR = CLOSE_ERRORS[-1]
"""A time with a larger relative error counts as a deviation."""
MAX_NAMES = 8


def time_rows(compared: Iterable[ComparedNumber]) -> list[ComparedNumber]:
    """Return rows with a time on the machine itself, without variants and trials."""
    without_trials = [
        row for row in compared if row.status != "variant" and row.series not in ("tried", "algorithms")
    ]
    return [row for row in without_trials if row.unit == "s" and row.published > 0]


def simulated_rows(rows: Iterable[ComparedNumber]) -> list[ComparedNumber]:
    return [row for row in rows if row.error is not None]


def close_rows(rows: Iterable[ComparedNumber]) -> list[ComparedNumber]:
    return [row for row in simulated_rows(rows) if abs(row.error or 0.0) <= MAX_CLOSE_ERROR]


def distant_rows(rows: Iterable[ComparedNumber], limit: float = MAX_CLOSE_ERROR) -> list[ComparedNumber]:
    return [row for row in simulated_rows(rows) if abs(row.error or 0.0) > limit]


def largest_error(rows: Iterable[ComparedNumber]) -> float | None:
    """Return the largest relative error, or None if nothing was simulated."""
    return max((abs(row.error or 0.0) for row in simulated_rows(rows)), default=None)


def agreement_text(rows: Sequence[ComparedNumber], noun: str) -> str:
    """Return text such as "56 of the 72 printed times within 25%", followed by the number of rows that could
    not be simulated."""
    missing_count = len(rows) - len(simulated_rows(rows))
    missing_text = f"; {missing_count} could not be simulated" if missing_count else ""
    return f"{len(close_rows(rows))} of the {len(rows)} {noun} within {MAX_CLOSE_ERROR:.0%}{missing_text}"


def deviations_sentence(rows: Sequence[ComparedNumber]) -> str:
    """Return a sentence on the rows with a larger error, grouped by the common part of their descriptions:
    "MPI_Gather, 8 B (4)"."""
    groups: dict[str, int] = {}
    for row in distant_rows(rows):
        name = row.what.rpartition(", ")[0] or row.what
        groups[name] = groups.get(name, 0) + 1
    if not groups:
        return f"No time is off by more than {MAX_CLOSE_ERROR:.0%}."
    names = [f"{name} ({count})" for name, count in groups.items()]
    omitted_text = f"; and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"Off by more than {MAX_CLOSE_ERROR:.0%}: {'; '.join(names[:MAX_NAMES])}{omitted_text}."


def overview_figure(paper: str, compared: Sequence[ComparedNumber]) -> Figure | None:
    """Return a figure with a point for each time, or None if nothing was simulated."""
    rows = [row for row in simulated_rows(time_rows(compared)) if (row.simulated or 0.0) > 0]
    if not rows:
        return None
    distant = [row for row in rows if row in distant_rows(rows)]
    close = [row for row in rows if row not in distant]
    values = [value for row in rows for value in (row.published, row.simulated or row.published)]
    min_value, max_value = min(values), max(values)
    series = (
        _points_series("predicted", [row for row in close if row.status == "predicted"]),
        _points_series("fitted", [row for row in close if row.status == "fitted"], True),
        _points_series(f"off by more than {MAX_CLOSE_ERROR:.0%}", distant),
        Series(
            f"equal, band: within {MAX_CLOSE_ERROR:.0%}",
            (min_value, max_value),
            (min_value, max_value),
            tuple((1 - MAX_CLOSE_ERROR) * end for end in (min_value, max_value)),
            tuple((1 + MAX_CLOSE_ERROR) * end for end in (min_value, max_value)),
            kind="line",
        ),
    )
    return Figure(
        f"{paper}-overview",
        f"{plural(len(rows), 'simulated time')} against the published",
        Axis("published", "s"),
        Axis("simulated", "s"),
        tuple(line for line in series if line.x),
        deviations_sentence(rows),
    )


def _points_series(name: str, rows: Sequence[ComparedNumber], hollow: bool = False) -> Series:
    return Series(
        name,
        tuple(row.published for row in rows),
        tuple(row.simulated or 0.0 for row in rows),
        detail=tuple(row.what for row in rows),
        hollow=hollow,
    )


SHARE_HEADING = "emulated / published"
COLUMNS = (
    "printed number",
    "published",
    "simulated",
    "emulated",
    SHARE_HEADING,
    "model",
    "error",
    "status",
    "why",
)
NUMERIC = ("published", "simulated", "emulated", SHARE_HEADING, "model", "error")
EMULATED_METHOD = (
    "Emulated numbers are measured: the engine's ranks on hosts that are network namespaces of this computer "
    "exchange real TCP messages over an emulated Ethernet of the given rate. These hosts have the software "
    "and the processors of today, so short messages cost far less than on the paper's machine, and computing "
    "is a wait of the given time. What can be compared is how times depend on the length of messages and on "
    "the number of processes.",
)
SIMULATED_METHOD = (
    "The engine runs unchanged on SimGrid's SMPI: every rank executes the program, and messages take "
    "the time given by the machine's description. Simulated time has no noise.",
    "The published numbers are the paper's printed ones. The error is the simulated number relative to "
    "the published one. The model is the paper's own formula, if it has one.",
    "A row is fitted if the machine's description uses it; only the others are predictions. A variant "
    "ran on the machine with the named mechanism added.",
)


def reproduction_page(
    reproduction: tuple[str, str, str],
    answers: Mapping[str, Answer],
    compared: Sequence[ComparedNumber],
    checks: Sequence[Check],
    summary: Sequence[str],
    sections: Sequence[Section],
    lead: Figure | None = None,
) -> Page:
    """Build the page. `reproduction` contains its name, its title and the citation of the paper; `summary` is
    a paragraph on the method and the results. `sections` contain the paper's figures; the first section is
    open. The comparison follows, table by table. `lead` is the figure on the first screen, by default the
    figure of all times."""
    name, title, source = reproduction
    machines = {answer.part.machine: answer.platform for answer in answers.values()}
    simulated_machines = dict.fromkeys(machine.split("+")[0] for machine in machines)
    emulated = dict.fromkeys(answer.part.on for answer in answers.values() if answer.part.on)
    origin_text = f"simulated on {', '.join(simulated_machines)}" + (
        f", emulated on {', '.join(emulated)}" if emulated else ""
    )
    rows = (
        comparison_table(name, [row for row in compared if row.table == name])
        for name in table_names(compared)
    )
    return Page(
        title=title,
        subtitle=f"{source}; {origin_text}",
        headline=tuple(summary),
        warnings=(),
        sections=(
            _agreement_section(compared, checks),
            *sections[:1],
            *(replace(section, closed=True) for section in sections[1:]),
            Section("Every printed number", tables=tuple(rows), closed=True),
            Section(
                "Sources of the machines' numbers",
                tables=tuple(map(origin_table, machines.values())),
                closed=True,
            ),
        ),
        environment=_environment_facts(answers),
        method=(*SIMULATED_METHOD, *EMULATED_METHOD) if emulated else SIMULATED_METHOD,
        lead=lead or overview_figure(name, compared),
    )


def _agreement_section(compared: Sequence[ComparedNumber], checks: Sequence[Check]) -> Section:
    """Return the section on the paper's statements and on how closely its numbers agree."""
    return Section("Agreement", tables=(check_table(checks), *([tally_table(compared)] if compared else ())))


def check_text(check: Check) -> str:
    where = f", {check.where}" if check.where else ""
    return f"Check {_result_text(check)}{where}: {check.what} ({check.found}). [{check.code}]"


def _result_text(check: Check) -> str:
    result = "passed" if check.holds else "failed"
    return f"{result}, fitted" if check.fitted else result


def check_table(checks: Sequence[Check]) -> Table:
    rows = tuple((check.what, check.where, _result_text(check), check.found, check.code) for check in checks)
    caption = "Fitted: only on numbers that the machine's description uses, so that it holds by construction."
    return Table(
        "checks",
        "Checks",
        ("statement", "in the paper", "result", "found", "code"),
        rows,
        caption=caption if any(check.fitted for check in checks) else "",
    )


STATUS_PHRASES: Mapping[Status, str] = {
    "predicted": "predicted",
    "fitted": "used by the machine's description",
    "variant": "on a variant of the machine",
}


def tally_table(compared: Iterable[ComparedNumber]) -> Table:
    """Return a table of how many printed numbers were reproduced, and how closely, by status."""
    tallies = tally_by_status(compared)
    rows = [
        (
            STATUS_PHRASES[tally.status],
            str(tally.rows),
            *map(str, tally.within),
            str(tally.missing) if tally.missing else "",
        )
        for tally in tallies
    ]
    columns = [
        "printed numbers",
        "count",
        *(f"within {limit:.0%}" for limit in CLOSE_ERRORS),
        NOT_SIMULATED_TEXT,
    ]
    if not any(tally.missing for tally in tallies):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table(
        "agreement",
        "How closely the printed numbers are reproduced",
        tuple(columns),
        tuple(rows),
        numeric=tuple(range(1, len(columns))),
        caption=f"Numbers within {CLOSE_ERRORS[0]:.0%} are also within {CLOSE_ERRORS[1]:.0%} and "
        f"{CLOSE_ERRORS[2]:.0%}.",
    )


def comparison_table(name: str, rows: Iterable[ComparedNumber]) -> Table:
    """Return the table of these rows, without empty columns and without mechanisms that the table's name
    already states."""
    cells = [
        (
            row.what,
            format_number(row.published, row.unit),
            format_number(row.simulated, row.unit),
            format_number(row.emulated, row.unit),
            "" if row.emulated_share is None else f"{row.emulated_share:.1%}",
            format_number(row.model, row.unit),
            "" if row.error is None else format_error(row.error),
            row.status,
            "; ".join(filter(None, ("" if row.mechanism in name else row.mechanism, row.note))),
        )
        for row in rows
    ]
    columns_used = [k for k in range(len(COLUMNS)) if any(row[k] for row in cells)]
    columns = tuple(COLUMNS[k] for k in columns_used)
    numeric = tuple(k for k, column in enumerate(columns) if column in NUMERIC)
    return Table(
        name or "compared",
        name,
        columns,
        tuple(tuple(row[k] for k in columns_used) for row in cells),
        numeric=numeric,
    )


def format_error(error: float) -> str:
    """Format an error as "+1.2%", without a sign for "0.0%"."""
    text = f"{error:+.1%}"
    return text[1:] if not text.strip("+-0.%") else text


def format_number(value: float | None, unit: str) -> str:
    """Format a number. Long times are in seconds, as in papers, not in minutes."""
    if value is None:
        return ""
    text = f"{value:.1f} s" if unit == "s" and value >= 60 else format_value(value, unit, digits=4)
    return Amount(text, (value,), unit, digits=4)


def origin_table(platform: Platform) -> Table:
    rows = tuple(
        (origin.key, origin.status, origin.source, ", ".join(origin.rows)) for origin in platform.origins
    )
    columns = ("number", "status", "where from", "rows used")
    caption = " ".join(platform.notes)
    return Table(platform.name, f"{platform.name}: {platform.title}", columns, rows, caption=caption)


def make_series(
    name: str,
    points: Iterable[tuple[float, float | None]],
    kind: str = "points",
    group: str = "",
    hollow: bool = False,
) -> Series:
    """Return a series for a figure from pairs of x and y, without pairs that were not measured."""
    measured_points = [(x, y) for x, y in points if y is not None]
    xs, ys = zip(*measured_points, strict=True) if measured_points else ((), ())
    series_kind: Kind = "line" if kind == "line" else "points"
    return Series(
        name, tuple(map(float, xs)), tuple(ys), kind=series_kind, group=group or name, hollow=hollow
    )


def table_names(compared: Iterable[ComparedNumber]) -> tuple[str, ...]:
    """Return the tables' names, in order, without those of the series "algorithms", which is summarized
    elsewhere."""
    return tuple(dict.fromkeys(row.table for row in compared if row.series != "algorithms"))


def _environment_facts(answers: Mapping[str, Answer]) -> tuple[tuple[str, str], ...]:
    launches = [launch for answer in answers.values() for launch in answer.run.launches]
    facts = {"machines": sorted({answer.part.on or answer.part.machine for answer in answers.values()})}
    facts["MPI"] = sorted({launch.library for launch in launches})
    facts["engine"] = sorted({launch.engine for launch in launches})
    facts["compiler"] = sorted({launch.compiler for launch in launches})
    return tuple((name, ", ".join(values)) for name, values in facts.items() if values)
