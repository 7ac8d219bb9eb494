# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are measured by batch jobs: submitting them, and picking them up."""

from hockney.api.jobs.batch_options import BatchOptions
from hockney.api.jobs.resuming import resume
from hockney.api.jobs.submission import Submitted, script, submit, submit_again

__all__ = ["BatchOptions", "Submitted", "resume", "script", "submit", "submit_again"]
