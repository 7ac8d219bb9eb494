# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Append to `records.jsonl`: one writer at a time, each line complete or not written."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import math
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from hockney.core.errors import EnvironmentProblem
from hockney.core.notice import Notice
from hockney.core.record import Close, Launch, Line, RunRecords, encode_line
from hockney.store import messages
from hockney.store.checksums import NO_CHECKSUM, SEAL_BYTES, checksum_at_end, seal_line
from hockney.store.record_reader import Reading, read_lines

# Errors of flock(2) on file systems without locks: Lustre mounted with noflock, some NFS and FUSE.
NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)
through_to_disk = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync
SYNC_S = 0.2
"""Waiting for the disk takes milliseconds, and an engine prints hundreds of records at once, so lines within
this time share one wait. A system crash may lose them; the end of this process does not."""


class Appender:
    """A context manager for appending to a file of records. Entering locks the file against other writers,
    reads it, and cuts off an unfinished last line (see `reading.notices`), which would merge with the next
    one.

    `before` is the checksum to which the first line refers (`checksums`).

    The lock is that of flock(2): the kernel releases it when the process ends, in any case. If the file
    system has no locks, there is a notice, and the file is not `locked`.
    """

    def __init__(self, path: Path, before: str = NO_CHECKSUM) -> None:
        self.path = path
        self.locked = False
        self._before = before
        self.reading = Reading(run=RunRecords(), valid_bytes=0)
        self._appended: list[Line] = []
        self._file = -1
        self._synced_s = -math.inf

    def __enter__(self) -> Appender:
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            unlocked = self._lock()
            self.reading = read_lines(self.path, self._before)
            self.reading = replace(self.reading, notices=(*self.reading.notices, *unlocked))
            if self.reading.checksum_problem is not None:
                raise self.reading.checksum_problem
            self._mend()
        except OSError as error:
            self._close()
            raise messages.not_writable(self.path, error) from error
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def append(self, line: Line) -> None:
        """Write one line. It is forced to the disk if the last sync was SYNC_S ago, or if it begins or ends a
        launch. On failure the file is restored."""
        due = isinstance(line, Launch | Close) or time.monotonic() >= self._synced_s + SYNC_S
        try:
            self._write(seal_line(encode_line(line), self._last()) + b"\n", through=due)
        except OSError as error:
            raise messages.not_writable(self.path, error) from error
        self._appended.append(line)

    def sync(self) -> None:
        """Wait until all lines are on the disk."""
        try:
            through_to_disk(self._file)
        except OSError as error:
            raise messages.not_writable(self.path, error) from error
        self._synced_s = time.monotonic()

    def run(self) -> RunRecords:
        """Return all lines of the file, including appended ones."""
        earlier = self.reading.run
        appended = RunRecords.of(self._appended)
        return RunRecords(
            earlier.launches + appended.launches,
            earlier.records + appended.records,
            earlier.failures + appended.failures,
            earlier.closes + appended.closes,
        )

    def _last(self) -> str:
        """Return the checksum of the last line, read from the file so that it is correct after any
        failure."""
        size = os.fstat(self._file).st_size
        tail = os.pread(self._file, SEAL_BYTES, max(0, size - SEAL_BYTES))
        return checksum_at_end(tail) or self._before

    def _write(self, data: bytes, through: bool = True) -> None:
        """Write all of `data` or nothing, even if the disk is full or Ctrl-C arrives."""
        size = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, data)
            while written < len(data):  # a short write: the next one gives the reason
                written += os.write(self._file, data[written:])
            if through:
                through_to_disk(self._file)
                self._synced_s = time.monotonic()
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, size)
            raise

    def _lock(self) -> tuple[Notice, ...]:
        """Lock the file. Returns a notice if it cannot be locked."""
        try:
            self.locked = _locked(self._file)
        except BlockingIOError as error:
            raise _other_writer(self.path) from error
        if not os.fstat(self._file).st_nlink:  # a share's file that has just been absorbed
            raise _other_writer(self.path)
        return (
            ()
            if self.locked
            else (
                Notice(
                    f"{self.path} cannot be locked on this file system: make sure that only one process "
                    "writes to it",
                    "records-not-locked",
                ),
            )
        )

    def _mend(self) -> None:
        size = os.fstat(self._file).st_size
        valid_bytes = self.reading.valid_bytes
        if valid_bytes < size:
            os.ftruncate(self._file, valid_bytes)
        if valid_bytes and os.pread(self._file, 1, valid_bytes - 1) != b"\n":
            self._write(b"\n")  # the line was complete, only its newline was missing

    def _close(self) -> None:
        if self._file >= 0:
            if self._appended:
                with contextlib.suppress(OSError):
                    through_to_disk(self._file)
            os.close(self._file)
            self._file = -1


def lockable(path: Path) -> bool:
    """Return whether files in the folder `path`, which need not exist, can be locked. Leaves no file
    there."""
    folder = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.is_dir())
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            return _locked(file.fileno())
    except OSError:  # not writable, which the writer reports
        return True


def _locked(file: int) -> bool:
    """Lock the open `file`. Returns False if its file system has no locks. Raises BlockingIOError if another
    process has the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return False
    return True


def _other_writer(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"another hockney is writing {path}",
        "the lines of two writers would mix",
        "wait for it to finish, or stop it",
        code=messages.RECORDS_LOCKED,
        path=str(path),
    )
