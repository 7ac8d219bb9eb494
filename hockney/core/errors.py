# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Errors for users: each has a code for programs, and text that states what happened, why, and the remedy."""

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

MIN_SIMILARITY = 0.65
"""Minimum similarity of a suggested name, by difflib. Words that only share letters reach 0.6."""

MIN_PART_LENGTH = 3
"""A name of at least this length suggests longer names that contain it: t3e suggests sim:t3e."""


class ExitCode(IntEnum):
    """The exit codes of `hockney`."""

    SUCCESS = 0
    ANSWER_IS_NO = 1
    USAGE = 2
    ENVIRONMENT = 3
    INCONCLUSIVE = 4
    INTERRUPTED = 130


class HockneyError(Exception):
    """A problem that is reported in one line. Subclasses define the exit code.

    `code` is a kebab-case word, unique in the program. Programs and tests depend on it and on `fields` (the
    values in the message), never on the wording. `what` states the fact. `why` (the reason or consequence)
    and `remedy` may be empty.
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
        """Existing name closest to an unknown one; "" if no name is close."""
        return str(self.fields.get("suggestion", ""))

    def __str__(self) -> str:
        fact = self.what + (f": {self.why}" if self.why else "")
        return join_sentences(fact, self.remedy) if self.remedy else one_line(fact)

    def with_context(self, context: str) -> Self:
        """Return the same error, prefixed with the place where it occurred: an option, or a file and its
        key."""
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
    """Ctrl-C or SIGTERM during a run in `folder`, which is kept. `complete` means that everything is
    measured."""

    def __init__(self, folder: Path, complete: bool) -> None:
        super().__init__(str(folder))
        self.folder = folder
        self.complete = complete


started_runs: list[Path] = []
"""Folders of the runs measured by this process. The last one is named if an interrupt arrives outside of
`attach_run_to_interrupt`, such as at the very end of a command."""


@contextlib.contextmanager
def attach_run_to_interrupt(folder: Path, *, complete: bool) -> Iterator[None]:
    """Turn a KeyboardInterrupt in this context into a RunInterrupted that names the run in `folder`."""
    try:
        yield
    except RunInterrupted:
        raise
    except KeyboardInterrupt as interrupt:
        raise RunInterrupted(folder, complete) from interrupt


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
    normalize: Callable[[str], str] = str,
) -> UsageError:
    """Return the error for an unknown name. Its field `suggestion` is the closest available name, if any is
    close.

    A longer name that contains the unknown one is close too; the unknown name itself is never suggested. The
    code is "unknown-KIND" unless `code` is given. Names are compared after `normalize`. If it maps names to
    the same text, the first is suggested.
    """
    names_in_order = list(available)
    names = sorted(names_in_order)
    originals = {
        normalize(candidate): candidate for candidate in reversed(names_in_order) if candidate != name
    }
    matches = difflib.get_close_matches(normalize(name), sorted(originals), n=1, cutoff=MIN_SIMILARITY)
    if not matches and len(normalize(name)) >= MIN_PART_LENGTH:
        longer_names = (candidate for candidate in sorted(originals) if normalize(name) in candidate)
        matches = sorted(longer_names, key=len)
    suggestion = originals[matches[0]] if matches else ""
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


def join_sentences(*parts: str) -> str:
    """Join the parts that are not empty into one line. Every part gets a final full stop unless it already
    ends a sentence. All parts but the first are capitalised."""
    lines = [one_line(part) for part in parts]
    first, *remaining = [line for line in lines if line] or [""]
    return " ".join(_with_full_stop(line) for line in (first, *map(_capitalise, remaining)))


def _with_full_stop(text: str) -> str:
    return text if text.endswith((".", "?", "!")) or not text else f"{text}."


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def printable(text: str) -> str:
    """Return `text` with control characters escaped, so that terminals do not interpret them."""
    # A page asks for thousands of texts, and nearly all are printable.
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def one_line(text: str) -> str:
    """Return `text` as one printable line."""
    return printable(" ".join(text.split()))
