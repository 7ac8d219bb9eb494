# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The results of a run on stdout: headline, cases, fitted models and warnings for people, one document for
programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from hockney import studies
from hockney.api import Run
from hockney.cli.output.tables import (
    Group,
    fits,
    print_groups,
    print_json,
    print_labelled,
    print_line,
    print_table,
    print_unwrapped,
)
from hockney.cli.output.terminal import echo
from hockney.core.case import SETTING, Case, Value, format_value
from hockney.core.catalog import Catalog
from hockney.core.errors import printable, sentences
from hockney.core.fit import Fit
from hockney.core.launch_setting import DEFAULT
from hockney.core.notice import Notice
from hockney.core.units import format_percent
from hockney.core.wording import join_words, plural
from hockney.draw.page import Caveat, Table
from hockney.pages import metrics
from hockney.pages.case_columns import CaseColumn, default_columns, placement_columns
from hockney.pages.caveats import headline_premises
from hockney.pages.evidence import MeasuredCase
from hockney.pages.format import SIMULATED_TEXT, interval, quantity, typed_line
from hockney.pages.quality import select_fits

if TYPE_CHECKING:
    from hockney.api import Run

AD_HOC_STUDY = "cases"
"""The study of cases as they were typed."""
NO_FIELDS: Mapping[str, object] = MappingProxyType({})


def print_summary(run: Run, columns: Sequence[CaseColumn] = ()) -> None:
    """The headline, the key results and the study's tables; for typed cases the premises, a table of their
    costs, their metrics and fits; then warnings, and where the rest is. With `columns` there is a table of
    the cases for every study."""
    is_ad_hoc = run.settings.study == AD_HOC_STUDY
    for sentence in headline_premises(run.evidence) if is_ad_hoc and run.summaries else run.page.headline:
        print_line(sentence)
    if run.page.results is not None:
        echo()
        print_table(run.page.results)
    for table in studies.study(run.settings.study).summary(run.evidence):
        echo()
        print_line(table.title)
        print_table(table)
    if columns and not is_ad_hoc:
        echo()
    if columns or is_ad_hoc:
        print_cases(run, columns)
    if is_ad_hoc:
        print_metrics(run.evidence.measured)
    fits = [fit for fit in select_fits(run.fits.fits) if fit.parameters]
    if fits and is_ad_hoc:
        echo()
        print_fits(fits, reasons=False)
    print_caveats((caveat for caveat in run.caveats if caveat.code != "incomplete"), apart=True)
    echo()
    if left := run.evidence.missing_count:
        planned = plural(run.evidence.planned_count, "planned measurement")
        print_line(missing_measurements(f"{left} of {planned}", run.path))
    if fits and not is_ad_hoc:
        print_unwrapped(f"fits: hockney models {run.path}")
    print_unwrapped(f"report: {run.folder.report_path}")


def print_document(
    run: Run, notices: Sequence[Notice] = (), extra_fields: Mapping[str, object] = NO_FIELDS
) -> None:
    """`notices` are those of measuring, which people read on stderr; `extra_fields` follows what every run
    has."""
    print_json(
        {
            "run": printable(str(run.path)),
            "report": printable(str(run.folder.report_path)),
            "label": run.settings.label,
            "machine": run.machine,
            "headline": run.page.headline,
            "doubts": run.caveats,
            "notices": notices,
            **studies.answer(studies.study(run.settings.study), run.evidence),
            "outcome": run.outcome,
            "summaries": run.summaries,
            "fits": run.fits.fits,
            **extra_fields,
        }
    )


WORKLOAD = "workload"
MIN_COLUMNS = 2
"""Columns that a table keeps even if the others are continued below: the time and its interval."""


def print_cases(run: Run, columns: Sequence[CaseColumn] = ()) -> None:
    """All cases of the run, with the usual columns or with those chosen."""
    measured = cases_in_order(run)
    if not measured:
        return
    parameters = _parameters(measured)
    varying = [name for name in parameters if _varies(name, measured)]
    for line in _constant_parameters(measured, varying):
        print_line(line, hang="  ")
    echo()
    exact = run.machine.is_exact and run.machine.traits.simulated
    keys = max(1, len(_key_columns(measured, varying)))
    if columns:
        print_table(_case_table(measured, varying, columns, exact), keys, keep_columns=True)
    else:
        where = placement_columns([m for m in measured if not m.case.is_placed])
        _print_usual_columns(
            lambda usual_columns: _case_table(measured, varying, [*where, *usual_columns], exact), keys
        )


def _print_usual_columns(table: Callable[[Sequence[CaseColumn]], Table], keys: int) -> None:
    """Print as many of the usual columns as fit; the others are named below the table."""
    columns = list(default_columns())
    left_out: list[str] = []
    while not fits(table(columns), keys) and len(columns) > MIN_COLUMNS:
        left_out.insert(0, columns.pop().name)
    print_table(table(columns), keys)
    if left_out:
        print_line(f"(No room for {join_words(left_out)}; see --columns.)")


def cases_in_order(run: Run) -> list[MeasuredCase]:
    """The measured cases in the order in which they were asked for; a run that was read from its folder has
    them by workload, ranks and size."""
    position = {case: k for k, case in enumerate(group_by_size(run.requested, run.evidence.catalog))}
    return sorted(run.evidence.measured, key=lambda m: position.get(m.case, len(position)))


def _parameters(measured: Sequence[MeasuredCase]) -> list[str]:
    """The names of all parameters: sizes first, then the others, with `ranks` last."""
    sizes = [m.workload.size for m in measured if m.has_size]
    others = [name for m in measured for name, _ in m.case.parameters]
    return list(dict.fromkeys([*sizes, "ranks", *others]))


