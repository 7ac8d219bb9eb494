# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What an archive of runs shows: how times changed, and whether a run is as usual, in sentences and
tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.case import parse_canonical
from hockney.core.units import date_text, format_percent, format_seconds
from hockney.core.wording import list_names, plural
from hockney.draw.page import Caveat, Table
from hockney.judgements.comparison import THREE_DECIMALS, ratio_ends
from hockney.judgements.judgement import CaseResult, JudgedCase, JudgedOperation, Judgement, Suite
from hockney.models.history import (
    FEWEST_RUNS,
    CheckedOperation,
    CheckedSeries,
    CheckState,
    FactChange,
    LevelChange,
    RunPoint,
    TimeSeries,
    Trend,
)
from hockney.models.significance import UNDECIDED_VERDICTS
from hockney.models.statistics import winsorise_if_enough
from hockney.pages.columns import COUNT_FORMAT, INTERVAL_HEADING, Column, Format, columns_table
from hockney.pages.format import ratio_interval_suffix


@dataclass(frozen=True)
class CheckedRun(Judgement[CheckedSeries]):
    """The run `name` of a `machine`, measured at `at_s` (s since 1970), against `earlier` runs before it.
    `failed` are its cases without a result, with the reason; `changes` what differs from the environment of
    the run before it; `wrong` in how many of its records data arrived corrupted. `missing` are cases that it
    should have measured (`hockney.judgements.sides`), and `lost_operations` the operations that the last run
    of its study measured and it did not."""

    name: str
    label: str
    machine: str
    at_s: float
    earlier: int
    tolerance: float
    operations: tuple[CheckedOperation, ...]
    failed: tuple[tuple[str, str], ...]
    changes: tuple[FactChange, ...]
    caveats: tuple[Caveat, ...] = ()
    wrong: int = 0
    missing: tuple[str, ...] = ()
    lost_operations: tuple[str, ...] = ()

    command = "hockney history check"
    headings = "What changed", "Cases"
    keys = 2

    @property
    def state(self) -> CheckState:
        """slower if an operation is; otherwise unknown or undecided if one is, or undecided if a case failed
        or is missing; otherwise faster if one is."""
        states: set[CheckState] = {operation.state for operation in self.operations}
        if self.failed or self.missing:
            states.add("undecided")
        order: tuple[CheckState, ...] = ("slower", "unknown", "undecided", "faster", "usual")
        return next((state for state in order if state in states), "unknown")

    @property
    def cases(self) -> tuple[CheckedSeries, ...]:
        return tuple(case for operation in self.operations for case in operation.cases)

    @property
    def several_levels(self) -> bool:
        return len({operation.level for operation in self.operations}) > 1

    @property
    def wrong_data(self) -> str:
        return f"data arrived corrupted in {plural(self.wrong, 'record')} of the run" if self.wrong else ""

    @property
    def overall(self) -> str:
        """Wrong data first: times of operations whose results are wrong say little."""
        return f"{self.wrong_data.capitalize()}. {_times(self)}" if self.wrong else _times(self)

    @property
    def answer(self) -> tuple[str, ...]:
        order: Sequence[CheckState] = ("slower", "unknown", "undecided", "faster", "usual")
        ordered = sorted(self.operations, key=lambda each: order.index(each.state))
        return (self.overall, *(operation(each, self) for each in ordered))

    @property
    def sides(self) -> tuple[str, ...]:
        """ "cases-20260131T093000Z-0123456789ab (new), node7, 2026-01-31 09:30 UTC, 12 earlier runs"."""
        label = f" ({self.label})" if self.label else ""
        earlier = plural(self.earlier, "earlier run")
        return (f"{self.name}{label}, {self.machine}, {date_text(self.at_s)} UTC, {earlier}",)

    @property
    def brief_sides(self) -> tuple[str, ...]:
        return (f"{self.name} on {self.machine}, {self.earlier} earlier runs",)

    @property
    def notes(self) -> tuple[str, ...]:
        """The operations whose level has changed, since when the usual time is what it is, and what the run
        lacks."""
        means = (each.mean for each in self.operations)
        levels = (f"{each.series.workload}: usual since {since(each.since)}." for each in means if each.since)
        return (*levels, *self.lacking)

    @property
    def lacking(self) -> tuple[str, ...]:
        return tuple(_without_result(self))

    @property
    def changed(self) -> list[CheckedSeries]:
        return [each for operation in self.operations for each in operation.of("slower", "faster")]

    @property
    def ordered(self) -> tuple[CheckedSeries, ...]:
        return self.cases

    @property
    def differences_table(self) -> Table:
        rows = tuple((each.fact, each.before, each.after) for each in self.changes)
        return Table("differences", "What changed since the run before", ("what", "before", "now"), rows)

    @property
    def operations_table(self) -> Table:
        columns: tuple[Column[CheckedOperation], ...] = (
            Column("operation", lambda each: each.workload),
            Column("level" if self.several_levels else "", lambda each: each.level),
            Column("cases", lambda each: len(each.cases), COUNT_FORMAT),
            Column("slower", lambda each: len(each.of("slower")), COUNT_FORMAT),
            Column("faster", lambda each: len(each.of("faster")), COUNT_FORMAT),
            Column("runs", lambda each: each.mean.runs, COUNT_FORMAT),
            Column("mean ratio", lambda each: each.mean.ratio, THREE_DECIMALS, interval=INTERVAL_HEADING),
            Column("noticeable", lambda each: each.mean.noticeable, NOTICEABLE),
            Column("verdict", lambda each: verdict(each.state)),
        )
        return columns_table("operations", "Operations", columns, self.operations)

    def cases_table(self, series: Sequence[CheckedSeries], name: str, title: str) -> Table:
        return columns_table(name, title, CASES, series)

    def judged_operations(self) -> Iterator[JudgedOperation]:
        for each in self.operations:
            name = f"{each.workload} {each.level}" if self.several_levels and each.level else each.workload
            cases = tuple(map(_judged_case, each.cases))
            yield JudgedOperation(name, each.workload, each.mean.state, operation(each, self), cases)

    @property
    def facts(self) -> list[tuple[str, str]]:
        changes = ((f"changed: {each.fact}", f"{each.before} → {each.after}") for each in self.changes)
        return [("run", self.name), *changes]

    def lacking_tests(self) -> list[Suite]:
        failed = [CaseResult(case, case.split()[0], "error", why, why) for case, why in self.failed]
        absent = "the run should have measured it"
        missing = [CaseResult(case, case.split()[0], "error", absent, "missing") for case in self.missing]
        return [Suite("failed", failed), Suite("missing", missing)]


