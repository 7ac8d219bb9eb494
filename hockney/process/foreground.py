# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Run a user's program as a shell does: it has the terminal, and hockney only waits for it.

Unlike the programs that hockney needs, it has no keeper. It shares hockney's process group, so that Ctrl-C
and Ctrl-Z reach it from the terminal and it may read from there; its open files are those that hockney was
given; and it outlives hockney, as it would outlive `time`."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from hockney.core.errors import printable
from hockney.process.run import CannotStart

SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT
FROM_TERMINAL = signal.SIGINT, signal.SIGQUIT
"""A terminal sends these to its whole foreground process group."""


@dataclass(frozen=True)
class ForegroundEnd:
    """How a program ended: its exit code (128+n after signal n), the time it took, and the first signal that
    hockney received meanwhile."""

    code: int
    seconds: float
    received: int | None = None

    @property
    def signal(self) -> int | None:
        """The signal that ended the program itself."""
        return self.code - 128 if self.code > 128 else None


def run_in_foreground(
    words: Sequence[str], environ: Mapping[str, str], stdin: int | None = None, stdout: int | None = None
) -> ForegroundEnd:
    """Run a program to its end with hockney's standard streams, or other descriptors, and exactly this
    environment. Signals are passed on to it instead of interrupting hockney. Raises CannotStart."""
    program = shutil.which(words[0], path=environ.get("PATH", os.defpath))
    if program is None:
        raise CannotStart(
            f"'{printable(words[0])}' cannot be started",
            "the program is missing or not executable",
            code="foreground-program-not-found",
            program=words[0],
        )
    passing = _Passing()
    with passing.instead_of_handlers():
        began = time.monotonic()
        try:
            # its descriptors are inherited as from a shell; Python's own are closed by the kernel (PEP 446)
            started = subprocess.Popen(
                words, executable=program, env=environ, stdin=stdin, stdout=stdout, close_fds=False
            )
        except OSError as error:
            raise CannotStart(
                f"'{printable(words[0])}' cannot be started",
                (error.strerror or str(error)).lower(),
                code="foreground-program-not-starting",
                program=words[0],
            ) from error
        passing.start(started.pid)
        code = started.wait()
        seconds = time.monotonic() - began
    first = passing.received[0] if passing.received else None
    return ForegroundEnd(code if code >= 0 else 128 - code, seconds, first)


@dataclass
class _Passing:
    """Passes signals on to the program, except those that it has received from the terminal, too."""

    pid: int = 0
    received: list[int] = field(default_factory=list)
    early: list[int] = field(default_factory=list)
    """Signals that arrived before the program had been started."""

    def start(self, pid: int) -> None:
        self.pid = pid
        while self.early:
            self._send(self.early.pop(0))

    @contextlib.contextmanager
    def instead_of_handlers(self) -> Iterator[None]:
        """Replace the signal handlers meanwhile. Only the main thread has any to replace."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before: dict[signal.Signals, Any] = {}
        try:
            for number in SIGNALS:
                handler = signal.getsignal(number)
                if handler != signal.SIG_IGN:
                    signal.signal(number, self._pass)
                    # None: not Python's but a preloaded library's, which cannot be set again
                    before[number] = signal.SIG_DFL if handler is None else handler
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _pass(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)
        if number in FROM_TERMINAL and _has_terminal():
            return
        if self.pid:
            self._send(number)
        else:
            self.early.append(number)

    def _send(self, number: int) -> None:
        with contextlib.suppress(OSError):  # it has just ended
            os.kill(self.pid, number)


def _has_terminal() -> bool:
    """Whether this process group is in the foreground of a terminal, which then sends Ctrl-C to all of it."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
