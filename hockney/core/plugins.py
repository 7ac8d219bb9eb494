# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Plug-in folders: packages of which each module is found by being there."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from typing import Any


def plugin_names(package: str) -> list[str]:
    """The names of the modules in the package of this full name, sorted. None of them is imported."""
    return sorted(module.name for module in pkgutil.iter_modules(sys.modules[package].__path__))


def plugins(package: str, *words: str, names: Iterable[str] | None = None) -> Iterator[Any]:
    """The modules of the package that have all these `words`, imported one after another: all of them, or
    those with these `names`."""
    for name in plugin_names(package) if names is None else names:
        module = importlib.import_module(f"{package}.{name}")
        if all(hasattr(module, word) for word in words):
            yield module
