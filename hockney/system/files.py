# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Put a file in its place whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path

from hockney.system import messages


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path`, in a folder that exists: next to it first, then in its place. A reader sees
    the old file or the new, never half. Raises OSError."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}-", dir=path.parent)
        with open(handle, "wb") as file:
            # mkstemp makes it private; the file gets the rights of any new file.
            os.fchmod(file.fileno(), 0o666 & ~_umask())
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            if temporary:
                os.unlink(temporary)
        raise


def point_to(link: Path, target: str) -> None:
    """Make the symbolic link `link` lead to `target`, at once. Nothing where something else has its name, or
    where there are no such links."""
    fresh = link.with_name(f".{link.name}-{os.getpid()}")
    with contextlib.suppress(OSError):
        if link.exists() and not link.is_symlink():
            return
        fresh.symlink_to(target)
        os.replace(fresh, link)
    with contextlib.suppress(OSError):
        fresh.unlink(missing_ok=True)


def remove_older(paths: Iterable[Path], seconds: float) -> None:
    """Remove those that were last changed longer ago than that, as far as others have not removed them."""
    for path in paths:
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > seconds:
                shutil.rmtree(path, ignore_errors=True)


def read_regular(path: Path, most_bytes: int = 1 << 28) -> bytes:
    """A file's content. Raises OSError, also for pipes and devices, which may never end, and for files larger
    than anything hockney writes there."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, messages.not_a_file(), str(path))
        if status.st_size > most_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return file.read()


def new_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Make the folder `path` with these files: next to it first, then in its place, so that it is there whole
    or not at all. One that is there and empty is filled, by one process at a time.

    Raises FileExistsError where something else exists, also if another process has just made it; OSError.
    """
    if path.is_dir():
        _fill(path, files)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as problem:  # a file among its parents
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent)) from problem
    fresh = path.with_name(f".{path.name[:40]}-{uuid.uuid4().hex}")
    with contextlib.ExitStack() as stack:
        # A kill while files go to the disk leaves nothing: they have no names until all of them are there.
        nameless = {name: _nameless(path.parent, content, stack) for name, content in files.items()}
        try:
            fresh.mkdir()
            for name, content in files.items():
                _give_name(nameless[name], fresh / name, content)
            if path.exists():  # a file, which the next line reports in its own way
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
            os.rename(fresh, path)
        except BaseException as problem:
            shutil.rmtree(fresh, ignore_errors=True)
            if isinstance(problem, OSError) and problem.errno == errno.ENOTEMPTY:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from problem
            raise


def _nameless(folder: Path, content: bytes, stack: contextlib.ExitStack) -> int | None:
    """An open file with this content on the disk of `folder`, which goes with the process; None where the
    file system has none such (O_TMPFILE)."""
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except (AttributeError, OSError):
        return None
    file = stack.enter_context(open(handle, "wb"))  # noqa: SIM115
    file.write(content)
    file.flush()
    os.fsync(handle)
    return handle


def _give_name(nameless: int | None, path: Path, content: bytes) -> None:
    if nameless is not None:
        with contextlib.suppress(OSError):  # without /proc
            # with a folder, since Python follows the link only then; an absolute path does not use it
            os.link(f"/proc/self/fd/{nameless}", path, src_dir_fd=nameless, follow_symlinks=True)
            return
    write_atomically(path, content)


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    """It may be a working directory or a mount point, which nothing can take the place of."""
    claim = folder / ".new"
    claim.mkdir()
    try:
        if list(folder.iterdir()) != [claim]:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
        for name, content in files.items():
            write_atomically(folder / name, content)
    finally:
        claim.rmdir()


def replace(path: Path, content: bytes) -> None:
    """Write a file that the user has named; its folder is made."""
    try:
        if path.is_dir():  # fails for a name that is too long
            raise messages.folder_instead_of_file(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    except OSError as problem:
        raise messages.cannot_write(path, problem) from problem


def _umask() -> int:
    """The process has no way to read its mask but to set it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
