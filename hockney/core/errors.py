# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every error a user can meet: a code for programs, and what, why and remedy for one sentence line."""

from __future__ import annotations

import contextlib
import copy
import difflib
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

CLOSE = 0.65
"""How similar a name has to be to be suggested, by difflib. Words that only share letters reach 0.6."""

SHORTEST_PART = 3
"""A name of at least this length is suggested for its part: sim:t3e for t3e."""


class ExitCode(IntEnum):
    """The exit codes of `hockney`."""

    FINE = 0
    ANSWER_IS_NO = 1
    USAGE = 2
    ENVIRONMENT = 3
    INCONCLUSIVE = 4
    INTERRUPTED = 130


class HockneyError(Exception):
    """A problem that is reported in one line. Subclasses define the exit code.

    `code` is a kebab-case word, unique in the program: programs and tests depend on it and on `fields`
    (the values in the message), never on the wording. `what` states the fact; `why`, the reason or
    consequence, and `remedy`, the way out, may be empty.
    """

    exit_code: int = ExitCode.ENVIRONMENT

    def __init__(
        self, what: str, why: str = "", remedy: str = "", *, code: str = "", **fields: object
    ) -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.remedy = remedy
        self.code = code
        self.fields = fields

    @property
    def suggestion(self) -> str:
        """The existing name that is closest to an unknown one; "" if there is none."""
        return str(self.fields.get("suggestion", ""))

    def __str__(self) -> str:
        fact = self.what + (f": {self.why}" if self.why else "")
        return sentences(fact, self.remedy) if self.remedy else one_line(fact)

    def with_context(self, context: str) -> Self:
        """The same error, prefixed with the place where it occurred: an option, a file and its key."""
        error = copy.copy(self)
        error.what = f"{context}: {self.what}"
        return error


class Interrupted(HockneyError):
    """The user or a signal ended the program."""

    def __init__(
        self,
        what: str,
        why: str = "",
        remedy: str = "",
        *,
        exit_code: int = ExitCode.INTERRUPTED,
        **fields: Any,
    ) -> None:
        super().__init__(what, why, remedy, **fields)
        self.exit_code = exit_code


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM during a run in `folder`, which is kept.

    `complete` means that everything is measured.
    """

    def __init__(self, folder: Path, complete: bool) -> None:
        super().__init__(str(folder))
        self.folder = folder
        self.complete = complete


runs_begun: list[Path] = []
"""The folders of the runs that this use of hockney has measured. The last one is named if an interrupt
arrives where nothing else attaches a run to it, such as at the very end of a command."""


@contextlib.contextmanager
def attach_run_to_interrupt(folder: Path, *, complete: bool) -> Iterator[None]:
    """Turn a KeyboardInterrupt inside into a RunInterrupted that names the run in `folder`."""
    try:
        yield
    except RunInterrupted:
        raise
    except KeyboardInterrupt as end:
        raise RunInterrupted(folder, complete) from end


class UsageError(HockneyError):
    """The question is invalid: an unknown name, a bad number, contradictory options."""

    exit_code = ExitCode.USAGE


class EnvironmentProblem(HockneyError):
    """The question is valid, but this machine cannot answer it now."""

    exit_code = ExitCode.ENVIRONMENT


class Inconclusive(HockneyError):
    """The available data do not allow an answer."""

    exit_code = ExitCode.INCONCLUSIVE


def unknown(
    kind: str,
    name: str,
    available: Iterable[str],
    remedy: str = "",
    *,
    code: str = "",
    compared: Callable[[str], str] = str,
) -> UsageError:
    """An unknown name: field `suggestion` is the closest available one, if any is close.

    A name that contains the unknown one is close too; the unknown one itself is never suggested. The code is
    "unknown-KIND" unless `code` is given. Names are compared as `compared` returns them; of those that it
    makes the same, the first is suggested.
    """
    listed = list(available)
    names = sorted(listed)
    originals = {compared(each): each for each in reversed(listed) if each != name}
    close = difflib.get_close_matches(compared(name), sorted(originals), n=1, cutoff=CLOSE)
    if not close and len(compared(name)) >= SHORTEST_PART:
        containing = (each for each in sorted(originals) if compared(name) in each)
        close = sorted(containing, key=len)
    suggestion = originals[close[0]] if close else ""
    if suggestion:
        remedy = f"did you mean '{suggestion}'?"
    elif not remedy and names:
        remedy = f"available: {', '.join(names)}"
    return UsageError(
        f"unknown {kind} '{printable(name)}'",
        "",
        remedy,
        code=code or f"unknown-{kind.replace(' ', '-')}",
        name=name,
        suggestion=suggestion,
    )


def sentences(*parts: str) -> str:
    """One line of the parts that are not empty, each ended by a full stop unless it ends a sentence already.

    All but the first begin with a capital letter.
    """
    lines = [one_line(part) for part in parts]
    first, *rest = [line for line in lines if line] or [""]
    return " ".join(_ended(line) for line in (first, *map(_capitalised, rest)))


def _ended(text: str) -> str:
    return text if text.endswith((".", "?", "!")) or not text else f"{text}."


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def printable(text: str) -> str:
    """`text` with control characters shown as escapes, so that no terminal obeys them."""
    # A page asks for thousands of texts, and nearly all are printable.
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def one_line(text: str) -> str:
    """`text` as one printable line."""
    return printable(" ".join(text.split()))
