# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of an interleaved comparison: runs `a` and `b` with the same value of the setting
`interleaved`."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

from hockney.core.errors import HockneyError
from hockney.store import messages
from hockney.store.folder import RunFolder, create_unnamed, refuse_taken

SIDES = ("a", "b")
Pair = tuple[RunFolder, RunFolder]


def create_pair(path: Path | None, create: Callable[[str, Path], RunFolder]) -> Pair:
    """Create the folder `path`, by default a new one in the default folder. `create` makes the run for each
    of `SIDES` and its path. The folder is complete or missing. Raises UsageError if it exists and is not
    empty, EnvironmentProblem if it cannot be written."""
    if path is not None:
        return _create(path, create)
    return create_unnamed("compare", lambda unused: _create(unused, create))


def _create(path: Path, create: Callable[[str, Path], RunFolder]) -> Pair:
    refuse_taken(path)
    target = path.resolve()  # it may be a link to a folder, which a folder cannot replace
    temporary = target.with_name(f".{target.name[:40]}-{uuid.uuid4().hex}")
    try:
        for side in SIDES:
            create(side, temporary / side)
        os.rename(temporary, target)
    except OSError as error:
        occupied = path.is_dir() and any(path.iterdir())
        raise messages.folder_not_empty(path) if occupied else messages.not_writable(path, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    a, b = (RunFolder(path / side) for side in SIDES)
    return a, b


def pair_in(path: Path) -> Pair | None:
    """Return the runs of the interleaved comparison in the folder `path`; None for any other folder."""
    a, b = (RunFolder(path / side) for side in SIDES)
    with contextlib.suppress(HockneyError, OSError):
        if not (a.plan_path.is_file() and b.plan_path.is_file()):
            return None
        identity = a.plan().settings.interleaved
        if identity and b.plan().settings.interleaved == identity:
            return a, b
    return None


def pair_with(path: Path) -> Path | None:
    """Return the folder of the interleaved comparison that contains the run in `path`, if both runs exist."""
    absolute = path.absolute()
    return path.parent if absolute.name in SIDES and pair_in(absolute.parent) is not None else None
