# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The index of an archive, `index.sqlite`: a cache of what its run folders contain.

The folders are the truth. The file is never changed in place: a process with something to add writes
another file and moves it over the old one. So it can be read without locks, which network file systems
often lack, and a process that is killed leaves the old one. Of two processes that do this at the same time
one wins, and what the other had found is found again by the next one. A file that is damaged, changed by
others, of another version, or missing counts as empty: its seal, in SQLite's application ID, is a CRC-32 of
all other bytes."""

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
from hockney.system.files import grant_usual_permissions, read_regular

VERSION = 1
"""The version of the tables below; an index of another version is built again."""
TEMPORARY_INDEX = ".index-"
MOST_BYTES = 1 << 30
SEAL = slice(68, 72)
"""SQLite's application ID: File Format, section 1.3.18."""
FIELDS = tuple(each.name for each in msgspec.structs.fields(ArchivedRun))
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
UNREADABLE = (sqlite3.Error, OSError, msgspec.MsgspecError, UnicodeError, LookupError, OverflowError)
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Row = TypeVar("Row")
_INSERT = f"INSERT INTO run (state, {', '.join(FIELDS)}) VALUES (?{', ?' * len(FIELDS)})"


@dataclass(frozen=True)
class IndexedFolder:
    """An entry of the index: the `content` of a folder when it had this `state` (sizes and times of its
    files)."""

    state: str
    content: ArchivedRun | Damaged


@dataclass
class Changes:
    """Changes to be written to the index: names of the folders that are gone, updated entries, and times of
    runs."""

    gone: set[str] = field(default_factory=set)
    updated: dict[str, IndexedFolder] = field(default_factory=dict)
    times: dict[str, RunTimes] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.gone or self.updated or self.times)


def read_index(path: Path) -> dict[str, IndexedFolder]:
    """Read all entries, by the name of the folder; empty if the index is missing or not usable."""
    folders: dict[str, IndexedFolder] = {}
    with contextlib.suppress(*UNREADABLE), _open_index(path) as index:
        for state, *values in index.execute(f"SELECT state, {', '.join(FIELDS)} FROM run"):
            entry = msgspec.convert(dict(zip(FIELDS, values, strict=True)), ArchivedRun)
            folders[entry.name] = IndexedFolder(state, entry)
        damaged = _rows(index, "SELECT name, state, code, text FROM damaged", tuple[str, str, str, str])
        for name, state, code, text in damaged:
            folders[name] = IndexedFolder(state, Damaged(name=name, code=code, text=text))
        return folders
    return {}


def read_times(path: Path, runs: Sequence[str], workload: str = "") -> dict[str, RunTimes]:
    """The times of those of the `runs` that the index has, of one workload or of all."""
    requested = set(runs)
    with contextlib.suppress(*UNREADABLE), _open_index(path) as index:
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
                tuple[int, str, int, Seconds, Seconds | None, Seconds | None],
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
        grant_usual_permissions(Path(temporary))
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
    data = read_regular(path, MOST_BYTES)
    if data[SEAL] != _seal(data):
        raise OSError(errno.EBADMSG, os.strerror(errno.EBADMSG), str(path))
    return data


def _seal(data: bytes) -> bytes:
    parts = data[: SEAL.start], bytes(SEAL.stop - SEAL.start), data[SEAL.stop :]
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    return crc.to_bytes(4, "big")


def _seal_file(path: str) -> None:
    with open(path, "r+b") as file:
        seal = _seal(file.read())
        file.seek(SEAL.start)
        file.write(seal)


def _check_tables(index: sqlite3.Connection) -> None:
    """Its tables are those of VERSION, and there is nothing else: a stranger's views and triggers
    could run forever."""
    (version,) = index.execute("PRAGMA user_version").fetchone()
    statements = index.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
    ).fetchall()
    if version != VERSION or tuple(sql for (sql,) in statements) != TABLES:
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
        index.execute(f"PRAGMA user_version = {VERSION}")


def _apply(index: sqlite3.Connection, changes: Changes) -> None:
    """No journal is needed: the file is thrown away if this fails."""
    index.execute("PRAGMA journal_mode = OFF")
    index.execute("PRAGMA synchronous = OFF")
    _delete_runs(index, changes.gone | changes.updated.keys())
    for name, folder in changes.updated.items():
        if isinstance(folder.content, Damaged):
            row = (name, folder.state, folder.content.code, folder.content.text)
            index.execute("INSERT INTO damaged (name, state, code, text) VALUES (?, ?, ?, ?)", row)
        else:
            index.execute(_INSERT, (folder.state, *(getattr(folder.content, each) for each in FIELDS)))
    if changes.times:
        _apply_times(index, changes.times)


def _delete_runs(index: sqlite3.Connection, names: Iterable[str]) -> None:
    rows = [(name,) for name in names]
    for table in ("time", "fact"):
        index.executemany(f"DELETE FROM {table} WHERE run IN (SELECT id FROM run WHERE name = ?)", rows)
    for table in ("run", "damaged"):
        index.executemany(f"DELETE FROM {table} WHERE name = ?", rows)


def _apply_times(index: sqlite3.Connection, times: Mapping[str, RunTimes]) -> None:
    runs = dict(index.execute("SELECT name, id FROM run"))
    indexed = {name: of for name, of in times.items() if name in runs}
    lines = {(each.case,) for of in indexed.values() for each in of.times}
    index.executemany('INSERT OR IGNORE INTO "case" (line) VALUES (?)', sorted(lines))
    cases = dict(index.execute('SELECT line, id FROM "case"'))
    for name, of in indexed.items():
        run = runs[name]
        for table in ("time", "fact"):
            index.execute(f"DELETE FROM {table} WHERE run = ?", (run,))
        index.execute("UPDATE run SET times_by = ? WHERE id = ?", (of.by, run))
        index.executemany(
            "INSERT INTO fact (run, name, value) VALUES (?, ?, ?)",
            [(run, *each) for each in of.facts.items()],
        )
        rows = [(cases[t.case], run, t.level, t.launches, t.typical_s, t.low_s, t.high_s) for t in of.times]
        index.executemany("INSERT OR REPLACE INTO time VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
