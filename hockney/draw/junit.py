# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Judged times as test reports in JUnit's XML, which CI systems show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as xml

from hockney.core.errors import one_line


@dataclass(frozen=True)
class CaseResult:
    """One test of the `group`. `message` says why it has this outcome, `kind` is the type of a failure or an
    error, `detail` its text. `seconds` is the time as written, "" for none."""

    name: str
    group: str
    outcome: Literal["passed", "failure", "skipped", "error"]
    message: str
    kind: str = ""
    detail: str = ""
    seconds: str = "0"


@dataclass(frozen=True)
class Suite:
    """Tests with a common name. `facts` are its properties."""

    name: str
    tests: Sequence[CaseResult]
    facts: Sequence[tuple[str, str]] = ()


def wrong_data(message: str) -> CaseResult:
    return CaseResult("data arrives right", "data", "error", message, "wrong-data")


def junit_document(name: str, suites: Sequence[Suite]) -> str:
    """The document, with the numbers of tests, failures, errors and skipped tests in each suite and in all.
    Suites without tests are left out."""
    root = xml.Element("testsuites", name=name)
    for suite in suites:
        if suite.tests:
            _add(root, suite)
    _count(root)
    xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def _add(root: xml.Element, suite: Suite) -> None:
    element = xml.SubElement(root, "testsuite", name=suite.name)
    if suite.facts:
        properties = xml.SubElement(element, "properties")
        for key, text in suite.facts:
            xml.SubElement(properties, "property", name=one_line(key), value=one_line(text))
    for test in suite.tests:
        case = xml.SubElement(element, "testcase", name=one_line(test.name), classname=test.group)
        if test.seconds:
            case.set("time", test.seconds)
        if test.outcome == "passed":
            xml.SubElement(case, "system-out").text = test.message
            continue
        result = xml.SubElement(case, test.outcome, message=test.message)
        if test.kind:
            result.set("type", test.kind)
        if test.detail:
            result.text = one_line(test.detail)
    _count(element)


def _count(element: xml.Element) -> None:
    for attribute, tag in (
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        element.set(attribute, str(len(element.findall(f".//{tag}"))))
