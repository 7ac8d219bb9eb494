# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Packages that import their modules when one of their names is first used, so that a verb starts fast."""

from __future__ import annotations

import contextlib
import importlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any


def attributes(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562). `modules` has the names of each module, separated by spaces.

    No name may be that of a module of the package: importing the module would replace it.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'", name=name)
        with uninterrupted():
            value = getattr(importlib.import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C and other signals with handlers, which may raise, wait until the end: NumPy cannot be imported
    again in a process in which its first import was interrupted."""
    if "numpy" in sys.modules or threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers, and runs them
        return
    every = {number: signal.getsignal(number) for number in signal.valid_signals()}
    handlers: dict[int, Any] = {number: handler for number, handler in every.items() if callable(handler)}
    caught: list[tuple[int, Any]] = []
    for number in handlers:
        signal.signal(number, lambda *signalled: caught.append(signalled))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for signalled in caught:
        handlers[signalled[0]](*signalled)
