# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Batch jobs that measure a run: their scripts, submission and state."""

from hockney.batch.job import (
    BatchJob,
    find_job_number,
    job_name,
    make_script,
    read_job,
    state_of,
    submit,
    write_job,
)
from hockney.batch.request import LOGS, JobRequest, Phase, State
from hockney.batch.schedulers import (
    Scheduler,
    all_schedulers,
    current_job,
    find_scheduler,
    installed_scheduler,
    scheduler_named,
)

__all__ = [
    "LOGS",
    "BatchJob",
    "JobRequest",
    "Phase",
    "Scheduler",
    "State",
    "all_schedulers",
    "current_job",
    "find_job_number",
    "find_scheduler",
    "installed_scheduler",
    "job_name",
    "make_script",
    "read_job",
    "scheduler_named",
    "state_of",
    "submit",
    "write_job",
]
