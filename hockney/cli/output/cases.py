# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The table of a run's cases, in the order requested. What all rows share is printed above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hockney.api import Run
from hockney.cli.output.blocks import in_blocks
from hockney.cli.output.tables import Group, fits, print_groups, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.case import SETTING, Value, format_value
from hockney.core.launch_setting import DEFAULT
from hockney.core.wording import join_words
from hockney.draw.page import Table
from hockney.pages import metrics
from hockney.pages.case_columns import CaseColumn, usual, where_columns
from hockney.pages.evidence import Measured
from hockney.pages.format import SIMULATED, quantity, typed_line

WORKLOAD = "workload"
FEWEST = 2
"""Columns that a table keeps even if the others are continued below: the time and its interval."""


def print_cases(run: Run, columns: Sequence[CaseColumn] = ()) -> None:
    """All cases of the run, with the usual columns or with those chosen."""
    measured = in_order(run)
    if not measured:
        return
    parameters = _parameters(measured)
    varying = [name for name in parameters if _varies(name, measured)]
    for line in _shared(measured, varying):
        print_line(line, hang="  ")
    echo()
    exact = run.machine.is_exact and run.machine.traits.simulated
    keys = max(1, len(_heads(measured, varying)))
    if columns:
        print_table(_table(measured, varying, columns, exact), keys, whole=True)
    else:
        where = where_columns([m for m in measured if not m.case.is_placed])
        _print_usual(lambda chosen: _table(measured, varying, [*where, *chosen], exact), keys)


def _print_usual(table: Callable[[Sequence[CaseColumn]], Table], keys: int) -> None:
    """Print as many of the usual columns as fit; the others are named below the table."""
    columns = list(usual())
    left_out: list[str] = []
    while not fits(table(columns), keys) and len(columns) > FEWEST:
        left_out.insert(0, columns.pop().name)
    print_table(table(columns), keys)
    if left_out:
        print_line(f"(No room for {join_words(left_out)}; see --columns.)")


def in_order(run: Run) -> list[Measured]:
    """The measured cases in the order in which they were asked for; a run that was read from its folder has
    them by workload, ranks and size."""
    place = {case: k for k, case in enumerate(in_blocks(run.asked, run.evidence.catalog))}
    return sorted(run.evidence.measured, key=lambda m: place.get(m.case, len(place)))


def _parameters(measured: Sequence[Measured]) -> list[str]:
    """The names of all parameters: sizes first, then the others, with `ranks` last."""
    sizes = [m.workload.size for m in measured if m.has_size]
    others = [name for m in measured for name, _ in m.case.parameters]
    return list(dict.fromkeys([*sizes, "ranks", *others]))


def _varies(name: str, measured: Sequence[Measured]) -> bool:
    """Whether the parameter varies among the cases of one workload. One that differs only between workloads
    is printed with each of them."""
    values = {(m.case.workload, value) for m in measured if (value := _value(m, name)) is not None}
    return len(values) > len({workload for workload, _ in values})


def _value(m: Measured, name: str) -> Value | None:
    """The value of a parameter; a case without a launch setting has the default one."""
    return m.case.get(name, DEFAULT if name == SETTING else None)


def _shared(measured: Sequence[Measured], varying: Sequence[str]) -> list[str]:
    """A line for each workload with the parameters that are the same in all its cases."""
    lines = []
    for workload in dict.fromkeys(m.case.workload for m in measured):
        case = next(m.case for m in measured if m.case.workload == workload)
        same = [f"{k}={format_value(v)}" for k, v in sorted(case.values.items()) if k not in varying]
        lines.append(" ".join([workload, *same]))
    return lines


def _table(
    measured: Sequence[Measured], varying: Sequence[str], columns: Sequence[CaseColumn], exact: bool
) -> Table:
    heads = _heads(measured, varying)
    rows = [
        (
            *(_named(m, head) for head in heads),
            *(shown(m, column, exact) for column in columns),
        )
        for m in measured
    ]
    titles = (*heads, *(column.heading for column in columns))
    first = len(heads)
    numbers = [
        k
        for k, head in enumerate(heads)
        if head != WORKLOAD and all(_is_number(m.case.get(head)) for m in measured)
    ]
    numeric = (*numbers, *range(first, len(titles)))
    return Table("cases", "", titles, tuple(rows), numeric=numeric)


def _heads(measured: Sequence[Measured], varying: Sequence[str]) -> list[str]:
    """The columns that distinguish the rows."""
    several = len({m.case.workload for m in measured}) > 1
    return [*([WORKLOAD] if several else []), *varying]


def _named(m: Measured, head: str) -> str:
    """A parameter's value as it would be typed, times with their unit."""
    if head == WORKLOAD:
        return m.case.workload
    value = _value(m, head)
    declared = m.workload.parameter(head)
    if value is None:
        return ""
    if declared is not None and declared.unit == "s" and isinstance(value, int | float):
        return quantity(value, "s")
    return format_value(value)


def _is_number(value: Value | None) -> bool:
    return value is None or isinstance(value, int | float)


def shown(m: Measured, column: CaseColumn, exact: bool) -> str:
    """The cell of a case; on a machine whose times are `exact` no interval is unknown."""
    if exact and column.name == "interval" and m.summary.typical.low is None:
        return SIMULATED
    return column.text(m)


def print_metrics(measured: Sequence[Measured]) -> None:
    """The metrics of each case, indented below it."""
    measured = [m for m in measured if m.summary.metrics]
    if not measured:
        return
    echo()
    print_groups(metrics.listing(measured), [Group((typed_line(m),), metrics.rows_of(m)) for m in measured])
