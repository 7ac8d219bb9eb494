# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Copies a run into an archive. The copy is made next to its final location and then moved, so that no other
process sees a part of it.

The copy's name contains a digest of the measurements. If several processes or hosts add the same run at the
same time, one of them moves its copy there, and the others find it. No locks are needed, which matters on
file systems that several hosts share. A damaged copy has another digest than its name and is replaced.
"""

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
from hockney.core.paths import is_run_file
from hockney.store import RunFolder
from hockney.store.messages import not_readable
from hockney.system.files import open_regular, remove_tree

COPY_PREFIX = ".adding-"
"""Prefix of incomplete copies."""
REMOVED_PREFIX = ".removed-"
"""Prefix of runs that are being removed."""
MAX_FOREIGN_BYTES = 1 << 28
"""Maximum size of a file that hockney did not write."""
MAX_DEPTH = 20
"""Maximum depth of nested folders."""
MAX_ATTEMPTS = 20
"""Maximum number of attempts to move a copy to its location while other processes do the same."""
DIGEST_DIGITS = 12
NO_SPACE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
UNSAFE_CHARACTERS = re.compile(r"[^\w.+-]")
"""Characters that must not be part of a folder's name; the study's name comes from a file."""
COPY_NAME = re.compile(r".+-(\d{8}T\d{6}Z|undated)-[0-9a-f]{12}")
"""Pattern of the names of copies (`_copy_name`)."""
MAX_STUDY_LENGTH = 40
"""Maximum length of the study in the name, because file systems limit names to 255 bytes."""


@dataclass(frozen=True)
class ArchivedCopy:
    """A run that was added to the archive. `is_new` is set if the archive did not contain it in this state;
    `replaced` names its earlier states, which were removed."""

    entry: ArchivedRun
    is_new: bool
    replaced: tuple[str, ...] = ()


def copy_run(source: RunFolder, archive: Path) -> ArchivedCopy:
    """Copy the run into the existing folder `archive`. The copy is checked as a run and written to disk
    before it gets its name. Raises EnvironmentProblem if the run is damaged or not readable or the copy
    cannot be written, and Inconclusive if the run has no records."""
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
        name = _copy_name(entry, digest_of(RunFolder(copy)))
        is_new = _move_into_place(copy, archive / name, entry)
    except OSError as error:
        if (unreadable := _unreadable_source_file(error, source)) is not None:
            raise not_readable(unreadable, error) from error
        raise not_writable_error(archive, error) from error
    finally:
        remove_tree(copy)
    return ArchivedCopy(replace(entry, name=name), is_new)


def _unreadable_source_file(error: OSError, source: RunFolder) -> Path | None:
    """Return the file of the source that cannot be read, or None if the copy cannot be written. The error of
    a full disk names the source too."""
    if error.filename is None or error.errno in NO_SPACE_ERRORS:
        return None
    path = Path(os.fsdecode(error.filename))
    return path if path.is_relative_to(source.path) else None


def digest_of(folder: RunFolder) -> str:
    """Return a digest of the names and contents of the files that were written while measuring, without
    derived files and files of jobs."""
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


def _copy_name(entry: ArchivedRun, digest: str) -> str:
    """Return a plain name, whatever the study is called: STUDY-20260131T093000Z-0123456789ab."""
    study = UNSAFE_CHARACTERS.sub("_", entry.study).lstrip("._-")[:MAX_STUDY_LENGTH] or "run"
    try:
        stamp = datetime.fromtimestamp(entry.started_s, timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    except (OverflowError, ValueError, OSError):  # a date outside the calendar's range
        stamp = "undated"
    return f"{study}-{stamp}-{digest[:DIGEST_DIGITS]}"


def _copy_folder(source: RunFolder, copy: Path) -> None:
    """Copy all regular files except the report, which is large and can be created again. Links are not
    followed, because their targets are not part of the run. Raises EnvironmentProblem for files that hockney
    did not write and that are larger than MAX_FOREIGN_BYTES, and for more than MAX_DEPTH nested folders."""
    copy.mkdir()
    folders = [source.path]
    while folders:
        folder = folders.pop()
        for path in sorted(folder.iterdir()):
            target = copy / path.relative_to(source.path)
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                if len(target.relative_to(copy).parts) > MAX_DEPTH:
                    raise not_readable(
                        path, OSError(errno.ELOOP, f"it is in {MAX_DEPTH} folders within each other")
                    )
                target.mkdir()
                folders.append(path)
            elif stat.S_ISREG(status.st_mode) and path != source.report_path:
                if status.st_size > MAX_FOREIGN_BYTES and not is_run_file(path.name):
                    raise not_readable(path, OSError(errno.EFBIG, os.strerror(errno.EFBIG)))
                shutil.copy2(path, target)
                _sync_to_disk(target)
    _sync_to_disk(copy)


def _move_into_place(copy: Path, target: Path, entry: ArchivedRun) -> bool:
    """Rename the folder `copy` to `target`. Return False if the run is there already."""
    for attempt in range(MAX_ATTEMPTS):
        try:
            os.rename(copy, target)
        except OSError as error:
            is_occupied = error.errno in (errno.ENOTEMPTY, errno.EEXIST)
            if not is_occupied or attempt + 1 == MAX_ATTEMPTS:
                raise
            if _holds_run(target, copy, entry):
                return False
            remove_run(target)
        else:
            break
    _sync_to_disk(target.parent)
    return True


def _holds_run(target: Path, copy: Path, entry: ArchivedRun) -> bool:
    """Check whether the target is the run of the copy, undamaged, or a later state of it, as after being
    resumed in the archive."""
    try:
        if digest_of(RunFolder(target)) == digest_of(RunFolder(copy)):
            return True
        archived = describe(RunFolder(target))
    except (OSError, EnvironmentProblem):  # also while another process replaces it
        return False
    return archived.identity == entry.identity and archived.bytes > entry.bytes


def remove_run(run: Path) -> None:
    """Remove a run. It disappears at once, before its files are deleted. Another process may have removed it
    already."""
    hidden = run.with_name(f"{REMOVED_PREFIX}{uuid.uuid4().hex}")
    try:
        os.rename(run, hidden)
    except FileNotFoundError:
        return
    remove_tree(hidden)


def _sync_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot do this for folders
            os.fsync(handle)
    finally:
        os.close(handle)


def not_writable_error(path: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot write to the archive '{printable(str(path))}'",
        (error.strerror or str(error)).lower(),
        "free some space, or use another folder with --archive",
        code="archive-not-writable",
        path=str(path),
        errno=error.errno,
    )
