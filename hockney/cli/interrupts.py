# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM, from the first moment to the last. Imports only modules of the interpreter itself:
until signals are kept, Ctrl-C ends in a traceback.

Both become a KeyboardInterrupt, which ends the launch's processes and leaves the run usable. A running launch
loses what it has not yet printed, except on a first SIGTERM, the notice of a batch system: it may end by
itself before. A signal that arrives before the command line can handle it is kept until then."""

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

received: list[int] = []
"""The signals received so far: any exception since the first one is its consequence."""


def keep() -> None:
    """Until `answer` is called, signals are kept; those that the caller had ignored stay ignored."""
    _handle(lambda number, frame: received.append(number))


def answer() -> None:
    """From now on a signal raises KeyboardInterrupt, immediately if one was kept, and SIGTERM after the
    running launch."""
    _handle(_raise)
    if _set(signal.SIGALRM, _raise_again):
        sys.unraisablehook = _reraise_dropped_interrupt
    if received:
        raise KeyboardInterrupt


def ignore() -> None:
    """The exit code is decided."""
    _handle(signal.SIG_IGN)
    _set(signal.SIGALRM, signal.SIG_IGN)


def exit_code() -> int:
    """The exit code of a program that was ended by the first signal."""
    return 128 + (received[0] if received else signal.SIGINT)


def _raise(number: int, frame: FrameType | None) -> None:
    received.append(number)
    if received == [signal.SIGTERM] and _request_launch_end():
        return
    raise KeyboardInterrupt


def _request_launch_end() -> bool:
    """Whether a launch is running, and was asked to end by itself: after that, or if it takes too long, there
    is a KeyboardInterrupt. A module that is not imported yet cannot run one, and must not be imported at any
    moment."""
    stops = sys.modules.get("hockney.process.stops")
    return stops is not None and hasattr(stops, "request_stop") and bool(stops.request_stop())


def _reraise_dropped_interrupt(unraisable: sys.UnraisableHookArgs) -> None:
    """Python drops an exception that is raised in a finaliser or a weak reference's callback, as those of its
    imports. An interrupt is raised again after that."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, RERAISE_DELAY_S)
    else:
        sys.__unraisablehook__(unraisable)


def _raise_again(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _handle(handler: object) -> None:
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            _set(number, handler)


def _set(number: int, handler: object) -> bool:
    """False outside the main thread, where signals have no handlers."""
    try:
        signal.signal(number, handler)
    except ValueError:
        return False
    return True
