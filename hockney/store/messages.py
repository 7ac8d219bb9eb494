# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of run folders: files that are missing, damaged, newer or not writable."""

from __future__ import annotations

import errno
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.core.notice import Notice

RECORD_DAMAGED = "record-damaged"
RECORDS_LOCKED = "records-locked"

_OTHER_FOLDER = "use a writable folder: another one for a new run (--out DIR), a copy of an old one"
_FREE_SPACE = "free some space, then continue with 'hockney resume'"
_REMEDIES = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EFBIG: "raise the limit on file sizes (ulimit -f), then continue with 'hockney resume'",
    errno.ENAMETOOLONG: "choose a shorter name",
}
_SALVAGE = "restore the file from a copy; 'hockney verify RUN --salvage NEW' saves the intact lines"
_EDITED = "the file may have been edited by hand; measure again"
_NEW_FOLDER = "choose a new folder with --out"


def not_writable(path: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot write {path}",
        (error.strerror or str(error)).lower(),
        _REMEDIES.get(error.errno or 0, _OTHER_FOLDER),
        code="file-not-writable",
        path=str(path),
        errno=error.errno,
    )


def not_readable(path: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot read {path}",
        (error.strerror or str(error)).lower(),
        "check the name and its permissions",
        code="file-not-readable",
        path=str(path),
        errno=error.errno,
    )


def file_damaged(path: Path, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot read {path}", printable(reason), _EDITED, code="file-damaged", path=str(path)
    )


def file_changed(path: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{path} was changed after the run began",
        "its checksum differs from the one in plan.txt",
        "restore it from a copy, or measure again",
        code="file-changed",
        path=path,
    )


def newer_file(path: str, schema: int, supported: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{path} has schema {schema}",
        f"this hockney reads up to {supported}",
        "use a newer hockney",
        code="file-of-newer-hockney",
        path=path,
        schema=schema,
    )


def newer_line(path: Path, number: int, schema: int, supported: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"line {number} of {path} has schema {schema}",
        f"this hockney reads up to {supported}",
        "use a newer hockney",
        code="line-of-newer-hockney",
        path=str(path),
        line=number,
        schema=schema,
    )


def line_damaged(path: Path, number: int, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot read line {number} of {path}",
        printable(reason),
        _SALVAGE,
        code=RECORD_DAMAGED,
        path=str(path),
        line=number,
    )


def impossible_time() -> str:
    return "no operation takes such a time"


def longer_than(most_bytes: int) -> str:
    return f"it has more than {most_bytes} bytes"


def line_changed(path: Path, number: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"line {number} of {path} was changed after it was written",
        "its checksum does not match",
        _SALVAGE,
        code="line-changed",
        path=str(path),
        line=number,
    )


def line_out_of_order(path: Path, number: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"line {number} of {path} does not follow the line before it",
        "lines were removed, added or moved, or plan.txt belongs to another run",
        _SALVAGE,
        code="line-out-of-order",
        path=str(path),
        line=number,
    )


def line_repeated(path: Path, number: int, first: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"line {number} of {path} is a duplicate",
        f"line {first} has the same launch and case",
        _SALVAGE,
        code="record-repeated",
        path=str(path),
        line=number,
        first=first,
    )


def record_without_launch(path: Path, number: int, launch: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"line {number} of {path} belongs to no launch",
        f"there is no line of launch '{printable(launch)}' before it",
        _SALVAGE,
        code="record-without-launch",
        path=str(path),
        line=number,
        launch=launch,
    )


def record_not_planned(path: Path, number: int, case: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"line {number} of {path} has a case that was not planned",
        f"plan.txt has no '{printable(case)}'",
        _SALVAGE,
        code="record-not-planned",
        path=str(path),
        line=number,
        case=case,
    )


def plan_of_other_length(path: str, found: int, said: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{path} has {found} measurements",
        f"it was written with {printable(said)}",
        "restore it from a copy",
        code="plan-of-other-length",
        path=path,
        found=found,
        said=said,
    )


def plan_line_damaged(path: str, number: int, line: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot read line {number} of {path}",
        f"'{printable(line[:60])}'",
        _EDITED,
        code="plan-damaged",
        path=path,
        line=number,
    )


def plan_without_settings(path: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{path} has no usable settings", printable(reason), _EDITED, code="plan-without-settings", path=path
    )


def not_of_type(text: str, kind: str) -> str:
    """Why a setting in a plan is not usable."""
    return f"{text} is not of type {kind}"


def out_of_range(name: str, text: str) -> str:
    """Why a setting in a plan is not usable."""
    return f"{name} = {text} is out of range"


def records_missing(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{path} is missing",
        "every run has this file from its beginning, so it was removed or not copied",
        "restore it from a copy, or measure again",
        code="records-missing",
        path=str(path),
    )


def records_not_a_file(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{path} is not a regular file", "records need a regular file", "remove it", code="records-not-a-file"
    )


def other_writer(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"another hockney is writing {path}",
        "the lines of two writers would mix",
        "wait for it to finish, or stop it",
        code=RECORDS_LOCKED,
        path=str(path),
    )


def not_a_share(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a share of a run",
        "it is its number, from 1, a slash, and the number of shares",
        "use for example 2/4",
        code="not-a-share",
        text=text,
    )


def folder_not_empty(path: Path) -> UsageError:
    return UsageError(
        f"{path} is not empty",
        "a run needs a separate folder",
        _NEW_FOLDER,
        code="run-folder-not-empty",
        path=str(path),
    )


def not_a_folder(path: Path) -> UsageError:
    return UsageError(
        f"{path} is not a folder",
        "a run is kept in a folder",
        _NEW_FOLDER,
        code="run-not-a-folder",
        path=str(path),
    )


def no_run_folder(path: Path) -> UsageError:
    return UsageError(
        f"there is no run folder {path}",
        "",
        "'ls runs' lists those in the default location",
        code="no-run-folder",
        path=str(path),
    )


def not_a_run(path: Path) -> UsageError:
    return UsageError(
        f"{path} is not a run folder",
        "it has no plan.txt",
        "give a folder made by 'hockney survey' or 'hockney run'",
        code="not-a-run-folder",
        path=str(path),
    )


def two_runs(path: Path) -> UsageError:
    return UsageError(
        f"{path} is an interleaved comparison, not a run",
        "it has two runs, a and b",
        f"give one of them, such as {path / 'a'}, or use 'hockney compare {path}'",
        code="two-runs",
        path=str(path),
    )


def folder_not_accessible(path: Path, reason: str) -> UsageError:
    return UsageError(
        f"cannot open {path}", reason, "check the name and its permissions", code="run-folder-not-accessible"
    )


def last_line_dropped(path: Path) -> Notice:
    return Notice(
        f"the last line of {path} is incomplete and was dropped (its writer was interrupted)",
        "last-line-dropped",
    )


def not_lockable(path: Path) -> Notice:
    return Notice(
        f"{path} cannot be locked on this file system: make sure that only one hockney writes to it",
        "records-not-locked",
    )
