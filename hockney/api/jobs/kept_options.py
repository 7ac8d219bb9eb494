# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the user typed for the scheduler, kept in job.json for the run's next job. A line for the scheduler
can name a program or a file to be written, so these options are under a mark, as those in
`api.trusted_settings`."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from hockney.api.jobs.batch_options import BatchOptions
from hockney.batch import BatchJob
from hockney.core.errors import UsageError, printable
from hockney.system import trust

KEPT = {"account": "--account", "partition": "--partition", "lines": "--batch-line"}


def keeping_options(job: BatchJob, wanted: BatchOptions) -> BatchJob:
    """The job with the options that were just typed."""
    typed = {name: getattr(wanted, name) for name in KEPT}
    mark = trust.mark(_text(wanted), os.environ) if any(typed.values()) else ""
    return msgspec.structs.replace(job, **typed, lines_mark=mark)


def with_kept_options(wanted: BatchOptions, job: BatchJob, path: Path) -> BatchOptions:
    """`wanted`, with what it leaves open as it was for the earlier `job` of the run in `path`. Raises
    UsageError if this user has not typed that."""
    kept = {name: getattr(job, name) for name in KEPT if getattr(job, name) and not getattr(wanted, name)}
    if kept and not trust.is_marked(_text(job), job.lines_mark, os.environ):
        foreign = {KEPT[name]: (value,) if isinstance(value, str) else value for name, value in kept.items()}
        raise _batch_options_of_a_folder(path, foreign)
    return replace(wanted, **kept)


def _text(options: BatchJob | BatchOptions) -> str:
    return json.dumps([options.account, options.partition, list(options.lines)])


def _batch_options_of_a_folder(path: Path, named: Mapping[str, Sequence[str]]) -> UsageError:
    """`named` has the values of options for the scheduler that are in the folder's job.json."""
    words = [f"{option}={value}" for option, values in named.items() for value in values]
    command = shlex.join([str(path), "--submit", *words])
    return UsageError(
        f"'{printable(str(path))}' has options for the batch system that you have not typed",
        "with them, a run folder from somebody else could start any program",
        f"if you trust it, type them: hockney resume {printable(command)}",
        code="batch-options-of-a-folder",
        options=sorted(named),
    )