def _judged_case(each: CheckedSeries) -> JudgedCase:
    reason = (
        f"{each.ratio.value:.3f}{ratio_interval_suffix(each.ratio)} times the usual time: "
        f"{verdict(each.state)}"
    )
    return JudgedCase(short(each.series), each.series.case, each.state, reason, each.new.value.value)


@dataclass(frozen=True)
class ShownHistory:
    """Trends of the series that were asked for, on each machine. `facts` are changes of the environment by
    machine, `labels` of runs by name."""

    asked: str
    machines: tuple[tuple[str, tuple[Trend, ...]], ...]
    facts: dict[str, tuple[FactChange, ...]]
    runs: int
    labels: dict[str, str]

    @property
    def trends(self) -> list[tuple[str, Trend]]:
        return [(machine, trend) for machine, trends in self.machines for trend in trends]

    @property
    def machine_heading(self) -> str:
        """The heading of a column of machines, which only a history of several has."""
        return "machine" if len(self.machines) > 1 else ""


WORDS: dict[CheckState, str] = {
    "usual": "as usual",
    "unknown": "too few runs",
    "undecided": "undecided, runs differ too much",
}
MAX_LISTED = 5
USUAL_PARAMETERS = {"algorithm": "mpi", "buffers": "hot", "sync": "barrier", "iterations": 1}


def verdict(state: CheckState) -> str:
    return WORDS.get(state, state)


def day(seconds: float) -> str:
    """ "2026-01-31", UTC; empty outside the calendar's range."""
    return date_text(seconds).partition(" ")[0]


def short(series: TimeSeries) -> str:
    """ "allreduce bytes=64 ranks=4": without what nearly all cases have."""
    if not series.case:
        return series.workload
    case = parse_canonical(series.case)
    words = [f"{name}={value}" for name, value in case.values.items() if USUAL_PARAMETERS.get(name) != value]
    return " ".join([case.workload, *words])


def _times(checked: CheckedRun) -> str:
    count = len(checked.operations)
    operations = plural(count, "operation")
    slower, faster, open_ = (
        sum(each.state in states for each in checked.operations)
        for states in (("slower",), ("faster",), UNDECIDED_VERDICTS)
    )
    against = f"the {plural(checked.earlier, 'earlier run')} on {checked.machine}"
    if slower:
        return f"The run is slower than usual in {slower} of {operations}{_worst(checked)}."
    if checked.failed:
        return (
            f"Undecided: no operation is slower than usual, but {plural(len(checked.failed), 'case')} failed."
        )
    if checked.missing:
        lacks = plural(len(checked.missing), "case")
        return f"Undecided: no operation is slower than usual, but the run lacks {lacks} that it should have."
    if open_:
        needed = max((each.mean.needed for each in checked.operations), default=0)
        if needed:
            more = plural(needed, "more run")
            return (
                f"Undecided: {open_} of {operations} {'has' if open_ == 1 else 'have'} too few earlier runs; "
                f"{more} would do (at least {FEWEST_RUNS})."
            )
        return (
            f"Undecided: in {open_} of {operations}, runs differ so much that twice the time would be usual."
        )
    if faster:
        return f"The run is faster than usual in {faster} of {operations}; none is slower."
    return f"The run is as usual: {operations}, compared with {against}."


