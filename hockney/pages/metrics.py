# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of what workloads report besides their times: metrics, and the phases that a time is made of."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.fit import Estimate, MetricSummary
from hockney.draw.page import Table
from hockney.pages.evidence import Measured
from hockney.pages.format import percent, quantity, told

COMBINED = {"each": "largest of the ranks", "root": "at the root"}


def tables(measured: Sequence[Measured]) -> tuple[Table, ...]:
    """For each workload one table of its metrics and one of its phases, where it has some."""
    made: list[Table] = []
    for name in dict.fromkeys(m.case.workload for m in measured):
        cases = [m for m in measured if m.case.workload == name and m.summary.metrics]
        for kind, phase in (("metrics", False), ("phases", True)):
            names = _names(cases, phase)
            if names:
                made.append(_table(kind, name, cases, names, phase))
    return tuple(made)


def _names(cases: Sequence[Measured], phase: bool) -> list[str]:
    found = (name for m in cases for name, metric in m.summary.metrics.items() if metric.phase == phase)
    return list(dict.fromkeys(found))


def _table(kind: str, workload: str, cases: Sequence[Measured], names: Sequence[str], phase: bool) -> Table:
    heads = [
        _head(name, next(m.summary.metrics[name] for m in cases if name in m.summary.metrics))
        for name in names
    ]
    rows = tuple(
        (
            m.case.line,
            *([quantity(m.summary.typical.value, "s")] if phase else []),
            *(_cell(m, n, phase) for n in names),
        )
        for m in cases
    )
    columns = ("case", *(["time"] if phase else []), *heads)
    return Table(
        name=kind,
        title=f"{'Phases' if phase else 'Metrics'} of {workload}",
        columns=columns,
        rows=rows,
        numeric=tuple(range(1, len(columns))),
        caption="A phase's share is of the operation's time." if phase else "",
    )


def _head(name: str, metric: MetricSummary) -> str:
    return f"{name} ({COMBINED.get(metric.over_ranks, metric.over_ranks)})"


def _cell(m: Measured, name: str, phase: bool) -> str:
    metric = m.summary.metrics.get(name)
    if metric is None:
        return ""
    if not phase:
        return _value(metric.typical, metric.unit)
    whole = m.summary.typical.value
    share = f", {percent(metric.typical.value / whole)}" if whole else ""
    return quantity(metric.typical.value, metric.unit) + share


def _value(estimate: Estimate, unit: str) -> str:
    known = estimate.low is not None or estimate.high is not None
    return told(estimate, unit) if known else quantity(estimate.value, unit)
