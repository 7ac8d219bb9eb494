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
from hockney.system.trust import check_cache_owner


@dataclass(frozen=True)
class Script:
    """A script for a page. `base64_gzip` is its compressed text; `policy` is the hash of the unpacked script
    for the page's content security policy."""

    base64_gzip: str
    policy: str


@functools.cache
def plotly_script() -> Script:
    """Return Plotly's script, cached so that it is compressed only once for all pages."""
    text = script_file().read_bytes()
    return Script(_base64(cached_gzip(text)), script_policy(text))


def compress_to_base64(content: bytes) -> str:
    return _base64(gzip.compress(content, 6, mtime=0))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def script_policy(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode('ascii')}'"


def script_file(search_folder: Path = Path(__file__).parent) -> Path:
    """Return the part that was fetched when hockney was built (hatch_build.py), or else the complete
    script."""
    parts = sorted(search_folder.glob("plotly-basic-*.min.js"))
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


CACHE_SUBFOLDER = "page"


@cache
def page_cache_folder() -> Path | None:
    """Return the cache folder for parts of pages, or None if it cannot be created or if other users can write
    into it."""
    try:
        path = cache_folder(os.environ) / CACHE_SUBFOLDER
        path.mkdir(parents=True, exist_ok=True)
        check_cache_owner(path, os.environ)
    except (OSError, HockneyError):
        return None
    return path


class TemplateCache(FileSystemBytecodeCache):
    """A cache of the compiled template in a folder. If it cannot be written, the page is written
    nevertheless."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError):
            super().dump_bytecode(bucket)


def cached_gzip(content: bytes) -> bytes:
    """Return `content` compressed by gzip. A cached file is decompressed to verify that it contains this
    content."""
    cache_folder_path = page_cache_folder()
    cache_file = cache_folder_path and cache_folder_path / f"{hashlib.sha256(content).hexdigest()}.gz"
    if cache_file:
        with contextlib.suppress(OSError, EOFError, zlib.error):
            cached = cache_file.read_bytes()
            if gzip.decompress(cached) == content:
                return cached
    # No time in the header: the same page gives the same bytes. Level 9 would save 0.2%, slowly.
    compressed_content = gzip.compress(content, 6, mtime=0)
    if cache_file:
        with contextlib.suppress(OSError):
            write_atomically(cache_file, compressed_content)
    return compressed_content
