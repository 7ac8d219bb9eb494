# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the file of one rank, as engine/profile/format.hpp defines it: a page with the header, then pages of
records of one kind each. The rank may still be running, may have been killed, or may have finalised MPI."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hockney.core.errors import EnvironmentProblem, HockneyError, printable
from hockney.draw.page import Caveat
from hockney.system.files import open_regular

PAGE = 4096
VERSION = 1
MAGIC = b"HKPROFIL"
MAX_BYTES = 1 << 30
"""Far more than the library writes."""

RUNNING, FINALIZED = 1, 2
FILE_FULL, DISK_FULL, FORKED, TWO_LIBRARIES = (1 << k for k in range(4))
TICKS_OF_KERNEL, SPAWNED, SESSIONS, COVERED = (1 << k for k in range(4, 8))
SEND, RECEIVE, COLLECTIVE = range(3)
"""Roles of samples."""
NO_DISTANCE, SELF, CORE, PACKAGE, NODE, NETWORK, UNKNOWN = range(7)
DISTANCES = ("", "self", "core", "package", "node", "network", "unknown")
LANGUAGES = ("C", "Fortran", "Fortran 2008")
TIME_BINS = 32
FIRST_TIME_BIN = 4
"""Bin k counts calls of [2^(k+4), 2^(k+5)) ticks."""
PATTERN = "rank-*.hkp"
DRIFT = 1e-5
"""Clocks of different hosts may drift apart by so much (quartz oscillators: some 10 parts per million)."""

_POINT = np.dtype([("ticks", "<u8"), ("monotonic_ns", "<u8")])
_OVERHEAD = np.dtype([("kind", "S16"), ("bare_ns", "<f4"), ("added_ns", "<f4")])
HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("page_bytes", "<u4"),
        ("state", "<u4"),
        ("pages", "<u4"),
        ("rank", "<i4"),
        ("size", "<i4"),
        ("pid", "<u4"),
        ("mpi", "<u4"),
        ("thread_level", "<u4"),
        ("threads", "<u4"),
        ("job", "<u8"),
        ("host", "<u8"),
        ("core", "<i4"),
        ("package", "<i4"),
        ("first", _POINT),
        ("last", _POINT),
        ("init_enter", "<u8"),
        ("init_exit", "<u8"),
        ("finalize_enter", "<u8"),
        ("in_mpi", "<u8"),
        ("calls", "<u8"),
        ("lost", "<u8"),
        ("failed", "<u8"),
        ("unmatched", "<u8"),
        ("unknown_requests", "<u8"),
        ("flags", "<u4"),
        ("overheads", "<u4"),
        ("overhead", _OVERHEAD, 8),
        ("hostname", "S64"),
        ("program", "S256"),
        ("paused", "<u8"),
        ("kernel", "<u8"),
        ("remote", np.dtype([("at_ns", "<u8"), ("ahead_ns", "<i8"), ("within_ns", "<i8")]), 2),
    ]
)
PAGE_HEADER = np.dtype(
    [("kind", "<u2"), ("record_bytes", "<u2"), ("records", "<u4"), ("thread", "<u4"), ("reserved", "<u4")]
)
ENTRY = np.dtype(
    [
        ("site", "<u4"),
        ("function", "<u2"),
        ("size_class", "u1"),
        ("distance", "u1"),
        ("communicator", "<u4"),
        ("region", "<u2"),
        ("language", "<u2"),
        ("calls", "<u8"),
        ("bytes", "<u8"),
        ("ticks", "<u8"),
        ("least", "<u8"),
        ("most", "<u8"),
        ("misses", "<u8"),
        ("waited", "<u8"),
        ("bins", "<u4", TIME_BINS),
    ]
)
SITE = np.dtype(
    [
        ("id", "<u4"),
        ("frames", "<u2"),
        ("ambiguous", "<u2"),
        ("frame", "<u8", 12),
        ("python", "S148"),
        ("reserved", "<u4"),
    ]
)
MODULE = np.dtype([("begin", "<u8"), ("end", "<u8"), ("bias", "<u8"), ("path", "S232")])
COMMUNICATOR = np.dtype(
    [
        ("id", "<u4"),
        ("parent", "<u4"),
        ("made_by", "<u2"),
        ("inter", "<u2"),
        ("rank", "<i4"),
        ("size", "<i4"),
        ("remote_size", "<i4"),
        ("nth", "<u4"),
        ("reserved", "<u4"),
        ("key", "<u8"),
        ("name", "S48"),
        ("members", "<i4", 16),
    ]
)
PEER = np.dtype(
    [
        ("rank", "<i4"),
        ("distance", "u1"),
        ("reserved", "u1", 3),
        ("sent", "<u8"),
        ("sent_bytes", "<u8"),
        ("received", "<u8"),
        ("received_bytes", "<u8"),
        ("put_bytes", "<u8"),
        ("got_bytes", "<u8"),
        ("wait_ticks", "<u8"),
    ]
)
SAMPLE = np.dtype(
    [
        ("channel", "<u8"),
        ("number", "<u4"),
        ("role", "u1"),
        ("distance", "u1"),
        ("function", "<u2"),
        ("site", "<u4"),
        ("wait_site", "<u4"),
        ("bytes", "<u8"),
        ("posted", "<u8"),
        ("enter", "<u8"),
        ("leave", "<u8"),
        ("peer", "<i4"),
        ("communicator", "<u4"),
    ]
)
THREAD = np.dtype(
    [
        ("id", "<u4"),
        ("depth", "<u4"),
        ("site", "<u4"),
        ("function", "<u2"),
        ("wildcard", "<u2"),
        ("peer", "<i4"),
        ("communicator", "<u4"),
        ("since", "<u8"),
        ("calls", "<u8"),
        ("bytes", "<u8"),
        ("started_at", "<u4"),
        ("pending", "<u4"),
    ]
)
REGION = np.dtype(
    [
        ("id", "<u2"),
        ("reserved", "<u2", 3),
        ("entered", "<u8"),
        ("ticks", "<u8"),
        ("in_mpi", "<u8"),
        ("name", "S96"),
    ]
)
KINDS: Mapping[str, tuple[int, np.dtype[Any]]] = {
    "entries": (1, ENTRY),
    "sites": (2, SITE),
    "modules": (3, MODULE),
    "communicators": (4, COMMUNICATOR),
    "peers": (5, PEER),
    "samples": (6, SAMPLE),
    "threads": (7, THREAD),
    "regions": (8, REGION),
}
"""The number of each kind of page, and its records."""


