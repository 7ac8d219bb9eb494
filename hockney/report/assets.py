# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Compressed parts of the page, which the browser unpacks: Plotly's script, and the figures' data. What is
the same for every page (the compressed script, the compiled template) is kept in hockney's cache; without a
usable cache it is made for each page.

Only the script file of Plotly's Python package is used, and only where the part that pages need is missing;
importing the package would cost more than reading it."""

from __future__ import annotations

import base64
import contextlib
import functools
import gzip
import hashlib
import importlib.util
import os
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

from hockney.core.errors import EnvironmentProblem, HockneyError
from hockney.core.paths import cache_folder
from hockney.system.files import write_atomically
from hockney.system.trust import refuse_foreign_cache


@dataclass(frozen=True)
class Script:
    """A script for a page. `base64_gzip` is its compressed text; `policy` is the hash of the unpacked script
    for the page's content security policy."""

    base64_gzip: str
    policy: str


@functools.cache
def plotly() -> Script:
    """Plotly's script. Cached so that it is compressed only once for all pages."""
    text = script_file().read_bytes()
    return Script(_base64(compressed(text)), policy(text))


def compress_to_base64(content: bytes) -> str:
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
    spec = importlib.util.find_spec("plotly")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder, "package_data", "plotly.min.js")
        if path.is_file():
            return path
    raise EnvironmentProblem(
        "Plotly's script is not installed",
        "the report's figures need it",
        "run 'pip install plotly'",
        code="no-plotly",
    )


FOLDER = "page"


@cache
def folder() -> Path | None:
    """The cache's folder for parts of pages; None if it cannot be made, or if others can write into it."""
    try:
        path = cache_folder(os.environ) / FOLDER
        path.mkdir(parents=True, exist_ok=True)
        refuse_foreign_cache(path, os.environ)
    except (OSError, HockneyError):
        return None
    return path


class Template(FileSystemBytecodeCache):
    """The compiled template in a folder; without it, or without room for it, the page is written too."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError):
            super().dump_bytecode(bucket)


def compressed(content: bytes) -> bytes:
    """`content` as gzip. What the cache has is decompressed, to be sure that it is this content."""
    folder_path = folder()
    kept = folder_path and folder_path / f"{hashlib.sha256(content).hexdigest()}.gz"
    if kept:
        with contextlib.suppress(OSError, EOFError, zlib.error):
            found = kept.read_bytes()
            if gzip.decompress(found) == content:
                return found
    # No time in the header: the same page gives the same bytes. Level 9 would save 0.2%, slowly.
    made = gzip.compress(content, 6, mtime=0)
    if kept:
        with contextlib.suppress(OSError):
            write_atomically(kept, made)
    return made
