# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history check: is the newest run as usual?"""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from hockney.api.history.check import Check
from hockney.api.history.history import History
from hockney.cli import messages
from hockney.cli.messages import more_cases
from hockney.cli.output.comparison_form import format_and_json
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_labelled, print_line, print_table, print_whole
from hockney.cli.output.terminal import echo
from hockney.core.errors import Exit, sentences
from hockney.history import CheckedRun, tables, wording

MOST_CASES = 20


def action(
    run: str | None,
    archive: Path | None,
    machine: str,
    label: str,
    study: str,
    since_s: float | None,
    tolerance: float,
    last: int,
    style: str,
    page: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    if as_json and style != "table":
        raise format_and_json(style)
    since = None if since_s is None else datetime.fromtimestamp(since_s, timezone.utc)
    with ProgressReporter(quiet) as reporter:
        history = History(archive, reporter)
        selected = {"machine": machine, "label": label, "study": study}
        checked = history.check(run, tolerance=tolerance, last=last, since=since, **selected)
    if as_json:
        print_json(checked.document)
    elif style == "table":
        _print(checked.checked)
    else:
        echo((checked.junit if style == "junit" else checked.markdown).rstrip("\n"))
    if page is not None:
        with reporter.doing(messages.writing_report()):
            written = checked.report(page)
        if style == "table" and not as_json:
            echo()
            print_whole(f"report: {written}")
    return exit_code(checked)


def exit_code(check: Check) -> int:
    if check.checked.fails:
        return Exit.ANSWER_IS_NO
    return Exit.INCONCLUSIVE if check.verdict in ("undecided", "unknown") else Exit.FINE


def _print(checked: CheckedRun) -> None:
    """The result first, then the run and what changed, then operations and the cases that changed."""
    print_line(wording.overall(checked))
    echo()
    print_line(wording.run(checked), hang="  ")
    if checked.changes:
        echo()
        print_table(tables.facts(checked))
    for caveat in checked.caveats:
        print_labelled("warning", sentences(caveat.text, f"affects {caveat.touches}", caveat.todo))
    echo()
    print_table(tables.operations(checked), keys=2)
    changed = [each for of in checked.operations for each in of.of("slower", "faster")]
    if changed:
        echo()
        print_table(tables.cases(changed[:MOST_CASES], "changes", ""))
    if len(changed) > MOST_CASES:
        print_line(more_cases(len(changed) - MOST_CASES))
    notes = [*wording.levels(checked), *wording.without_result(checked)]
    if notes:
        echo()
    for note in notes:
        print_line(note, hang="  ")
