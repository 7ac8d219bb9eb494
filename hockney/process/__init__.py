# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The only package that starts processes."""

from hockney.process.run import (
    CannotStart,
    CannotWrite,
    Finished,
    Job,
    OutputLine,
    Quiet,
    Scratch,
    TookTooLong,
    capture,
    stream,
)
from hockney.process.stops import stoppable

__all__ = [
    "CannotStart",
    "CannotWrite",
    "Finished",
    "Job",
    "OutputLine",
    "Quiet",
    "Scratch",
    "TookTooLong",
    "capture",
    "stoppable",
    "stream",
]