def _worst(checked: CheckedRun) -> str:
    slower = [case for each in checked.operations for case in each.of("slower")]
    if not slower:
        return ""
    worst = max(slower, key=lambda each: each.ratio.value)
    return f", most in {short(worst.series)} ({worst.ratio.value:.2f} times as long)"


def operation(checked_operation: CheckedOperation, checked: CheckedRun) -> str:
    """ "allreduce: slower in 3 of 12 cases, most in ...; on average 1.04 (95%: ...); ..."."""
    level = f" {checked_operation.level}" if checked_operation.level and checked.several_levels else ""
    count, mean = len(checked_operation.cases), checked_operation.mean
    parts = [
        f"{state} in {len(changed)} of {plural(count, 'case')}, most in {short(changed[0].series)}: "
        f"{changed[0].ratio.value:.2f}{ratio_interval_suffix(changed[0].ratio)}"
        for state in ("slower", "faster")
        if (changed := checked_operation.of(state))
    ]
    parts = parts or [verdict(checked_operation.state)]
    parts.append(f"on average {mean.ratio.value:.2f}{ratio_interval_suffix(mean.ratio)} times the usual time")
    if mean.needed:
        parts.append(f"{plural(mean.needed, 'more run')} needed")
    elif mean.noticeable is not None:
        parts.append(f"a change by {format_percent(mean.noticeable - 1, 2)} would be noticed")
    if mean.since is not None:
        parts.append(f"usual since {since(mean.since)}")
    return f"{checked_operation.workload}{level}: {'; '.join(parts)}."


def since(change: LevelChange) -> str:
    """ "2026-01-31, when times became 1.20 (95%: 1.15 to 1.26) times as long"."""
    ratio = f"{change.ratio.value:.2f}{ratio_interval_suffix(change.ratio)}"
    return f"{day(change.at.at_s)}, when times became {ratio} times as long"


def dates(change: LevelChange) -> str:
    """The days between which the change happened, with 95% certainty."""
    first, last = day(change.first_s), day(change.last_s)
    return first if first == last else f"{first} to {last}"


def _without_result(checked: CheckedRun) -> list[str]:
    """What the run lacks."""
    texts = []
    if checked.failed:
        listed = list_names([f"{case} ({reason})" for case, reason in checked.failed])
        texts.append(f"{plural(len(checked.failed), 'case')} failed: {listed}.")
    if checked.lost_operations:
        count = plural(len(checked.lost_operations), "operation")
        texts.append(
            f"The run has no result of {count} of the run before: {list_names(checked.lost_operations)}."
        )
    if checked.missing:
        listed = list_names(list(checked.missing), MAX_LISTED)
        texts.append(f"It lacks {plural(len(checked.missing), 'case')} that it should have: {listed}.")
    return texts


def shown_sentence(history: ShownHistory) -> str:
    """The result: how many series changed, and the largest last change."""
    count = len(history.trends)
    changed = [(machine, trend) for machine, trend in history.trends if trend.changes]
    all_series = f"{count} {'series' if count > 1 else 'time series'} of {plural(history.runs, 'run')}"
    if not changed:
        return f"No change found in {all_series}."
    largest = max(changed, key=lambda each: abs(each[1].changes[-1].ratio.value - 1))
    change = largest[1].changes[-1]
    return (
        f"{len(changed)} of {all_series} changed; the largest last change: {short(largest[1].series)}, "
        f"{change.ratio.value:.2f}{ratio_interval_suffix(change.ratio)} times as long since "
        f"{day(change.at.at_s)}."
    )


def value(series: TimeSeries, time: float) -> str:
    """A time (s) or, for an operation, its multiple of the typical one."""
    return format_seconds(time) if series.case else f"{time:.3f}"


NOTICEABLE = Format(lambda factor: format_percent(factor - 1, 2))
CASES: tuple[Column[CheckedSeries], ...] = (
    Column("case", lambda each: short(each.series)),
    Column("time", lambda each: format_seconds(each.new.value.value), COUNT_FORMAT),
    Column("usual", lambda each: format_seconds(each.new.value.value / each.ratio.value), COUNT_FORMAT),
    Column("ratio", lambda each: each.ratio, THREE_DECIMALS, interval=INTERVAL_HEADING),
    Column("runs", lambda each: each.runs, COUNT_FORMAT),
    Column("verdict", lambda each: verdict(each.state)),
)


