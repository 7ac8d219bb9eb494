# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of what workloads report in addition to their times: metrics, and the phases of a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.fit import Estimate, MetricSummary, Summary
from hockney.draw.page import Table
from hockney.pages.evidence import MeasuredCase
from hockney.pages.format import format_share, interval, quantity, rate_from_time, typed_line, with_interval

OPERATIONS = "operations"
"""The metric of workloads that count their operations. Divided by the time it gives a rate."""
RATE_UNIT = "op/s"
COMBINATION_PHRASES = {"each": "largest of the ranks", "root": "at the root", "slowest": "slowest rank"}


def metrics_tables(measured: Sequence[MeasuredCase]) -> tuple[Table, ...]:
    """Return two tables for each workload, one of its metrics with its rate and one of its phases, if it has
    any."""
    results: list[Table] = []
    for workload in dict.fromkeys(m.case.workload for m in measured):
        cases = [m for m in measured if m.case.workload == workload and m.summary.metrics]
        for kind, phase in (("metrics", False), ("phases", True)):
            names = _metric_names(cases, phase)
            if names:
                results.append(_table(kind, workload, cases, names, phase))
    return tuple(results)


def metrics_table(measured: Sequence[MeasuredCase]) -> Table:
    """Return a table with a row for each metric and phase of each case and for its rate; `row_count` counts
    them."""
    rows = tuple(
        (name, quantity(value.value, unit), interval(value, unit) if _has_interval(value) else "")
        for measured_case in measured
        for name, value, unit in _metric_rows(measured_case)
    )
    return Table("metrics", "Metrics", ("metric", "typical", "95% interval"), rows, numeric=(1, 2))


def row_count(measured: MeasuredCase) -> int:
    """Return the number of rows of a case in `metrics_table`."""
    return len(list(_metric_rows(measured)))


def _metric_rows(measured_case: MeasuredCase) -> Iterator[tuple[str, Estimate, str]]:
    """Yield name, value and unit of each metric."""
    for name, metric in measured_case.summary.metrics.items():
        yield _metric_heading(name, metric), metric.typical, metric.unit
        if name == OPERATIONS and (rate_estimate := operation_rate(measured_case.summary)) is not None:
            yield "rate", rate_estimate, RATE_UNIT


def operation_rate(summary: Summary) -> Estimate | None:
    """Return the operations per second of a workload that counts its operations, with the interval of its
    time; otherwise None."""
    operations, time = summary.metrics.get(OPERATIONS), summary.typical
    if operations is None or not operations.typical.value or not time.value:
        return None
    return rate_from_time(operations.typical.value, time)


def _metric_names(cases: Sequence[MeasuredCase], is_phase: bool) -> list[str]:
    names = (
        name
        for measured_case in cases
        for name, metric in measured_case.summary.metrics.items()
        if metric.phase == is_phase
    )
    return list(dict.fromkeys(names))


def _table(
    kind: str, workload: str, cases: Sequence[MeasuredCase], names: Sequence[str], is_phase: bool
) -> Table:
    headings = [
        _metric_heading(
            name,
            next(
                measured_case.summary.metrics[name]
                for measured_case in cases
                if name in measured_case.summary.metrics
            ),
        )
        for name in names
    ]
    has_rate = not is_phase and OPERATIONS in names
    rows = tuple(
        (
            typed_line(measured_case),
            *([quantity(measured_case.summary.typical.value, "s")] if is_phase else []),
            *([_format_rate(measured_case)] if has_rate else []),
            *(_metric_cell(measured_case, n, is_phase) for n in names),
        )
        for measured_case in cases
    )
    columns = ("case", *(["time"] if is_phase else []), *(["rate"] if has_rate else []), *headings)
    return Table(
        name=kind,
        title=f"{'Phases' if is_phase else 'Metrics'} of {workload}",
        columns=columns,
        rows=rows,
        numeric=tuple(range(1, len(columns))),
        caption="Shares of phases are relative to the operation's time." if is_phase else "",
    )


def _metric_heading(name: str, metric: MetricSummary) -> str:
    return f"{name} ({COMBINATION_PHRASES.get(metric.over_ranks, metric.over_ranks)})"


def _format_rate(measured_case: MeasuredCase) -> str:
    rate_estimate = operation_rate(measured_case.summary)
    return "" if rate_estimate is None else _format_value(rate_estimate, RATE_UNIT)


def _metric_cell(measured_case: MeasuredCase, name: str, is_phase: bool) -> str:
    metric = measured_case.summary.metrics.get(name)
    if metric is None:
        return ""
    if not is_phase:
        return _format_value(metric.typical, metric.unit)
    total_s = measured_case.summary.typical.value
    share = f", {format_share(metric.typical.value / total_s)}" if total_s else ""
    return quantity(metric.typical.value, metric.unit) + share


def _format_value(estimate: Estimate, unit: str) -> str:
    return with_interval(estimate, unit) if _has_interval(estimate) else quantity(estimate.value, unit)


def _has_interval(estimate: Estimate) -> bool:
    return estimate.low is not None or estimate.high is not None
