# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about files and package installers."""

from __future__ import annotations

import errno
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable

MAKE_ROOM = "free some space, or set HOCKNEY_CACHE to another folder"

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space, or choose another folder"),
    errno.EDQUOT: ("your disk quota is used up", "free some space, or choose another folder"),
    errno.EROFS: ("the file system is read-only", "choose another folder"),
    errno.EACCES: ("you have no permission to write there", "choose another folder"),
    errno.EPERM: ("you have no permission to write there", "choose another folder"),
    errno.ENOENT: ("its folder does not exist", "create the folder, or choose another one"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter path"),
}


def not_a_file() -> str:
    return "it is not a regular file"


def folder_instead_of_file(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' is a folder",
        "hockney needs to write a file there",
        "give the name of a file",
        code="folder-instead-of-file",
    )


def file_of_a_run(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' belongs to a run or an archive",
        "it would be replaced",
        "give another name",
        code="file-of-a-run",
        path=str(path),
    )


def folder_of_a_run(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' is a run",
        "its folder is for measurements only",
        "give another folder",
        code="folder-of-a-run",
        path=str(path),
    )


def cannot_write(path: Path, error: OSError) -> EnvironmentProblem:
    reason = (error.strerror or str(error)).lower()
    why, remedy = _REASONS.get(error.errno or 0, (reason, "choose another path"))
    return EnvironmentProblem(
        f"cannot write '{printable(str(path))}'", why, remedy, code="cannot-write-file", errno=error.errno
    )


def cache_unwritable(folder: Path, error: OSError) -> EnvironmentProblem:
    """A folder of hockney's cache."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return EnvironmentProblem(
        f"cannot write to {folder}",
        "the disk is full" if full else (error.strerror or str(error)).lower(),
        MAKE_ROOM if full else "set HOCKNEY_CACHE to a folder that you own",
        code="cache-unwritable",
        errno=error.errno,
    )


def cache_writable_by_others(folder: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"everybody can write to {folder}",
        "hockney starts programs that it keeps there",
        f"run chmod o-w {folder} if you trust its contents; otherwise remove it",
        code="cache-writable-by-others",
    )


def cache_of_somebody_else(folder: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{folder} belongs to another user",
        "hockney starts programs that it keeps there",
        "remove it, or name it with HOCKNEY_CACHE if you trust that user",
        code="cache-of-somebody-else",
    )


def no_installer() -> EnvironmentProblem:
    return EnvironmentProblem(
        "neither pip nor uv is installed",
        "one of them is needed to fetch packages",
        "install pip",
        code="no-installer",
    )
