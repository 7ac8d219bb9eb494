# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Handling of Ctrl-C and SIGTERM during the whole execution. This module imports only builtin modules, as
Ctrl-C ends in a traceback until signals are kept.

Both signals raise KeyboardInterrupt, which ends the processes of a launch and leaves the run usable. A
running launch loses its unprinted results, except on a first SIGTERM, the notice of a batch system, after
which it may first end by itself. A signal that arrives before the command line can handle it is kept until
then."""

from __future__ import annotations

# what `signal` consists of, without the import of `enum` and `collections`
import _signal as signal
import sys

TYPE_CHECKING = False
"""Like `typing.TYPE_CHECKING`, without the import."""
if TYPE_CHECKING:
    from types import FrameType

SIGNALS = signal.SIGINT, signal.SIGTERM

RERAISE_DELAY_S = 1e-3
"""After an interrupt was dropped, it is raised again."""

received_signals: list[int] = []
"""The signals received so far: any exception since the first one is its consequence."""


def keep_signals() -> None:
    """Keep signals until `answer_signals` is called. Signals that the caller ignored remain ignored."""
    _set_handlers(lambda number, frame: received_signals.append(number))


def answer_signals() -> None:
    """Let signals raise KeyboardInterrupt, immediately if one was kept. SIGTERM waits for the running
    launch."""
    _set_handlers(_raise_interrupt)
    if _set_handler(signal.SIGALRM, _raise_again):
        sys.unraisablehook = _reraise_dropped_interrupt
    if received_signals:
        raise KeyboardInterrupt


def ignore_signals() -> None:
    """Ignore signals, as the exit code is already determined."""
    _set_handlers(signal.SIG_IGN)
    _set_handler(signal.SIGALRM, signal.SIG_IGN)


def exit_code() -> int:
    """Exit code of a program that was ended by the first signal."""
    return 128 + (received_signals[0] if received_signals else signal.SIGINT)


def _raise_interrupt(number: int, frame: FrameType | None) -> None:
    received_signals.append(number)
    if received_signals == [signal.SIGTERM] and _request_launch_end():
        return
    raise KeyboardInterrupt


def _request_launch_end() -> bool:
    """Ask a running launch to end by itself; returns False if there is none. KeyboardInterrupt follows when
    it has ended or takes too long. If the launching module has not been imported, no launch is running, and a
    signal handler must not import it."""
    stops = sys.modules.get("hockney.process.stops")
    return stops is not None and hasattr(stops, "request_stop") and bool(stops.request_stop())


def _reraise_dropped_interrupt(unraisable: sys.UnraisableHookArgs) -> None:
    """Raise an interrupt again if Python dropped it, as it does in finalisers and callbacks of weak
    references."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, RERAISE_DELAY_S)
    else:
        sys.__unraisablehook__(unraisable)


def _raise_again(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _set_handlers(handler: object) -> None:
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            _set_handler(number, handler)


def _set_handler(number: int, handler: object) -> bool:
    """Set a handler; returns False outside the main thread, where signals have no handlers."""
    try:
        signal.signal(number, handler)
    except ValueError:
        return False
    return True
