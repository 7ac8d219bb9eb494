# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney verify: whether a run's folder can be trusted."""

from __future__ import annotations

from pathlib import Path

import click

from hockney import api
from hockney.cli import messages
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.tables import print_findings, print_json, print_line
from hockney.core.errors import Exit


@click.command(
    "verify",
    cls=Command,
    epilog=example("hockney verify runs/mine", "hockney verify runs/mine --salvage runs/intact"),
)
@options.any_folder
@click.option(
    "--salvage",
    type=options.PATH,
    metavar="NEW",
    help="Copy the intact lines of records.jsonl into a new run, the folder NEW.",
)
@options.quiet
@options.as_json
def command(run: Path, salvage: Path | None, quiet: bool, as_json: bool) -> int:
    """Check that a run's files are unchanged, complete and correct.

    The default for RUN is the run in runs/ whose records were written last, complete or not.

    Every line of records.jsonl and every other file of a measurement has a checksum. Exit code 1 if
    anything does not match, 4 if everything matches but measurements are missing.
    """
    findings = api.verify(run)
    if not as_json:
        print_findings(findings)
    saved = None if salvage is None else api.salvage(run, salvage)
    if as_json:
        kept = (
            None
            if saved is None
            else {"run": str(saved.folder.path), "kept": saved.kept, "dropped": saved.dropped}
        )
        print_json({"findings": findings, "salvaged": kept})
    elif saved is not None:
        print_line(messages.salvaged(saved.folder.path, saved.kept, saved.dropped))
    if any(finding.verdict == "bad" for finding in findings):
        return Exit.ANSWER_IS_NO
    missing = any(finding.code == "measurements-missing" for finding in findings)
    return Exit.INCONCLUSIVE if missing else Exit.FINE
