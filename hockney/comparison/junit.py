# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison as a test report: a suite for each operation, a test for each case. A slower case fails, an
undecided one is skipped, a case in which B failed or which it lacks is an error, as is data that arrived
wrong."""

from __future__ import annotations

from collections.abc import Callable

from hockney.comparison import effect_wording
from hockney.comparison.result import ComparedSides, Unmatched
from hockney.comparison.wording import (
    labels,
    more,
    operation,
    overall,
    ratio,
    relative,
    side,
    title,
    verdict,
    wrong,
)
from hockney.core.case import Case
from hockney.core.errors import one_line, sentences
from hockney.draw.junit import CaseResult, Suite, junit_document, wrong_data
from hockney.models.comparison import CaseVerdict, OperationVerdict
from hockney.models.significance import OPEN

NAME = "hockney compare"


def junit(compared: ComparedSides) -> str:
    """The whole document. The time of a test is that of one operation in B."""
    name = labels(compared)
    data = [wrong_data(wrong(compared))] if compared.b.wrong else []
    one_sided = [
        *(_one_sided(each, "A", name) for each in compared.only_a),
        *(_one_sided(each, "B", name) for each in compared.only_b),
    ]
    operations = (_suite(each, compared, name) for each in compared.operations)
    return junit_document(
        NAME, [*operations, Suite("data", data), Suite("measured on one side only", one_sided)]
    )


def _suite(of: OperationVerdict, compared: ComparedSides, name: Callable[[Case], str]) -> Suite:
    sentence = operation(of, compared, name)
    facts = [
        ("overall", overall(compared)),
        ("operation", sentence),
        *(("effect", effect) for effect in effect_wording.sentences(compared)[:1]),
        *(("warning", sentences(caveat.text, caveat.todo)) for caveat in compared.caveats),
        ("A", side(compared.a)),
        ("B", side(compared.b)),
        *(
            (f"{d.name}, {where}", text)
            for d in compared.differences
            for where, text in (("A", d.a), ("B", d.b))
        ),
    ]
    tests = [_test(case, name) for case in of.cases]
    if of.mean_state == "slower" and not of.of("slower"):
        mean = "mean of all cases"
        tests.append(CaseResult(mean, of.workload, "failure", one_line(sentence), "slower", seconds=""))
    return Suite(title(of, compared), tests, facts)


def _test(each: CaseVerdict, name: Callable[[Case], str]) -> CaseResult:
    text = f"B / A is {ratio(each.ratio)}{relative(each)}: {verdict(each.state)}"
    label, group, seconds = name(each.case), each.case.workload, f"{each.b.value:.9f}"
    if each.state == "slower":
        return CaseResult(label, group, "failure", text, "slower", each.case.line, seconds)
    if each.state in OPEN:
        needed = f"{text}; more launches to decide: {more(each)}"
        return CaseResult(label, group, "skipped", needed, seconds=seconds)
    return CaseResult(label, group, "passed", text, seconds=seconds)


def _one_sided(each: Unmatched, where: str, name: Callable[[Case], str]) -> CaseResult:
    label, group, line = name(each.case), each.case.workload, each.case.line
    if each.failure and where == "A":
        return CaseResult(label, group, "error", f"B failed: {each.failure}", each.failure, line)
    if each.expected and where == "A":
        return CaseResult(label, group, "error", "B should have measured it", "missing", line)
    return CaseResult(label, group, "skipped", f"only {where} measured it")
