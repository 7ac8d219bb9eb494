# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Write files completely or not at all, and read only regular files.

Files named by the user are written only by `write_user_file`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.core.paths import INDEX, PLAN, is_run_file

FREE_SPACE_REMEDY = "free some space, or set HOCKNEY_CACHE to another folder"

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space, or choose another folder"),
    errno.EDQUOT: ("your disk quota is used up", "free some space, or choose another folder"),
    errno.EROFS: ("the file system is read-only", "choose another folder"),
    errno.EACCES: ("you have no permission to write there", "choose another folder"),
    errno.EPERM: ("you have no permission to write there", "choose another folder"),
    errno.ENOENT: ("its folder does not exist", "create the folder, or choose another one"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter path"),
}


class NotRegularFile(OSError):
    """A pipe, a device or a folder instead of a file."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path` in an existing folder, by way of a temporary file next to it. Readers see
    either the old or the new content. Raises OSError."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}-", dir=path.parent)
        with open(handle, "wb") as file:
            # mkstemp makes it private; give it the permissions of any new file
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
    """Make the symbolic link `link` point to `target`, atomically. Does nothing if another kind of file has
    its name, or if the file system has no symbolic links."""
    temporary = link.with_name(f".{link.name}-{os.getpid()}")
    with contextlib.suppress(OSError):
        if link.exists() and not link.is_symlink():
            return
        temporary.symlink_to(target)
        os.replace(temporary, link)
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)


def remove_tree(path: Path) -> None:
    """Remove a folder and its contents, as far as possible."""
    try:
        shutil.rmtree(path, ignore_errors=True)
    except RecursionError:
        with contextlib.suppress(OSError):
            _remove_nested(path)


def _remove_nested(path: Path) -> None:
    """Remove hundreds of nested folders: move each next to the outermost folder, then delete it."""
    pending, count = [path], 0
    while pending:
        folder = pending.pop()
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                count += 1
                sibling = Path(f"{path}-{count}")
                os.rename(entry.path, sibling)
                pending.append(sibling)
            else:
                os.unlink(entry.path)
        os.rmdir(folder)


def remove_older(paths: Iterable[Path], seconds: float) -> None:
    """Remove the paths that were last changed more than `seconds` ago. Missing paths are ignored."""
    for path in paths:
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > seconds:
                if path.is_dir() and not path.is_symlink():
                    remove_tree(path)
                else:
                    path.unlink()


def open_regular(path: Path, max_bytes: int | None = None) -> BinaryIO:
    """Open a file for reading, without waiting for the writer of a pipe. Raises OSError, also for pipes and
    devices, which may never end, and for files larger than `max_bytes`."""
    file = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")  # noqa: SIM115
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        file.close()
        raise NotRegularFile(errno.EINVAL, "it is not a regular file", str(path))
    if max_bytes is not None and status.st_size > max_bytes:
        file.close()
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return file


def read_regular(path: Path, max_bytes: int = 1 << 28) -> bytes:
    """Read a file. Raises OSError like `open_regular`. The default limit exceeds every file that hockney
    writes."""
    with open_regular(path, max_bytes) as file:
        return file.read()


def create_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Create the folder `path` with these files. The folder is written next to its final path and then
    renamed, so that it is complete or missing. An existing empty folder is filled, by one process at a time.

    Raises FileExistsError if another file or a folder with contents exists, even if another process has just
    created it; OSError.
    """
    if path.is_dir():
        _fill_folder(path, files)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as problem:  # a file among its parents
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent)) from problem
    temporary = path.with_name(f".{path.name[:40]}-{uuid.uuid4().hex}")
    with contextlib.ExitStack() as stack:
        # A kill while files are written leaves nothing: they have no names until all of them exist.
        unnamed_files = {name: _open_unnamed(path.parent, content, stack) for name, content in files.items()}
        try:
            temporary.mkdir()
            for name, content in files.items():
                _name_file(unnamed_files[name], temporary / name, content)
            if path.exists():  # a file, which the next line reports
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
            os.rename(temporary, path)
        except BaseException as problem:
            shutil.rmtree(temporary, ignore_errors=True)
            if isinstance(problem, OSError) and problem.errno == errno.ENOTEMPTY:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from problem
            raise


def _open_unnamed(folder: Path, content: bytes, stack: contextlib.ExitStack) -> int | None:
    """Return an open unnamed file with this content on the disk of `folder`. It is deleted with the process.
    Returns None if the file system does not support this (O_TMPFILE)."""
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except (AttributeError, OSError):
        return None
    file = stack.enter_context(open(handle, "wb"))  # noqa: SIM115
    file.write(content)
    file.flush()
    os.fsync(handle)
    return handle


def _name_file(unnamed_file: int | None, path: Path, content: bytes) -> None:
    if unnamed_file is not None:
        with contextlib.suppress(OSError):  # without /proc
            # with a folder, because only then does Python follow the link; an absolute path ignores it
            os.link(f"/proc/self/fd/{unnamed_file}", path, src_dir_fd=unnamed_file, follow_symlinks=True)
            return
    write_atomically(path, content)


