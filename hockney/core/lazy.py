# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Packages that import their modules when one of their names is first used, so that a verb starts fast."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any


def attributes(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562). `modules` has the names of each module, separated by spaces.

    No name may be that of a module of the package: importing the module would replace it.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'", name=name)
        _numpy_first()
        value = getattr(importlib.import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


def _numpy_first() -> None:
    """Imported by a thread of its own: NumPy cannot be imported again in a process in which its first import
    was interrupted, and exceptions of signal handlers, such as that of Ctrl-C, reach only the main thread."""
    if "numpy" not in sys.modules:
        thread = threading.Thread(target=_import_numpy, daemon=True)
        thread.start()
        thread.join()


def _import_numpy() -> None:
    with contextlib.suppress(ImportError):  # which is raised where it is used
        importlib.import_module("numpy")
