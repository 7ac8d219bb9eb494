# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the file system refuses, in the one grammar."""

from __future__ import annotations

import errno
from pathlib import Path

from hockney.core.errors import EnvironmentProblem

_ELSEWHERE = "use a folder that can be written: another one for a new run (--out DIR), a copy of an old one"

_TODO = {
    errno.ENOSPC: "free some space, then 'hockney resume' goes on",
    errno.EDQUOT: "free some space, then 'hockney resume' goes on",
    errno.EFBIG: "raise the limit on file sizes (ulimit -f), then 'hockney resume' goes on",
    errno.EROFS: _ELSEWHERE,
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOTDIR: _ELSEWHERE,
}


def unwritable(path: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot write {path}",
        (error.strerror or str(error)).lower(),
        _TODO.get(error.errno or 0, _ELSEWHERE),
    )


def unreadable(path: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot read {path}", (error.strerror or str(error)).lower(), "check the name and its permissions"
    )
