# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What all judgements of times have: verdicts on cases and operations, as sentences and tables. Two sides
that are compared and a run that is checked against its history are judgements. All of them are rendered here:
as JUnit's XML, which CI systems show, and as Markdown, for a comment on a pull request."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeVar
from xml.etree import ElementTree as xml

from hockney.core.errors import one_line, sentences
from hockney.draw.page import Caveat, Table
from hockney.models.significance import UNDECIDED_VERDICTS

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&@])")
MAX_CHANGES, MAX_CASES = 30, 500
"""A comment may have 65536 characters."""

Case = TypeVar("Case")


@dataclass(frozen=True)
class JudgedCase:
    """A case, its `line` in canonical form, and the verdict on it. `reason` is its ratio in words, with the
    interval; `time_s` is the time that was judged."""

    name: str
    line: str
    state: str
    reason: str
    time_s: float


@dataclass(frozen=True)
class JudgedOperation:
    """An operation, by its `name` for readers. `sentence` has its verdict and its largest changes,
    `mean_state` is the verdict on the mean of its cases."""

    name: str
    workload: str
    mean_state: str
    sentence: str
    cases: tuple[JudgedCase, ...]


class Judgement(ABC, Generic[Case]):
    """`command` made it, `headings` are those of differences and of changed cases."""

    command: ClassVar[str]
    headings: ClassVar[tuple[str, str]]
    counts_omitted: ClassVar[bool] = False
    """Whether Markdown has the number of changed cases that it leaves out."""
    keys: ClassVar[int] = 1
    """The first columns of the table of operations, which a narrow terminal shows too."""
    caveats: tuple[Caveat, ...]

    @property
    @abstractmethod
    def state(self) -> str: ...

    @property
    @abstractmethod
    def wrong_data(self) -> str:
        """States how much of the judged data arrived corrupted; empty if none did."""

    @property
    def fails(self) -> bool:
        """Whether the answer is no: an operation is slower, or data arrived corrupted."""
        return self.state == "slower" or bool(self.wrong_data)

    @property
    def is_open(self) -> bool:
        """Whether there is no answer."""
        return self.state in UNDECIDED_VERDICTS

    @property
    @abstractmethod
    def overall(self) -> str:
        """The result in a sentence."""

    @property
    @abstractmethod
    def answer(self) -> tuple[str, ...]:
        """The result, then a sentence for each operation."""

    @property
    @abstractmethod
    def sides(self) -> tuple[str, ...]:
        """What is judged, a line for each side."""

    @property
    def brief_sides(self) -> tuple[str, ...]:
        """The sides in brief, for Markdown."""
        return self.sides

    @property
    def effect_sentences(self) -> tuple[str, ...]:
        """Whether what differs has any effect at all, in sentences."""
        return ()

    @property
    def details(self) -> tuple[str, ...]:
        """Sentences below the table of operations on a terminal."""
        return ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences at the end on a terminal."""
        return self.lacking

    @property
    @abstractmethod
    def lacking(self) -> tuple[str, ...]:
        """The cases without a result, in sentences."""

    @property
    @abstractmethod
    def changed(self) -> Sequence[Case]:
        """The cases that are slower or faster."""

    @property
    def open_cases(self) -> Sequence[Case]:
        """Cases without an answer that a terminal shows."""
        return ()

    @property
    @abstractmethod
    def ordered(self) -> Sequence[Case]:
        """All cases, in the order in which readers want them."""

    @property
    @abstractmethod
    def differences_table(self) -> Table:
        """What differs in the environment."""

    @property
    @abstractmethod
    def operations_table(self) -> Table: ...

    @abstractmethod
    def cases_table(self, cases: Sequence[Case], name: str, title: str) -> Table: ...

    @abstractmethod
    def judged_operations(self) -> Iterable[JudgedOperation]:
        """Every operation with its cases, for test reports."""

    @property
    @abstractmethod
    def facts(self) -> Sequence[tuple[str, str]]:
        """Properties of every suite of tests, besides its result."""

    @abstractmethod
    def lacking_tests(self) -> Sequence[Suite]:
        """The tests of cases without a result."""


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


def junit(judgement: Judgement[Case]) -> str:
    """A test report: a suite for each operation, a test for each case. A slower case fails, one without an
    answer is skipped; a case that failed or is missing is an error, as is corrupted data. The time of a
    test is that of one operation."""
    facts = judgement.facts
    suites = [_suite(each, judgement.overall, facts) for each in judgement.judged_operations()]
    data = [wrong_data(judgement.wrong_data)] if judgement.wrong_data else []
    return junit_document(judgement.command, [*suites, Suite("data", data), *judgement.lacking_tests()])


def _suite(operation: JudgedOperation, verdict: str, facts: Sequence[tuple[str, str]]) -> Suite:
    tests = [_test(each, operation.workload) for each in operation.cases]
    if operation.mean_state == "slower" and not any(each.state == "slower" for each in operation.cases):
        mean = "mean of all cases"
        tests.append(
            CaseResult(
                mean, operation.workload, "failure", one_line(operation.sentence), "slower", seconds=""
            )
        )
    return Suite(operation.name, tests, [("overall", verdict), ("operation", operation.sentence), *facts])


def _test(each: JudgedCase, group: str) -> CaseResult:
    seconds = f"{each.time_s:.9f}"
    if each.state == "slower":
        return CaseResult(each.name, group, "failure", each.reason, "slower", each.line, seconds)
    return CaseResult(
        each.name,
        group,
        "skipped" if each.state in UNDECIDED_VERDICTS else "passed",
        each.reason,
        seconds=seconds,
    )


def markdown(judgement: Judgement[Case]) -> str:
    return "\n".join(_markdown_lines(judgement))


def _markdown_lines(judgement: Judgement[Case]) -> Iterator[str]:
    yield f"**{escape_markdown(judgement.overall)}**"
    yield ""
    warnings = (f"warning: {sentences(each.text, each.todo)}" for each in judgement.caveats)
    for line in (*judgement.brief_sides, *warnings, *judgement.effect_sentences):
        yield f"- {escape_markdown(line)}"
    differences, changes = judgement.headings
    if judgement.differences_table.rows:
        yield from _table_lines(judgement.differences_table, heading=differences)
    yield from _table_lines(judgement.operations_table, heading="Operations")
    changed = judgement.changed
    if changed:
        yield from _table_lines(judgement.cases_table(changed[:MAX_CHANGES], "changes", ""), heading=changes)
        if judgement.counts_omitted and len(changed) > MAX_CHANGES:
            yield f"\n{len(changed) - MAX_CHANGES} more cases have changed."
    yield "\n<details><summary>All operations and cases</summary>\n"
    for sentence in (*judgement.answer[1:], *judgement.lacking):
        yield f"- {escape_markdown(sentence)}"
    yield from _table_lines(judgement.cases_table(judgement.ordered[:MAX_CASES], "cases", "Cases"))
    yield "\n</details>\n"


def _table_lines(table: Table, heading: str = "") -> Iterator[str]:
    """A table below a heading."""
    yield ""
    if heading:
        yield f"### {heading}\n"
    yield _row(table.columns)
    yield _row(["---:" if k in table.numeric else "---" for k in range(len(table.columns))], plain=True)
    for row in table.rows:
        yield _row(row)
    if table.caption:
        yield f"\n{escape_markdown(table.caption)}"


def _row(cells: tuple[str, ...] | list[str], *, plain: bool = False) -> str:
    return f"| {' | '.join(cell if plain else escape_markdown(cell) for cell in cells)} |"


def escape_markdown(text: str) -> str:
    """Escapes Markdown, so that a viewer shows `text` as it is."""
    return SPECIAL.sub(r"\\\1", one_line(text))
