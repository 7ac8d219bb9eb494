# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison as a test report in JUnit's XML, which CI systems show: a suite for each operation, a test
for each case. A slower case fails, an undecided one is skipped, a case in which B failed is an error."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as xml

from hockney.comparison.result import ComparedSides, Unmatched
from hockney.comparison.wording import labels, more, operation, overall, side, verdict
from hockney.core.case import Case
from hockney.core.errors import one_line
from hockney.models.comparison import CaseVerdict, OperationVerdict
from hockney.pages.format import ratio_bounds

NAME = "hockney compare"
COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


def junit(compared: ComparedSides) -> str:
    """The whole document. The time of a test is that of one operation in B."""
    name = labels(compared)
    root = xml.Element("testsuites", name=NAME)
    for each in compared.operations:
        _suite(root, each, compared, name)
    unmatched = [*compared.only_a, *compared.only_b]
    if unmatched:
        suite = xml.SubElement(root, "testsuite", name="measured on one side only")
        for case in unmatched:
            _one_sided(suite, case, "A" if case in compared.only_a else "B", name)
    for suite in root:
        _count(suite)
    _count(root)
    xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def _suite(
    root: xml.Element, of: OperationVerdict, compared: ComparedSides, name: Callable[[Case], str]
) -> None:
    title = f"{of.workload} {of.level}" if compared.several_levels and of.level else of.workload
    suite = xml.SubElement(root, "testsuite", name=title)
    properties = xml.SubElement(suite, "properties")
    facts = [
        ("overall", overall(compared)),
        ("operation", operation(of, compared, name)),
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
    text = f"B / A is {each.ratio.value:.3f}{ratio_bounds(each.ratio)}: {verdict(each.state)}"
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
    if each.failure and where == "A":
        xml.SubElement(test, "error", message=f"B failed: {each.failure}", type=each.failure).text = one_line(
            each.case.line
        )
    else:
        xml.SubElement(test, "skipped", message=f"only {where} measured it")


def _count(element: xml.Element) -> None:
    for attribute, tag in (
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        element.set(attribute, str(len(element.findall(f".//{tag}"))))
