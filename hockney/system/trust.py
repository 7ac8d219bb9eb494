# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Decides what may be executed: options that this user typed, and programs in a cache that no other user can
write to. A mark is an HMAC-SHA256 with a key in hockney's cache, readable only by its owner."""

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

KEY_FILE = "private.key"
KEY_BYTES = 32


def mark(text: str, environ: Mapping[str, str]) -> str:
    """Return the mark of `text`; "" if no key can be stored, so that nothing is trusted later."""
    key = _read_key(cache_folder(environ), create=True)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest() if key else ""


def is_marked(text: str, digest: str, environ: Mapping[str, str]) -> bool:
    key = _read_key(cache_folder(environ), create=False)
    if not key or not digest.isascii():
        return False
    return hmac.compare_digest(hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), digest)


def check_cache_owner(folder: Path, environ: Mapping[str, str]) -> None:
    """Check the cache before a program in it is started. Raises EnvironmentProblem if other users can write
    into this folder, or if it belongs to another user and is not named by $HOCKNEY_CACHE."""
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


def _read_key(folder: Path, *, create: bool) -> bytes:
    """Return the key; b"" if no key belongs to this user."""
    path = folder / KEY_FILE
    with contextlib.suppress(OSError):
        if create and not path.exists():
            _create_key(path)
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            status = os.fstat(handle)
            is_private = stat.S_ISREG(status.st_mode) and not status.st_mode & 0o077
            key = file.read(KEY_BYTES + 1) if is_private and status.st_uid == os.geteuid() else b""
        return key if len(key) == KEY_BYTES else b""
    return b""


def _create_key(path: Path) -> None:
    """Create the key completely or not at all. If processes compete, one succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(
        prefix=f".{KEY_FILE}-", dir=path.parent
    )  # readable only by its owner
    try:
        with open(handle, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)
