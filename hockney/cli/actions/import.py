# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney import: the output of other benchmarks as runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney import api
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_unwrapped
from hockney.core.wording import plural


def action(
    files: Sequence[Path],
    ranks: int | None,
    machine: str,
    label: str,
    in_place: bool,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    reporter = ProgressReporter(quiet)
    runs = api.import_logs(
        files, out=out, ranks=ranks, machine=machine, label=label, in_place=in_place, listen=reporter
    )
    if as_json:
        print_json({"runs": [_document(run) for run in runs]})
        return 0
    for run in runs:
        cases, launches = len(run.plan.cases), run.settings.launches
        reporter.say(
            f"{run.machine.cpu}: {plural(cases, 'case')} in {plural(launches, 'launch', 'launches')}"
        )
        print_unwrapped(str(run.path))
    return 0


def _document(run: api.Run) -> dict[str, object]:
    return {
        "run": str(run.path),
        "benchmark": run.machine.cpu,
        "machine": run.machine.host,
        "cases": len(run.plan.cases),
        "launches": run.settings.launches,
        "from": run.machine.citation,
        "notes": run.machine.notes,
    }
