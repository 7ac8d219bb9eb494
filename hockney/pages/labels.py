# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Short labels of cases, which contain only the parameters that distinguish them within the run, such as
"allgather, 4 KiB, 2 ranks"."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hockney.core.case import NODES, PLACE, Case, Value, parse_canonical
from hockney.core.catalog import Catalog
from hockney.core.wording import plural
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.pages.levels import level_phrase

FIRST_PARAMETER, LAST_PARAMETER = "algorithm", "ranks"


def case_labels(evidence: Evidence) -> Callable[[str], str]:
    """Return a function that maps the line of a case to its label among all cases of the run."""
    return evidence.cached(_label_function)


def _label_function(evidence: Evidence) -> Callable[[str], str]:
    lines = {summary.case for summary in evidence.fits.summaries} | {
        failure.case for failure in evidence.run.failures
    }
    labels_by_line = short_labels(map(parse_canonical, sorted(lines)), evidence.catalog)
    return lambda line: labels_by_line.get(line, line)


def short_labels(cases: Iterable[Case], catalog: Catalog) -> dict[str, str]:
    """Return the labels by case line. They omit parameters with the same value in all cases of a workload,
    except the size."""
    by_workload: dict[str, list[Case]] = {}
    for case in cases:
        by_workload.setdefault(case.workload, []).append(case)
    labels_by_line: dict[str, str] = {}
    for workload_cases in by_workload.values():
        names = sorted(
            {name for case in workload_cases for name in case.values},
            key=lambda n: (n == NODES, n == LAST_PARAMETER, n != FIRST_PARAMETER, n),
        )
        size = catalog.entry(workload_cases[0].workload).size
        varying = [
            name for name in names if name == size or len({case.get(name) for case in workload_cases}) > 1
        ]
        workload_labels = {case.line: _label(case, varying, catalog) for case in workload_cases}
        are_unique = len(set(workload_labels.values())) == len(workload_labels)
        labels_by_line |= workload_labels if are_unique else {case.line: case.line for case in workload_cases}
    return labels_by_line


def _label(case: Case, varying: Iterable[str], catalog: Catalog) -> str:
    values = [
        _value_text(case, name, value, catalog) for name in varying if (value := case.get(name)) is not None
    ]
    return ", ".join([case.workload, *values])


def _value_text(case: Case, name: str, value: Value, catalog: Catalog) -> str:
    if name == PLACE:
        return level_phrase(str(value))
    if name == NODES:
        return f"on {plural(case.nodes, 'node')}"
    if isinstance(value, str):
        return value
    if name == LAST_PARAMETER:
        return f"{value} ranks" if value != 1 else "1 rank"
    workload = catalog.entry(case.workload)
    if name == workload.size:
        return _exact_quantity(value, workload.size_unit) if workload.size_unit else f"{name} {value:g}"
    parameter = workload.parameter(name)
    unit = parameter.unit if parameter is not None else ""
    return f"{name} {_exact_quantity(value, unit)}"


def _exact_quantity(value: float, unit: str) -> str:
    """Return the value exactly as requested: 40000 B instead of 39.06 KiB."""
    if unit == "B":
        return quantity(value, unit) if value % 1024 == 0 else f"{value:.15g} B"
    return quantity(value, unit) if unit == "s" else format(value, "g")
