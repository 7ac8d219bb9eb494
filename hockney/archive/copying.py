# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Copying a run into an archive: next to its place first, then moved there, so that nobody sees a part of it.

The copy's name contains a digest of what was measured. Of several processes or hosts that add the same run
at the same time, one moves its copy there, and the others find it: no lock is needed, which matters on file
systems that several hosts share. A copy there that has been damaged has another digest than its name: it is
replaced."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import stat
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from msgspec.structs import replace

from hockney.archive.archived_run import ArchivedRun, describe
from hockney.core.errors import EnvironmentProblem, Inconclusive, printable
from hockney.core.paths import is_of_run
from hockney.store import RunFolder
from hockney.store.messages import not_readable
from hockney.system.files import open_regular, remove_tree

COPY_PREFIX = ".adding-"
"""The prefix of copies that are not complete yet."""
REMOVED_PREFIX = ".removed-"
"""The prefix of runs that are being removed."""
MOST_BYTES = 1 << 28
"""Maximum size of a file that hockney did not write there."""
MOST_DEEP = 20
"""Maximum depth of folders."""
MOST_ATTEMPTS = 20
"""Attempts to move a copy to its place while other processes do the same."""
DIGITS = 12
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
UNSAFE = re.compile(r"[^\w.+-]")
"""Characters that are not part of a folder's name: the study's name comes from a file."""
NAME = re.compile(r".+-(\d{8}T\d{6}Z|undated)-[0-9a-f]{12}")
"""The names of copies (`_name`)."""
MOST_STUDY = 40
"""Characters of the study in the name, which file systems limit to 255 bytes."""


@dataclass(frozen=True)
class ArchivedCopy:
    """A run that was added to the archive. `new`: the archive did not have it in this state; `replaced` are
    the names of earlier states of it, which were removed."""

    entry: ArchivedRun
    new: bool
    replaced: tuple[str, ...] = ()


def copy_run(source: RunFolder, archive: Path) -> ArchivedCopy:
    """Copy the run into the folder `archive`, which exists. The copy is checked as a run before it gets its
    name, and is on the disk by then. Raises EnvironmentProblem if the run is damaged or the copy cannot be
    written or the run not be read, Inconclusive if it has no records."""
    describe(source)  # so that errors name its files, and no device or endless file is copied
    copy = archive / f"{COPY_PREFIX}{uuid.uuid4().hex}"
    try:
        _copy_folder(source, copy)
        entry = describe(RunFolder(copy))
        if not entry.records:
            raise Inconclusive(
                f"'{printable(str(source.path))}' has no measurements",
                "",
                "continue it with 'hockney resume', then add it",
                code="archive-nothing-measured",
                path=str(source.path),
            )
        name = _name(entry, digest_of(RunFolder(copy)))
        new = _move_into_place(copy, archive / name, entry)
    except OSError as error:
        if (unreadable := _unreadable_source_file(error, source)) is not None:
            raise not_readable(unreadable, error) from error
        raise not_writable(archive, error) from error
    finally:
        remove_tree(copy)
    return ArchivedCopy(replace(entry, name=name), new)


def _unreadable_source_file(error: OSError, source: RunFolder) -> Path | None:
    """The file of the source that cannot be read; None if the copy cannot be written. A full disk is reported
    with the name of the source too."""
    if error.filename is None or error.errno in FULL:
        return None
    path = Path(os.fsdecode(error.filename))
    return path if path.is_relative_to(source.path) else None


def digest_of(folder: RunFolder) -> str:
    """Digest of the files that were written while measuring, and of their names; derived files and those of
    jobs do not count."""
    digest = hashlib.blake2b(digest_size=32)
    derived = {path.name for path in (*folder.derived_files, *folder.job_files)}
    for path in sorted(folder.files):
        if path.name not in derived and path.is_file():
            with open_regular(path) as file:
                size = os.fstat(file.fileno()).st_size
                digest.update(os.fsencode(path.name) + f" {size}\0".encode())
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()


def _name(entry: ArchivedRun, digest: str) -> str:
    """STUDY-20260131T093000Z-0123456789ab: a plain name, whatever the study is called."""
    study = UNSAFE.sub("_", entry.study).lstrip("._-")[:MOST_STUDY] or "run"
    try:
        stamp = datetime.fromtimestamp(entry.started_s, timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    except (OverflowError, ValueError, OSError):  # a date outside the calendar's range
        stamp = "undated"
    return f"{study}-{stamp}-{digest[:DIGITS]}"


def _copy_folder(source: RunFolder, copy: Path) -> None:
    """All regular files except the report, which is large and can be written again. Links are not followed:
    what they point to is no part of the run. Raises EnvironmentProblem for files of others that are larger
    than MOST_BYTES, and for more than MOST_DEEP nested folders."""
    copy.mkdir()
    folders = [source.path]
    while folders:
        folder = folders.pop()
        for path in sorted(folder.iterdir()):
            target = copy / path.relative_to(source.path)
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                if len(target.relative_to(copy).parts) > MOST_DEEP:
                    raise not_readable(
                        path, OSError(errno.ELOOP, f"it is in {MOST_DEEP} folders within each other")
                    )
                target.mkdir()
                folders.append(path)
            elif stat.S_ISREG(status.st_mode) and path != source.report_path:
                if status.st_size > MOST_BYTES and not is_of_run(path.name):
                    raise not_readable(path, OSError(errno.EFBIG, os.strerror(errno.EFBIG)))
                shutil.copy2(path, target)
                _through_to_disk(target)
    _through_to_disk(copy)


def _move_into_place(copy: Path, target: Path, entry: ArchivedRun) -> bool:
    """Rename the folder `copy` to `target`; False if the run is there already."""
    for attempt in range(MOST_ATTEMPTS):
        try:
            os.rename(copy, target)
        except OSError as error:
            occupied = error.errno in (errno.ENOTEMPTY, errno.EEXIST)
            if not occupied or attempt + 1 == MOST_ATTEMPTS:
                raise
            if _holds_run(target, copy, entry):
                return False
            remove(target)
        else:
            break
    _through_to_disk(target.parent)
    return True


def _holds_run(target: Path, copy: Path, entry: ArchivedRun) -> bool:
    """Whether it is the run of the copy, undamaged, or a later state of it, as if it was resumed there."""
    try:
        if digest_of(RunFolder(target)) == digest_of(RunFolder(copy)):
            return True
        archived = describe(RunFolder(target))
    except (OSError, EnvironmentProblem):  # also while another process replaces it
        return False
    return archived.identity == entry.identity and archived.bytes > entry.bytes


def remove(run: Path) -> None:
    """Remove a run. It disappears at once, before its files are deleted; another process may have removed it
    already."""
    hidden = run.with_name(f"{REMOVED_PREFIX}{uuid.uuid4().hex}")
    try:
        os.rename(run, hidden)
    except FileNotFoundError:
        return
    remove_tree(hidden)


def _through_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot do this for folders
            os.fsync(handle)
    finally:
        os.close(handle)


def not_writable(path: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot write to the archive '{printable(str(path))}'",
        (error.strerror or str(error)).lower(),
        "free some space, or use another folder with --archive",
        code="archive-not-writable",
        path=str(path),
        errno=error.errno,
    )
