# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How times changed: reads the times of an archive's runs, and finds their changes."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence

from hockney.api.history.shown import Trends
from hockney.api.history.times import computed_by, run_times
from hockney.archive import Archive, ArchivedRun
from hockney.core.case import split_case
from hockney.core.errors import Inconclusive, UsageError, printable, unknown
from hockney.core.notice import Notice
from hockney.core.record import Origin
from hockney.core.units import parse_bytes
from hockney.core.wording import plural
from hockney.history import ShownHistory
from hockney.models.history import (
    DatedRun,
    FactChange,
    TimeSeries,
    Trend,
    case_series,
    fact_changes,
    operation_series,
    trends,
)

Progress = Callable[[int, int], None]
Told = Callable[[Notice], None]


def show(
    archive: Archive, entries: Sequence[ArchivedRun], asked: str, progress: Progress, told: Told
) -> Trends:
    if not any(entry.records for entry in entries):
        raise Inconclusive(
            "there is nothing to show",
            f"{plural(len(entries), 'selected run')} {'has' if len(entries) == 1 else 'have'} no "
            "measurements",
            "add other runs: hockney history add RUN",
            code="shown-runs-empty",
            runs=len(entries),
        )
    workload = asked.split(" ", 1)[0]
    runs = dated(archive, entries, workload, progress, told)
    titles = _titles(entries)
    machines: dict[str, list[DatedRun]] = {}
    for entry in entries:
        if entry.name in runs:
            machines.setdefault(titles[entry.machine, entry.origin], []).append(runs[entry.name])
    found: list[tuple[str, tuple[Trend, ...]]] = []
    facts: dict[str, tuple[FactChange, ...]] = {}
    every: list[TimeSeries] = []
    for machine, of in machines.items():
        cases = case_series(of)
        every += cases
        series = _asked(cases, asked)
        if series:
            found.append((machine, tuple(trends(series))))
            facts[machine] = tuple(fact_changes(of))
    if not found:
        raise _nothing(every, asked)
    labels = {entry.name: entry.label for entry in entries if entry.label}
    return Trends(ShownHistory(asked, tuple(found), facts, len(runs), labels))


def _titles(entries: Sequence[ArchivedRun]) -> dict[tuple[str, Origin], str]:
    """Titles by machine and origin: the machine, with the origin if runs of several origins have its name."""
    keys = dict.fromkeys((entry.machine, entry.origin) for entry in entries)
    count = Counter(machine for machine, _ in keys)
    return {key: key[0] if count[key[0]] == 1 else f"{key[0]} ({key[1]})" for key in keys}


def dated(
    archive: Archive,
    entries: Sequence[ArchivedRun],
    workload: str,
    progress: Progress,
    told: Told | None = None,
) -> dict[str, DatedRun]:
    """The runs by name, with the times of one workload or of all."""
    times = archive.times(entries, computed_by(), run_times, workload, progress, told)
    dates = {entry.name: entry.started_s for entry in entries}
    return {name: DatedRun(name, dates[name], of) for name, of in times.items()}


def _asked(cases: Sequence[TimeSeries], asked: str) -> list[TimeSeries]:
    """Operations; one operation and its cases; or cases."""
    workload, raw = split_case(asked) if asked else ("", {})
    if not workload:
        return operation_series(cases)
    cases = [each for each in cases if each.workload == workload]
    chosen = [each for each in cases if _has(each.case, raw)]
    return chosen if raw else [*operation_series(chosen), *chosen]


def _has(line: str, raw: dict[str, str]) -> bool:
    values = split_case(line)[1]
    return all(values.get(name) in (value, _bytes(value)) for name, value in raw.items())


def _bytes(text: str) -> str:
    with contextlib.suppress(UsageError):
        return str(parse_bytes(text))
    return text


def _nothing(every: Sequence[TimeSeries], asked: str) -> UsageError:
    workload = asked.split(" ", 1)[0]
    known = {each.workload for each in every}
    if workload not in known:
        # the times of other workloads were not read
        return unknown("operation", workload, known, code="unknown-archived-operation")
    cases = len({each.case for each in every})
    return UsageError(
        f"no case in the archive matches '{printable(asked)}'",
        f"it has {plural(cases, 'case')} of this operation",
        "leave out some words; 'hockney history show OPERATION' lists its cases",
        code="unknown-archived-case",
        text=asked,
    )
