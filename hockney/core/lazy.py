# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Packages that import a module when one of its names is first used, so that commands start fast."""

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
    """Return the `__getattr__` of a package (PEP 562). It provides the names that the package's `__init__`
    imports for type checkers, below `if TYPE_CHECKING`.

    No name may equal that of a module of the package, as importing the module would replace it.
    """
    module_of = {alias.name: node.module for node in _type_checking_imports(package) for alias in node.names}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'", name=name)
        with defer_signals():
            value = getattr(importlib.import_module(str(module_of[name])), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


def _type_checking_imports(package: str) -> Iterator[ast.ImportFrom]:
    spec = sys.modules[package].__spec__
    source = spec.loader.get_source(package)  # type: ignore[union-attr]
    for node in ast.parse(source).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (statement for statement in node.body if isinstance(statement, ast.ImportFrom))


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """Defer Ctrl-C and other signals with handlers, which may raise, to the end of this context. NumPy cannot
    be imported again in a process in which its first import was interrupted."""
    if "numpy" in sys.modules or threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers, and runs them
        return
    current = {number: signal.getsignal(number) for number in signal.valid_signals()}
    handlers: dict[int, Any] = {number: handler for number, handler in current.items() if callable(handler)}
    deferred: list[tuple[int, Any]] = []
    for number in handlers:
        signal.signal(number, lambda *arguments: deferred.append(arguments))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for arguments in deferred:
        handlers[arguments[0]](*arguments)
