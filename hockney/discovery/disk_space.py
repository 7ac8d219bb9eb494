# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Free space on disks and in shared memory."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hockney.discovery.cpu import ROOT


def shared_memory(root: Path = ROOT) -> tuple[int, int] | None:
    """Free and total bytes of /dev/shm, which the ranks of one host use; None if there is none."""
    try:
        there = os.statvfs(root / "dev/shm")
    except OSError:
        return None
    return there.f_bavail * there.f_frsize, there.f_blocks * there.f_frsize


def writable(folder: Path) -> str:
    """Why `folder` cannot be created and written to; empty if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"room?")
    except OSError as error:
        return error.strerror or str(error)
    return ""
