# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Folders in which engines are compiled: one for each MPI and compiler, kept for the next build.

A folder contains a copy of the sources. Only files with different contents are replaced, so that their times
reflect actual changes, independent of the times of the originals.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hockney.build.compile import BuildFailed
from hockney.build.identity import source_files
from hockney.system.files import remove_older

UNUSED_SECONDS = 7 * 86400.0


class Workplace:
    """A folder for compiling. `source` is the copy of the sources, `build` CMake's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "source" / "engine"
        self.build = folder / "build"

    def mirror(self, source: Path) -> None:
        """Make the copy's files equal to those of `source`."""
        wanted = {path.relative_to(source) for path in source_files(source)}
        for path in list(self.source.rglob("*")):
            if path.is_file() and path.relative_to(self.source) not in wanted:
                path.unlink()
        for name in wanted:
            content, copy = (source / name).read_bytes(), self.source / name
            if not copy.is_file() or copy.read_bytes() != content:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """Context of a build. The results of an interrupted build are not reused; those of a failed build
        are."""
        mark = self.folder / "unfinished"
        if mark.exists():
            shutil.rmtree(self.build, ignore_errors=True)
        mark.touch()
        try:
            yield
        except BuildFailed:
            if (self.build / "build.ninja").exists():
                mark.unlink()
            raise
        mark.unlink()


@contextlib.contextmanager
def workplace(shelf: Path, name: str) -> Iterator[Workplace]:
    """Lock and yield the workplace with this name; other processes wait. If locks are not supported, as on
    some network file systems, yield a temporary one."""
    folder = shelf / name
    folder.mkdir(parents=True, exist_ok=True)
    remove_unused(shelf, keep=folder)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            with tempfile.TemporaryDirectory(prefix="hockney-") as fresh:
                yield Workplace(Path(fresh))
            return
        os.utime(folder)
        yield Workplace(folder)


def remove_unused(shelf: Path, keep: Path) -> None:
    """Remove folders that were not used for a week."""
    remove_older((folder for folder in shelf.iterdir() if folder != keep), UNUSED_SECONDS)
