# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison as a test report in JUnit's XML, which CI systems show: a suite for each operation, a test
for each case. A slower case fails, an undecided one is skipped, a case in which B failed or which it lacks is
an error, as is data that arrived wrong."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as xml

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
from hockney.models.comparison import CaseVerdict, OperationVerdict

NAME = "hockney compare"


def junit(compared: ComparedSides) -> str:
    """The whole document. The time of a test is that of one operation in B."""
    name = labels(compared)
    root = xml.Element("testsuites", name=NAME)
    for each in compared.operations:
        _suite(root, each, compared, name)
    if compared.b.wrong:
        suite = xml.SubElement(root, "testsuite", name="data")
        test = xml.SubElement(suite, "testcase", name="data arrives right", classname="data", time="0")
        xml.SubElement(test, "error", message=wrong(compared), type="wrong-data")
    unmatched = [*compared.only_a, *compared.only_b]
    if unmatched:
        suite = xml.SubElement(root, "testsuite", name="measured on one side only")
        for case in unmatched:
            _one_sided(suite, case, "A" if case in compared.only_a else "B", name)
    return document_of(root)


def _suite(
    root: xml.Element, of: OperationVerdict, compared: ComparedSides, name: Callable[[Case], str]
) -> None:
    suite = xml.SubElement(root, "testsuite", name=title(of, compared))
    properties = xml.SubElement(suite, "properties")
    facts = [
        ("overall", overall(compared)),
        ("operation", operation(of, compared, name)),
        *(("effect", sentence) for sentence in effect_wording.sentences(compared)[:1]),
        *(("warning", sentences(caveat.text, caveat.todo)) for caveat in compared.caveats),
        ("A", side(compared.a)),
        ("B", side(compared.b)),
        *(
            (f"{d.name}, {where}", text)
            for d in compared.differences
            for where, text in (("A", d.a), ("B", d.b))
        ),
    ]
    for key, text in facts:
        xml.SubElement(properties, "property", name=one_line(key), value=one_line(text))
    for case in of.cases:
        _case(suite, case, name)
    if of.mean_state == "slower" and not of.of("slower"):
        test = xml.SubElement(suite, "testcase", name="mean of all cases", classname=of.workload)
        xml.SubElement(test, "failure", message=one_line(operation(of, compared, name)), type="slower")


def _case(suite: xml.Element, each: CaseVerdict, name: Callable[[Case], str]) -> None:
    text = f"B / A is {ratio(each.ratio)}{relative(each)}: {verdict(each.state)}"
    test = xml.SubElement(
        suite,
        "testcase",
        name=one_line(name(each.case)),
        classname=each.case.workload,
        time=f"{each.b.value:.9f}",
    )
    if each.state == "slower":
        xml.SubElement(test, "failure", message=text, type="slower").text = one_line(each.case.line)
    elif each.state in ("undecided", "unknown"):
        needed = more(each)
        xml.SubElement(test, "skipped", message=f"{text}; more launches to decide: {needed}")
    else:
        xml.SubElement(test, "system-out").text = text


def _one_sided(suite: xml.Element, each: Unmatched, where: str, name: Callable[[Case], str]) -> None:
    test = xml.SubElement(
        suite, "testcase", name=one_line(name(each.case)), classname=each.case.workload, time="0"
    )
    if each.expected and not each.failure and where == "A":
        text = "B should have measured it"
        xml.SubElement(test, "error", message=text, type="missing").text = one_line(each.case.line)
    elif each.failure and where == "A":
        xml.SubElement(test, "error", message=f"B failed: {each.failure}", type=each.failure).text = one_line(
            each.case.line
        )
    else:
        xml.SubElement(test, "skipped", message=f"only {where} measured it")


def document_of(root: xml.Element) -> str:
    """With the numbers of tests, failures, errors and skipped tests in each suite and in all."""
    for suite in root:
        _count(suite)
    _count(root)
    xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def _count(element: xml.Element) -> None:
    for attribute, tag in (
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        element.set(attribute, str(len(element.findall(f".//{tag}"))))
