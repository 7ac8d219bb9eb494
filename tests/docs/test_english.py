# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Patterns of English that is hard to read, in the documentation, in the help of commands, and in errors and
warnings. Each pattern has as many accepted places as it had when these were last read: lower a number when a
text gets better, do not raise it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"```.*?```|`[^`\n]*`|^ {4}[^\n]*$|<[^>]+>", re.DOTALL | re.MULTILINE)
HELP = re.compile(r"```text\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\([^)]*\)")
END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z\[])")
LONGEST = 30
"""Words of a sentence."""
MESSAGE = re.compile(r"(Error|Problem|Failed|Caveat|Notice|Finding)$")
"""Calls whose texts people read."""
CALL = re.compile(MESSAGE.pattern.replace("$", r"\("))

PATTERNS = {
    r"[Nn]eighbour": ("neighbour", 0, 0),  # MPI_Neighbor_allgather
    r"\b(those|that|these|ones?) (of|in|from|with|at|on|that)\b": ("those of the others", 12, 0),
    r"^\W*(It|They|These|Those)\b": ("They differ.", 7, 0),
    r"\b(of|in|at|from|on|by|to|with|over) which\b|\bwhose\b": ("of which, whose", 8, 0),
    r";[^.]*;": ("one; two; three", 7, 0),
    r"\b(no longer|any more|it used to|until now)\b": ("no longer", 0, 0),
    r"\bso (many|much) (\w+ )?(as|that)\b|\bas many as\b": ("so many ranks as", 0, 0),
    r"\b(set-ups?|caveats?|processor busy|proceeds?|in turns|shuffled)\b": ("in turns", 1, 0),
}
"""An example of each, and how many sentences of the pages, and of help and messages, are accepted."""
TOO_LONG = (11, 0)


def _split(origin: str, text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if not line.startswith(("|", "#", ":", "(")):
            for sentence in END.split(line.strip("-* ")):
                yield origin, sentence


@cache
def page_sentences() -> tuple[tuple[str, str], ...]:
    """The sentences of all pages, each with its page: without code, tables and the targets of links."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md"]
    for folder in ("docs", "hockney/suites"):
        pages += sorted((ROOT / folder).rglob("*.md"))
    return tuple(
        sentence
        for page in pages
        for sentence in _split(
            page.relative_to(ROOT).as_posix(), LINK.sub("]", CODE.sub("CODE", page.read_text("utf-8")))
        )
    )


@cache
def program_sentences() -> tuple[tuple[str, str], ...]:
    """The sentences that the program prints: help of commands, errors, warnings."""
    reference = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    found = [
        ("help", sentence)
        for block in HELP.findall(reference)
        for paragraph in block.split("\n\n")
        for sentence in END.split(" ".join(paragraph.split()))
        if not paragraph.lstrip().startswith(("Usage:", "Commands:", "Options:", "--", "Example", "hockney "))
    ]
    for file in sorted((ROOT / "hockney").rglob("*.py")):
        source = file.read_text("utf-8")
        if "tests" not in file.parts and CALL.search(source):  # parsing takes long
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and MESSAGE.search(_name(node.func)):
                    arguments = [*node.args, *(each.value for each in node.keywords)]
                    for text in _texts(arguments):
                        found += [(file.name, sentence) for sentence in END.split(text)]
    return tuple(found)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _texts(arguments: Iterable[ast.expr]) -> Iterator[str]:
    """Texts of several words; VALUE stands for what is filled in."""
    for argument in arguments:
        if isinstance(argument, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "VALUE" for part in argument.values)
            text = "".join(map(str, parts))
        elif isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            text = argument.value
        else:
            continue
        if " " in text:
            yield text


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_that_are_hard_to_read_do_not_increase(pattern):
    example, on_pages, in_program = PATTERNS[pattern]
    assert re.search(pattern, example)
    for sentences, accepted in ((page_sentences(), on_pages), (program_sentences(), in_program)):
        found = [f"{origin}: {sentence}" for origin, sentence in sentences if re.search(pattern, sentence)]
        assert len(found) <= accepted, "\n".join(found)


def test_long_sentences_do_not_increase():
    for sentences, accepted in zip((page_sentences(), program_sentences()), TOO_LONG, strict=True):
        found = [f"{origin}: {sentence}" for origin, sentence in sentences if len(sentence.split()) > LONGEST]
        assert len(found) <= accepted, "\n".join(found)


def test_sentences_are_found():
    assert len(page_sentences()) > 1000 and len(program_sentences()) > 1000


def test_counted_things_agree_with_their_verbs():
    """ "1 of 1 case have": a text that counts has one word for one and one for several."""
    wrong = re.compile(r"plural\([^{}]*\)\} (are|have|were|do|rest|take|need|exceed)\b")
    other_subjects = 2  # "the times of 1 case have"; a count that is more than one
    assert wrong.search("{plural(3, 'case')} have")
    found = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in sorted((ROOT / "hockney").rglob("*.py"))
        for line in file.read_text("utf-8").splitlines()
        if wrong.search(line)
    ]
    assert len(found) <= other_subjects, "\n".join(found)
