# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Results of an archive for readers: how times changed, and whether the newest run is as usual.

Data in, data out: `hockney.api.history` reads the archive, and `hockney history` prints the results."""

from hockney.history.result import CheckedRun, ShownHistory

__all__ = ["CheckedRun", "ShownHistory"]
