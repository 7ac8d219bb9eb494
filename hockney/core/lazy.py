# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Packages that import their modules when one of their names is first used, so that a verb starts fast."""

from __future__ import annotations

import ast
import contextlib
import importlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any


@cache
def attribute_getter(package: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562), for the names that its `__init__` imports for type checkers,
    below `if TYPE_CHECKING`.

    No name may be that of a module of the package: importing the module would replace it.
    """
    module_of = {alias.name: node.module for node in _for_type_checkers(package) for alias in node.names}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'", name=name)
        with uninterrupted():
            value = getattr(importlib.import_module(str(module_of[name])), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


def _for_type_checkers(package: str) -> Iterator[ast.ImportFrom]:
    spec = sys.modules[package].__spec__
    source = spec.loader.get_source(package)  # type: ignore[union-attr]
    for node in ast.parse(source).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (each for each in node.body if isinstance(each, ast.ImportFrom))


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
