# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney doctor: can this machine measure, and if not, why?"""

from __future__ import annotations

import click

from hockney import lab
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.tables import print_json, print_line
from hockney.core.errors import Exit


@click.command("doctor", cls=Command, epilog=example("hockney doctor"))
@options.where
@options.as_json
def command(mpi: str, machine: str, as_json: bool) -> int:
    """Check everything a survey needs, step by step, and say what to do where it fails."""
    findings = []
    for finding in lab.examine(machine, mpi):
        findings.append(finding)
        if not as_json:
            print_line(f"{finding.verdict:5} {finding.subject}: {finding.text}")
    if as_json:
        print_json(findings)
    return Exit.ENVIRONMENT if any(f.verdict == "bad" for f in findings) else 0
