# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the user typed for the scheduler, kept in job.json for the run's next job. A line for the scheduler
can name a program or a file to be written, so these options are under a mark, as those in
`api.trusted_settings`."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import msgspec

from hockney.api.jobs import messages
from hockney.api.jobs.batch_options import BatchOptions
from hockney.batch import BatchJob
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
        raise messages.batch_options_of_a_folder(path, foreign)
    return replace(wanted, **kept)


def _text(options: BatchJob | BatchOptions) -> str:
    return json.dumps([options.account, options.partition, list(options.lines)])
