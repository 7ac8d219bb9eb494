# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The index of an archive, `index.sqlite`: a cache of the contents of its run folders.

The folders are authoritative. The file is never changed in place: a process that adds something writes
another file and moves it over the old one. Therefore it can be read without locks, which network file systems
often lack, and a killed process leaves the old file. If two processes do this at the same time, one wins, and
the next process finds the other's additions again. A file that is damaged, changed by others, of another
version, or missing counts as empty. Its seal, in SQLite's application ID, is a CRC-32 of all other bytes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

import msgspec

from hockney.archive.archived_run import ArchivedRun, Damaged
from hockney.models.history.times import CaseTime, RunTimes
from hockney.system.files import grant_default_permissions, read_regular

INDEX_VERSION = 1
"""The version of the tables below. An index of another version is rebuilt."""
TEMPORARY_INDEX = ".index-"
MAX_INDEX_BYTES = 1 << 30
SEAL_BYTES = slice(68, 72)
"""SQLite's application ID: File Format, section 1.3.18."""
RUN_FIELDS = tuple(each.name for each in msgspec.structs.fields(ArchivedRun))
_TYPES: dict[Any, str] = {int: "INTEGER", float: "REAL"}
_COLUMNS = ", ".join(
    f"{each.name} {_TYPES.get(each.type, 'TEXT')}" for each in msgspec.structs.fields(ArchivedRun)
)
TABLES = (
    f"CREATE TABLE run (id INTEGER PRIMARY KEY, state TEXT, times_by TEXT DEFAULT '', {_COLUMNS})",
    "CREATE UNIQUE INDEX run_name ON run (name)",
    "CREATE TABLE damaged (name TEXT PRIMARY KEY, state TEXT, code TEXT, text TEXT)",
    'CREATE TABLE "case" (id INTEGER PRIMARY KEY, line TEXT UNIQUE)',
    'CREATE TABLE time ("case" INTEGER, run INTEGER, level TEXT, launches INTEGER, typical_s REAL,'
    ' low_s REAL, high_s REAL, PRIMARY KEY ("case", run)) WITHOUT ROWID',
    "CREATE INDEX time_of_run ON time (run)",
    "CREATE TABLE fact (run INTEGER, name TEXT, value TEXT, PRIMARY KEY (run, name)) WITHOUT ROWID",
)
READ_ERRORS = (sqlite3.Error, OSError, msgspec.MsgspecError, UnicodeError, LookupError, OverflowError)
PositiveSeconds = Annotated[float, msgspec.Meta(gt=0)]
Row = TypeVar("Row")
_INSERT = f"INSERT INTO run (state, {', '.join(RUN_FIELDS)}) VALUES (?{', ?' * len(RUN_FIELDS)})"


@dataclass(frozen=True)
class IndexedFolder:
    """An entry of the index: the `content` of a folder in this `state` (sizes and times of its files)."""

    state: str
    content: ArchivedRun | Damaged


@dataclass
class Changes:
    """Changes to be written to the index: the names of removed folders, updated entries, and times of
    runs."""

    removed_names: set[str] = field(default_factory=set)
    updated_folders: dict[str, IndexedFolder] = field(default_factory=dict)
    run_times: dict[str, RunTimes] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.removed_names or self.updated_folders or self.run_times)


def read_index(path: Path) -> dict[str, IndexedFolder]:
    """Read all entries by the name of the folder; empty if the index is missing or unusable."""
    folders: dict[str, IndexedFolder] = {}
    with contextlib.suppress(*READ_ERRORS), _open_index(path) as index:
        for state, *values in index.execute(f"SELECT state, {', '.join(RUN_FIELDS)} FROM run"):
            entry = msgspec.convert(dict(zip(RUN_FIELDS, values, strict=True)), ArchivedRun)
            folders[entry.name] = IndexedFolder(state, entry)
        damaged = _rows(index, "SELECT name, state, code, text FROM damaged", tuple[str, str, str, str])
        for name, state, code, text in damaged:
            folders[name] = IndexedFolder(state, Damaged(name=name, code=code, text=text))
        return folders
    return {}


def read_times(path: Path, runs: Sequence[str], workload: str = "") -> dict[str, RunTimes]:
    """The times of those of the `runs` that the index has, of one workload or of all."""
    requested = set(runs)
    with contextlib.suppress(*READ_ERRORS), _open_index(path) as index:
        runs_by_id = _rows(index, "SELECT id, name, times_by FROM run", tuple[int, str, str])
        names = {number: name for number, name, by in runs_by_id if by and name in requested}
        times_by_run = {number: RunTimes(by, [], {}) for number, _, by in runs_by_id if number in names}
        for run, name, value in _rows(index, "SELECT run, name, value FROM fact", tuple[int, str, str]):
            if run in times_by_run:
                times_by_run[run].facts[name] = value
        for case, line in _rows(index, 'SELECT id, line FROM "case"', tuple[int, str]):
            if workload and line.split(" ", 1)[0] != workload:
                continue
            rows = _rows(
                index,
                f'SELECT run, level, launches, typical_s, low_s, high_s FROM time WHERE "case" = {case}',
                tuple[int, str, int, PositiveSeconds, PositiveSeconds | None, PositiveSeconds | None],
            )
            for run, level, launches, typical_s, low_s, high_s in rows:
                if run in times_by_run:
                    times_by_run[run].times.append(CaseTime(line, level, launches, typical_s, low_s, high_s))
        return {names[number]: times for number, times in times_by_run.items()}
    return {}


