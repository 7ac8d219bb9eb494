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
    """Ctrl-C waits until the end: NumPy cannot be imported again in a process in which its first import was
    interrupted."""
    handler = signal.getsignal(signal.SIGINT)
    if "numpy" in sys.modules or not callable(handler) or not _in_main_thread():
        yield
        return
    pressed: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda *caught: pressed.append(caught))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if pressed:
        handler(*pressed[0])


def _in_main_thread() -> bool:
    """Only it may set handlers."""
    return threading.current_thread() is threading.main_thread()
