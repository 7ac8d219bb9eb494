# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Errors about run folders: files that are missing, damaged, newer or not writable."""

from __future__ import annotations

import errno
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError

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
SALVAGE = "restore the file from a copy; 'hockney verify RUN --salvage NEW' saves the intact lines"
EDITED = "the file may have been edited by hand; measure again"
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


def file_changed(path: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{path} was changed after the run began",
        "its checksum differs from its entry in plan.txt",
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


def line_out_of_order(path: Path, number: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"line {number} of {path} does not follow the line before it",
        "lines were removed, added or moved, or plan.txt belongs to another run",
        SALVAGE,
        code="line-out-of-order",
        path=str(path),
        line=number,
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
