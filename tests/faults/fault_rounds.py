# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How often a fault is injected, and on which machine."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

Rounds = Callable[[int, int], Iterator[int]]
FAKE = {"HOCKNEY_MACHINE": "fake"}
MOST_S = float(os.environ.get("HOCKNEY_FAULT_SECONDS", "1200"))
"""For one test in the slow tier."""
PROGRESS = Path(tempfile.gettempdir()) / "hockney-faults"
"""A file for each test, with the number of rounds started."""


def counted(count: int, name: str) -> Iterator[int]:
    """From 0, as long as the time allows; the test `name` reports its progress."""
    PROGRESS.mkdir(exist_ok=True)
    end = time.monotonic() + MOST_S
    for number in range(count):
        if number and time.monotonic() > end:
            break
        (PROGRESS / name.replace("/", "_")).write_text(f"{number} of {count}\n")
        yield number
