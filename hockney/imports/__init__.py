# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The output of other benchmarks as runs: OSU, IMB, nccl-tests, SKaMPI.

`formats/` contains one file per format, which parses that format. `conversion` converts its numbers to cases
and times, and `assembly` creates runs from them. No I/O.
"""

from hockney.imports.assembly import ImportedRun, assemble
from hockney.imports.formats import LogFile, read_log
