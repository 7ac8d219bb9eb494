# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The only room that starts processes."""

from hockney.process.errors import CannotStart, TookTooLong
from hockney.process.run import Finished, Job, OutputLine, Quiet, capture, stream

__all__ = ["CannotStart", "Finished", "Job", "OutputLine", "Quiet", "TookTooLong", "capture", "stream"]
