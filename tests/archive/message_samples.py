# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages about archives."""

from __future__ import annotations

import errno

SAMPLES = {"error": [OSError(errno.ENOSPC, "No space left on device")]}
