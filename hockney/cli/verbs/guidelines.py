# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney guidelines: which collectives are slower than another way to the same result."""

from __future__ import annotations

from pathlib import Path

import click

from hockney import api
from hockney.api import Run
from hockney.cli import messages
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.load import load_and_note
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_labelled, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.errors import Exit, printable
from hockney.core.fit import Cost
from hockney.models.guidelines import FACTOR, Judged, Verdicts
from hockney.models.statistics import loaded_launches
from hockney.studies.guidelines import tables
from hockney.studies.guidelines.wording import alternative, counted, in_short


@click.command(
    "guidelines",
    cls=Command,
    epilog=example("hockney run guidelines --ranks 2", "hockney guidelines --factor 1.1"),
)
@click.argument("run", type=options.PATH, required=False)
@click.option(
    "--factor",
    type=options.FACTOR,
    metavar="F",
    default=FACTOR,
    show_default=True,
    help="A violation takes more than F times as long as the other way.",
)
@options.cost
@options.quiet
@options.as_json
def command(run: Path | None, factor: float, cost: Cost, quiet: bool, as_json: bool) -> int:
    """List collectives that are slower than another way to the same result.

    Uses RUN, or the newest complete run in runs/ that has the necessary cases, such as one of 'hockney run
    guidelines'. The other way is an emulation by other collectives, one of hockney's algorithms, the same
    call with more bytes, or several calls with fewer.

    Exit code 1 if there are violations, 4 if there is none but most comparisons are undecided.
    """
    reporter = ProgressReporter(quiet)
    measured = load_and_note(run or api.newest_with_guidelines(reporter), cost, quiet=quiet)
    with reporter.doing(messages.reading_run(measured.path)):
        verdicts = api.judge_guidelines(measured, factor)
    loaded = verdicts.launches & loaded_launches(measured.reading.run)
    if as_json:
        print_json(_document(measured, verdicts, len(loaded)))
    else:
        if verdicts.violated:
            print_table(tables.violations(verdicts))
            echo()
        for sentence in counted(verdicts):
            print_line(sentence)
        if loaded:
            print_labelled("warning", messages.judged_under_load(len(loaded), len(verdicts.launches)))
    if verdicts.violated:
        return Exit.ANSWER_IS_NO
    return Exit.FINE if verdicts.conclusive else Exit.INCONCLUSIVE


def _document(run: Run, verdicts: Verdicts, loaded: int) -> dict[str, object]:
    judged = verdicts.judged
    return {
        "run": printable(str(run.path)),
        "machine": run.machine.host,
        "cost": run.cost,
        "factor": verdicts.factor,
        "launches": len(verdicts.launches),
        "loaded_launches": loaded,
        "guidelines": [
            {
                "name": rule.name,
                "guideline": in_short(rule),
                "comparisons": sum(each.rule is rule for each in judged),
                "violated": sum(each.rule is rule for each in verdicts.violated),
            }
            for rule in verdicts.rules
        ],
        "not_judged": [rule.name for rule in verdicts.lacking],
        "violations": [_entry(each) for each in verdicts.violated],
        "comparisons": [_entry(each) for each in judged],
    }


def _entry(each: Judged) -> dict[str, object]:
    return {
        "guideline": each.rule.name,
        "case": each.left.line,
        "bytes": each.left.bytes,
        "ranks": each.left.ranks,
        "other": alternative(each.comparison),
        "parts": [
            {"case": part.case.line, "count": part.count, "copies": part.copies}
            for part in each.comparison.parts
        ],
        "ratio": each.ratio.value,
        "ratio_low": each.ratio.low,
        "ratio_high": each.ratio.high,
        "p": each.p,
        "state": each.state,
    }
