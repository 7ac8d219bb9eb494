# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Plug-in folders: packages whose modules are found by listing the folder. Suites have plug-ins in folders of
the same names: those of hockney.studies are also in hockney/suites/SUITE/studies."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from hockney.core.errors import EnvironmentProblem, HockneyError

SUITES = Path(__file__).parents[1] / "suites"


def plugin_names(package: str) -> list[str]:
    """Return the sorted names of the modules in this package and in the folders of suites, without importing
    them."""
    return sorted(_modules_of(package))


def plugins(
    package: str,
    *members: str,
    marks: Collection[str] | None = None,
    name_of: Callable[[Any], str] | None = None,
    names: Iterable[str] | None = None,
) -> Iterator[Any]:
    """Import and yield the plug-ins of the package one after another: all of them, or those with these
    `names`.

    A plug-in is a module with any of the `marks`, by default the `members`; with `marks=()` every module of
    the folder is one. Other modules are parts of plug-ins. Raises EnvironmentProblem, which names the file,
    if a module cannot be imported, if a plug-in lacks one of the `members`, or if its `name_of` is not the
    name of its module, in which "_" stands for "-".
    """
    modules = _modules_of(package)
    required_marks = members if marks is None else marks
    for name in sorted(modules) if names is None else names:
        module = _import_module(modules[name])
        if required_marks and not any(hasattr(module, mark) for mark in required_marks):
            continue
        missing = [member for member in members if not hasattr(module, member)]
        if missing:
            raise EnvironmentProblem(
                f"{module.__file__} is not complete",
                f"it does not define {', '.join(missing)}",
                "define that too: see docs/extending.md",
                code="plugin-incomplete",
                file=str(module.__file__),
                missing=missing,
            )
        defined_name = name if name_of is None else name_of(module)
        if defined_name.replace("-", "_") != name:
            module_name = module.__name__.rpartition(".")[2]
            raise EnvironmentProblem(
                f"{module.__file__} defines '{defined_name}', not '{module_name}'",
                "a plug-in is found by the name of its file",
                "rename the file or what it defines",
                code="plugin-misnamed",
                file=str(module.__file__),
                name=defined_name,
            )
        yield module


def _import_module(full_name: str) -> ModuleType:
    try:
        return importlib.import_module(full_name)
    except HockneyError:
        raise
    except Exception as error:
        spec = importlib.util.find_spec(full_name)
        raise _plugin_not_imported(str(spec.origin) if spec else full_name, error) from error


def _modules_of(package: str) -> dict[str, str]:
    return _find_modules(package, tuple(sys.modules[package].__path__), SUITES)


@cache
def _find_modules(package: str, paths: tuple[str, ...], suites: Path) -> dict[str, str]:
    """Return the full name of each module by its name. `paths` are the package's own folders. Raises
    EnvironmentProblem if two modules have the same name, or a suite is not a package."""
    folder = package.rpartition(".")[2]
    folders_by_prefix = {package: list(paths)}
    for suite in _suite_names(suites):
        folders_by_prefix[f"hockney.suites.{suite}.{folder}"] = [str(suites / suite / folder)]
    modules: dict[str, str] = {}
    for prefix, folders in folders_by_prefix.items():
        for module in pkgutil.iter_modules(folders):
            if module.name in modules:
                raise EnvironmentProblem(
                    f"two plug-ins are called {module.name}",
                    f"{modules[module.name]} and {prefix}.{module.name}",
                    "rename a file",
                    code="plugin-name-twice",
                    name=module.name,
                )
            modules[module.name] = f"{prefix}.{module.name}"
    return modules


def _suite_names(suites: Path) -> list[str]:
    names = {module.name for module in pkgutil.iter_modules([str(suites)])}
    for folder in suites.iterdir() if suites.is_dir() else ():
        # what an uninstalled suite leaves behind has no sources
        is_hidden = folder.name.startswith((".", "__"))
        if not is_hidden and folder.name not in names and any(folder.rglob("*.py")):
            raise EnvironmentProblem(
                f"{folder} is not a suite",
                "it has no __init__.py",
                "add one",
                code="suite-not-a-package",
                folder=str(folder),
            )
    return sorted(names)


def _plugin_not_imported(file: str, error: Exception) -> EnvironmentProblem:
    """Return an error that names the place of the problem: in `file`, or in a module that it imports."""
    if isinstance(error, SyntaxError):
        location, reason = f"{error.filename}, line {error.lineno}", error.msg
    else:
        last_frame = traceback.extract_tb(error.__traceback__)[-1]
        location, reason = f"{last_frame.filename}, line {last_frame.lineno}", str(error)
    return EnvironmentProblem(
        f"{file} cannot be imported",
        f"{location}: {type(error).__name__}: {reason}",
        "correct it, or remove the file",
        code="plugin-not-imported",
        file=file,
    )
