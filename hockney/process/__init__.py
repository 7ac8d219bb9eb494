# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The only package that starts processes."""

from hockney.process.foreground import ForegroundEnd, run_in_foreground
from hockney.process.run import (
    CannotStart,
    CannotWrite,
    CompletedProgram,
    Job,
    OutputLine,
    OutputTimeout,
    ProgramTimeout,
    Scratch,
    capture,
    stream,
)
from hockney.process.stops import stoppable
