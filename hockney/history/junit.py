# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A checked run as a test report in JUnit's XML: a suite for each operation, a test for each case. A slower
case fails, one that cannot be judged is skipped, one that failed or is missing is an error, as
is data that arrived wrong."""

from __future__ import annotations

from xml.etree import ElementTree as xml

from hockney.comparison.junit import document_of
from hockney.core.errors import one_line
from hockney.history.result import CheckedRun
from hockney.history.wording import operation, overall, short, verdict, wrong
from hockney.models.history import CheckedOperation, CheckedSeries
from hockney.pages.format import ratio_bounds

NAME = "hockney history check"


def junit(checked: CheckedRun) -> str:
    root = xml.Element("testsuites", name=NAME)
    for each in checked.operations:
        _suite(root, each, checked)
    if checked.wrong:
        suite = xml.SubElement(root, "testsuite", name="data")
        test = xml.SubElement(suite, "testcase", name="data arrives right", classname="data", time="0")
        xml.SubElement(test, "error", message=wrong(checked), type="wrong-data")
    if checked.failed:
        suite = xml.SubElement(root, "testsuite", name="failed")
        for case, reason in checked.failed:
            _error(suite, case, reason, reason)
    if checked.missing:
        suite = xml.SubElement(root, "testsuite", name="missing")
        for case in checked.missing:
            _error(suite, case, "the run should have measured it", "missing")
    return document_of(root)


def _error(suite: xml.Element, case: str, text: str, kind: str) -> None:
    test = xml.SubElement(suite, "testcase", name=one_line(case), classname=case.split()[0], time="0")
    xml.SubElement(test, "error", message=text, type=kind)


def _suite(root: xml.Element, of: CheckedOperation, checked: CheckedRun) -> None:
    title = f"{of.workload} {of.level}" if checked.several_levels and of.level else of.workload
    suite = xml.SubElement(root, "testsuite", name=title)
    properties = xml.SubElement(suite, "properties")
    facts = [("overall", overall(checked)), ("operation", operation(of, checked)), ("run", checked.name)]
    facts += [(f"changed: {each.fact}", f"{each.before} → {each.after}") for each in checked.changes]
    for key, text in facts:
        xml.SubElement(properties, "property", name=one_line(key), value=one_line(text))
    for case in of.cases:
        _case(suite, case)
    if of.mean.state == "slower" and not of.of("slower"):
        test = xml.SubElement(suite, "testcase", name="mean of all cases", classname=of.workload)
        xml.SubElement(test, "failure", message=one_line(operation(of, checked)), type="slower")


def _case(suite: xml.Element, each: CheckedSeries) -> None:
    text = f"{each.ratio.value:.3f}{ratio_bounds(each.ratio)} times the usual time: {verdict(each.state)}"
    seconds = f"{each.new.value.value:.9f}"
    test = xml.SubElement(
        suite, "testcase", name=one_line(short(each.series)), classname=each.series.workload, time=seconds
    )
    if each.state == "slower":
        xml.SubElement(test, "failure", message=text, type="slower").text = one_line(each.series.case)
    elif each.state in ("undecided", "unknown"):
        xml.SubElement(test, "skipped", message=text)
    else:
        xml.SubElement(test, "system-out").text = text
