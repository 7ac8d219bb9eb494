# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney verify: whether a run's folder can be trusted."""

from __future__ import annotations

from pathlib import Path

from hockney import api
from hockney.cli.output.tables import print_findings, print_json, print_line
from hockney.core.errors import ExitCode, printable
from hockney.core.wording import list_names


def action(run: Path, salvage: Path | None, quiet: bool, as_json: bool) -> int:
    findings = api.verify(run)
    if not as_json:
        print_findings(findings)
    salvaged_run = None if salvage is None else api.salvage(run, salvage)
    if as_json:
        salvaged = (
            None
            if salvaged_run is None
            else {
                "run": str(salvaged_run.folder.path),
                "kept": salvaged_run.kept,
                "dropped": salvaged_run.dropped,
            }
        )
        print_json({"findings": findings, "salvaged": salvaged})
    elif salvaged_run is not None:
        lost_lines = (
            f", without line {list_names(list(map(str, salvaged_run.dropped)))}"
            if salvaged_run.dropped
            else ""
        )
        folder = printable(str(salvaged_run.folder.path))
        print_line(f"{folder}: a new run with the {salvaged_run.kept} intact lines{lost_lines}")
    if any(finding.verdict == "bad" for finding in findings):
        return ExitCode.ANSWER_IS_NO
    missing = any(finding.code == "measurements-missing" for finding in findings)
    return ExitCode.INCONCLUSIVE if missing else ExitCode.SUCCESS
