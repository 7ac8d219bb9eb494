# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages of builds."""

from __future__ import annotations

import errno

SAMPLES = {
    "group": ["granularity", ""],
    "language": ["C++"],
    "package": ["simgrid 4.1"],
    "title": ["SimGrid 4.1"],
    "product": ["engine"],
    "mpi": ["Open MPI 5.0.6"],
    "seconds": [42.4],
    "free": [10_000_000],
    "needed": [400_000_000],
    "name": ["cmake"],
    "version": ["3.20"],
    OSError: [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EACCES, "Permission denied")],
}
