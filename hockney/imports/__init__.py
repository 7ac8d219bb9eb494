# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The output of other benchmarks as runs: OSU, IMB, nccl-tests, SKaMPI.

`formats/` has one file for each format, which describes how it looks. `conversion` turns its numbers into
cases and times, and `assembly` makes runs of them. No I/O.
"""

from hockney.imports.assembly import ImportedRun, assemble
from hockney.imports.formats import LogFile, read_log
