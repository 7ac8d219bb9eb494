# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of the command line's errors."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from hockney.core.errors import EnvironmentProblem, Interrupted, UsageError, one_line, printable


def unknown_option(option: str, available: Iterable[str], verb: str) -> UsageError:
    close = difflib.get_close_matches(option, list(available), n=1)
    return UsageError(
        f"unknown option '{printable(option)}'",
        f"{verb} has no such option",
        f"did you mean '{close[0]}'?" if close else f"see '{verb} --help'",
        code="unknown-option",
        name=option,
        suggestion=close[0] if close else "",
    )


def missing_argument(argument: str, verb: str) -> UsageError:
    return UsageError(
        f"{argument} is missing", f"{verb} needs it", f"see '{verb} --help'", code="missing-argument"
    )


def bad_usage(message: str, verb: str) -> UsageError:
    """click's own message."""
    text = message.rstrip(".")
    return UsageError(text[:1].lower() + text[1:], "", f"see '{verb} --help'", code="bad-usage")


def interrupted() -> Interrupted:
    return Interrupted("interrupted", code="interrupted")


def cannot_write_output(reason: str) -> EnvironmentProblem:
    return EnvironmentProblem("cannot write the output", reason, "free some space", code="output-not-written")


def bug(kind: str, message: str, log: str) -> EnvironmentProblem:
    """`log` is the file with the traceback; "" where it could not be written."""
    return EnvironmentProblem(
        "this is a bug in hockney",
        f"{kind}: {one_line(message)}",
        f"please report it with the file {log}" if log else "its traceback could not be written",
        code="bug",
        log=log,
    )
