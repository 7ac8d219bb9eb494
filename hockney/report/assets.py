# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Compressed parts of the page, which the browser unpacks: Plotly's script, and the figures' data.

Of Plotly's Python package only the file is used, and only where the part that pages need is missing;
importing the package would cost more than reading it.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from hockney.core.errors import EnvironmentProblem
from hockney.report import page_cache


@dataclass(frozen=True)
class Script:
    """`packed` is base64 of gzip; `policy` is the hash of the unpacked script for the page's content security
    policy."""

    packed: str
    policy: str


@functools.cache
def plotly() -> Script:
    """The same for every page, so that it is packed once."""
    text = script_file().read_bytes()
    return Script(_base64(page_cache.compressed(text)), policy(text))


def packed(content: bytes) -> str:
    return _base64(gzip.compress(content, 6, mtime=0))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def policy(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode('ascii')}'"


def script_file(parts_in: Path = Path(__file__).parent) -> Path:
    """The part that was fetched when hockney was built (hatch_build.py), or else the complete script."""
    parts = sorted(parts_in.glob("plotly-basic-*.min.js"))
    if parts:
        return parts[-1]
    found = importlib.util.find_spec("plotly")
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder, "package_data", "plotly.min.js")
        if path.is_file():
            return path
    raise EnvironmentProblem(
        "Plotly's script is not installed",
        "the report's figures need it",
        "run 'pip install plotly'",
        code="no-plotly",
    )
