# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The common parts of all judgements of times: verdicts on cases and operations, as sentences and tables. The
comparison of two sides and the check of a run against its history are judgements. All of them are rendered
here: as JUnit XML, which CI systems show, and as Markdown, for a comment on a pull request."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeVar
from xml.etree import ElementTree as xml

from hockney.core.errors import join_sentences, one_line
from hockney.draw.page import Caveat, Table
from hockney.models.significance import UNDECIDED_VERDICTS

MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&@])")
MAX_CHANGES, MAX_CASES = 30, 500
"""A comment can have at most 65536 characters."""

CaseT = TypeVar("CaseT")


@dataclass(frozen=True)
class JudgedCase:
    """A case and the verdict on it. `line` is its canonical form, `reason` describes its ratio with the
    interval, and `time_s` is the judged time."""

    name: str
    line: str
    state: str
    reason: str
    time_s: float


@dataclass(frozen=True)
class JudgedOperation:
    """An operation with its display `name`. `sentence` contains its verdict and largest changes; `mean_state`
    is the verdict on the mean of its cases."""

    name: str
    workload: str
    mean_state: str
    sentence: str
    cases: tuple[JudgedCase, ...]


class Judgement(ABC, Generic[CaseT]):
    """A judgement made by `command`. `headings` are the headings of differences and of changed cases."""

    command: ClassVar[str]
    headings: ClassVar[tuple[str, str]]
    reports_omitted_count: ClassVar[bool] = False
    """Whether Markdown states the number of omitted changed cases."""
    key_column_count: ClassVar[int] = 1
    """Number of leading columns of the table of operations that even a narrow terminal shows."""
    caveats: tuple[Caveat, ...]

    @property
    @abstractmethod
    def state(self) -> str: ...

    @property
    @abstractmethod
    def wrong_data_sentence(self) -> str:
        """A sentence on how much of the judged data arrived corrupted; empty if none did."""

    @property
    def is_failure(self) -> bool:
        """Whether the answer is negative: an operation is slower, or data arrived corrupted."""
        return self.state == "slower" or bool(self.wrong_data_sentence)

    @property
    def is_undecided(self) -> bool:
        """Whether there is no answer."""
        return self.state in UNDECIDED_VERDICTS

    @property
    @abstractmethod
    def overall_sentence(self) -> str:
        """The result in a sentence."""

    @property
    @abstractmethod
    def answer_sentences(self) -> tuple[str, ...]:
        """The result, then a sentence for each operation."""

    @property
    @abstractmethod
    def side_lines(self) -> tuple[str, ...]:
        """A line for each side that is judged."""

    @property
    def brief_side_lines(self) -> tuple[str, ...]:
        """The sides in brief, for Markdown."""
        return self.side_lines

    @property
    def effect_sentences(self) -> tuple[str, ...]:
        """Sentences on whether the differences have any effect."""
        return ()

    @property
    def detail_sentences(self) -> tuple[str, ...]:
        """Sentences below the table of operations on a terminal."""
        return ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences at the end on a terminal."""
        return self.missing_result_sentences

    @property
    @abstractmethod
    def missing_result_sentences(self) -> tuple[str, ...]:
        """The cases without a result, in sentences."""

    @property
    @abstractmethod
    def changed_cases(self) -> Sequence[CaseT]:
        """The cases that are slower or faster."""

    @property
    def undecided_cases(self) -> Sequence[CaseT]:
        """The undecided cases that a terminal shows."""
        return ()

    @property
    @abstractmethod
    def ordered_cases(self) -> Sequence[CaseT]:
        """All cases, in the order in which they are shown."""

    @property
    @abstractmethod
    def differences_table(self) -> Table:
        """The differences between the environments."""

    @property
    @abstractmethod
    def operations_table(self) -> Table: ...

    @abstractmethod
    def cases_table(self, cases: Sequence[CaseT], name: str, title: str) -> Table: ...

    @abstractmethod
    def judged_operations(self) -> Iterable[JudgedOperation]:
        """Yield every operation with its cases, for test reports."""

    @property
    @abstractmethod
    def facts(self) -> Sequence[tuple[str, str]]:
        """Properties of every test suite, in addition to its result."""

    @abstractmethod
    def missing_result_tests(self) -> Sequence[Suite]:
        """Return the tests for cases without a result."""


@dataclass(frozen=True)
class CaseResult:
    """One test of the `group`. `message` gives the reason for the outcome. For a failure or an error, `kind`
    is its type and `detail` its text. `seconds` is the formatted time, "" for none."""

    name: str
    group: str
    outcome: Literal["passed", "failure", "skipped", "error"]
    message: str
    kind: str = ""
    detail: str = ""
    seconds: str = "0"


@dataclass(frozen=True)
class Suite:
    """Tests with a common name, and `facts` as their properties."""

    name: str
    tests: Sequence[CaseResult]
    facts: Sequence[tuple[str, str]] = ()


def wrong_data_result(message: str) -> CaseResult:
    return CaseResult("data arrives right", "data", "error", message, "wrong-data")


def junit_document(name: str, suites: Sequence[Suite]) -> str:
    """Return the document, with the numbers of tests, failures, errors and skipped tests in each suite and in
    total. Suites without tests are omitted."""
    root = xml.Element("testsuites", name=name)
    for suite in suites:
        if suite.tests:
            _add_suite(root, suite)
    _set_counts(root)
    xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def _add_suite(root: xml.Element, suite: Suite) -> None:
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
    _set_counts(element)


def _set_counts(element: xml.Element) -> None:
    for attribute, tag_name in (
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        element.set(attribute, str(len(element.findall(f".//{tag_name}"))))


def junit_report(judgement: Judgement[CaseT]) -> str:
    """Return a test report with a suite for each operation and a test for each case. A slower case fails, and
    an undecided case is skipped. Failed or missing cases and corrupted data are errors. The time of a test is
    the time of one operation."""
    facts = judgement.facts
    suites = [
        _operation_suite(operation, judgement.overall_sentence, facts)
        for operation in judgement.judged_operations()
    ]
    data_tests = [wrong_data_result(judgement.wrong_data_sentence)] if judgement.wrong_data_sentence else []
    return junit_document(
        judgement.command, [*suites, Suite("data", data_tests), *judgement.missing_result_tests()]
    )


def _operation_suite(operation: JudgedOperation, verdict: str, facts: Sequence[tuple[str, str]]) -> Suite:
    tests = [_case_test(case, operation.workload) for case in operation.cases]
    if operation.mean_state == "slower" and not any(case.state == "slower" for case in operation.cases):
        test_name = "mean of all cases"
        tests.append(
            CaseResult(
                test_name, operation.workload, "failure", one_line(operation.sentence), "slower", seconds=""
            )
        )
    return Suite(operation.name, tests, [("overall", verdict), ("operation", operation.sentence), *facts])


def _case_test(case: JudgedCase, group: str) -> CaseResult:
    seconds = f"{case.time_s:.9f}"
    if case.state == "slower":
        return CaseResult(case.name, group, "failure", case.reason, "slower", case.line, seconds)
    return CaseResult(
        case.name,
        group,
        "skipped" if case.state in UNDECIDED_VERDICTS else "passed",
        case.reason,
        seconds=seconds,
    )


def markdown_report(judgement: Judgement[CaseT]) -> str:
    return "\n".join(_markdown_lines(judgement))


def _markdown_lines(judgement: Judgement[CaseT]) -> Iterator[str]:
    yield f"**{escape_markdown(judgement.overall_sentence)}**"
    yield ""
    warnings = (f"warning: {join_sentences(caveat.text, caveat.todo)}" for caveat in judgement.caveats)
    for line in (*judgement.brief_side_lines, *warnings, *judgement.effect_sentences):
        yield f"- {escape_markdown(line)}"
    differences, changes = judgement.headings
    if judgement.differences_table.rows:
        yield from _table_lines(judgement.differences_table, heading=differences)
    yield from _table_lines(judgement.operations_table, heading="Operations")
    changed = judgement.changed_cases
    if changed:
        yield from _table_lines(judgement.cases_table(changed[:MAX_CHANGES], "changes", ""), heading=changes)
        if judgement.reports_omitted_count and len(changed) > MAX_CHANGES:
            yield f"\n{len(changed) - MAX_CHANGES} more cases have changed."
    yield "\n<details><summary>All operations and cases</summary>\n"
    for sentence in (*judgement.answer_sentences[1:], *judgement.missing_result_sentences):
        yield f"- {escape_markdown(sentence)}"
    yield from _table_lines(judgement.cases_table(judgement.ordered_cases[:MAX_CASES], "cases", "Cases"))
    yield "\n</details>\n"


def _table_lines(table: Table, heading: str = "") -> Iterator[str]:
    """Yield the lines of a table below a heading."""
    yield ""
    if heading:
        yield f"### {heading}\n"
    yield _row(table.columns)
    yield _row(["---:" if k in table.numeric else "---" for k in range(len(table.columns))], is_plain=True)
    for row in table.rows:
        yield _row(row)
    if table.caption:
        yield f"\n{escape_markdown(table.caption)}"


def _row(cells: tuple[str, ...] | list[str], *, is_plain: bool = False) -> str:
    return f"| {' | '.join(cell if is_plain else escape_markdown(cell) for cell in cells)} |"


def escape_markdown(text: str) -> str:
    """Escape special characters of Markdown, which makes viewers show the text unchanged."""
    return MARKDOWN_SPECIAL.sub(r"\\\1", one_line(text))
