# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run: a study by name, or individual cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import api, measurement, studies
from hockney.api import RunOptions
from hockney.cli.arguments import checking
from hockney.cli.arguments.batch import take_batch_options
from hockney.cli.output.answer import AnswerForm, measure_and_print
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_table
from hockney.cli.output.terminal import echo
from hockney.core.catalog import Catalog, Workload
from hockney.draw.page import Table

if TYPE_CHECKING:
    from hockney.pages.case_columns import CaseColumn


def action(
    words: tuple[str, ...],
    show: bool,
    like: tuple[str, ...],
    out: Path | None,
    columns: tuple[CaseColumn, ...],
    style: str,
    full: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> int:
    if show:
        machine, mpi, bind = given["machine"], given["mpi"], given["bind"]
        _list(measurement.prepare(machine, mpi, bind, ProgressReporter(quiet).say).catalog, as_json)
        return 0
    if like:
        from hockney.cli.arguments.options import like_cases

        words = like_cases(like, words, bool(given["sizes"]), ProgressReporter(quiet).say)
    return answer(words, given, out, quiet, AnswerForm(as_json, columns, style, full), force=given["force"])


def answer(
    words: Sequence[str],
    given: dict[str, Any],
    out: Path | None,
    quiet: bool,
    form: AnswerForm,
    *,
    force: bool,
    cases_of_baseline: bool = False,
) -> int:
    """Measure the question in `words`, in a job if requested, and print the answer or the comparison with a
    baseline. With `cases_of_baseline`, the baseline determines the cases. Returns the exit code."""
    batch_options, dry_run, wait = take_batch_options(given)
    other_options = {"--submit": batch_options is not None, f"--format {form.style}": form.style != "table"}
    check_options = checking.take_check_options(given, force=force, other_options=other_options)
    question, options = api.parse_question(words), RunOptions(**given)
    if batch_options is not None:
        from hockney.cli.output.answer import submit_and_print

        return submit_and_print(question, options, batch_options, out, quiet, form, dry_run, wait)
    if check_options is not None:
        from hockney.cli.output.judged import check_and_print

        form.check(question)
        return check_and_print(
            None if cases_of_baseline else question, options, check_options, out, quiet, form
        )
    return measure_and_print(question, options, out, quiet, form)


def _list(catalog: Catalog, as_json: bool) -> None:
    shelf = {name: study_.HELP for name, study_ in studies.all_studies().items()}
    workload_names = {workload.name for workload in catalog.workloads}
    other_workloads = {
        group: names
        for group, names in measurement.other_groups().items()
        if not workload_names.issuperset(names)
    }
    workloads_by_name = {
        workload.name: workload for group in measurement.bundled_groups() for workload in group.workloads
    }
    if as_json:
        listed_names = [
            workloads_by_name[name]
            for names in other_workloads.values()
            for name in names
            if name in workloads_by_name
        ]
        print_json(
            {"studies": shelf, "workloads": [*catalog.workloads, *listed_names], "groups": other_workloads}
        )
        return
    print_table(Table("studies", "", ("study", "purpose"), tuple(shelf.items())))
    columns = ("workload", "parameters with defaults", "what is measured")
    echo()
    print_table(Table("workloads", "", columns, tuple(map(_row, catalog.workloads))))
    for group, names in other_workloads.items():
        rows = tuple(
            _row(workloads_by_name[name]) if name in workloads_by_name else (name, "", "") for name in names
        )
        echo(f"\ncompiled into {group} when first run:")
        print_table(Table(group, "", columns, rows))


def _row(workload: Workload) -> tuple[str, str, str]:
    return (
        workload.name,
        " ".join(f"{parameter.name}={parameter.default}" for parameter in workload.parameters),
        workload.help,
    )
