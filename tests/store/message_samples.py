# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages of run folders."""

from __future__ import annotations

import errno

SAMPLES = {
    OSError: [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EFBIG, "File too large"),
        OSError(errno.EACCES, "Permission denied"),
        OSError(errno.ENAMETOOLONG, "File name too long"),
    ],
    "schema": [9],
    "supported": [2],
    "number": [15],
    "kind": ["float"],
    "text": ["true"],
}
