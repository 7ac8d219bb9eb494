# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that end themselves on request, after printing all of their output.

SIGTERM announces that hockney will be killed soon: a batch system sends it before a job's time limit.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

STOP_TIMEOUT_S = 20.0
"""Time that programs have to end. Slurm sends its signal 30 s before the limit, and hockney needs a few
seconds to end the launch and close its files."""

_stop_files: set[Path] = set()
_requested = False


@contextlib.contextmanager
def stoppable(file: Path) -> Iterator[None]:
    """Context of a program that ends soon after something is written to `file`, an empty file. If a stop was
    requested, KeyboardInterrupt is raised once the program has ended. Its exit code does not matter, as a
    batch system sends the signal to launchers and ranks too."""
    _stop_files.add(file)
    try:
        yield
    finally:
        _stop_files.discard(file)
        if _requested and not _stop_files:
            _interrupt()


def request_stop() -> bool:
    """Request all running programs to end within STOP_TIMEOUT_S. After that time, the handler of SIGALRM is
    called, which must raise KeyboardInterrupt. Returns False if no program runs, or if one does not accept
    requests, for example while it starts; then the caller must end them."""
    global _requested
    if not _stop_files or not all(map(_write_request, _stop_files)):
        return False
    _requested = True
    signal.setitimer(signal.ITIMER_REAL, STOP_TIMEOUT_S)
    return True


def _write_request(file: Path) -> bool:
    try:
        descriptor = os.open(file, os.O_WRONLY)
        try:
            os.write(descriptor, b"stop\n")
        finally:
            os.close(descriptor)
    except OSError:
        return False
    return True


def _interrupt() -> None:
    global _requested
    _requested = False
    signal.setitimer(signal.ITIMER_REAL, 0)
    raise KeyboardInterrupt
