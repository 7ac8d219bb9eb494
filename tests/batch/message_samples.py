# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages of batch jobs."""

from __future__ import annotations

import errno

SAMPLES = {
    OSError: [OSError(errno.ENOSPC, "No space left on device")],
    Exception: [ValueError("Expected `str`, got `int` - at `$.number`")],
    "directive": ["#SBATCH"],
    "program": ["sbatch"],
}
