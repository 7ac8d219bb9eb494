# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Changes of times in an archive, for programs and notebooks. The times of runs are cached in the archive's
index."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hockney import studies
from hockney.api.judgements.comparison import FigureResult
from hockney.api.judgements.sides import catalog_of
from hockney.api.run_contents import Run
from hockney.api.tables import Cell, Rows
from hockney.archive import Archive, ArchivedRun
from hockney.core.case import split_case
from hockney.core.errors import Inconclusive, UsageError, printable, unknown
from hockney.core.record import Origin
from hockney.core.units import parse_bytes
from hockney.core.wording import plural
from hockney.judgements.environment import environment_facts
from hockney.judgements.history import SelectedHistory
from hockney.judgements.sides import MeasuredRun, Side, complete_case
from hockney.measurement import Listener
from hockney.measurement.run_results import program_digest
from hockney.models.history import (
    CaseTime,
    DatedRun,
    FactChange,
    RunTimes,
    TimeSeries,
    Trend,
    case_series,
    detect_trends,
    fact_changes,
    operation_series,
)
from hockney.models.statistics import observe
from hockney.store import RunFolder

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

    from hockney.draw.page import Page


@dataclass(frozen=True, repr=False)
class Trends(FigureResult):
    """Time series over the runs of an archive, with their changes."""

    shown: SelectedHistory

    @property
    def trends(self) -> list[tuple[str, Trend]]:
        """Pairs of machine and trend, one for each series."""
        return self.shown.trends

    @property
    def environment(self) -> dict[str, tuple[FactChange, ...]]:
        """Changes in the environment of each machine, with their dates."""
        return self.shown.facts

    @property
    def document(self) -> dict[str, Any]:
        """Document that `hockney history show --json` prints."""
        from hockney.judgements.document import history_document

        return history_document(self.shown)

    @cached_property
    def page(self) -> Page:
        from hockney.judgements.page import history_page

        return history_page(self.shown)

    def table(self) -> Rows:
        """Table with one row per run in each series: times in seconds, dates in seconds since 1970. `part` is
        the number of preceding changes."""
        rows: list[dict[str, Cell]] = []
        for machine, trend in self.trends:
            change_dates, part = {change.at.run for change in trend.changes}, 0
            for point in trend.series.points:
                part += point.run in change_dates
                rows.append(
                    {
                        "machine": machine,
                        "operation": trend.series.workload,
                        "case": trend.series.case,
                        "level": trend.series.level,
                        "run": point.run,
                        "at_s": point.at_s,
                        "value": point.value.value,
                        "low": point.value.low,
                        "high": point.value.high,
                        "part": part,
                    }
                )
        return Rows.of_rows(rows)

    def figure(self, name: str = "") -> PlotlyFigure:
        """Figure of the page, by default the first, as a Plotly figure. Raises UsageError for an unknown
        name."""
        from hockney.api.notebook.views import figure_named

        return figure_named(self._figures, name or next(iter(self._figures), ""))

    def __repr__(self) -> str:
        changed = sum(bool(trend.changes) for _, trend in self.trends)
        return f"<Trends of {len(self.trends)} series: {changed} changed>"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""

        from hockney.judgements.history import history_sentence, trends_table
        from hockney.report import notebook

        return notebook.summary((history_sentence(self.shown),), (), [trends_table(self.shown)])


def find_trends(archive: Archive, entries: Sequence[ArchivedRun], text: str, listen: Listener) -> Trends:
    if not any(entry.records for entry in entries):
        raise Inconclusive(
            "there is nothing to show",
            f"{plural(len(entries), 'selected run')} {'has' if len(entries) == 1 else 'have'} no "
            "measurements",
            "add other runs: hockney history add RUN",
            code="shown-runs-empty",
            runs=len(entries),
        )
    workload = text.split(" ", 1)[0]
    runs = dated_runs(archive, entries, listen, workload)
    titles = _machine_titles(entries)
    machines: dict[str, list[DatedRun]] = {}
    for entry in entries:
        if entry.name in runs:
            machines.setdefault(titles[entry.machine, entry.origin], []).append(runs[entry.name])
    trends_found: list[tuple[str, tuple[Trend, ...]]] = []
    facts: dict[str, tuple[FactChange, ...]] = {}
    all_series: list[TimeSeries] = []
    for machine, machine_runs in machines.items():
        cases = case_series(machine_runs)
        all_series += cases
        series = _select_series(cases, text)
        if series:
            trends_found.append((machine, tuple(detect_trends(series))))
            facts[machine] = tuple(fact_changes(machine_runs))
    if not trends_found:
        raise _no_series_error(all_series, text)
    labels = {entry.name: entry.label for entry in entries if entry.label}
    return Trends(SelectedHistory(text, tuple(trends_found), facts, len(runs), labels))


