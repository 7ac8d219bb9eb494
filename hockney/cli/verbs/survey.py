# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney survey: the study everyone starts with."""

from __future__ import annotations

from hockney.cli.arguments import batch, checking, options
from hockney.cli.arguments.commands import verb


@verb(
    "survey",
    "hockney survey --budget 30s --precision 5%",
    "hockney survey --check runs/baseline --tolerance 10% --junit junit.xml",
    "hockney survey --nodes 2 --ranks-per-node 4 --submit --dry-run",
)
@options.new_run_options
@batch.batch
@checking.checking
@checking.force
@options.out
@options.columns
def command() -> None:
    """Measure this machine's message passing and report what it costs.

    Prints a summary and the path of report.html; with --columns also a table of all cases.

    With --check, the cases of BASELINE are measured and compared with it. Cases that are not clearly the same
    as before are measured in more launches while the budget lasts. Exit code 0 if nothing is slower, 1 if an
    operation is slower, 4 if the result is undecided.
    """
