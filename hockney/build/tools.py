# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""CMake and Ninja: the system's if new enough, otherwise those of the Python wheels."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from hockney import process
from hockney.core.errors import EnvironmentProblem

NEEDED = {"cmake": (3, 20), "ninja": (1, 8)}


def tool(name: str) -> str:
    """The path of a `cmake` or `ninja` that is new enough for the engine's CMakeLists.txt."""
    for candidate in candidates(name):
        if version(candidate) >= NEEDED[name]:
            return candidate
    raise _tool_missing(name, ".".join(map(str, NEEDED[name])))


def candidates(name: str) -> Iterator[str]:
    """First on PATH; then in the folder given by the wheel's module, or in the environment's bin folder."""
    on_path = shutil.which(name)
    if on_path:
        yield on_path
    try:
        module = importlib.import_module(name)
    except ImportError:
        module = None
    folder = getattr(module, "CMAKE_BIN_DIR", None) or getattr(module, "BIN_DIR", None)
    for place in (folder, Path(sys.prefix) / "bin"):
        if place and (Path(place) / name).exists():
            yield str(Path(place) / name)


def version(path: str) -> tuple[int, ...]:
    """The first version number in --version; () if the tool does not work."""
    try:
        match = re.search(r"(\d+)\.(\d+)", process.capture([path, "--version"], timeout=30).out)
    except EnvironmentProblem:
        return ()
    return tuple(int(part) for part in match.groups()) if match else ()


def _tool_missing(name: str, version: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"no {name} {version} or newer was found",
        "the engine is built with it",
        f"install it: pip install {name}",
        code="build-tool-missing",
        name=name,
        version=version,
    )