def _machine_titles(entries: Sequence[ArchivedRun]) -> dict[tuple[str, Origin], str]:
    """Titles by machine and origin. The origin is included only if the machine's name has several."""
    keys = dict.fromkeys((entry.machine, entry.origin) for entry in entries)
    count = Counter(machine for machine, _ in keys)
    return {key: key[0] if count[key[0]] == 1 else f"{key[0]} ({key[1]})" for key in keys}


def dated_runs(
    archive: Archive, entries: Sequence[ArchivedRun], listen: Listener, workload: str = ""
) -> dict[str, DatedRun]:
    """Runs by name, with the times of one workload or of all."""
    times = archive.times(entries, sources_digest(), run_times, workload, listen)
    dates = {entry.name: entry.started_s for entry in entries}
    return {name: DatedRun(name, dates[name], run_times_) for name, run_times_ in times.items()}


def _select_series(cases: Sequence[TimeSeries], text: str) -> list[TimeSeries]:
    """Select series: all operations, one operation and its cases, or matching cases."""
    workload, raw = split_case(text) if text else ("", {})
    if not workload:
        return operation_series(cases)
    cases = [case for case in cases if case.workload == workload]
    selected_cases = [case for case in cases if _matches(case.case, raw)]
    return selected_cases if raw else [*operation_series(selected_cases), *selected_cases]


def _matches(line: str, raw: dict[str, str]) -> bool:
    values = split_case(line)[1]
    return all(values.get(name) in (value, _canonical_size(value)) for name, value in raw.items())


def _canonical_size(text: str) -> str:
    with contextlib.suppress(UsageError):
        return str(parse_bytes(text))
    return text


def _no_series_error(series: Sequence[TimeSeries], text: str) -> UsageError:
    workload = text.split(" ", 1)[0]
    operations = {case.workload for case in series}
    if workload not in operations:
        # the times of other workloads were not read
        return unknown("operation", workload, operations, code="unknown-archived-operation")
    cases = len({case.case for case in series})
    return UsageError(
        f"no case in the archive matches '{printable(text)}'",
        f"it has {plural(cases, 'case')} of this operation",
        "leave out some words; 'hockney history show OPERATION' lists its cases",
        code="unknown-archived-case",
        text=text,
    )


def sources_digest() -> str:
    """Digest of the source files that compute times."""
    return program_digest().decode()[:16]


def run_times(folder: RunFolder) -> RunTimes:
    """Compute the times of a run. Raises EnvironmentProblem if the run is damaged."""
    run, catalog = Run(folder), catalog_of(folder)
    measured = MeasuredRun(str(folder.path), run.machine, run.reading.run, run.settings, catalog)
    levels = Side("", (measured,)).levels(catalog)
    times = []
    for observation in observe(measured.run, catalog):
        value, low, high = observation.interval()
        has_interval = low == low and high == high and 0 < low <= high < float("inf")
        if run.machine.is_exact:
            low = high = value
            has_interval = True
        case = complete_case(observation.case, catalog)
        times.append(
            CaseTime(
                case.line,
                levels.get(case, ""),
                len(observation.launches),
                float(value),
                float(low) if has_interval else None,
                float(high) if has_interval else None,
            )
        )
    times += studies.find_study(run.settings.study).part_times(run.evidence)
    return RunTimes(sources_digest(), times, environment_facts(measured))