def _varies(name: str, measured: Sequence[MeasuredCase]) -> bool:
    """Whether the parameter varies among the cases of one workload. One that differs only between workloads
    is printed with each of them."""
    values = {(m.case.workload, value) for m in measured if (value := _value(m, name)) is not None}
    return len(values) > len({workload for workload, _ in values})


def _value(m: MeasuredCase, name: str) -> Value | None:
    """The value of a parameter; a case without a launch setting has the default one."""
    return m.case.get(name, DEFAULT if name == SETTING else None)


def _constant_parameters(measured: Sequence[MeasuredCase], varying: Sequence[str]) -> list[str]:
    """A line for each workload with the parameters that are the same in all its cases."""
    lines = []
    for workload in dict.fromkeys(m.case.workload for m in measured):
        case = next(m.case for m in measured if m.case.workload == workload)
        same = [f"{k}={format_value(v)}" for k, v in sorted(case.values.items()) if k not in varying]
        lines.append(" ".join([workload, *same]))
    return lines


def _case_table(
    measured: Sequence[MeasuredCase], varying: Sequence[str], columns: Sequence[CaseColumn], exact: bool
) -> Table:
    heads = _key_columns(measured, varying)
    rows = [
        (
            *(_parameter_cell(m, head) for head in heads),
            *(cell_text(m, column, exact) for column in columns),
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


def _key_columns(measured: Sequence[MeasuredCase], varying: Sequence[str]) -> list[str]:
    """The columns that distinguish the rows."""
    several = len({m.case.workload for m in measured}) > 1
    return [*([WORKLOAD] if several else []), *varying]


def _parameter_cell(m: MeasuredCase, head: str) -> str:
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


def cell_text(m: MeasuredCase, column: CaseColumn, exact: bool) -> str:
    """The cell of a case; on a machine whose times are `exact` no interval is unknown."""
    if exact and column.name == "interval" and m.summary.typical.low is None:
        return SIMULATED_TEXT
    return column.text(m)


def print_metrics(measured: Sequence[MeasuredCase]) -> None:
    """The metrics of each case, indented below it."""
    measured = [m for m in measured if m.summary.metrics]
    if not measured:
        return
    echo()
    print_groups(
        metrics.metrics_table(measured), [Group((typed_line(m),), metrics.row_count(m)) for m in measured]
    )


def print_fits(fits: Sequence[Fit], *, reasons: bool) -> None:
    """Print why a verdict is poor or a fit refused; with `reasons`, what the other verdicts are based on."""
    print_groups(_parameter_table(fits), [_group(fit, reasons) for fit in fits])


def _parameter_table(fits: Sequence[Fit]) -> Table:
    rows = tuple(
        (p.name, p.symbol, quantity(p.estimate.value, p.unit), interval(p.estimate, p.unit))
        for fit in fits
        for p in fit.parameters
    )
    return Table("parameters", "", ("parameter", "symbol", "value", "95% interval"), rows, numeric=(2, 3))


def _group(fit: Fit, reasons: bool) -> Group:
    lines = [f"{fit.model}, {fit.line}: {fit.verdict}"]
    if fit.why and fit.verdict in ("poor", "refused"):
        lines.append(fit.why)
    elif reasons and fit.error is not None and fit.worst is not None:
        lines.append(
            f"off by {format_percent(fit.error, 2)} in the median and {format_percent(fit.worst, 2)} at worst"
        )
    if fit.two_modes is not None and fit.verdict != "poor":  # the reasons of which include all caveats
        lines.append(fit.two_modes.text)
    return Group(tuple(lines), len(fit.parameters), fit.verdict)


MAX_WARNINGS = 3
"""Warnings on a screen; the report has all of them."""
COMMON_CODES = ("virtual", "precision", "governor")
"""Codes of caveats that most runs have."""
FIRST_CLAUSE = re.compile(r"[^:;(]*[^:;(\s]")


def print_caveats(caveats: Iterable[Caveat], *, apart: bool = False) -> None:
    """Print caveats in the given order, the most serious first; `apart`: after an empty line. If there are
    more than MAX_WARNINGS, or several that most runs have, the latter and all but the first of the others
    share one line."""
    all_caveats = tuple(caveats)
    if apart and all_caveats:
        echo()
    common = [caveat for caveat in all_caveats if caveat.code in COMMON_CODES]
    condensed = len(all_caveats) > MAX_WARNINGS or len(common) > 1
    separate = (
        [caveat for caveat in all_caveats if caveat not in common][: MAX_WARNINGS - 1]
        if condensed
        else all_caveats
    )
    for caveat in separate:
        print_labelled("warning", warning_text(caveat))
    if rest := [_first_clause(caveat.text) for caveat in all_caveats if caveat not in separate]:
        print_labelled("warning", sentences(f"also: {'; '.join(rest)}"))


def warning_text(caveat: Caveat) -> str:
    """A caveat as one line, without a label."""
    return sentences(caveat.text, f"affects {caveat.touches}", caveat.todo)


def missing_measurements(count: str, folder: Path) -> str:
    """The line about missing measurements; `count` is their number, as text."""
    return f"missing: {count}; 'hockney resume {folder}' measures them"


def _first_clause(text: str) -> str:
    match = FIRST_CLAUSE.match(text)
    return match[0] if match else text


def group_by_size(cases: Sequence[Case], catalog: Catalog) -> list[Case]:
    """The cases in their order, but together those that differ in their size only."""
    blocks: dict[tuple[object, ...], list[Case]] = {}
    for case in cases:
        size = catalog.entry(case.workload).size
        rest = tuple((k, v) for k, v in case.parameters if k != size)
        blocks.setdefault((case.workload, case.ranks, rest), []).append(case)
    return [case for block in blocks.values() for case in block]