def text_of(field: Any) -> str:
    """The text of a field up to its first zero byte."""
    return printable(bytes(field).split(b"\0", 1)[0].decode("utf-8", "replace"))


@dataclass(frozen=True)
class Clock:
    """The linear relation between a rank's ticks and CLOCK_MONOTONIC of its host, which was `ns` at `ticks`.
    `ns_per_tick` is None if unknown, because the file contains a single point."""

    ticks: int
    ns: int
    ns_per_tick: float | None

    @property
    def seconds_per_tick(self) -> float:
        return 1e-9 * (1.0 if self.ns_per_tick is None else self.ns_per_tick)


@dataclass(frozen=True)
class RankFile:
    """The records of one rank. The arrays contain the records of each kind, of all threads. `damaged` are the
    numbers of unusable pages, `missing` is the number of pages after the end of the file."""

    path: Path
    header: np.void
    entries: np.ndarray
    sites: np.ndarray
    modules: np.ndarray
    communicators: np.ndarray
    peers: np.ndarray
    samples: np.ndarray
    threads: np.ndarray
    regions: np.ndarray
    damaged: tuple[int, ...] = ()
    missing: int = 0

    @property
    def rank(self) -> int:
        """The rank's number in its MPI_COMM_WORLD."""
        return int(self.header["rank"])

    @property
    def job(self) -> int:
        return int(self.header["job"])

    @property
    def host(self) -> int:
        return int(self.header["host"])

    @property
    def kernel(self) -> int:
        """A number that is equal on ranks that share CLOCK_MONOTONIC and processors."""
        return int(self.header["kernel"]) or self.host

    @property
    def hostname(self) -> str:
        return text_of(self.header["hostname"])

    @property
    def is_finalized(self) -> bool:
        return int(self.header["state"]) == FINALIZED

    def flag(self, flag: int) -> bool:
        return bool(int(self.header["flags"]) & flag)

    @cached_property
    def clock(self) -> Clock:
        first, last = self.header["first"], self.header["last"]
        ticks = int(last["ticks"]) - int(first["ticks"])
        ns = int(last["monotonic_ns"]) - int(first["monotonic_ns"])
        rate = 1.0 if self.flag(TICKS_OF_KERNEL) else ns / ticks if ticks > 0 and ns > 0 else None
        return Clock(int(first["ticks"]), int(first["monotonic_ns"]), rate)

    def clock_of_rank_0(self) -> tuple[Clock, float] | None:
        """The conversion of the rank's clock to the clock of rank 0 of its world, and its error (s); None if
        the two were not compared. They are compared after MPI_Init and before MPI_Finalize. Without the
        second comparison, the clocks may drift by DRIFT."""
        points = [each for each in self.header["remote"] if int(each["at_ns"])]
        own = self.clock
        if not points or own.ns_per_tick is None:
            return None
        at, ahead = int(points[0]["at_ns"]), float(points[0]["ahead_ns"])
        within = max(float(each["within_ns"]) for each in points) * 1e-9
        drift = 0.0
        if len(points) == 2 and int(points[1]["at_ns"]) > at:
            drift = (float(points[1]["ahead_ns"]) - ahead) / (int(points[1]["at_ns"]) - at)
        else:
            within += DRIFT * max(0.0, 1e-9 * (int(self.header["last"]["monotonic_ns"]) - at))
        first_ns = own.ns + round(ahead + drift * (own.ns - at))
        return Clock(own.ticks, first_ns, own.ns_per_tick * (1 + drift)), within

    @cached_property
    def overheads(self) -> dict[str, tuple[float, float]]:
        """(seconds of a call without recording, seconds that recording adds) by kind of call, as the rank
        measured them when it finalised MPI."""
        used = self.header["overhead"][: min(8, int(self.header["overheads"]))]
        return {
            text_of(each["kind"]): (float(each["bare_ns"]) * 1e-9, max(0.0, float(each["added_ns"])) * 1e-9)
            for each in used
            if np.isfinite(each["bare_ns"]) and np.isfinite(each["added_ns"])
        }


