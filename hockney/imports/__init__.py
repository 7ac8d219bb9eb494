# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The output of other benchmarks as runs: OSU, IMB, nccl-tests, SKaMPI.

`formats/` has one file for each format, with what it looks like. `reading` finds out which of them a
file contains, `conversion` turns their numbers into cases and times, `assembly` makes runs of them. No I/O.
"""

from hockney.imports.assembly import ImportedRun, assemble
from hockney.imports.reading import LogFile, read_log

__all__ = ["ImportedRun", "LogFile", "assemble", "read_log"]
