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

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space, or name another folder"),
    errno.EDQUOT: ("your quota is used up", "free some space, or name another folder"),
    errno.EROFS: ("the file system is read-only", "name another folder"),
    errno.EACCES: ("you may not write there", "name another folder"),
    errno.EPERM: ("you may not write there", "name another folder"),
    errno.ENAMETOOLONG: ("the name is too long", "name a shorter path"),
}


def replace(path: Path, content: bytes) -> None:
    """Write `content` to `path`; its folder is made. A reader sees the old file or the new, never half."""
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder", "a file was to be written there", "name a file in it")
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}-", dir=path.parent)
        with open(handle, "wb") as file:
            # mkstemp makes it private; a report has the rights that any new file gets.
            os.fchmod(file.fileno(), 0o666 & ~_umask())
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as problem:
        with contextlib.suppress(OSError):
            if temporary:
                os.unlink(temporary)
        raise _told(path, problem) from problem


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
