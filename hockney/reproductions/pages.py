# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the pages of all reproductions have in common: the first screen with published against simulated times
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
from hockney.reproductions.compared import CLOSE, NOT_SIMULATED, Check, ComparedNumber, Status, tallies
from hockney.reproductions.parts import Answer

NEAR = CLOSE[-1]
"""A time with a larger error counts as a deviation."""
MOST_NAMES = 8


def time_rows(compared: Iterable[ComparedNumber]) -> list[ComparedNumber]:
    """Rows with a time on the machine itself, not on one of its variants or in a trial."""
    without_trials = [
        row for row in compared if row.status != "variant" and row.series not in ("tried", "algorithms")
    ]
    return [row for row in without_trials if row.unit == "s" and row.published > 0]


def simulated_rows(rows: Iterable[ComparedNumber]) -> list[ComparedNumber]:
    return [row for row in rows if row.error is not None]


def rows_within(rows: Iterable[ComparedNumber]) -> list[ComparedNumber]:
    return [row for row in simulated_rows(rows) if abs(row.error or 0.0) <= NEAR]


def rows_beyond(rows: Iterable[ComparedNumber], beyond: float = NEAR) -> list[ComparedNumber]:
    return [row for row in simulated_rows(rows) if abs(row.error or 0.0) > beyond]


def largest_error(rows: Iterable[ComparedNumber]) -> float | None:
    """The largest relative error; None if nothing was measured."""
    return max((abs(row.error or 0.0) for row in simulated_rows(rows)), default=None)


def agreement(rows: Sequence[ComparedNumber], what: str) -> str:
    """ "56 of the 72 printed times within 25%", followed by the number that could not be simulated."""
    missing = len(rows) - len(simulated_rows(rows))
    unsimulated = f"; {missing} could not be simulated" if missing else ""
    return f"{len(rows_within(rows))} of the {len(rows)} {what} within {NEAR:.0%}{unsimulated}"


def deviations(rows: Sequence[ComparedNumber]) -> str:
    """Rows with a larger error, by the words that several rows share: "MPI_Gather, 8 B (4)"."""
    groups: dict[str, int] = {}
    for row in rows_beyond(rows):
        name = row.what.rpartition(", ")[0] or row.what
        groups[name] = groups.get(name, 0) + 1
    if not groups:
        return f"No time is off by more than {NEAR:.0%}."
    names = [f"{name} ({count})" for name, count in groups.items()]
    more = f"; and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"Off by more than {NEAR:.0%}: {'; '.join(names[:MOST_NAMES])}{more}."


def overview_figure(paper: str, compared: Sequence[ComparedNumber]) -> Figure | None:
    """A point for each time; None if nothing was simulated."""
    rows = [row for row in simulated_rows(time_rows(compared)) if (row.simulated or 0.0) > 0]
    if not rows:
        return None
    off = [row for row in rows if row in rows_beyond(rows)]
    near = [row for row in rows if row not in off]
    ends = [value for row in rows for value in (row.published, row.simulated or row.published)]
    low, high = min(ends), max(ends)
    series = (
        _points("predicted", [row for row in near if row.status == "predicted"]),
        _points("fitted", [row for row in near if row.status == "fitted"], True),
        _points(f"off by more than {NEAR:.0%}", off),
        Series(
            f"equal, band: within {NEAR:.0%}",
            (low, high),
            (low, high),
            tuple((1 - NEAR) * end for end in (low, high)),
            tuple((1 + NEAR) * end for end in (low, high)),
            kind="line",
        ),
    )
    return Figure(
        f"{paper}-overview",
        f"{plural(len(rows), 'simulated time')} against the published",
        Axis("published", "s"),
        Axis("simulated", "s"),
        tuple(s for s in series if s.x),
        deviations(rows),
    )


def _points(name: str, rows: Sequence[ComparedNumber], hollow: bool = False) -> Series:
    return Series(
        name,
        tuple(row.published for row in rows),
        tuple(row.simulated or 0.0 for row in rows),
        detail=tuple(row.what for row in rows),
        hollow=hollow,
    )


SHARE = "emulated / published"
COLUMNS = ("printed number", "published", "simulated", "emulated", SHARE, "model", "error", "status", "why")
NUMERIC = ("published", "simulated", "emulated", SHARE, "model", "error")
EMULATED = (
    "Emulated numbers are measured: the engine's ranks on hosts that are network namespaces of this computer "
    "exchange real TCP messages over an emulated Ethernet of the given rate. These hosts have the software "
    "and the processors of today, so short messages cost far less than on the paper's machine, and computing "
    "is a wait of the given time. What can be compared is how times depend on the length of messages and on "
    "the number of processes.",
)
METHOD = (
    "The engine runs unchanged on SimGrid's SMPI: every rank executes the program, and messages take "
    "the time given by the machine's description. Simulated time has no noise.",
    "The published numbers are the paper's printed ones. The error is the simulated number relative to "
    "the published one. The model is the paper's own formula, if it has one.",
    "A row is fitted if the machine's description uses it; only the others are predictions. A variant "
    "ran on the machine with the named mechanism added.",
)


