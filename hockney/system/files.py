# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Put a file in its place whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from hockney.system import messages


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
        raise messages.folder_instead_of_file(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    except OSError as problem:
        raise messages.cannot_write(path, problem) from problem


def _umask() -> int:
    """The process has no way to read its mask but to set it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