def _fill_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Fill an existing folder: a working directory or a mount point cannot be replaced."""
    claim = folder / ".new"
    claim.mkdir()
    try:
        if list(folder.iterdir()) != [claim]:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
        for name, content in files.items():
            write_atomically(folder / name, content)
    finally:
        claim.rmdir()


def write_user_file(path: Path, content: bytes) -> None:
    """Write a file named by the user, in an existing folder, as a mistyped folder must not be created. Links
    are followed. Devices, pipes and other special files are written into. Raises UsageError for a folder and
    for a file of a run or an archive; EnvironmentProblem."""
    try:
        target = _find_special_target(path)
        if target is None:
            write_internal_file(Path(os.path.realpath(path)), content)
        else:
            _write_into(target, content)
    except ValueError as problem:  # a NUL in the name
        raise _cannot_write(path, OSError(errno.EINVAL, str(problem))) from problem
    except OSError as problem:
        raise _cannot_write(path, problem) from problem


def check_user_file(path: Path) -> None:
    """Raise the UsageError of `write_user_file` for this name before a long operation begins."""
    with contextlib.suppress(ValueError, OSError):
        _find_special_target(path)


def _find_special_target(path: Path) -> Path | int | None:
    """Return the device, pipe or standard stream that `write_user_file` writes into; None if it may replace
    the file. Raises its UsageErrors, ValueError and OSError."""
    status = _status(path)  # fails for a name that is too long
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise UsageError(
            f"'{printable(str(path))}' is a folder",
            "hockney needs to write a file there",
            "give the name of a file",
            code="folder-instead-of-file",
        )
    stream = None if status is None else _standard_stream(status)
    if stream is not None:
        return stream
    if status is not None and not stat.S_ISREG(status.st_mode):
        return path
    if _belongs_to_hockney(Path(os.path.realpath(path))):
        raise UsageError(
            f"'{printable(str(path))}' belongs to a run or an archive",
            "it would be replaced",
            "give another name",
            code="file-of-a-run",
            path=str(path),
        )
    return None


def write_internal_file(path: Path, content: bytes) -> None:
    """Write one of hockney's own files. A link with its name is replaced, since a link in another user's
    folder may point anywhere. Raises EnvironmentProblem."""
    try:
        write_atomically(path, content)
    except OSError as problem:
        raise _cannot_write(path, problem) from problem


def _status(path: Path) -> os.stat_result | None:
    """Return the file's status; None if it does not exist."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _standard_stream(status: os.stat_result) -> int | None:
    """Return the descriptor of the standard stream that the file refers to (as /dev/stdout), flushed to keep
    the order of output; None for other files."""
    for stream, handle in ((sys.stdout, 1), (sys.stderr, 2)):
        with contextlib.suppress(OSError):
            if os.path.samestat(status, os.fstat(handle)) and not stat.S_ISCHR(status.st_mode):
                stream.flush()
                return handle
    return None


def _write_into(target: Path | int, content: bytes) -> None:
    """Write into an existing target without O_CREAT or O_TRUNC."""
    handle = os.dup(target) if isinstance(target, int) else os.open(target, os.O_WRONLY | os.O_CLOEXEC)
    with open(handle, "wb") as file:
        file.write(content)


def _belongs_to_hockney(path: Path) -> bool:
    """Return whether the file is part of a run or an archive."""
    if is_run_file(path.name):
        return (path.parent / PLAN).exists()
    return path.name == INDEX and path.exists()


def grant_default_permissions(path: Path) -> None:
    """Give a temporary file the permissions of any new file."""
    path.chmod(0o666 & ~_umask())


def _umask() -> int:
    """Return the umask, which a process can only read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def make_folder(path: Path) -> None:
    """Create a folder named by the user unless it exists. Raises UsageError for a run."""
    raise_if_run(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise _cannot_write(path, problem) from problem


def raise_if_run(path: Path) -> None:
    """Raise UsageError for the folder of a run, EnvironmentProblem for an invalid name of a folder."""
    try:
        if (path / PLAN).exists():
            raise UsageError(
                f"'{printable(str(path))}' is a run",
                "its folder is for measurements only",
                "give another folder",
                code="folder-of-a-run",
                path=str(path),
            )
    except OSError as problem:
        raise _cannot_write(path, problem) from problem


def _cannot_write(path: Path, error: OSError) -> EnvironmentProblem:
    reason = (error.strerror or str(error)).lower()
    why, remedy = _REASONS.get(error.errno or 0, (reason, "choose another path"))
    return EnvironmentProblem(
        f"cannot write '{printable(str(path))}'", why, remedy, code="cannot-write-file", errno=error.errno
    )


def cache_unwritable(folder: Path, error: OSError) -> EnvironmentProblem:
    """Return the error for an unwritable folder of hockney's cache."""
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return EnvironmentProblem(
        f"cannot write to {folder}",
        "the disk is full" if is_full else (error.strerror or str(error)).lower(),
        FREE_SPACE_REMEDY if is_full else "set HOCKNEY_CACHE to a folder that you own",
        code="cache-unwritable",
        errno=error.errno,
    )