def read_rank_file(path: Path) -> RankFile:
    """Read a rank's file. Raises HockneyError if it is not one."""
    try:
        with open_regular(path, MAX_BYTES) as file:
            # Not mapped: the rank may shorten its file meanwhile.
            content = file.read(PAGE)
            if len(content) == PAGE and content.startswith(MAGIC):
                used = int(np.frombuffer(content, HEADER, 1)["pages"][0])
                present = os.fstat(file.fileno()).st_size // PAGE
                content += file.read(max(0, min(used, present) - 1) * PAGE)
    except OSError as error:
        raise EnvironmentProblem(
            f"{printable(str(path))} cannot be read",
            error.strerror or str(error),
            code="unreadable-rank-file",
            path=str(path),
        ) from error
    return parse_rank_file(content, path)


def parse_rank_file(content: bytes, path: Path) -> RankFile:
    """Parse the records of a file with this content. Raises HockneyError."""
    size = len(content)
    head = bytes(content[:PAGE])
    if not any(head):
        raise _unusable(
            path, "empty-rank-file", "it is empty: the rank was ended before it recorded anything"
        )
    if not head.startswith(MAGIC):
        raise _unusable(path, "foreign-rank-file", "it is not the profile of a rank")
    if size < HEADER.itemsize:
        raise _unusable(path, "truncated-rank-file", f"it ends within its header, after {size} bytes")
    header = np.frombuffer(head, HEADER, 1)[0]
    if int(header["version"]) != VERSION or int(header["page_bytes"]) != PAGE:
        raise EnvironmentProblem(
            f"{printable(str(path))} has another format",
            f"it is of version {int(header['version'])}, and this hockney reads version {VERSION}",
            "read it with the hockney that made it",
            code="other-rank-file-version",
            path=str(path),
            version=int(header["version"]),
        )
    used = max(1, int(header["pages"]))
    present = min(used, size // PAGE)
    raw = np.frombuffer(content, np.uint8, max(0, present - 1) * PAGE, PAGE if present > 1 else 0)
    pages = raw.reshape(-1, PAGE)
    heads = np.ascontiguousarray(pages[:, : PAGE_HEADER.itemsize]).view(PAGE_HEADER).reshape(-1)
    damaged = np.zeros(len(pages), dtype=bool)
    known = {number for number, _ in KINDS.values()}
    damaged |= ~np.isin(heads["kind"], [0, *known])
    found = {}
    for name, (number, dtype) in KINDS.items():
        of_kind = heads["kind"] == number
        most = (PAGE - PAGE_HEADER.itemsize) // dtype.itemsize
        wrong = of_kind & ((heads["record_bytes"] != dtype.itemsize) | (heads["records"] > most))
        damaged |= wrong
        found[name] = _records(pages[of_kind & ~wrong], heads["records"][of_kind & ~wrong], dtype, most)
    return RankFile(
        path,
        header,
        **found,
        damaged=tuple(int(k) + 1 for k in np.flatnonzero(damaged)),
        missing=used - max(1, present),
    )


def _records(pages: np.ndarray, counts: np.ndarray, dtype: np.dtype[Any], most: int) -> np.ndarray:
    body = pages[:, PAGE_HEADER.itemsize : PAGE_HEADER.itemsize + most * dtype.itemsize]
    rows = np.ascontiguousarray(body).reshape(-1, dtype.itemsize)
    used = (np.arange(most)[None, :] < counts[:, None]).reshape(-1)
    return np.ascontiguousarray(rows[used]).view(dtype).reshape(-1)


def _unusable(path: Path, code: str, why: str) -> EnvironmentProblem:
    return EnvironmentProblem(f"{printable(str(path))} cannot be used", why, code=code, path=str(path))


@dataclass(frozen=True)
class RankFiles:
    """The usable files of a launch, by job and rank, and caveats about the others."""

    files: tuple[RankFile, ...]
    caveats: tuple[Caveat, ...] = ()


def read_launch(folder: Path) -> RankFiles:
    """Read the files in a launch's folder. Unusable files are skipped with a caveat. Raises HockneyError if
    no file is usable."""
    paths = sorted(folder.glob(PATTERN))
    files, problems = [], []
    for path in paths:
        try:
            files.append(read_rank_file(path))
        except HockneyError as error:
            problems.append(error)
    if not files:
        if problems:
            raise problems[0]
        raise EnvironmentProblem(
            f"{printable(str(folder))} has no profile of a rank",
            "no process of this launch called MPI_Init while the library was loaded",
            code="no-rank-files",
            path=str(folder),
        )
    files.sort(key=_order(files))
    return RankFiles(tuple(files), tuple(_caveats(files, problems)))


def _order(files: Iterable[RankFile]) -> Any:
    """Sort the first world's ranks before those of spawned and later worlds."""
    starts: dict[int, tuple[bool, int]] = {}
    for each in files:
        start = each.flag(SPAWNED), int(each.header["first"]["monotonic_ns"])
        starts[each.job] = min(starts.get(each.job, start), start)
    return lambda each: (*starts[each.job], each.job, each.rank, int(each.header["pid"]))


def _caveats(files: list[RankFile], problems: list[HockneyError]) -> Iterable[Caveat]:
    if problems:
        yield Caveat(
            "unusable-rank-files",
            f"{len(problems)} of {len(files) + len(problems)} rank files cannot be used: {problems[0]}",
            "all numbers, which lack these ranks",
            "profile the program again",
        )
    cut = [each for each in files if each.missing or each.damaged]
    if cut:
        pages = sum(each.missing + len(each.damaged) for each in cut)
        yield Caveat(
            "incomplete-rank-files",
            f"{pages} pages of {_ranks(cut)} are missing or damaged",
            "calls of these ranks, which are incomplete",
            "",
        )
    for flag, code, text, touches, todo in _FLAGS:
        flagged = [each for each in files if each.flag(flag)]
        if flagged:
            yield Caveat(code, f"{_ranks(flagged)}: {text}", touches, todo)
    for name, code, text, touches in _COUNTS:
        count = sum(int(each.header[name]) for each in files)
        if count:
            yield Caveat(code, text.format(count), touches, "")
    unclocked = [each for each in files if each.clock.ns_per_tick is None]
    if unclocked:
        yield Caveat(
            "one-clock-point",
            f"the clock of {_ranks(unclocked)} was read once only, so that its rate is taken from other "
            "ranks",
            "times of these ranks",
            "",
        )


_COUNTS = (
    ("lost", "lost-calls", "{} calls are counted, but not recorded in detail", "calls per call site"),
    (
        "unknown_requests",
        "unknown-requests",
        "{} completed requests were started by no recorded call",
        "the waiting in the calls that completed them",
    ),
    (
        "unmatched",
        "unmatched-receives",
        "the senders of {} received messages are not known",
        "waiting for messages on their communicators, which is not separated",
    ),
)
_FLAGS = (
    (FILE_FULL, "rank-file-full", "the rank file reached its largest size", "calls per call site", ""),
    (DISK_FULL, "disk-full", "the disk was full", "calls per call site", "free some space"),
    (FORKED, "forked", "the program called fork; the child records nothing", "the children's calls", ""),
    (
        TWO_LIBRARIES,
        "two-mpi-libraries",
        "calls reached more than one MPI library; only those of the first are recorded",
        "calls of the other library",
        "link the program with one MPI",
    ),
    (
        COVERED,
        "other-tool-first",
        "the program, or a library that is loaded before the recording one, has functions of MPI too",
        "calls of these functions, which may be missing",
        "put that library behind hockney's in LD_PRELOAD",
    ),
    (SPAWNED, "spawned", "started by MPI_Comm_spawn", "the number of ranks", ""),
)


def _ranks(files: list[RankFile]) -> str:
    numbers = sorted({each.rank for each in files})
    return rank_list(numbers)


def rank_list(numbers: Iterable[int]) -> str:
    """ "rank 3", "ranks 0-6, 8"."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [str(a) if a == b else f"{a}-{b}" if b > a + 1 else f"{a}, {b}" for a, b in runs]
    shown = parts if len(parts) <= 8 else [*parts[:7], "..."]
    single = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"rank{'' if single else 's'} {', '.join(shown)}"
