# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The columns available for a table of cases, by name; docs/columns.md defines them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hockney.core.errors import unknown
from hockney.core.fit import Summary
from hockney.pages.columns import COUNT_FORMAT, INTERVAL_HEADING, Column, Format, unit_format
from hockney.pages.evidence import MeasuredCase
from hockney.pages.format import bandwidth, format_range_width, format_scatter, format_share, interval
from hockney.pages.undisturbed import differing_undisturbed


@dataclass(frozen=True, kw_only=True)
class CaseColumn(Column[MeasuredCase]):
    """A column of a table of cases. `key` is the name by which users select it, `unit` the unit of its
    numbers."""

    unit: str = ""

    @property
    def name(self) -> str:
        return self.key

    def text(self, m: MeasuredCase) -> str:
        return self.cells(m)[0]

    def number(self, m: MeasuredCase) -> float | None:
        """Return the value in `unit`, or None if the column's values are not numbers."""
        value = self.value(m)
        return value if isinstance(value, int | float) else None


def _quantity(
    name: str, unit: str, value: Callable[[MeasuredCase], float | None], missing: str = ""
) -> CaseColumn:
    return CaseColumn(name, value, unit_format(unit), name, missing=missing, unit=unit)


def _time(name: str, value: Callable[[Summary], float | None]) -> CaseColumn:
    return _quantity(name, "s", lambda m: value(m.summary))


def _share(
    name: str,
    value: Callable[[Summary], float | None],
    format_text: Callable[[float], str] = format_share,
    missing: str = "",
) -> CaseColumn:
    """Return a column of shares, or of other numbers relative to 1."""
    return CaseColumn(name, lambda m: value(m.summary), Format(format_text), name, missing=missing, unit="1")


def _count(name: str, value: Callable[[Summary], int | None], missing: str = "") -> CaseColumn:
    return CaseColumn(name, lambda m: value(m.summary), COUNT_FORMAT, name, missing=missing)


def _bandwidth(m: MeasuredCase) -> float | None:
    return bandwidth(m).value if m.summary.bytes_moved else None


def _undisturbed(summary: Summary) -> float | None:
    undisturbed = differing_undisturbed(summary)
    return None if undisturbed is None else undisturbed.cost.value


def _disturbed(summary: Summary) -> float | None:
    undisturbed = differing_undisturbed(summary)
    return None if undisturbed is None else undisturbed.disturbed


COLUMNS = {
    column.name: column
    for column in (
        _time("typical", lambda s: s.typical.value),
        CaseColumn(
            INTERVAL_HEADING,
            lambda m: m.summary.typical,
            Format(lambda typical: interval(typical, "s")),
            "interval",
            unit="s",
        ),
        _time("undisturbed", _undisturbed),
        _share("disturbed", _disturbed),
        _quantity("bandwidth", "B/s", _bandwidth),
        _share("within", lambda s: s.spread_within, format_range_width, "unknown"),
        _share("between", lambda s: s.between, format_scatter),
        _count("repetitions", lambda s: s.repetitions),
        _count("visits", lambda s: s.visits),
        _count("launches", lambda s: s.launches),
        _time("min", lambda s: s.min_s),
        _time("mean", lambda s: s.mean_s),
        _time("p50", lambda s: s.p50_s),
        _time("p95", lambda s: s.p95_s),
        _time("p99", lambda s: s.p99_s),
        _time("max", lambda s: s.max_s),
        _quantity("algbw", "B/s", lambda m: m.summary.algbw_bytes_per_s, "-"),
        _quantity("busbw", "B/s", lambda m: m.summary.busbw_bytes_per_s, "-"),
        _quantity("rate", "1/s", lambda m: m.summary.rate_per_s, "-"),
        CaseColumn(
            "place",
            lambda m: m.summary.place or None,
            key="place",
            missing="-",
        ),
        _count("nodes", lambda s: s.nodes or None, "-"),
    )
}

DEFAULT_COLUMNS = (
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


def default_columns() -> Sequence[CaseColumn]:
    return [COLUMNS[name] for name in DEFAULT_COLUMNS]


def placement_columns(measured: Sequence[MeasuredCase]) -> Sequence[CaseColumn]:
    """Return the columns for place and nodes that differ among these cases without being named in the
    cases."""
    places = {m.summary.place for m in measured if m.summary.place}
    nodes = {m.summary.nodes for m in measured if m.summary.nodes}
    place_columns = [COLUMNS["place"]] if len(places) > 1 else []
    return [*place_columns, COLUMNS["nodes"]] if len(nodes) > 1 and max(nodes) > 1 else place_columns
