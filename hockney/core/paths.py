# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Paths given by users, names of files in run folders and archives, and the folder for files that hockney can
recreate."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable

AnyPath = str | os.PathLike[str]
"""Types accepted for a path."""

COMPLETE_MARKER = ".hockney-complete"
"""Marker written last into folders that hockney builds in its cache, so that an interrupted build is not
considered complete. It contains the folder's path, since scripts of a build contain that path and fail after
a move."""

RUNS_FOLDER = Path("runs")
"""Default folder of runs."""

LAUNCH_FOLDER = ".launch-"
"""Prefix of the folder in which a launch keeps its plan while it runs."""


def is_description_file(word: str) -> bool:
    """Return whether a word is the path of a machine's or a program's file, and not a name."""
    return ("/" in word or word.endswith(".toml")) and not {*word} & {"=", " "}


def to_path(path: AnyPath) -> Path:
    """Convert to a Path. Raises UsageError for an invalid file name."""
    text = os.fspath(path)
    if not text or "\0" in text:
        raise UsageError(
            f"'{printable(text)}' is not a path",
            "no file can have this name",
            "use for example runs/first",
            code="not-a-path",
            text=text,
        )
    return Path(path)


def is_in_runs(path: Path) -> bool:
    """Return whether `path` is directly inside the default folder of runs."""
    return path.resolve().parent == RUNS_FOLDER.resolve()


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return $HOCKNEY_CACHE, otherwise hockney below $XDG_CACHE_HOME, otherwise below ~/.cache.

    A relative $XDG_CACHE_HOME is ignored, as required by the XDG Base Directory Specification.
    """
    if environ.get("HOCKNEY_CACHE"):
        return expand_home(Path(environ["HOCKNEY_CACHE"])).absolute()
    xdg = Path(environ.get("XDG_CACHE_HOME") or ".")
    if xdg.is_absolute():
        return xdg / "hockney"
    home = environ.get("HOME")
    return (Path(home) if home else expand_home(Path("~"))) / ".cache" / "hockney"


def expand_home(path: Path) -> Path:
    """Replace ~ or ~name at the start of `path` by that user's home. Raises EnvironmentProblem."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise EnvironmentProblem(
            f"cannot expand '{printable(str(path))}'",
            "the system has no home folder for that user",
            "give the whole path; set HOME or HOCKNEY_CACHE for hockney's cache",
            code="no-home-folder",
        ) from error


PLAN = "plan.txt"
"""A folder with this file is a run."""
INDEX = "index.sqlite"
"""Index of an archive."""
RUN_FILE_PATTERNS = (
    PLAN, "machine.json", "survey.json", "catalog.json", "records.jsonl", "records-*of*.jsonl", "fits.json",
    "report.html", "job.json", "job.sh", "job-*.log",
)  # fmt: skip
"""Patterns of file names in a run folder."""


def is_run_file(name: str) -> bool:
    """Return whether a file of this name in a run folder belongs to the run."""
    return any(fnmatch(name, pattern) for pattern in RUN_FILE_PATTERNS)
