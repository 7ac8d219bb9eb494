# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What installs a further package where hockney is, however hockney was installed."""

from __future__ import annotations

import builtins
import importlib.util
import shutil
import sys

import pytest
from raising import raises_code

from hockney.api import export
from hockney.system.packages import install_command


def test_the_pip_of_this_environment_is_named():
    pytest.importorskip("pip")
    assert install_command("pyarrow") == [sys.executable, "-m", "pip", "install", "pyarrow"]


def test_an_environment_of_uv_has_no_pip(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find(name))
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert install_command("x") == ["/bin/uv", "pip", "install", "--python", sys.executable, "x"]


def test_pipx_keeps_its_environments_to_itself(monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/home/me/.local/share/pipx/venvs/hockney")
    assert install_command("x") == ["pipx", "inject", "hockney", "x"]


def test_parquet_without_pyarrow_names_the_command(monkeypatch, tmp_path):
    original = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with raises_code("no-pyarrow", command=install_command("pyarrow")):
        export.save_parquet(None, tmp_path / "x.parquet")
