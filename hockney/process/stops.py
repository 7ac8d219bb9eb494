# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that end by themselves on request, and then lose nothing that they have not yet printed.

SIGTERM announces that hockney will be killed soon: a batch system sends it before a job's time limit."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

WITHIN_S = 20.0
"""The time that programs get. Slurm's notice comes 30 s before the limit, and hockney needs a few seconds to
end the launch and close its files."""

_running: set[Path] = set()
_requested = False


@contextlib.contextmanager
def stoppable(file: Path) -> Iterator[None]:
    """Within it a program runs that ends soon after something is written to `file`, an empty one. If that was
    requested, KeyboardInterrupt is raised after the program's end, however it ended: a batch system sends the
    signal to launchers and ranks too."""
    _running.add(file)
    try:
        yield
    finally:
        _running.discard(file)
        if _requested and not _running:
            _interrupt()


def request_stop() -> bool:
    """Ask all running programs to end, within WITHIN_S: the handler of SIGALRM, which must raise
    KeyboardInterrupt, is called after that. False if none runs, or one cannot be asked, as when it is only
    being started; then the caller must end them."""
    global _requested
    if not _running or not all(map(_write_request, _running)):
        return False
    _requested = True
    signal.setitimer(signal.ITIMER_REAL, WITHIN_S)
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
