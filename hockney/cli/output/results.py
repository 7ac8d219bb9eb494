# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Output of the results of a run on stdout: headline, cases, fitted models and warnings for people, a
document for programs."""

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
from hockney.core.errors import join_sentences, printable
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
    """Print the headline, the key results and the study's tables, or for ad-hoc cases a table of their costs,
    metrics and fits, followed by warnings and the path of the report. With `columns`, every study has a table
    of the cases."""
    is_ad_hoc = run.settings.study == AD_HOC_STUDY
    for sentence in headline_premises(run.evidence) if is_ad_hoc and run.summaries else run.page.headline:
        print_line(sentence)
    if run.page.results is not None:
        echo()
        print_table(run.page.results)
    for table in studies.find_study(run.settings.study).summary(run.evidence):
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
    if missing_count := run.evidence.missing_count:
        planned_count = plural(run.evidence.planned_count, "planned measurement")
        print_line(missing_measurements(f"{missing_count} of {planned_count}", run.path))
    if fits and not is_ad_hoc:
        print_unwrapped(f"fits: hockney models {run.path}")
    print_unwrapped(f"report: {run.folder.report_path}")


def print_document(
    run: Run, notices: Sequence[Notice] = (), extra_fields: Mapping[str, object] = NO_FIELDS
) -> None:
    """Print a run as a document. `notices` are those of measuring, which are otherwise on stderr.
    `extra_fields` follow the common fields."""
    print_json(
        {
            "run": printable(str(run.path)),
            "report": printable(str(run.folder.report_path)),
            "label": run.settings.label,
            "machine": run.machine,
            "headline": run.page.headline,
            "doubts": run.caveats,
            "notices": notices,
            **studies.answer_document(studies.find_study(run.settings.study), run.evidence),
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
    """Print all cases of the run with the usual or the selected columns."""
    summaries = cases_in_order(run)
    if not summaries:
        return
    parameters = _parameters(summaries)
    varying_names = [name for name in parameters if _varies(name, summaries)]
    for line in _constant_parameters(summaries, varying_names):
        print_line(line, hang="  ")
    echo()
    is_exact = run.machine.is_exact and run.machine.traits.simulated
    keys = max(1, len(_key_columns(summaries, varying_names)))
    if columns:
        print_table(_case_table(summaries, varying_names, columns, is_exact), keys, keep_columns=True)
    else:
        extra_columns = placement_columns([summary for summary in summaries if not summary.case.is_placed])
        _print_usual_columns(
            lambda usual_columns: _case_table(
                summaries, varying_names, [*extra_columns, *usual_columns], is_exact
            ),
            keys,
        )


def _print_usual_columns(table: Callable[[Sequence[CaseColumn]], Table], keys: int) -> None:
    """Print as many of the usual columns as fit, and name the others below the table."""
    columns = list(default_columns())
    left_out: list[str] = []
    while not fits(table(columns), keys) and len(columns) > MIN_COLUMNS:
        left_out.insert(0, columns.pop().name)
    print_table(table(columns), keys)
    if left_out:
        print_line(f"(No room for {join_words(left_out)}; see --columns.)")


def cases_in_order(run: Run) -> list[MeasuredCase]:
    """MeasuredCase cases in the requested order. A run read from its folder is ordered by workload, ranks and
    size."""
    position_of = {
        case: index for index, case in enumerate(group_by_size(run.requested, run.evidence.catalog))
    }
    return sorted(run.evidence.measured, key=lambda m: position_of.get(m.case, len(position_of)))


def _parameters(summaries: Sequence[MeasuredCase]) -> list[str]:
    """Names of all parameters: sizes first, `ranks` last."""
    sizes = [summary.workload.size for summary in summaries if summary.has_size]
    other_names = [name for summary in summaries for name, _ in summary.case.parameters]
    return list(dict.fromkeys([*sizes, "ranks", *other_names]))


def _varies(name: str, summaries: Sequence[MeasuredCase]) -> bool:
    """Whether the parameter varies among the cases of one workload. Differences between workloads are printed
    with each workload."""
    values = {
        (summary.case.workload, value)
        for summary in summaries
        if (value := _value(summary, name)) is not None
    }
    return len(values) > len({workload for workload, _ in values})


def _value(summary: MeasuredCase, name: str) -> Value | None:
    """Value of a parameter. A case without a launch setting has the default one."""
    return summary.case.get(name, DEFAULT if name == SETTING else None)


def _constant_parameters(summaries: Sequence[MeasuredCase], varying_names: Sequence[str]) -> list[str]:
    """Lines with the constant parameters of each workload."""
    lines = []
    for workload in dict.fromkeys(summary.case.workload for summary in summaries):
        case = next(summary.case for summary in summaries if summary.case.workload == workload)
        constants = [
            f"{k}={format_value(v)}" for k, v in sorted(case.values.items()) if k not in varying_names
        ]
        lines.append(" ".join([workload, *constants]))
    return lines


def _case_table(
    summaries: Sequence[MeasuredCase],
    varying_names: Sequence[str],
    columns: Sequence[CaseColumn],
    is_exact: bool,
) -> Table:
    row_headings = _key_columns(summaries, varying_names)
    rows = [
        (
            *(_parameter_cell(summary, row_heading) for row_heading in row_headings),
            *(cell_text(summary, column, is_exact) for column in columns),
        )
        for summary in summaries
    ]
    titles = (*row_headings, *(column.heading for column in columns))
    key_count = len(row_headings)
    numbers = [
        k
        for k, row_heading in enumerate(row_headings)
        if row_heading != WORKLOAD and all(_is_number(summary.case.get(row_heading)) for summary in summaries)
    ]
    numeric = (*numbers, *range(key_count, len(titles)))
    return Table("cases", "", titles, tuple(rows), numeric=numeric)


def _key_columns(summaries: Sequence[MeasuredCase], varying_names: Sequence[str]) -> list[str]:
    """Columns that distinguish the rows."""
    has_several_workloads = len({summary.case.workload for summary in summaries}) > 1
    return [*([WORKLOAD] if has_several_workloads else []), *varying_names]


def _parameter_cell(summary: MeasuredCase, parameter: str) -> str:
    """Value of a parameter as it would be typed; times have a unit."""
    if parameter == WORKLOAD:
        return summary.case.workload
    value = _value(summary, parameter)
    declaration = summary.workload.parameter(parameter)
    if value is None:
        return ""
    if declaration is not None and declaration.unit == "s" and isinstance(value, int | float):
        return quantity(value, "s")
    return format_value(value)


def _is_number(value: Value | None) -> bool:
    return value is None or isinstance(value, int | float)


def cell_text(m: MeasuredCase, column: CaseColumn, exact: bool) -> str:
    """Text of a cell. If times are `exact`, intervals are known to be empty."""
    if exact and column.name == "interval" and m.summary.typical.low is None:
        return SIMULATED_TEXT
    return column.text(m)


def print_metrics(summaries: Sequence[MeasuredCase]) -> None:
    """Print the metrics of each case, indented below it."""
    summaries = [summary for summary in summaries if summary.summary.metrics]
    if not summaries:
        return
    echo()
    print_groups(
        metrics.metrics_table(summaries),
        [Group((typed_line(summary),), metrics.row_count(summary)) for summary in summaries],
    )


def print_fits(fits: Sequence[Fit], *, reasons: bool) -> None:
    """Print the reasons for poor verdicts and refused fits; with `reasons`, also those for other verdicts."""
    print_groups(_parameter_table(fits), [_group(fit, reasons) for fit in fits])


def _parameter_table(fits: Sequence[Fit]) -> Table:
    rows = tuple(
        (
            parameter.name,
            parameter.symbol,
            quantity(parameter.estimate.value, parameter.unit),
            interval(parameter.estimate, parameter.unit),
        )
        for fit in fits
        for parameter in fit.parameters
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
    """Print caveats in the given order, most serious first; with `apart`, after an empty line. If there are
    more than MAX_WARNINGS, or several common ones, the common ones and all but the first of the others are
    printed on one line."""
    all_caveats = tuple(caveats)
    if apart and all_caveats:
        echo()
    common_caveats = [caveat for caveat in all_caveats if caveat.code in COMMON_CODES]
    is_condensed = len(all_caveats) > MAX_WARNINGS or len(common_caveats) > 1
    separate_caveats = (
        [caveat for caveat in all_caveats if caveat not in common_caveats][: MAX_WARNINGS - 1]
        if is_condensed
        else all_caveats
    )
    for caveat in separate_caveats:
        print_labelled("warning", warning_text(caveat))
    if other_caveats := [
        _first_clause(caveat.text) for caveat in all_caveats if caveat not in separate_caveats
    ]:
        print_labelled("warning", join_sentences(f"also: {'; '.join(other_caveats)}"))


def warning_text(caveat: Caveat) -> str:
    """Caveat as one line, without a label."""
    return join_sentences(caveat.text, f"affects {caveat.touches}", caveat.todo)


def missing_measurements(count: str, folder: Path) -> str:
    """Line about missing measurements. `count` is their number as text."""
    return f"missing: {count}; 'hockney resume {folder}' measures them"


def _first_clause(text: str) -> str:
    match = FIRST_CLAUSE.match(text)
    return match[0] if match else text


def group_by_size(cases: Sequence[Case], catalog: Catalog) -> list[Case]:
    """Group cases that differ only in size, in their original order."""
    blocks: dict[tuple[object, ...], list[Case]] = {}
    for case in cases:
        size = catalog.entry(case.workload).size
        other_parameters = tuple((k, v) for k, v in case.parameters if k != size)
        blocks.setdefault((case.workload, case.ranks, other_parameters), []).append(case)
    return [case for block in blocks.values() for case in block]
