# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where engines are compiled: one folder for each MPI and compiler, kept for the next build.

It contains a copy of the sources. Only files whose content differs are replaced, so that their times reflect
actual changes, whatever the times of the originals are.
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
    """`source` is the copy, `build` CMake's folder."""

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
        """The results of an interrupted build are not reused; those of a failed one are."""
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
    """The workplace with this name, for this process alone; another hockney waits. A fresh one if nothing can
    be locked, as on some network file systems."""
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
