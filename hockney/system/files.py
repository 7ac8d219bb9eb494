# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Put a file in its place whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, HockneyError, UsageError

MAKE_ROOM = "make room or set HOCKNEY_CACHE to another folder"

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space, or name another folder"),
    errno.EDQUOT: ("your quota is used up", "free some space, or name another folder"),
    errno.EROFS: ("the file system is read-only", "name another folder"),
    errno.EACCES: ("you may not write there", "name another folder"),
    errno.EPERM: ("you may not write there", "name another folder"),
    errno.ENAMETOOLONG: ("the name is too long", "name a shorter path"),
}


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path`, in a folder that exists: next to it first, then in its place. A reader sees
    the old file or the new, never half. Raises OSError."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}-", dir=path.parent)
        with open(handle, "wb") as file:
            # mkstemp makes it private; the file gets the rights of any new file.
            os.fchmod(file.fileno(), 0o666 & ~_umask())
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            if temporary:
                os.unlink(temporary)
        raise


def replace(path: Path, content: bytes) -> None:
    """Write a file that the user has named; its folder is made."""
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder", "a file was to be written there", "name a file in it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    except OSError as problem:
        raise _told(path, problem) from problem


def cache_unwritable(folder: Path, error: OSError) -> EnvironmentProblem:
    """The error for a folder of hockney's cache."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return EnvironmentProblem(
        f"cannot write to {folder}",
        "the disk is full" if full else error.strerror or str(error),
        MAKE_ROOM if full else "set HOCKNEY_CACHE to a folder of yours",
    )


def _told(path: Path, problem: OSError) -> HockneyError:
    why, todo = _REASONS.get(
        problem.errno or 0, ((problem.strerror or str(problem)).lower(), "name another path")
    )
    return EnvironmentProblem(f"cannot write '{path}'", why, todo)


def _umask() -> int:
    """The process has no way to read its mask but to set it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
