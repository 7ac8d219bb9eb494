# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where hockney keeps what it can make again: one folder, named by the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def cache_folder(environ: Mapping[str, str]) -> Path:
    """$HOCKNEY_CACHE, else hockney below $XDG_CACHE_HOME, else below ~/.cache.

    A relative $XDG_CACHE_HOME is ignored, as the XDG Base Directory Specification asks.
    """
    if environ.get("HOCKNEY_CACHE"):
        return Path(environ["HOCKNEY_CACHE"]).expanduser().absolute()
    xdg = Path(environ.get("XDG_CACHE_HOME") or ".")
    if xdg.is_absolute():
        return xdg / "hockney"
    home = environ.get("HOME")
    return (Path(home) if home else Path.home()) / ".cache" / "hockney"
