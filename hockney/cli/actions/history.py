# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history: what each of its verbs does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from hockney.api.judgements.history import History, Selection
from hockney.archive import ArchivedRun, Contents
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line, print_table, print_unwrapped
from hockney.cli.output.terminal import echo
from hockney.core.errors import ExitCode, printable
from hockney.core.units import format_date
from hockney.core.wording import plural
from hockney.draw.page import Table


def list_summary(shown: int, all_runs: int, path: str) -> str:
    """The line below a list of the archive's runs."""
    total_text = "" if shown == all_runs else f" of {all_runs}"
    return f"{shown}{total_text} {'run' if all_runs == 1 else 'runs'} in {printable(path)}"


def add(runs: Sequence[Path], archive: Path | None, quiet: bool, as_json: bool) -> int:
    with ProgressReporter(quiet) as reporter:
        history = History(archive, reporter)
        with reporter.show_step("adding runs to the archive"):
            added = history.add(*runs)
    if as_json:
        print_json(
            {
                "archive": str(history.path),
                "added": [
                    {
                        "run": added_run.entry.name,
                        "new": added_run.is_new,
                        "replaced": list(added_run.replaced),
                    }
                    for added_run in added
                ],
            }
        )
    else:
        for added_run in added:
            print_unwrapped(str(history.path / added_run.entry.name))
    return ExitCode.SUCCESS


def list_runs(archive: Path | None, quiet: bool, as_json: bool, **selected: Any) -> int:
    with ProgressReporter(quiet) as reporter:
        history = History(archive, reporter)
        contents = history.contents()
    selected_runs = Selection.of(**selected).select(contents.entries)
    if as_json:
        print_json(document(history.path, selected_runs, contents))
        return ExitCode.SUCCESS
    if selected_runs:
        print_table(run_table(selected_runs), keys=2)
    print_line(list_summary(len(selected_runs), len(contents.entries), str(history.path)))
    return ExitCode.SUCCESS


def show(
    case: Sequence[str], archive: Path | None, page: Path | None, quiet: bool, as_json: bool, **selected: Any
) -> int:
    from hockney.judgements import history as judged

    with ProgressReporter(quiet) as reporter:
        trends = History(archive, reporter).show(" ".join(case), **selected)
    if as_json:
        print_json(trends.document)
    else:
        shown_trends = trends.shown
        print_line(judged.history_sentence(shown_trends))
        echo()
        print_table(judged.trends_table(shown_trends), keys=1)
        for table in (judged.changes_table(shown_trends), judged.environment_table(shown_trends)):
            _print_titled(table)
        if len(shown_trends.trends) == 1:
            _print_titled(judged.runs_table(shown_trends.trends[0][1], shown_trends.labels))
    if page is not None:
        with reporter.show_step("writing the report"):
            written = trends.report(page)
        if not as_json:
            echo()
            print_unwrapped(f"report: {written}")
    return ExitCode.SUCCESS


def _print_titled(table: Table) -> None:
    if table.rows:
        echo()
        print_line(f"{table.title}:")
        print_table(table, keys=3)


def check(
    run: str | None,
    archive: Path | None,
    style: str,
    page: Path | None,
    quiet: bool,
    as_json: bool,
    **selected: Any,
) -> int:
    """Check a run. `selected` also contains the tolerance and the number of earlier runs."""
    from hockney.cli.output.judged import JudgementForm, print_judgement

    form = JudgementForm(as_json, style, page=page)
    form.check()
    with ProgressReporter(quiet) as reporter:
        check_result = History(archive, reporter).check(run, **selected)
    return print_judgement(check_result, reporter, form)


def prune(archive: Path | None, dry_run: bool, quiet: bool, as_json: bool, **rules: Any) -> int:
    with ProgressReporter(quiet) as reporter:
        removed_runs = History(archive, reporter).prune(dry_run=dry_run, **rules)
    if as_json:
        print_json({"removed": [removed_run.name for removed_run in removed_runs], "dry_run": dry_run})
        return ExitCode.SUCCESS
    if removed_runs:
        print_table(run_table(removed_runs), keys=2)
    print_line(f"{plural(len(removed_runs), 'run')} {'would be ' if dry_run else ''}removed")
    return ExitCode.SUCCESS


def reindex(archive: Path | None, quiet: bool, as_json: bool) -> int:
    with ProgressReporter(quiet) as reporter:
        history = History(archive, reporter)
        contents = history.reindex()
        for notice in contents.notices:
            reporter(notice)
    if as_json:
        print_json(document(history.path, contents.entries, contents))
    else:
        count = len(contents.entries)
        print_line(list_summary(count, count, str(history.path)))
    return ExitCode.SUCCESS


def run_table(entries: Sequence[ArchivedRun]) -> Table:
    """Table with one row per run, without empty columns."""
    columns = {
        "date (UTC)": [format_date(entry.started_s) for entry in entries],
        "run": [entry.name for entry in entries],
        "machine": [entry.machine for entry in entries],
        "MPI": [entry.mpi for entry in entries],
        "study": [entry.study for entry in entries],
        "label": [entry.label for entry in entries],
        "cases": [str(entry.cases) for entry in entries],
        "launches": [str(entry.launches) for entry in entries],
        "failures": [str(entry.failures or "") for entry in entries],
        "missing": [str(entry.left or "") for entry in entries],
    }
    shown_columns = {title: cells for title, cells in columns.items() if any(cells)}
    numeric = [
        k for k, title in enumerate(shown_columns) if title in ("cases", "launches", "failures", "missing")
    ]
    return Table(
        "runs", "Runs", tuple(shown_columns), tuple(zip(*shown_columns.values(), strict=True)), tuple(numeric)
    )


def document(path: Path, selected_runs: Sequence[ArchivedRun], contents: Contents) -> dict[str, Any]:
    """Document with the selected runs and the damaged ones."""
    parts = {"runs": selected_runs, "damaged": contents.damaged, "future": contents.future}
    listed_runs = {
        name: [msgspec.structs.asdict(entry) for entry in entries] for name, entries in parts.items()
    }
    return {"archive": str(path), **listed_runs}
