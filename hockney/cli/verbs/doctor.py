# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney doctor: whether this machine can measure, and if not, why."""

from __future__ import annotations

import click

from hockney import lab
from hockney.cli import messages
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_findings, print_json
from hockney.core.errors import Exit


@click.command("doctor", cls=Command, epilog=example("hockney doctor", "hockney doctor --noise 1m"))
@options.where
@click.option(
    "--noise",
    type=options.BUDGET,
    metavar="TIME",
    default="10s",
    show_default=True,
    help="How long to observe the noise, such as 10s or 1m.",
)
@click.option("--no-noise", is_flag=True, help="Do not measure the noise.")
@options.quiet
@options.as_json
def command(mpi: str, machine: str, noise: float, no_noise: bool, quiet: bool, as_json: bool) -> int:
    """Check everything that a survey needs, step by step, and suggest remedies.

    The last step measures the noise: how much times vary, which modes they have and for how long,
    interference from other programs, and the precision that a survey can reach.
    """
    findings = []
    reporter = ProgressReporter(quiet)
    steps = iter(lab.examine(machine, mpi, 0.0 if no_noise else noise))
    while True:
        with reporter.doing(messages.examining()):
            finding = next(steps, None)
        if finding is None:
            break
        findings.append(finding)
        if not as_json:
            print_findings([finding])
    if as_json:
        print_json(findings)
    return Exit.ENVIRONMENT if any(f.verdict == "bad" for f in findings) else 0
