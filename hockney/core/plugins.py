# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Plug-in folders: packages of which each module is found by being there. Suites have plug-ins in folders of
the same names: those of hockney.studies are also in hockney/suites/SUITE/studies."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

SUITES = Path(__file__).parents[1] / "suites"


def plugin_names(package: str) -> list[str]:
    """The names of the modules in the package of this full name and in the folders of suites, sorted. None of
    them is imported."""
    return sorted(_modules_of(package))


def plugins(package: str, *words: str, names: Iterable[str] | None = None) -> Iterator[Any]:
    """The modules of the package that have all these `words`, imported one after another: all of them, or
    those with these `names`."""
    modules = _modules_of(package)
    for name in sorted(modules) if names is None else names:
        module = importlib.import_module(modules[name])
        if all(hasattr(module, word) for word in words):
            yield module


def _modules_of(package: str) -> dict[str, str]:
    return _modules(package, tuple(sys.modules[package].__path__))


@cache
def _modules(package: str, paths: tuple[str, ...]) -> dict[str, str]:
    """The full name of each module by its name; raises ValueError if two have the same. `paths` are the
    package's own folders."""
    folder = package.rpartition(".")[2]
    places = {package: list(paths)}
    for suite in pkgutil.iter_modules([str(SUITES)]):
        places[f"hockney.suites.{suite.name}.{folder}"] = [str(SUITES / suite.name / folder)]
    modules: dict[str, str] = {}
    for prefix, folders in places.items():
        for module in pkgutil.iter_modules(folders):
            if module.name in modules:
                raise ValueError(
                    f"two plug-ins are called {module.name}: {modules[module.name]} and {prefix}"
                )
            modules[module.name] = f"{prefix}.{module.name}"
    return modules
