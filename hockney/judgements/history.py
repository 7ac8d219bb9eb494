# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The contents of an archive of runs: how times changed, and whether a run is as usual, as sentences and
tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.case import parse_canonical
from hockney.core.units import format_date, format_percent, format_seconds
from hockney.core.wording import list_names, plural
from hockney.draw.page import Caveat, Table
from hockney.judgements.comparison import RATIO_FORMAT, ratio_interval_text
from hockney.judgements.judgement import CaseResult, JudgedCase, JudgedOperation, Judgement, Suite
from hockney.models.history import (
    MIN_RUNS,
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
    """The run `name` on a `machine`, measured at `at_s` (s since 1970), compared with `earlier_count` earlier
    runs. `failed_cases` have no result; each has a reason. `environment_changes` are relative to the previous
    run, and `wrong_count` counts records with corrupted data. `missing_cases` should have been measured
    (`hockney.judgements.sides`). `lost_operations` were measured by the previous run of the study, but not by
    this one."""

    name: str
    label: str
    machine: str
    at_s: float
    earlier_count: int
    tolerance: float
    operations: tuple[CheckedOperation, ...]
    failed_cases: tuple[tuple[str, str], ...]
    environment_changes: tuple[FactChange, ...]
    caveats: tuple[Caveat, ...] = ()
    wrong_count: int = 0
    missing_cases: tuple[str, ...] = ()
    lost_operations: tuple[str, ...] = ()

    command = "hockney history check"
    headings = "What changed", "Cases"
    key_column_count = 2

    @property
    def state(self) -> CheckState:
        """The verdict: "slower" if an operation is slower. Otherwise "unknown" or "undecided" if an operation
        is, and also "undecided" if a case failed or is missing. Otherwise "faster" if an operation is
        faster."""
        states: set[CheckState] = {operation.state for operation in self.operations}
        if self.failed_cases or self.missing_cases:
            states.add("undecided")
        order: tuple[CheckState, ...] = ("slower", "unknown", "undecided", "faster", "usual")
        return next((state for state in order if state in states), "unknown")

    @property
    def cases(self) -> tuple[CheckedSeries, ...]:
        return tuple(case for operation in self.operations for case in operation.cases)

    @property
    def has_several_levels(self) -> bool:
        return len({operation.level for operation in self.operations}) > 1

    @property
    def wrong_data_sentence(self) -> str:
        return (
            f"data arrived corrupted in {plural(self.wrong_count, 'record')} of the run"
            if self.wrong_count
            else ""
        )

    @property
    def overall_sentence(self) -> str:
        """The result in a sentence. Wrong data come first, because the times of wrong results mean little."""
        return (
            f"{self.wrong_data_sentence.capitalize()}. {_overall_sentence(self)}"
            if self.wrong_count
            else _overall_sentence(self)
        )

    @property
    def answer_sentences(self) -> tuple[str, ...]:
        order: Sequence[CheckState] = ("slower", "unknown", "undecided", "faster", "usual")
        sorted_operations = sorted(self.operations, key=lambda item: order.index(item.state))
        return (self.overall_sentence, *(operation_sentence(item, self) for item in sorted_operations))

    @property
    def side_lines(self) -> tuple[str, ...]:
        """A line such as "cases-20260131T093000Z-0123456789ab (new), node7, 2026-01-31 09:30 UTC, 12 earlier
        runs"."""
        label = f" ({self.label})" if self.label else ""
        earlier_text = plural(self.earlier_count, "earlier run")
        return (f"{self.name}{label}, {self.machine}, {format_date(self.at_s)} UTC, {earlier_text}",)

    @property
    def brief_side_lines(self) -> tuple[str, ...]:
        return (f"{self.name} on {self.machine}, {self.earlier_count} earlier runs",)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on operations whose level changed, with the date of the change, and on missing
        results."""
        mean_series = (series.mean for series in self.operations)
        levels = (
            f"{series.series.workload}: usual since {change_text(series.since)}."
            for series in mean_series
            if series.since
        )
        return (*levels, *self.missing_result_sentences)

    @property
    def missing_result_sentences(self) -> tuple[str, ...]:
        return tuple(_missing_result_sentences(self))

    @property
    def changed_cases(self) -> list[CheckedSeries]:
        return [
            series for operation in self.operations for series in operation.cases_with("slower", "faster")
        ]

    @property
    def ordered_cases(self) -> tuple[CheckedSeries, ...]:
        return self.cases

    @property
    def differences_table(self) -> Table:
        rows = tuple((change.fact, change.before, change.after) for change in self.environment_changes)
        return Table("differences", "What changed since the run before", ("what", "before", "now"), rows)

    @property
    def operations_table(self) -> Table:
        columns: tuple[Column[CheckedOperation], ...] = (
            Column("operation", lambda item: item.workload),
            Column("level" if self.has_several_levels else "", lambda item: item.level),
            Column("cases", lambda item: len(item.cases), COUNT_FORMAT),
            Column("slower", lambda item: len(item.cases_with("slower")), COUNT_FORMAT),
            Column("faster", lambda item: len(item.cases_with("faster")), COUNT_FORMAT),
            Column("runs", lambda item: item.mean.runs, COUNT_FORMAT),
            Column("mean ratio", lambda item: item.mean.ratio, RATIO_FORMAT, interval=INTERVAL_HEADING),
            Column("noticeable", lambda item: item.mean.noticeable, NOTICEABLE_FORMAT),
            Column("verdict", lambda item: state_text(item.state)),
        )
        return columns_table("operations", "Operations", columns, self.operations)

    def cases_table(self, series: Sequence[CheckedSeries], name: str, title: str) -> Table:
        return columns_table(name, title, CASE_COLUMNS, series)

    def judged_operations(self) -> Iterator[JudgedOperation]:
        for checked_operation in self.operations:
            name = (
                f"{checked_operation.workload} {checked_operation.level}"
                if self.has_several_levels and checked_operation.level
                else checked_operation.workload
            )
            cases = tuple(map(_to_judged_case, checked_operation.cases))
            yield JudgedOperation(
                name,
                checked_operation.workload,
                checked_operation.mean.state,
                operation_sentence(checked_operation, self),
                cases,
            )

    @property
    def facts(self) -> list[tuple[str, str]]:
        changes = (
            (f"changed: {change.fact}", f"{change.before} → {change.after}")
            for change in self.environment_changes
        )
        return [("run", self.name), *changes]

    def missing_result_tests(self) -> list[Suite]:
        failed_tests = [
            CaseResult(case, case.split()[0], "error", reason, reason) for case, reason in self.failed_cases
        ]
        message = "the run should have measured it"
        missing_tests = [
            CaseResult(case, case.split()[0], "error", message, "missing") for case in self.missing_cases
        ]
        return [Suite("failed", failed_tests), Suite("missing", missing_tests)]


def _to_judged_case(series: CheckedSeries) -> JudgedCase:
    reason = (
        f"{series.ratio.value:.3f}{ratio_interval_suffix(series.ratio)} times the usual time: "
        f"{state_text(series.state)}"
    )
    return JudgedCase(
        short_case(series.series), series.series.case, series.state, reason, series.new.value.value
    )


@dataclass(frozen=True)
class SelectedHistory:
    """Trends of the series that match `query`, on each machine. `facts` contains changes of the environment
    by machine, `labels` the runs' labels by name."""

    query: str
    machines: tuple[tuple[str, tuple[Trend, ...]], ...]
    facts: dict[str, tuple[FactChange, ...]]
    runs: int
    labels: dict[str, str]

    @property
    def trends(self) -> list[tuple[str, Trend]]:
        return [(machine, trend) for machine, trends in self.machines for trend in trends]

    @property
    def machine_heading(self) -> str:
        """The heading of the column of machines, empty if there is only one machine."""
        return "machine" if len(self.machines) > 1 else ""


STATE_PHRASES: dict[CheckState, str] = {
    "usual": "as usual",
    "unknown": "too few runs",
    "undecided": "undecided, runs differ too much",
}
MAX_LISTED = 5
DEFAULT_PARAMETERS = {"algorithm": "mpi", "buffers": "hot", "sync": "barrier", "iterations": 1}


def state_text(state: CheckState) -> str:
    return STATE_PHRASES.get(state, state)


def date_only(seconds: float) -> str:
    """Return the UTC date, such as "2026-01-31"; empty outside the calendar's range."""
    return format_date(seconds).partition(" ")[0]


def short_case(series: TimeSeries) -> str:
    """Return the case without parameters that have their usual values: "allreduce bytes=64 ranks=4"."""
    if not series.case:
        return series.workload
    case = parse_canonical(series.case)
    parts = [
        f"{name}={value}" for name, value in case.values.items() if DEFAULT_PARAMETERS.get(name) != value
    ]
    return " ".join([case.workload, *parts])


def _overall_sentence(run_check: CheckedRun) -> str:
    operation_count = len(run_check.operations)
    operations = plural(operation_count, "operation")
    slower_count, faster_count, undecided_count = (
        sum(item.state in states for item in run_check.operations)
        for states in (("slower",), ("faster",), UNDECIDED_VERDICTS)
    )
    reference = f"the {plural(run_check.earlier_count, 'earlier run')} on {run_check.machine}"
    if slower_count:
        return (
            f"The run is slower than usual in {slower_count} of {operations}{_worst_case_phrase(run_check)}."
        )
    if run_check.failed_cases:
        return (
            "Undecided: no operation is slower than usual, but "
            f"{plural(len(run_check.failed_cases), 'case')} failed."
        )
    if run_check.missing_cases:
        missing_text = plural(len(run_check.missing_cases), "case")
        return (
            f"Undecided: no operation is slower than usual, but the run lacks {missing_text} that it "
            "should have."
        )
    if undecided_count:
        needed_runs = max((item.mean.needed for item in run_check.operations), default=0)
        if needed_runs:
            more_text = plural(needed_runs, "more run")
            return (
                f"Undecided: {undecided_count} of {operations} {'has' if undecided_count == 1 else 'have'} "
                "too few earlier runs; "
                f"{more_text} would do (at least {MIN_RUNS})."
            )
        return (
            f"Undecided: in {undecided_count} of {operations}, runs differ so much that twice the time "
            "would be usual."
        )
    if faster_count:
        return f"The run is faster than usual in {faster_count} of {operations}; none is slower."
    return f"The run is as usual: {operations}, compared with {reference}."


def _worst_case_phrase(run_check: CheckedRun) -> str:
    slower_series = [case for series in run_check.operations for case in series.cases_with("slower")]
    if not slower_series:
        return ""
    worst_series = max(slower_series, key=lambda series: series.ratio.value)
    return f", most in {short_case(worst_series.series)} ({worst_series.ratio.value:.2f} times as long)"


def operation_sentence(checked_operation: CheckedOperation, run_check: CheckedRun) -> str:
    """Return a sentence such as "allreduce: slower in 3 of 12 cases, most in ...; on average 1.04 (95%: ...);
    ..."."""
    level_text = (
        f" {checked_operation.level}" if checked_operation.level and run_check.has_several_levels else ""
    )
    count, mean_series = len(checked_operation.cases), checked_operation.mean
    parts = [
        f"{state} in {len(changed_cases)} of {plural(count, 'case')}, most in "
        f"{short_case(changed_cases[0].series)}: "
        f"{changed_cases[0].ratio.value:.2f}{ratio_interval_suffix(changed_cases[0].ratio)}"
        for state in ("slower", "faster")
        if (changed_cases := checked_operation.cases_with(state))
    ]
    parts = parts or [state_text(checked_operation.state)]
    parts.append(
        f"on average {mean_series.ratio.value:.2f}{ratio_interval_suffix(mean_series.ratio)} times the "
        "usual time"
    )
    if mean_series.needed:
        parts.append(f"{plural(mean_series.needed, 'more run')} needed")
    elif mean_series.noticeable is not None:
        parts.append(f"a change by {format_percent(mean_series.noticeable - 1, 2)} would be noticed")
    if mean_series.since is not None:
        parts.append(f"usual since {change_text(mean_series.since)}")
    return f"{checked_operation.workload}{level_text}: {'; '.join(parts)}."


def change_text(change: LevelChange) -> str:
    """Return text such as "2026-01-31, when times became 1.20 (95%: 1.15 to 1.26) times as long"."""
    ratio = f"{change.ratio.value:.2f}{ratio_interval_suffix(change.ratio)}"
    return f"{date_only(change.at.at_s)}, when times became {ratio} times as long"


def change_dates(change: LevelChange) -> str:
    """Return the days between which the change happened, with 95% certainty."""
    first_day, last_day = date_only(change.first_s), date_only(change.last_s)
    return first_day if first_day == last_day else f"{first_day} to {last_day}"


def _missing_result_sentences(run_check: CheckedRun) -> list[str]:
    """Return sentences on failed cases, lost operations and missing cases."""
    texts = []
    if run_check.failed_cases:
        failure_list = list_names([f"{case} ({reason})" for case, reason in run_check.failed_cases])
        texts.append(f"{plural(len(run_check.failed_cases), 'case')} failed: {failure_list}.")
    if run_check.lost_operations:
        count = plural(len(run_check.lost_operations), "operation")
        texts.append(
            f"The run has no result of {count} of the run before: {list_names(run_check.lost_operations)}."
        )
    if run_check.missing_cases:
        failure_list = list_names(list(run_check.missing_cases), MAX_LISTED)
        texts.append(
            f"It lacks {plural(len(run_check.missing_cases), 'case')} that it should have: {failure_list}."
        )
    return texts


def history_sentence(history: SelectedHistory) -> str:
    """Return the result in a sentence: how many series changed, and the largest last change."""
    count = len(history.trends)
    changed_trends = [(machine, trend) for machine, trend in history.trends if trend.changes]
    all_series = f"{count} {'series' if count > 1 else 'time series'} of {plural(history.runs, 'run')}"
    if not changed_trends:
        return f"No change found in {all_series}."
    largest_trend = max(changed_trends, key=lambda item: abs(item[1].changes[-1].ratio.value - 1))
    change = largest_trend[1].changes[-1]
    return (
        f"{len(changed_trends)} of {all_series} changed; the largest last change: "
        f"{short_case(largest_trend[1].series)}, "
        f"{change.ratio.value:.2f}{ratio_interval_suffix(change.ratio)} times as long since "
        f"{date_only(change.at.at_s)}."
    )


def format_value(series: TimeSeries, time: float) -> str:
    """Format a time (s) or, for an operation, its multiple of the typical time."""
    return format_seconds(time) if series.case else f"{time:.3f}"


NOTICEABLE_FORMAT = Format(lambda factor: format_percent(factor - 1, 2))
CASE_COLUMNS: tuple[Column[CheckedSeries], ...] = (
    Column("case", lambda check: short_case(check.series)),
    Column("time", lambda check: format_seconds(check.new.value.value), COUNT_FORMAT),
    Column("usual", lambda check: format_seconds(check.new.value.value / check.ratio.value), COUNT_FORMAT),
    Column("ratio", lambda check: check.ratio, RATIO_FORMAT, interval=INTERVAL_HEADING),
    Column("runs", lambda check: check.runs, COUNT_FORMAT),
    Column("verdict", lambda check: state_text(check.state)),
)


def trends_table(history: SelectedHistory) -> Table:
    """Return a table with a row for each series, whose course is a line of characters."""
    has_several_levels = len({trend.series.level for _, trend in history.trends}) > 1

    def last_change(row: tuple[str, Trend]) -> LevelChange | None:
        return row[1].changes[-1] if row[1].changes else None

    columns: tuple[Column[tuple[str, Trend]], ...] = (
        Column("series", lambda row: short_case(row[1].series)),
        Column("level" if has_several_levels else "", lambda row: row[1].series.level),
        Column(history.machine_heading, lambda row: row[0]),
        Column("runs", lambda row: len(row[1].series.points), COUNT_FORMAT),
        Column("course", lambda row: sparkline(row[1].series.logs)),
        Column(
            "last",
            lambda row: format_value(row[1].series, row[1].series.points[-1].value.value),
            COUNT_FORMAT,
        ),
        Column("changes", lambda row: len(row[1].changes), COUNT_FORMAT),
        Column("last change", last_change, Format(lambda change: date_only(change.at.at_s), numeric=False)),
        Column(
            "ratio",
            lambda row: (last := last_change(row)) and last.ratio,
            RATIO_FORMAT,
            interval=INTERVAL_HEADING,
        ),
    )
    return columns_table("trends", "Series", columns, history.trends)


def changes_table(history: SelectedHistory) -> Table:
    """Return a table of all changes of levels, by date."""
    changes = [(machine, trend, change) for machine, trend in history.trends for change in trend.changes]
    changes.sort(key=lambda item: item[2].at.at_s)
    columns: tuple[Column[tuple[str, Trend, LevelChange]], ...] = (
        Column("since", lambda row: date_only(row[2].at.at_s)),
        Column("changed (95%)", lambda row: change_dates(row[2])),
        Column("series", lambda row: short_case(row[1].series)),
        Column(history.machine_heading, lambda row: row[0]),
        Column("ratio", lambda row: row[2].ratio, RATIO_FORMAT),
        Column(INTERVAL_HEADING, lambda row: ratio_interval_text(row[2].ratio)),
        Column(
            "environment", lambda row: _fact_names_between(history, row[0], row[2].first_s, row[2].last_s)
        ),
    )
    return columns_table("changes", "Changes of the level", columns, changes)


def _fact_names_between(history: SelectedHistory, machine: str, first_s: float, last_s: float) -> str:
    names = [change.fact for change in history.facts.get(machine, ()) if first_s <= change.at_s <= last_s]
    return ", ".join(dict.fromkeys(names))


def environment_table(history: SelectedHistory) -> Table:
    """Return a table of the changes of the machine and its software, with their dates."""
    columns: tuple[Column[tuple[str, FactChange]], ...] = (
        Column("since", lambda row: date_only(row[1].at_s)),
        Column(history.machine_heading, lambda row: row[0]),
        Column("what", lambda row: row[1].fact),
        Column("before", lambda row: row[1].before),
        Column("after", lambda row: row[1].after),
    )
    rows = ((machine, change) for machine, _ in history.machines for change in history.facts.get(machine, ()))
    return columns_table("environment", "Changes of the environment", columns, rows)


def runs_table(trend: Trend, labels: dict[str, str]) -> Table:
    """Return a table of the points of one series."""
    changed_runs = {change.at.run for change in trend.changes}
    time = Format(lambda seconds: format_value(trend.series, seconds))
    columns: tuple[Column[RunPoint], ...] = (
        Column("date (UTC)", lambda point: format_date(point.at_s)),
        Column("time", lambda point: point.value.value, time),
        Column("low", lambda point: point.value.low, time),
        Column("high", lambda point: point.value.high, time),
        Column("level", lambda point: "changed" if point.run in changed_runs else ""),
        Column("label", lambda point: labels.get(point.run, "")),
        Column("run", lambda point: point.run),
    )
    return columns_table("runs", "Runs", columns, trend.series.points)


BLOCKS = "▁▂▃▄▅▆▇█"
MAX_SPARKLINE_WIDTH = 24
MIN_RANGE = 0.02
"""A smaller range of the logarithms does not fill the height."""


def sparkline(values: Sequence[float], width: int = MAX_SPARKLINE_WIDTH) -> str:
    """Draw logarithms as a line of characters, averaging neighbors if there are more than `width`. Outliers
    do not determine the scale."""
    values = winsorise_if_enough(np.array(values)).tolist()
    groups = max(1, -(-len(values) // width))
    means = [
        sum(group) / len(group) for k in range(0, len(values), groups) if (group := values[k : k + groups])
    ]
    min_mean, max_mean = min(means), max(means)
    span = max(max_mean - min_mean, MIN_RANGE)
    center = (min_mean + max_mean) / 2
    block_count = len(BLOCKS)
    return "".join(
        BLOCKS[min(block_count - 1, int(((mean - center) / span + 0.5) * block_count))] for mean in means
    )
