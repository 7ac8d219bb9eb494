# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Decides what may be executed: options that this user typed, and programs in a cache to which no other user
can write. A mark is an HMAC-SHA256 with a key in hockney's cache, readable only by its owner."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hockney.core.errors import EnvironmentProblem
from hockney.core.paths import cache_folder

NAME = "private.key"
BYTES = 32


def mark(text: str, environ: Mapping[str, str]) -> str:
    """The mark of `text`; "" if no key can be stored, so that nothing is trusted later."""
    key = _key(cache_folder(environ), make=True)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest() if key else ""


def is_marked(text: str, digest: str, environ: Mapping[str, str]) -> bool:
    key = _key(cache_folder(environ), make=False)
    if not key or not digest.isascii():
        return False
    return hmac.compare_digest(hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), digest)


def refuse_foreign_cache(folder: Path, environ: Mapping[str, str]) -> None:
    """Called before a program in hockney's cache is started. Raises EnvironmentProblem if others can write
    into this folder of it, or if it belongs to somebody else and is not the one named by $HOCKNEY_CACHE."""
    status = folder.stat()
    if status.st_mode & stat.S_IWOTH:
        raise EnvironmentProblem(
            f"everybody can write to {folder}",
            "hockney starts programs that it keeps there",
            f"run chmod o-w {folder} if you trust its contents; otherwise remove it",
            code="cache-writable-by-others",
        )
    if status.st_uid not in (0, os.geteuid()) and not environ.get("HOCKNEY_CACHE"):
        raise EnvironmentProblem(
            f"{folder} belongs to another user",
            "hockney starts programs that it keeps there",
            "remove it, or name it with HOCKNEY_CACHE if you trust that user",
            code="cache-of-somebody-else",
        )


def _key(folder: Path, *, make: bool) -> bytes:
    """b"" if there is none that belongs to this user."""
    path = folder / NAME
    with contextlib.suppress(OSError):
        if make and not path.exists():
            _make(path)
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            status = os.fstat(handle)
            private = stat.S_ISREG(status.st_mode) and not status.st_mode & 0o077
            key = file.read(BYTES + 1) if private and status.st_uid == os.geteuid() else b""
        return key if len(key) == BYTES else b""
    return b""


def _make(path: Path) -> None:
    """Completely or not at all; if several processes try, one succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{NAME}-", dir=path.parent)  # readable only by its owner
    try:
        with open(handle, "wb") as file:
            file.write(secrets.token_bytes(BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)