def _rows(index: sqlite3.Connection, query: str, row: type[Row]) -> list[Row]:
    """Raises msgspec.ValidationError for values of other types: in SQLite, any column takes any of them."""
    return msgspec.convert(index.execute(query).fetchall(), list[row])  # type: ignore[valid-type]


def write_index(path: Path, changes: Changes, *, fresh: bool = False) -> None:
    """Replace the index by one with the changes, or a `fresh` one with nothing else, if the archive is
    writable."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=TEMPORARY_INDEX, dir=path.parent)
        os.close(handle)
        if fresh or not _copy_index(path, temporary):
            _create_tables(temporary)
        with contextlib.closing(sqlite3.connect(temporary)) as index, index:
            _apply(index, changes)
        _seal_file(temporary)
        grant_default_permissions(Path(temporary))
        os.replace(temporary, path)
    except (OSError, sqlite3.Error):
        return
    finally:
        with contextlib.suppress(OSError):
            if temporary:
                os.unlink(temporary)


@contextlib.contextmanager
def _open_index(path: Path) -> Iterator[sqlite3.Connection]:
    """The index, opened for reading, without locks. Raises OSError or sqlite3.Error if it is not an intact
    index of VERSION."""
    _read_intact(path)
    uri = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as index:
        _check_tables(index)
        yield index


def _read_intact(path: Path) -> bytes:
    """The file's content; SQLite would wait for a pipe without end. Raises OSError."""
    data = read_regular(path, MAX_INDEX_BYTES)
    if data[SEAL_BYTES] != _seal(data):
        raise OSError(errno.EBADMSG, os.strerror(errno.EBADMSG), str(path))
    return data


def _seal(data: bytes) -> bytes:
    parts = data[: SEAL_BYTES.start], bytes(SEAL_BYTES.stop - SEAL_BYTES.start), data[SEAL_BYTES.stop :]
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    return crc.to_bytes(4, "big")


def _seal_file(path: str) -> None:
    with open(path, "r+b") as file:
        seal = _seal(file.read())
        file.seek(SEAL_BYTES.start)
        file.write(seal)


def _check_tables(index: sqlite3.Connection) -> None:
    """Its tables are those of VERSION, and there is nothing else: a stranger's views and triggers
    could run forever."""
    (version,) = index.execute("PRAGMA user_version").fetchone()
    statements = index.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
    ).fetchall()
    if version != INDEX_VERSION or tuple(sql for (sql,) in statements) != TABLES:
        raise sqlite3.DatabaseError(str(version))


def _copy_index(path: Path, temporary: str) -> bool:
    """Whether `temporary` is now an intact copy of the index."""
    try:
        Path(temporary).write_bytes(_read_intact(path))
        with contextlib.closing(sqlite3.connect(temporary)) as index:
            _check_tables(index)
            return True
    except (OSError, sqlite3.Error):
        return False


def _create_tables(temporary: str) -> None:
    Path(temporary).write_bytes(b"")
    with contextlib.closing(sqlite3.connect(temporary)) as index, index:
        for table in TABLES:
            index.execute(table)
        index.execute(f"PRAGMA user_version = {INDEX_VERSION}")


def _apply(index: sqlite3.Connection, changes: Changes) -> None:
    """No journal is needed: the file is thrown away if this fails."""
    index.execute("PRAGMA journal_mode = OFF")
    index.execute("PRAGMA synchronous = OFF")
    _delete_runs(index, changes.removed_names | changes.updated_folders.keys())
    for name, folder in changes.updated_folders.items():
        if isinstance(folder.content, Damaged):
            row = (name, folder.state, folder.content.code, folder.content.text)
            index.execute("INSERT INTO damaged (name, state, code, text) VALUES (?, ?, ?, ?)", row)
        else:
            index.execute(_INSERT, (folder.state, *(getattr(folder.content, each) for each in RUN_FIELDS)))
    if changes.run_times:
        _apply_times(index, changes.run_times)


def _delete_runs(index: sqlite3.Connection, names: Iterable[str]) -> None:
    rows = [(name,) for name in names]
    for table in ("time", "fact"):
        index.executemany(f"DELETE FROM {table} WHERE run IN (SELECT id FROM run WHERE name = ?)", rows)
    for table in ("run", "damaged"):
        index.executemany(f"DELETE FROM {table} WHERE name = ?", rows)


def _apply_times(index: sqlite3.Connection, times: Mapping[str, RunTimes]) -> None:
    runs = dict(index.execute("SELECT name, id FROM run"))
    indexed_times = {name: run_times for name, run_times in times.items() if name in runs}
    lines = {(item.case,) for run_times in indexed_times.values() for item in run_times.times}
    index.executemany('INSERT OR IGNORE INTO "case" (line) VALUES (?)', sorted(lines))
    cases = dict(index.execute('SELECT line, id FROM "case"'))
    for name, run_times in indexed_times.items():
        run = runs[name]
        for table in ("time", "fact"):
            index.execute(f"DELETE FROM {table} WHERE run = ?", (run,))
        index.execute("UPDATE run SET times_by = ? WHERE id = ?", (run_times.by, run))
        index.executemany(
            "INSERT INTO fact (run, name, value) VALUES (?, ?, ?)",
            [(run, *item) for item in run_times.facts.items()],
        )
        rows = [
            (cases[t.case], run, t.level, t.launches, t.typical_s, t.low_s, t.high_s) for t in run_times.times
        ]
        index.executemany("INSERT OR REPLACE INTO time VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
