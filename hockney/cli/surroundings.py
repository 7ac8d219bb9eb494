# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Completes the environment, of which cron, services and containers may omit parts."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile

LEAST_BYTES = 400_000_000
"""The minimum address space. With less, OpenBLAS, which numpy loads, hangs or aborts."""


def memory_limit() -> int | None:
    """The limit on address space (bytes), if it is too small to work with, otherwise None."""
    with contextlib.suppress(ImportError, OSError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY and limit < LEAST_BYTES:
            return limit
    return None


def complete() -> None:
    """Ensures open standard streams and a home folder: MPI's programs do not start without one."""
    _open_streams()
    if not os.environ.get("HOME"):
        home = os.path.expanduser("~")  # unexpanded, if the user has no entry
        os.environ["HOME"] = home if os.path.isabs(home) else tempfile.gettempdir()


def _open_streams() -> None:
    """Replaces closed streams with ones that read nothing and discard all output. Otherwise the next file to
    be opened would get the number of a closed stream, and messages would go into that file."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # uses the lowest free number
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
