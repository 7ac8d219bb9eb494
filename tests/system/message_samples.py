# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Samples for the messages about files: each reason that has a text, and one that has none."""

import errno
import os

ERRORS = ("ENOSPC", "EDQUOT", "EROFS", "EACCES", "ENAMETOOLONG", "EIO")
SAMPLES = {"error": [OSError(getattr(errno, e), os.strerror(getattr(errno, e))) for e in ERRORS]}
