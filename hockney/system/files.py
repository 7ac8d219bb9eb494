# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Put a file in its place whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from hockney.system import messages


def replace(path: Path, content: bytes) -> None:
    """Write `content` to `path`; its folder is made. A reader sees the old file or the new, never half."""
    if path.is_dir():
        raise messages.folder_instead_of_file(path)
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
        raise messages.cannot_write(path, problem) from problem


def _umask() -> int:
    """The process has no way to read its mask but to set it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
