# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that tests send signals to."""

from __future__ import annotations

import signal


def heed_interrupts() -> None:
    """In the child (`preexec_fn`): background processes start with SIGINT ignored, and would not react to
    ours."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
