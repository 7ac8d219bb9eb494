# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""An archive of runs: their folders, copied there as they are, and an index that can be made again."""

from hockney.archive.archive import Archive, Contents, is_archive, refuse_inside
from hockney.archive.archived_run import ArchivedRun, Damaged, describe
from hockney.archive.copying import ArchivedCopy

__all__ = [
    "Archive",
    "ArchivedCopy",
    "ArchivedRun",
    "Contents",
    "Damaged",
    "describe",
    "is_archive",
    "refuse_inside",
]
