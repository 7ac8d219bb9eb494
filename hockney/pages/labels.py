# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Short labels of cases by what distinguishes them within the run: "allgather, 4 KiB, 2 ranks", not every
parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hockney.core.case import NODES, PLACE, Case, Value, parse_canonical
from hockney.core.catalog import Catalog
from hockney.core.wording import plural
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.pages.levels import place_words

FIRST, LAST = "algorithm", "ranks"


def labels(evidence: Evidence) -> Callable[[str], str]:
    """The function from a case's line to its label among all cases of the run."""
    return evidence.cached(_labels)


def _labels(evidence: Evidence) -> Callable[[str], str]:
    lines = {s.case for s in evidence.fits.summaries} | {f.case for f in evidence.run.failures}
    named = short_labels(map(parse_canonical, sorted(lines)), evidence.catalog)
    return lambda line: named.get(line, line)


def short_labels(cases: Iterable[Case], catalog: Catalog) -> dict[str, str]:
    """The labels, by line. A parameter that all cases of a workload share is left out, except for its
    size."""
    by_workload: dict[str, list[Case]] = {}
    for case in cases:
        by_workload.setdefault(case.workload, []).append(case)
    named: dict[str, str] = {}
    for group in by_workload.values():
        names = sorted(
            {name for case in group for name in case.values},
            key=lambda n: (n == NODES, n == LAST, n != FIRST, n),
        )
        size = catalog.entry(group[0].workload).size
        varying = [name for name in names if name == size or len({case.get(name) for case in group}) > 1]
        labels = {case.line: _label(case, varying, catalog) for case in group}
        unique = len(set(labels.values())) == len(labels)
        named |= labels if unique else {case.line: case.line for case in group}
    return named


def _label(case: Case, varying: Iterable[str], catalog: Catalog) -> str:
    words = [_value(case, name, value, catalog) for name in varying if (value := case.get(name)) is not None]
    return ", ".join([case.workload, *words])


def _value(case: Case, name: str, value: Value, catalog: Catalog) -> str:
    if name == PLACE:
        return place_words(str(value))
    if name == NODES:
        return f"on {plural(case.nodes, 'node')}"
    if isinstance(value, str):
        return value
    if name == LAST:
        return f"{value} ranks" if value != 1 else "1 rank"
    workload = catalog.entry(case.workload)
    if name == workload.size:
        return _exact(value, workload.size_unit) if workload.size_unit else f"{name} {value:g}"
    parameter = workload.parameter(name)
    unit = parameter.unit if parameter is not None else ""
    return f"{name} {_exact(value, unit)}"


def _exact(value: float, unit: str) -> str:
    """The value as requested: 40000 B and not 39.06 KiB."""
    if unit == "B":
        return quantity(value, unit) if value % 1024 == 0 else f"{value:.15g} B"
    return quantity(value, unit) if unit == "s" else format(value, "g")
