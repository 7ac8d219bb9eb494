# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Packages from the package index. They are fetched by the available installer, so that its configuration
(mirrors, proxies, certificates, passwords) also applies to hockney."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, one_line
from hockney.process import ProgramTimeout, capture

DOWNLOAD_SECONDS = 1200.0


def installer_command(prefix: Path, source: str = "") -> list[str]:
    """Return the command that installs packages only into `prefix`; the caller appends their names.

    It uses pip if the environment has it, otherwise uv (`uvx` leaves its path in $UV), otherwise the pip in
    ensurepip. It accepts only wheels; or it builds the package `source`, with a build back end that is
    already importable. The built package must not enter the installer's cache, where later installations
    would find it.
    """
    kind = ["--no-binary", source, "--no-build-isolation"] if source else ["--only-binary", ":all:"]
    pip_options = ["install", "--quiet", "--no-deps", "--ignore-installed", "--no-compile", *kind]
    pip_options += ["--no-cache-dir", "--use-pep517"] if source else []
    pip_options += ["--no-warn-script-location", "--disable-pip-version-check", "--prefix", str(prefix)]
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", *pip_options]
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv:
        uv_options = ["--quiet", "--no-deps", *kind, *(["--no-cache"] if source else [])]
        return [uv, "pip", "install", *uv_options, "--python", sys.executable, "--prefix", str(prefix)]
    spec = importlib.util.find_spec("ensurepip")
    folders = [Path(spec.origin).parent / "_bundled"] if spec and spec.origin else []
    for folder in [*folders, Path("/usr/share/python-wheels")]:
        for wheel in sorted(folder.glob("pip-*.whl")):
            return [sys.executable, str(wheel / "pip"), *pip_options]
    raise EnvironmentProblem(
        "neither pip nor uv is installed",
        "either is needed to fetch packages",
        "install pip",
        code="no-installer",
    )


def install_command(package: str) -> list[str]:
    """Return the command that installs `package` next to hockney, for any installation method (pipx, a
    virtual environment of pip or uv, a clone)."""
    if "pipx" in Path(sys.prefix).parts:
        return ["pipx", "inject", "hockney", package]
    if not importlib.util.find_spec("pip") and (uv := shutil.which("uv")):
        return [uv, "pip", "install", "--python", sys.executable, package]
    return [sys.executable, "-m", "pip", "install", package]


def install(words: Sequence[str], env: Mapping[str, str | None] | None = None) -> str:
    """Run an installer's command. Returns the installer's reason for a failure; empty on success."""
    # importable modules and the user's settings must not change which packages are installed, or where
    isolated_environment = {"PYTHONPATH": None, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", **(env or {})}
    try:
        result = capture(words, timeout=DOWNLOAD_SECONDS, env=isolated_environment)
    except ProgramTimeout as error:
        return str(error)
    if result.ok:
        return ""
    lines = [line for line in (result.err + result.out).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "  ×"))] or lines
    return one_line(" ".join(errors[-2:]))[:300] or f"exit code {result.code}"
