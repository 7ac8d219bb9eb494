# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The columns available for a table of cases, by name; docs/columns.md defines them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hockney.core.errors import unknown
from hockney.core.fit import Summary
from hockney.pages.evidence import Measured
from hockney.pages.format import bandwidth, interval, percent, quantity, range_width, scatter
from hockney.pages.undisturbed import differing


@dataclass(frozen=True)
class CaseColumn:
    """`text` is the cell of a case; `number` is the value in `unit`, for columns that have one."""

    name: str
    title: str
    unit: str
    help: str
    text: Callable[[Measured], str]
    number: Callable[[Measured], float | None]


def _of_number(
    name: str, unit: str, help: str, get: Callable[[Measured], float | None], missing: str = ""
) -> CaseColumn:
    """`missing` is the text of a case without this number."""

    def text(m: Measured) -> str:
        value = get(m)
        return missing if value is None else quantity(value, unit)

    return CaseColumn(name, name, unit, help, text, get)


def _time(name: str, help: str, get: Callable[[Summary], float | None]) -> CaseColumn:
    return _of_number(name, "s", help, lambda m: get(m.summary))


def _share(name: str, help: str, get: Callable[[Summary], float | None]) -> CaseColumn:
    def text(m: Measured) -> str:
        value = get(m.summary)
        return "" if value is None else percent(value)

    return CaseColumn(name, name, "1", help, text, lambda m: get(m.summary))


def _count(name: str, help: str, get: Callable[[Summary], int]) -> CaseColumn:
    return CaseColumn(name, name, "", help, lambda m: str(get(m.summary)), lambda m: get(m.summary))


def _moved(m: Measured) -> float | None:
    return bandwidth(m).value if m.summary.bytes_moved else None


def _undisturbed(summary: Summary) -> float | None:
    found = differing(summary)
    return None if found is None else found.cost.value


def _disturbed(summary: Summary) -> float | None:
    found = differing(summary)
    return None if found is None else found.disturbed


COLUMNS = {
    column.name: column
    for column in (
        _time("typical", "typical time", lambda s: s.typical.value),
        CaseColumn(
            "interval",
            "95% interval",
            "s",
            "95% interval of the typical time",
            lambda m: interval(m.summary.typical, "s"),
            lambda m: None,
        ),
        _time("undisturbed", "cost in the fastest mode, where the typical one differs", _undisturbed),
        _share("disturbed", "share of the visits that were slower than that", _disturbed),
        _of_number("bandwidth", "B/s", "payload over typical time", _moved),
        CaseColumn(
            "within",
            "within",
            "1",
            "spread within a launch",
            lambda m: range_width(m.summary.spread_within),
            lambda m: m.summary.spread_within,
        ),
        CaseColumn(
            "between",
            "between",
            "1",
            "spread between launches",
            lambda m: "" if m.summary.between is None else scatter(m.summary.between),
            lambda m: m.summary.between,
        ),
        _count("repetitions", "repetitions used in the statistics", lambda s: s.repetitions),
        _count("visits", "moments at which the case was measured", lambda s: s.visits),
        _count("launches", "launches used in the statistics", lambda s: s.launches),
        _time("min", "fastest repetition", lambda s: s.min_s),
        _time("mean", "mean over all operations", lambda s: s.mean_s),
        _time("p50", "median of the repetitions", lambda s: s.p50_s),
        _time("p95", "95% of the repetitions are faster", lambda s: s.p95_s),
        _time("p99", "99% of the repetitions are faster", lambda s: s.p99_s),
        _time("max", "slowest repetition", lambda s: s.max_s),
        _of_number(
            "algbw", "B/s", "algorithm bandwidth of nccl-tests", lambda m: m.summary.algbw_bytes_per_s, "-"
        ),
        _of_number("busbw", "B/s", "bus bandwidth of nccl-tests", lambda m: m.summary.busbw_bytes_per_s, "-"),
        _of_number("rate", "1/s", "messages per second", lambda m: m.summary.rate_per_s, "-"),
        CaseColumn(
            "place",
            "place",
            "",
            "level at which the ranks of each pair met",
            lambda m: m.summary.place or "-",
            lambda m: None,
        ),
        CaseColumn(
            "nodes",
            "nodes",
            "",
            "nodes on which the ranks were",
            lambda m: str(m.summary.nodes or "-"),
            lambda m: m.summary.nodes or None,
        ),
    )
}

USUAL = (
    "typical",
    "interval",
    "bandwidth",
    "undisturbed",
    "disturbed",
    "within",
    "between",
    "repetitions",
)
"""The default columns of a table of cases."""


def parse_columns(text: str) -> tuple[CaseColumn, ...]:
    """Parse columns such as "min,p99,busbw". Raises UsageError for a name that is not in COLUMNS."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in COLUMNS:
            raise unknown("column", name, COLUMNS)
    return tuple(COLUMNS[name] for name in dict.fromkeys(names))


def usual() -> Sequence[CaseColumn]:
    return [COLUMNS[name] for name in USUAL]


def where_columns(measured: Sequence[Measured]) -> Sequence[CaseColumn]:
    """The place and the nodes, if they differ among these cases without naming them in the case."""
    places = {m.summary.place for m in measured if m.summary.place}
    nodes = {m.summary.nodes for m in measured if m.summary.nodes}
    found = [COLUMNS["place"]] if len(places) > 1 else []
    return [*found, COLUMNS["nodes"]] if len(nodes) > 1 and max(nodes) > 1 else found
