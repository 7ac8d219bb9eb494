# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A checked run as a test report: a suite for each operation, a test for each case. A slower case fails, one
that cannot be judged is skipped, one that failed or is missing is an error, as is data that arrived wrong."""

from __future__ import annotations

from hockney.core.errors import one_line
from hockney.draw.junit import CaseResult, Suite, junit_document, wrong_data
from hockney.history.result import CheckedRun
from hockney.history.wording import operation, overall, short, verdict, wrong
from hockney.models.history import CheckedOperation, CheckedSeries
from hockney.models.significance import OPEN
from hockney.pages.format import ratio_bounds

NAME = "hockney history check"


def junit(checked: CheckedRun) -> str:
    data = [wrong_data(wrong(checked))] if checked.wrong else []
    failed = [CaseResult(case, case.split()[0], "error", reason, reason) for case, reason in checked.failed]
    absent = "the run should have measured it"
    missing = [CaseResult(case, case.split()[0], "error", absent, "missing") for case in checked.missing]
    operations = (_suite(each, checked) for each in checked.operations)
    rest = (Suite("data", data), Suite("failed", failed), Suite("missing", missing))
    return junit_document(NAME, [*operations, *rest])


def _suite(of: CheckedOperation, checked: CheckedRun) -> Suite:
    sentence = operation(of, checked)
    facts = [("overall", overall(checked)), ("operation", sentence), ("run", checked.name)]
    facts += [(f"changed: {each.fact}", f"{each.before} → {each.after}") for each in checked.changes]
    tests = [_test(case) for case in of.cases]
    if of.mean.state == "slower" and not of.of("slower"):
        mean = "mean of all cases"
        tests.append(CaseResult(mean, of.workload, "failure", one_line(sentence), "slower", seconds=""))
    title = f"{of.workload} {of.level}" if checked.several_levels and of.level else of.workload
    return Suite(title, tests, facts)


def _test(each: CheckedSeries) -> CaseResult:
    text = f"{each.ratio.value:.3f}{ratio_bounds(each.ratio)} times the usual time: {verdict(each.state)}"
    label, group, seconds = short(each.series), each.series.workload, f"{each.new.value.value:.9f}"
    if each.state == "slower":
        return CaseResult(label, group, "failure", text, "slower", each.series.case, seconds)
    return CaseResult(label, group, "skipped" if each.state in OPEN else "passed", text, seconds=seconds)
