# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of archives: what is no archive, what cannot be added, what is damaged."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, Inconclusive, UsageError, printable
from hockney.core.notice import Notice


def no_archive(path: Path) -> UsageError:
    return UsageError(
        f"there is no archive '{printable(str(path))}'",
        "no such folder exists",
        "add a run first: hockney history add RUN",
        code="no-archive",
        path=str(path),
    )


def archive_is_a_run(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' is a run",
        "an archive is a folder of runs",
        "name another folder with --archive",
        code="archive-is-a-run",
        path=str(path),
    )


def archive_not_a_folder(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' is not a folder",
        "an archive is a folder of runs",
        "name another one with --archive",
        code="archive-not-a-folder",
        path=str(path),
    )


def run_of_the_archive(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' is in the archive already",
        "",
        "name a run outside of it",
        code="run-of-the-archive",
        path=str(path),
    )


def archive_in_run(path: Path, run: Path) -> UsageError:
    return UsageError(
        f"the archive '{printable(str(path))}' is inside of the run '{printable(str(run))}'",
        "the run would contain its own copy",
        "name another archive with --archive",
        code="archive-in-run",
        path=str(path),
    )


def name_not_utf8(name: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"the name of the folder '{printable(name)}' is not UTF-8",
        "",
        "rename it",
        code="archive-name-not-utf8",
        path=name,
    )


def nothing_measured(path: Path) -> Inconclusive:
    return Inconclusive(
        f"'{printable(str(path))}' has no measurements",
        "",
        "continue it with 'hockney resume', then add it",
        code="archive-nothing-measured",
        path=str(path),
    )


def not_writable(path: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot write to the archive '{printable(str(path))}'",
        (error.strerror or str(error)).lower(),
        "free some space, or use another folder with --archive",
        code="archive-not-writable",
        path=str(path),
        errno=error.errno,
    )


def not_readable(path: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot read the archive '{printable(str(path))}'",
        (error.strerror or str(error)).lower(),
        "check its permissions",
        code="archive-not-readable",
        path=str(path),
    )


def future_run(name: str, started_s: float) -> Notice:
    try:
        date = datetime.fromtimestamp(started_s, timezone.utc).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        date = f"{started_s:g} s after 1970"
    return Notice(
        f"{printable(name)} is left out: its date, {date}, lies in the future: its host has a wrong clock",
        "archive-future-run",
    )


def damaged_run(name: str, text: str) -> Notice:
    return Notice(f"{printable(name)} is damaged and left out: {printable(text)}", "archive-damaged-run")


def too_deep(most: int) -> str:
    """Why a folder is not copied."""
    return f"it is in {most} folders within each other"
