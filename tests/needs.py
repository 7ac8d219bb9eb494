# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""System dependencies of tests. `make test-deps` installs them; without them tests skip, and in CI they
fail."""

from __future__ import annotations

import importlib
import os
import shutil
from pathlib import Path
from typing import Any, NoReturn

import pytest

COMPILERS = ("c++", "g++", "clang++")
GTEST = (Path("/usr/include/gtest/gtest.h"), Path("/usr/local/include/gtest/gtest.h"))
HOW = "'make test-deps' installs what the tests need"


def missing(what: str, how: str = HOW) -> NoReturn:
    """Skip the test that needs `what`, or fail it in CI, where everything must be installed."""
    if os.environ.get("CI"):
        pytest.fail(f"missing: {what}; {how}", pytrace=False)
    pytest.skip(f"missing: {what}; {how}")


def need_program(*names: str) -> str:
    """The path of the first of these programs that is installed."""
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    missing(" or ".join(names))


def need_module(name: str) -> Any:
    """A Python package of the extra `test`."""
    try:
        return importlib.import_module(name)
    except ImportError:
        missing(name, "pip install '.[test]' brings it")


def need_compiler() -> None:
    need_program(*COMPILERS)


def need_gtest() -> None:
    if not any(path.exists() for path in GTEST):
        missing("GoogleTest's headers")
