# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Run a user's program as a shell does: it has the terminal, and hockney only waits for it.

Unlike the programs that hockney needs, it has no keeper. It shares hockney's process group, so that it can
read from the terminal and receives Ctrl-C and Ctrl-Z from there. It inherits hockney's open files. It
outlives hockney, as it would outlive `time`.
"""

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
TERMINAL_SIGNALS = signal.SIGINT, signal.SIGQUIT
"""Signals that a terminal sends to its whole foreground process group."""


@dataclass(frozen=True)
class ForegroundEnd:
    """How a program ended: its exit code (128+n after signal n), its duration, and the first signal that
    hockney received while it ran."""

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
    """Run a program to its end with exactly this environment, and with hockney's standard streams or the
    given descriptors. Signals are forwarded to the program instead of interrupting hockney. Raises
    CannotStart."""
    program = shutil.which(words[0], path=environ.get("PATH", os.defpath))
    if program is None:
        raise CannotStart(
            f"'{printable(words[0])}' cannot be started",
            "the program is missing or not executable",
            code="foreground-program-not-found",
            program=words[0],
        )
    forwarder = _SignalForwarder()
    with forwarder.replace_handlers():
        start_s = time.monotonic()
        try:
            # its descriptors are inherited as from a shell; Python's own are closed by the kernel (PEP 446)
            child = subprocess.Popen(
                words, executable=program, env=environ, stdin=stdin, stdout=stdout, close_fds=False
            )
        except OSError as error:
            raise CannotStart(
                f"'{printable(words[0])}' cannot be started",
                (error.strerror or str(error)).lower(),
                code="foreground-program-not-starting",
                program=words[0],
            ) from error
        forwarder.start(child.pid)
        code = child.wait()
        seconds = time.monotonic() - start_s
    first_signal = forwarder.received[0] if forwarder.received else None
    return ForegroundEnd(code if code >= 0 else 128 - code, seconds, first_signal)


@dataclass
class _SignalForwarder:
    """Forwards signals to the program, except those that the terminal has already sent to it."""

    pid: int = 0
    received: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    """Signals that arrived before the program was started."""

    def start(self, pid: int) -> None:
        self.pid = pid
        while self.pending:
            self._send(self.pending.pop(0))

    @contextlib.contextmanager
    def replace_handlers(self) -> Iterator[None]:
        """Replace the signal handlers for the duration of the context. Only the main thread has handlers to
        replace."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handlers: dict[signal.Signals, Any] = {}
        try:
            for number in SIGNALS:
                handler = signal.getsignal(number)
                if handler != signal.SIG_IGN:
                    signal.signal(number, self._forward)
                    # None: not Python's but a preloaded library's, which cannot be set again
                    handlers[number] = signal.SIG_DFL if handler is None else handler
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _forward(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)
        if number in TERMINAL_SIGNALS and _has_terminal():
            return
        if self.pid:
            self._send(number)
        else:
            self.pending.append(number)

    def _send(self, number: int) -> None:
        with contextlib.suppress(OSError):  # it has just ended
            os.kill(self.pid, number)


def _has_terminal() -> bool:
    """Return whether this process group is in the foreground of a terminal, which then sends Ctrl-C to the
    whole group."""
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
