# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of programs that cannot be run."""

from __future__ import annotations

from pathlib import Path

from hockney.core.errors import printable
from hockney.process.errors import CannotStart, CannotWrite, TookTooLong


def program_not_found(program: str) -> CannotStart:
    return CannotStart(
        f"'{printable(program)}' cannot be started",
        "the program is missing or not executable",
        code="program-not-found",
        program=program,
    )


def cannot_start(program: str, reason: str) -> CannotStart:
    return CannotStart(
        f"'{printable(program)}' cannot be started",
        reason,
        code="program-not-starting",
        program=program,
        reason=reason,
    )


def cannot_write(folder: Path, reason: str) -> CannotWrite:
    return CannotWrite(
        f"cannot write to {printable(str(folder))}",
        reason,
        "free some space there",
        code="launch-folder-not-writable",
        folder=str(folder),
    )


def took_too_long(program: str, seconds: float, out: str = "", err: str = "") -> TookTooLong:
    return TookTooLong(
        f"'{printable(program)}' did not finish within {seconds:g} s and was stopped",
        code="program-took-too-long",
        out=out,
        err=err,
    )
