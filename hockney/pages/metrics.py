# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of what workloads report in addition to their times: metrics, and the phases of a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.fit import Estimate, MetricSummary, Summary
from hockney.draw.page import Table
from hockney.pages.evidence import Measured
from hockney.pages.format import interval, percent, quantity, rate_of, typed_line, with_interval

OPERATIONS = "operations"
"""The metric of workloads that count the operations of a run; divided by the time they give a rate."""
RATE = "op/s"
COMBINED = {"each": "largest of the ranks", "root": "at the root", "slowest": "slowest rank"}


def tables(measured: Sequence[Measured]) -> tuple[Table, ...]:
    """A table of the metrics of each workload, with its rate, and one of its phases, if it has any."""
    made: list[Table] = []
    for name in dict.fromkeys(m.case.workload for m in measured):
        cases = [m for m in measured if m.case.workload == name and m.summary.metrics]
        for kind, phase in (("metrics", False), ("phases", True)):
            names = _names(cases, phase)
            if names:
                made.append(_table(kind, name, cases, names, phase))
    return tuple(made)


def metrics_table(measured: Sequence[Measured]) -> Table:
    """A row for each metric and phase of each case, and one for its rate; `row_count` is their number."""
    rows = tuple(
        (name, quantity(value.value, unit), interval(value, unit) if _has_interval(value) else "")
        for m in measured
        for name, value, unit in _rows(m)
    )
    return Table("metrics", "Metrics", ("metric", "typical", "95% interval"), rows, numeric=(1, 2))


def row_count(measured: Measured) -> int:
    """The number of rows of a case in `metrics_table`."""
    return len(list(_rows(measured)))


def _rows(m: Measured) -> Iterator[tuple[str, Estimate, str]]:
    """Name, value and unit."""
    for name, metric in m.summary.metrics.items():
        yield _head(name, metric), metric.typical, metric.unit
        if name == OPERATIONS and (operation_rate := rate(m.summary)) is not None:
            yield "rate", operation_rate, RATE


def rate(summary: Summary) -> Estimate | None:
    """Operations per second of a workload that counts its operations, with the interval of its time; None for
    others."""
    count, time = summary.metrics.get(OPERATIONS), summary.typical
    if count is None or not count.typical.value or not time.value:
        return None
    return rate_of(count.typical.value, time)


def _names(cases: Sequence[Measured], phase: bool) -> list[str]:
    names = (name for m in cases for name, metric in m.summary.metrics.items() if metric.phase == phase)
    return list(dict.fromkeys(names))


def _table(kind: str, workload: str, cases: Sequence[Measured], names: Sequence[str], phase: bool) -> Table:
    heads = [
        _head(name, next(m.summary.metrics[name] for m in cases if name in m.summary.metrics))
        for name in names
    ]
    rated = not phase and OPERATIONS in names
    rows = tuple(
        (
            typed_line(m),
            *([quantity(m.summary.typical.value, "s")] if phase else []),
            *([_rate_cell(m)] if rated else []),
            *(_cell(m, n, phase) for n in names),
        )
        for m in cases
    )
    columns = ("case", *(["time"] if phase else []), *(["rate"] if rated else []), *heads)
    return Table(
        name=kind,
        title=f"{'Phases' if phase else 'Metrics'} of {workload}",
        columns=columns,
        rows=rows,
        numeric=tuple(range(1, len(columns))),
        caption="Shares of phases are relative to the operation's time." if phase else "",
    )


def _head(name: str, metric: MetricSummary) -> str:
    return f"{name} ({COMBINED.get(metric.over_ranks, metric.over_ranks)})"


def _rate_cell(m: Measured) -> str:
    operation_rate = rate(m.summary)
    return "" if operation_rate is None else _value(operation_rate, RATE)


def _cell(m: Measured, name: str, phase: bool) -> str:
    metric = m.summary.metrics.get(name)
    if metric is None:
        return ""
    if not phase:
        return _value(metric.typical, metric.unit)
    total_s = m.summary.typical.value
    share = f", {percent(metric.typical.value / total_s)}" if total_s else ""
    return quantity(metric.typical.value, metric.unit) + share


def _value(estimate: Estimate, unit: str) -> str:
    return with_interval(estimate, unit) if _has_interval(estimate) else quantity(estimate.value, unit)


def _has_interval(estimate: Estimate) -> bool:
    return estimate.low is not None or estimate.high is not None
