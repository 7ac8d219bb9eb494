# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney guidelines: which collectives are slower than another way to the same result."""

from __future__ import annotations

from pathlib import Path

from hockney import api
from hockney.api import Run
from hockney.cli.output.progress import ProgressReporter, load_and_note
from hockney.cli.output.tables import print_json, print_labelled, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.errors import ExitCode, printable, sentences
from hockney.core.fit import Cost
from hockney.models.guidelines import FACTOR, Judged, Verdicts
from hockney.models.statistics import loaded_launches
from hockney.studies.guidelines import columns
from hockney.studies.guidelines.columns import alternative_text, rule_text
from hockney.studies.guidelines.headline import counts


def action(run: Path | None, factor: float | None, cost: Cost, quiet: bool, as_json: bool) -> int:
    reporter = ProgressReporter(quiet)
    measured = load_and_note(run or api.newest_guidelines_run(reporter), cost, quiet=quiet)
    with reporter.show_step(f"reading {printable(str(measured.path))}"):
        verdicts = api.judge_guidelines(measured, FACTOR if factor is None else factor)
    launches_under_load = verdicts.launches & loaded_launches(measured.reading.run)
    if as_json:
        print_json(_document(measured, verdicts, len(launches_under_load)))
    else:
        if verdicts.violated:
            print_table(columns.violations(verdicts))
            echo()
        for sentence in counts(verdicts):
            print_line(sentence)
        if launches_under_load:
            print_labelled(
                "warning",
                sentences(
                    f"{len(launches_under_load)} of {len(verdicts.launches)} launches had a high load from "
                    "other programs or the hypervisor",
                    "affects the factors of all calls, which may include time spent waiting for a processor",
                    "Measure again on a quiet machine",
                ),
            )
    if verdicts.violated:
        return ExitCode.ANSWER_IS_NO
    return ExitCode.FINE if verdicts.conclusive else ExitCode.INCONCLUSIVE


def _document(run: Run, verdicts: Verdicts, launches_under_load: int) -> dict[str, object]:
    judged = verdicts.judged
    return {
        "run": printable(str(run.path)),
        "machine": run.machine.host,
        "cost": run.cost,
        "factor": verdicts.factor,
        "launches": len(verdicts.launches),
        "loaded_launches": launches_under_load,
        "guidelines": [
            {
                "name": rule.name,
                "guideline": rule_text(rule),
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
        "other": alternative_text(each.comparison),
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
