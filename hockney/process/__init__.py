# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The only room that starts processes."""

from hockney.process.run import CannotStart, Finished, Job, OutputLine, Quiet, TookTooLong, capture, stream

__all__ = ["CannotStart", "Finished", "Job", "OutputLine", "Quiet", "TookTooLong", "capture", "stream"]
