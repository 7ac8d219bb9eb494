# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney resume: go on with a run that was ended early."""

from __future__ import annotations

from pathlib import Path

import click

from hockney import lab
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.arguments.run_options import refuse_long_rounds
from hockney.cli.output.progress import Talk
from hockney.cli.run_flow import measure_and_tell
from hockney.store import RunFolder


@click.command("resume", cls=Command, epilog=example("hockney resume runs/mine"))
@options.folder
@click.option(
    "--budget",
    type=options.BUDGET,
    metavar="TIME",
    help="Time for what is left, or for each round that is.  [default: its share of the run's]",
)
@options.where
@options.quiet
@options.as_json
def command(run: Path, budget: float | None, mpi: str, machine: str, quiet: bool, as_json: bool) -> int:
    """Measure what a run planned and does not have; cases that failed are tried once more."""
    talk = Talk(quiet)
    folder = RunFolder.open(run)
    asked = folder.plan().settings
    before = folder.machine()
    folder.read()
    if budget is not None and asked.every_s:
        refuse_long_rounds(budget, asked.every_s)
    cases = folder.plan().cases
    workloads = {case.workload for case in cases}
    bench = lab.prepare(machine or asked.machine, mpi or asked.mpi, asked.bind, talk.say, workloads)
    bench = lab.check(bench, cases, talk.say)
    for difference in lab.differences(before, bench.machine):
        talk.say(f"note: {difference}")
    return measure_and_tell(folder, bench, talk, as_json, budget)
