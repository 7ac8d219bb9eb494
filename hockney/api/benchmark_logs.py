# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Import of the output of other benchmarks as runs."""

from __future__ import annotations

import codecs
import hashlib
import operator
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from hockney import measurement
from hockney.api.notebook.log_events import log
from hockney.api.run_contents import Run
from hockney.core.errors import UsageError, printable
from hockney.core.notice import Notice
from hockney.core.paths import AnyPath, to_path
from hockney.imports import ImportedRun, LogFile, assemble, read_log
from hockney.imports.log import MAX_RANKS
from hockney.measurement import Listener
from hockney.store import default_path, refuse_taken
from hockney.store.messages import not_readable
from hockney.system.files import read_regular

STUDY = "imported"
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks and their encodings. Windows programs write them; PowerShell writes output in UTF-16."""


def import_logs(
    files: AnyPath | Iterable[AnyPath],
    *,
    out: AnyPath | None = None,
    ranks: int | None = None,
    machine: str = "",
    label: str = "",
    in_place: bool = False,
    listen: Listener | None = None,
) -> list[Run]:
    """Import output of OSU, IMB, nccl-tests or SKaMPI as runs, one for each suite and version::

        (run,) = hockney.import_logs(["osu-1.log", "osu-2.log"], ranks=16, out="runs/old")

    Formats are recognised by their contents. A file may contain the output of several programs. Each
    execution of a benchmark counts as a launch, so several logs of the same benchmark give intervals. `ranks`
    is the number of ranks for logs that do not contain it. `out` is the run's folder, or the parent folder of
    several runs (default: a folder in runs). `machine` and `label` are descriptive names. `in_place` selects
    the in-place columns of nccl-tests. `listen` receives notices about omitted results.

    Raises UsageError if no file contains known output or a number of ranks is unknown, EnvironmentProblem if
    a file cannot be read, Inconclusive if no number corresponds to a case.
    """
    ranks = _check_ranks(ranks)
    paths = (
        [to_path(files)]
        if isinstance(files, str | PathLike)
        else [to_path(imported_run) for imported_run in files]
    )
    if not paths:
        raise UsageError(
            "no file to import", "", "name the files that contain the output", code="no-log-files"
        )
    listener = listen or log
    logs = _read_logs(paths, listener)
    imported_runs = assemble(logs, ranks=ranks, machine=machine, same_buffers=in_place)
    run_paths = [_run_path(imported_run, len(imported_runs), out) for imported_run in imported_runs]
    for run_path in run_paths:  # all of them before the first is written
        refuse_taken(run_path)
    runs = []
    for imported_run, run_path in zip(imported_runs, run_paths, strict=True):
        for notice in imported_run.notices:
            listener(notice)
        source = measurement.imported_reference(imported_run.name)
        runs.append(
            Run(
                measurement.write_run(
                    run_path,
                    STUDY,
                    source,
                    imported_run.machine,
                    imported_run.run,
                    imported_run.catalog,
                    label,
                )
            )
        )
    return runs


def _check_ranks(ranks: int | None) -> int | None:
    """Convert a number of ranks, which may be a NumPy integer, to int. Raises UsageError if it is invalid."""
    try:
        count = None if ranks is None else operator.index(ranks)
    except TypeError:
        raise UsageError(
            f"ranks is {printable(repr(ranks))}",
            "it is a number of ranks",
            "use for example ranks=16",
            code="import-ranks-not-a-count",
        ) from None
    if count is not None and not 1 <= count <= MAX_RANKS:
        raise UsageError(
            f"ranks is {count}",
            "at least one rank ran the benchmark",
            "use for example ranks=16",
            code="import-ranks-out-of-range",
            ranks=count,
        )
    return count


def _read_logs(paths: Sequence[Path], listen: Listener) -> list[LogFile]:
    """Read the logs, without duplicates."""
    logs: dict[str, LogFile] = {}
    for path in paths:
        name = str(path)
        try:
            if path.is_dir():  # fails for a name that is too long
                raise UsageError(
                    f"'{printable(name)}' is a folder",
                    "logs are files",
                    f"use for example {printable(name.rstrip('/'))}/*.log",
                    code="log-is-folder",
                    path=name,
                )
            text = _decode(read_regular(path))
            modified_s = path.stat().st_mtime
        except OSError as error:
            raise not_readable(path, error) from error
        digest = hashlib.sha256(text.strip().encode()).hexdigest()
        if digest in logs:
            listen(
                Notice(
                    f"{printable(name)} has the same contents as {printable(logs[digest].name)} and is left "
                    "out: a log counted twice would look like two launches",
                    "same-log-twice",
                )
            )
        else:
            logs[digest] = read_log(name, text, modified_s)
    return list(logs.values())


def _decode(data: bytes) -> str:
    """Decode a log. Null bytes, which remain of UTF-16 without a byte order mark, are removed."""
    encoding = next((name for mark, name in BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8")
    return data.decode(encoding, "replace").replace("\0", "")


def _run_path(imported_run: ImportedRun, run_count: int, out: AnyPath | None) -> Path:
    """Return the folder of an imported run: `out` itself if it is the only one."""
    if out is None:
        return default_path(f"{STUDY}-{imported_run.name}")
    return to_path(out) if run_count == 1 else to_path(out) / imported_run.name
