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
    saved = None if salvage is None else api.salvage(run, salvage)
    if as_json:
        salvaged = (
            None
            if saved is None
            else {"run": str(saved.folder.path), "kept": saved.kept, "dropped": saved.dropped}
        )
        print_json({"findings": findings, "salvaged": salvaged})
    elif saved is not None:
        lost = f", without line {list_names(list(map(str, saved.dropped)))}" if saved.dropped else ""
        folder = printable(str(saved.folder.path))
        print_line(f"{folder}: a new run with the {saved.kept} intact lines{lost}")
    if any(finding.verdict == "bad" for finding in findings):
        return ExitCode.ANSWER_IS_NO
    missing = any(finding.code == "measurements-missing" for finding in findings)
    return ExitCode.INCONCLUSIVE if missing else ExitCode.FINE
