# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a change touched, and which folders of tests belong to it.

The change is what was committed since the commit HOCKNEY_BASE, by default since the last one that is four
hours older than HEAD, and all that is not committed.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOURS = 4
FOLDERS = {
    "engine": ("engine", "library", "lint"),
    "engine/emulated": ("machines",),
    "engine/annealing": ("engine", "suites/annealing", "lint"),
    "engine/ensemble": ("engine", "suites/annealing", "library", "lint"),
    "engine/kernels": ("engine", "suites/bsp", "lint"),
    "engine/npb": ("engine", "suites/npb", "lint"),
    "engine/profile": ("profiles", "lint"),
    "engine/replay": ("replay", "lint"),
    "engine/replayer": ("engine", "replay", "lint"),
    "engine/sync": ("engine", "library", "lint", "spin"),
    "examples": ("library",),
    "hockney/batch": ("batch", "slurm"),
    "hockney/cli": ("cli", "docs"),
    "hockney/launch": ("launch", "slurm", "machines"),
    "hockney/pages": ("pages", "docs", "report"),
    "hockney/process": ("process", "faults"),
    "hockney/reproductions": ("studies", "suites/papers"),
    "hockney/store": ("store", "faults"),
    "hockney/studies": ("studies", "docs"),
    "tests/engine": ("engine", "lint"),
}
"""Folders of tests for what is not tested in the folder of the same name; the longest path counts."""


def git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def base() -> str:
    """The commit before the change; "" if there is none, as in a copy without git."""
    if os.environ.get("HOCKNEY_BASE"):
        return os.environ["HOCKNEY_BASE"]
    head_s = int(next(iter(git("log", "-1", "--format=%ct", "HEAD")), "0"))
    before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(head_s - 3600 * HOURS))
    return next(iter(git("rev-list", "-1", f"--before={before}", "HEAD")), "")


def changed_files() -> list[str] | None:
    """Paths relative to the root; None if everything counts as changed."""
    since = base()
    if not since:
        return None
    return sorted({*git("diff", "--name-only", since), *git("ls-files", "--others", "--exclude-standard")})


def folders_of(files: Iterable[str]) -> set[str]:
    """The folders of tests that these files touch."""
    return {folder for file in files for folder in _folders_of(file)}


def _folders_of(file: str) -> tuple[str, ...]:
    for parent in map(str, Path(file).parents):
        if parent in FOLDERS:
            return FOLDERS[parent]
    top, *below = Path(file).parts
    if top in ("hockney", "tests") and len(below) > 1:
        return (below[1] if below[0] == "golden" else folder_of_path(file),)
    return ("docs",) if top == "docs" else ()


def folder_of_path(file: str) -> str:
    """The folder of a test or a source: a package of the core, or a suite."""
    _, folder, *below = Path(file).parts
    return f"suites/{below[0]}" if folder == "suites" and below else folder
