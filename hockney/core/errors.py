# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every error a user can meet, in one grammar: what is wrong (why that is a problem) what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """How `hockney` ends, for the shell."""

    FINE = 0
    ANSWER_IS_NO = 1
    USAGE = 2
    ENVIRONMENT = 3
    INCONCLUSIVE = 4
    INTERRUPTED = 130


class HockneyError(Exception):
    """A problem to be told in one line. Subclasses fix the exit code.

    `what` states the fact, `why` the consequence, `todo` the way out; the last two may be empty
    where they would only repeat the first.
    """

    exit_code = Exit.ENVIRONMENT

    def __init__(self, what: str, why: str = "", todo: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.todo = todo

    def __str__(self) -> str:
        line = self.what + (f" ({self.why})" if self.why else "") + (f" {self.todo}" if self.todo else "")
        return one_line(line)


class UsageError(HockneyError):
    """The question is malformed: unknown name, bad number, contradictory options."""

    exit_code = Exit.USAGE


class EnvironmentProblem(HockneyError):
    """The question is fine, but this machine cannot answer it now."""

    exit_code = Exit.ENVIRONMENT


class Inconclusive(HockneyError):
    """The data at hand do not allow an answer."""

    exit_code = Exit.INCONCLUSIVE


def unknown(kind: str, name: str, known: Iterable[str], todo: str = "") -> UsageError:
    """An unknown name, with "did you mean" from the known ones."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        todo = f"did you mean '{close[0]}'?"
    elif not todo and names:
        todo = f"known: {', '.join(names)}"
    return UsageError(f"unknown {kind} '{printable(name)}'", "there is no such name here", todo)


def printable(text: str) -> str:
    """`text` with control characters shown as escapes, so that no terminal obeys them."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def one_line(text: str) -> str:
    """`text` as one printable line."""
    return printable(" ".join(text.split()))