def page(
    reproduction: tuple[str, str, str],
    answers: Mapping[str, Answer],
    compared: Sequence[ComparedNumber],
    checks: Sequence[Check],
    summary: Sequence[str],
    sections: Sequence[Section],
    lead: Figure | None = None,
) -> Page:
    """`reproduction` is its name, its title and the citation of the paper; `summary` is a paragraph on the
    method and the results. `sections` have the paper's figures, of which the first is open. The comparison
    follows, table by table. `lead` is the figure on the first screen, by default that of all times."""
    name, title, source = reproduction
    machines = {each.part.machine: each.platform for each in answers.values()}
    base = dict.fromkeys(machine.split("+")[0] for machine in machines)
    emulated = dict.fromkeys(each.part.on for each in answers.values() if each.part.on)
    places = f"simulated on {', '.join(base)}" + (f", emulated on {', '.join(emulated)}" if emulated else "")
    rows = (
        comparison_table(name, [row for row in compared if row.table == name])
        for name in table_names(compared)
    )
    return Page(
        title=title,
        subtitle=f"{source}; {places}",
        headline=tuple(summary),
        warnings=(),
        sections=(
            _agreement(compared, checks),
            *sections[:1],
            *(replace(section, closed=True) for section in sections[1:]),
            Section("Every printed number", tables=tuple(rows), closed=True),
            Section(
                "Sources of the machines' numbers",
                tables=tuple(map(origin_table, machines.values())),
                closed=True,
            ),
        ),
        environment=_environment(answers),
        method=(*METHOD, *EMULATED) if emulated else METHOD,
        lead=lead or overview_figure(name, compared),
    )


def _agreement(compared: Sequence[ComparedNumber], checks: Sequence[Check]) -> Section:
    """The section on the paper's statements and on how closely its numbers are met."""
    return Section("Agreement", tables=(check_table(checks), *([tally_table(compared)] if compared else ())))


def check_text(check: Check) -> str:
    where = f", {check.where}" if check.where else ""
    return f"Check {_result(check)}{where}: {check.what} ({check.found}). [{check.code}]"


def _result(check: Check) -> str:
    result = "passed" if check.holds else "failed"
    return f"{result}, fitted" if check.fitted else result


def check_table(checks: Sequence[Check]) -> Table:
    rows = tuple((check.what, check.where, _result(check), check.found, check.code) for check in checks)
    caption = "Fitted: only on numbers that the machine's description uses, so that it holds by construction."
    return Table(
        "checks",
        "Checks",
        ("statement", "in the paper", "result", "found", "code"),
        rows,
        caption=caption if any(check.fitted for check in checks) else "",
    )


KINDS: Mapping[Status, str] = {
    "predicted": "predicted",
    "fitted": "used by the machine's description",
    "variant": "on a variant of the machine",
}


def tally_table(compared: Iterable[ComparedNumber]) -> Table:
    """How many of the printed numbers were reproduced, and how closely, by status."""
    counts = tallies(compared)
    rows = [
        (
            KINDS[each.status],
            str(each.rows),
            *map(str, each.within),
            str(each.missing) if each.missing else "",
        )
        for each in counts
    ]
    columns = ["printed numbers", "count", *(f"within {close:.0%}" for close in CLOSE), NOT_SIMULATED]
    if not any(each.missing for each in counts):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table(
        "agreement",
        "How closely the printed numbers are reproduced",
        tuple(columns),
        tuple(rows),
        numeric=tuple(range(1, len(columns))),
        caption=f"Numbers within {CLOSE[0]:.0%} are also within {CLOSE[1]:.0%} and {CLOSE[2]:.0%}.",
    )


def comparison_table(name: str, rows: Iterable[ComparedNumber]) -> Table:
    """The table of these rows, without empty columns and without what the table's name already states."""
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
    """ "+1.2%", and "0.0%" without a redundant sign."""
    text = f"{error:+.1%}"
    return text[1:] if not text.strip("+-0.%") else text


def format_number(value: float | None, unit: str) -> str:
    """Longer times in seconds, as papers print them, not in minutes."""
    if value is None:
        return ""
    text = f"{value:.1f} s" if unit == "s" and value >= 60 else format_value(value, unit, digits=4)
    return Amount(text, (value,), unit, digits=4)


def origin_table(platform: Platform) -> Table:
    rows = tuple((o.key, o.status, o.source, ", ".join(o.rows)) for o in platform.origins)
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
    """A series for a figure from pairs of x and y, without those that were not measured."""
    measured = [(x, y) for x, y in points if y is not None]
    xs, ys = zip(*measured, strict=True) if measured else ((), ())
    drawn: Kind = "line" if kind == "line" else "points"
    return Series(name, tuple(map(float, xs)), tuple(ys), kind=drawn, group=group or name, hollow=hollow)


def table_names(compared: Iterable[ComparedNumber]) -> tuple[str, ...]:
    """The tables' names, in order, without those of the series "algorithms", which are summed up
    elsewhere."""
    return tuple(dict.fromkeys(row.table for row in compared if row.series != "algorithms"))


def _environment(answers: Mapping[str, Answer]) -> tuple[tuple[str, str], ...]:
    launches = [launch for each in answers.values() for launch in each.run.launches]
    facts = {"machines": sorted({each.part.on or each.part.machine for each in answers.values()})}
    facts["MPI"] = sorted({launch.library for launch in launches})
    facts["engine"] = sorted({launch.engine for launch in launches})
    facts["compiler"] = sorted({launch.compiler for launch in launches})
    return tuple((name, ", ".join(values)) for name, values in facts.items() if values)
