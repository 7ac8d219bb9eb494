# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the page that are the same for every run, in hockney's cache: Plotly's script, compressed, and the
compiled template. Without a usable cache they are made for each page."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import zlib
from functools import cache
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

from hockney.core.errors import HockneyError
from hockney.core.paths import cache_folder
from hockney.system.files import write_atomically
from hockney.system.trust import refuse_foreign_cache

FOLDER = "page"


@cache
def folder() -> Path | None:
    """The folder of the parts; None if it cannot be made, or if others can write into it."""
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
    place = folder()
    kept = place and place / f"{hashlib.sha256(content).hexdigest()}.gz"
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