def trends_table(history: ShownHistory) -> Table:
    """A row for each series, with its course as a line of characters."""
    levels = len({trend.series.level for _, trend in history.trends}) > 1

    def last_change(row: tuple[str, Trend]) -> LevelChange | None:
        return row[1].changes[-1] if row[1].changes else None

    columns: tuple[Column[tuple[str, Trend]], ...] = (
        Column("series", lambda row: short(row[1].series)),
        Column("level" if levels else "", lambda row: row[1].series.level),
        Column(history.machine_heading, lambda row: row[0]),
        Column("runs", lambda row: len(row[1].series.points), COUNT_FORMAT),
        Column("course", lambda row: sparkline(row[1].series.logs)),
        Column("last", lambda row: value(row[1].series, row[1].series.points[-1].value.value), COUNT_FORMAT),
        Column("changes", lambda row: len(row[1].changes), COUNT_FORMAT),
        Column("last change", last_change, Format(lambda change: day(change.at.at_s), numeric=False)),
        Column(
            "ratio",
            lambda row: (last := last_change(row)) and last.ratio,
            THREE_DECIMALS,
            interval=INTERVAL_HEADING,
        ),
    )
    return columns_table("trends", "Series", columns, history.trends)


def changes_table(history: ShownHistory) -> Table:
    """Every change of the level, by date."""
    changes = [(machine, trend, change) for machine, trend in history.trends for change in trend.changes]
    changes.sort(key=lambda each: each[2].at.at_s)
    columns: tuple[Column[tuple[str, Trend, LevelChange]], ...] = (
        Column("since", lambda row: day(row[2].at.at_s)),
        Column("changed (95%)", lambda row: dates(row[2])),
        Column("series", lambda row: short(row[1].series)),
        Column(history.machine_heading, lambda row: row[0]),
        Column("ratio", lambda row: row[2].ratio, THREE_DECIMALS),
        Column(INTERVAL_HEADING, lambda row: ratio_ends(row[2].ratio)),
        Column("environment", lambda row: _facts_at(history, row[0], row[2].first_s, row[2].last_s)),
    )
    return columns_table("changes", "Changes of the level", columns, changes)


def _facts_at(history: ShownHistory, machine: str, first_s: float, last_s: float) -> str:
    names = [each.fact for each in history.facts.get(machine, ()) if first_s <= each.at_s <= last_s]
    return ", ".join(dict.fromkeys(names))


def environment_table(history: ShownHistory) -> Table:
    """A table of the changes of the machine or its software, and when they happened."""
    columns: tuple[Column[tuple[str, FactChange]], ...] = (
        Column("since", lambda row: day(row[1].at_s)),
        Column(history.machine_heading, lambda row: row[0]),
        Column("what", lambda row: row[1].fact),
        Column("before", lambda row: row[1].before),
        Column("after", lambda row: row[1].after),
    )
    rows = ((machine, each) for machine, _ in history.machines for each in history.facts.get(machine, ()))
    return columns_table("environment", "Changes of the environment", columns, rows)


def runs_table(trend: Trend, labels: dict[str, str]) -> Table:
    """The points of one series."""
    changed = {change.at.run for change in trend.changes}
    time = Format(lambda seconds: value(trend.series, seconds))
    columns: tuple[Column[RunPoint], ...] = (
        Column("date (UTC)", lambda point: date_text(point.at_s)),
        Column("time", lambda point: point.value.value, time),
        Column("low", lambda point: point.value.low, time),
        Column("high", lambda point: point.value.high, time),
        Column("level", lambda point: "changed" if point.run in changed else ""),
        Column("label", lambda point: labels.get(point.run, "")),
        Column("run", lambda point: point.run),
    )
    return columns_table("runs", "Runs", columns, trend.series.points)


BLOCKS = "▁▂▃▄▅▆▇█"
WIDEST = 24
MIN_RANGE = 0.02
"""A change of less than 2% does not fill the height."""


def sparkline(values: Sequence[float], width: int = WIDEST) -> str:
    """The logarithms `values`, or means of several; outliers do not set the scale."""
    values = winsorise_if_enough(np.array(values)).tolist()
    groups = max(1, -(-len(values) // width))
    means = [sum(part) / len(part) for k in range(0, len(values), groups) if (part := values[k : k + groups])]
    low, high = min(means), max(means)
    span = max(high - low, MIN_RANGE)
    middle = (low + high) / 2
    steps = len(BLOCKS)
    return "".join(BLOCKS[min(steps - 1, int(((v - middle) / span + 0.5) * steps))] for v in means)
