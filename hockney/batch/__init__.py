# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Batch jobs that measure a run: their scripts, submitting them, and what has become of them."""

from hockney.batch.job import BatchJob, job_name, named, read_job, script_of, state_of, submit, write_job
from hockney.batch.request import LOGS, JobRequest, Phase, State
from hockney.batch.schedulers import (
    Scheduler,
    all_schedulers,
    current_job,
    installed_scheduler,
    scheduler_here,
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
    "installed_scheduler",
    "job_name",
    "named",
    "read_job",
    "scheduler_here",
    "scheduler_named",
    "script_of",
    "state_of",
    "submit",
    "write_job",
]
