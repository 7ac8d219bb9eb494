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
from hockney.core.errors import ExitCode, join_sentences, printable
from hockney.core.fit import Cost
from hockney.models.guidelines import FACTOR, GuidelineVerdicts, JudgedComparison
from hockney.models.statistics import loaded_launches
from hockney.studies.guidelines import columns
from hockney.studies.guidelines.columns import alternative_text, rule_text
from hockney.studies.guidelines.headline import count_sentences


def action(run: Path | None, factor: float | None, cost: Cost, quiet: bool, as_json: bool) -> int:
    reporter = ProgressReporter(quiet)
    loaded_run = load_and_note(run or api.newest_guidelines_run(reporter), cost, quiet=quiet)
    with reporter.show_step(f"reading {printable(str(loaded_run.path))}"):
        verdicts = api.judge_guidelines(loaded_run, FACTOR if factor is None else factor)
    launches_under_load = verdicts.launches & loaded_launches(loaded_run.reading.run)
    if as_json:
        print_json(_document(loaded_run, verdicts, len(launches_under_load)))
    else:
        if verdicts.violated:
            print_table(columns.violations_table(verdicts))
            echo()
        for sentence in count_sentences(verdicts):
            print_line(sentence)
        if launches_under_load:
            print_labelled(
                "warning",
                join_sentences(
                    f"{len(launches_under_load)} of {len(verdicts.launches)} launches had a high load from "
                    "other programs or the hypervisor",
                    "affects the factors of all calls, which may include time spent waiting for a processor",
                    "Measure again on a quiet machine",
                ),
            )
    if verdicts.violated:
        return ExitCode.ANSWER_IS_NO
    return ExitCode.SUCCESS if verdicts.conclusive else ExitCode.INCONCLUSIVE


def _document(run: Run, verdicts: GuidelineVerdicts, launches_under_load: int) -> dict[str, object]:
    judged_rules = verdicts.judged
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
                "comparisons": sum(verdict.rule is rule for verdict in judged_rules),
                "violated": sum(verdict.rule is rule for verdict in verdicts.violated),
            }
            for rule in verdicts.rules
        ],
        "not_judged": [rule.name for rule in verdicts.lacking],
        "violations": [_entry(verdict) for verdict in verdicts.violated],
        "comparisons": [_entry(verdict) for verdict in judged_rules],
    }


def _entry(verdict: JudgedComparison) -> dict[str, object]:
    return {
        "guideline": verdict.rule.name,
        "case": verdict.left.line,
        "bytes": verdict.left.bytes,
        "ranks": verdict.left.ranks,
        "other": alternative_text(verdict.comparison),
        "parts": [
            {"case": part.case.line, "count": part.count, "copies": part.copies}
            for part in verdict.comparison.parts
        ],
        "ratio": verdict.ratio.value,
        "ratio_low": verdict.ratio.low,
        "ratio_high": verdict.ratio.high,
        "p": verdict.p,
        "state": verdict.state,
    }
