# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A writer of rank files, for profiles whose truth is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hockney.profiles import rank_file as form
from hockney.profiles.manifest import Manifest, ProfiledLaunch, ProfiledMpi, write_manifest

FUNCTIONS = (
    "Init", "Finalize", "Send", "Recv", "Isend", "Irecv", "Wait", "Waitall", "Allreduce", "Bcast", "Reduce",
    "Barrier", "Comm_rank", "Test", "Iprobe", "Put", "Win_fence", "Ssend", "Iallreduce", "Sendrecv",
    "Mprobe", "Mrecv",
)  # fmt: skip
WORLD = 0xABCDEF
SECOND = 1_000_000_000
START = 5_000 * SECOND
"""CLOCK_MONOTONIC at the start, in ns."""
TICKS_PER_NS = 2.5


def function(name: str) -> int:
    return FUNCTIONS.index(name)


def ticks(seconds: float) -> int:
    """Of a point in time after the start, with the clock of all ranks; or of a duration."""
    return round(seconds * SECOND * TICKS_PER_NS) + 10**9


def duration(seconds: float) -> int:
    return round(seconds * SECOND * TICKS_PER_NS)


@dataclass
class Written:
    """One rank's file. Times are seconds after the start."""

    rank: int
    size: int
    end: float = 10.0
    finalized: bool = True
    host: int = 77
    job: int = 1
    flags: int = 0
    core: int = -1
    threads_count: int = 1
    records: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    overhead: Mapping[str, tuple[float, float]] = field(
        default_factory=lambda: {"local": (10.0, 20.0), "blocking": (100.0, 40.0)}
    )
    in_mpi: float = 0.0
    calls: int = 0

    def add(self, kind: str, **values: Any) -> None:
        self.records.setdefault(kind, []).append(values)

    def site(self, number: int, python: str = "", frames: Sequence[int] = ()) -> int:
        if all(each["id"] != number for each in self.records.get("sites", [])):
            self.add("sites", id=number, python=python.encode(), frames=len(frames), frame=list(frames))
        return number

    def world(self) -> None:
        self.add(
            "communicators", id=1, made_by=0xFFFF, rank=self.rank, size=self.size, key=WORLD,
            name=b"MPI_COMM_WORLD", members=[k if k < self.size else -1 for k in range(16)],
        )  # fmt: skip

    def called(
        self,
        name: str,
        site: int,
        seconds: float,
        calls: int = 1,
        bytes: int = 0,
        distance: int = 0,
        **more: Any,
    ) -> None:
        """`calls` equal calls that take `seconds` altogether."""
        each = max(1, duration(seconds / calls))
        bins = [0] * form.TIME_BINS
        bins[min(31, max(0, each.bit_length() - 1 - form.FIRST_TIME_BIN))] = calls
        one = bytes // calls
        values = {
            "site": site, "function": function(name), "size_class": one.bit_length() + 1,
            "distance": distance, "communicator": 1, "calls": calls,
            "bytes": bytes, "ticks": duration(seconds), "least": each,
            "most": each, "bins": bins,
        }  # fmt: skip
        self.add("entries", **{**values, **more})
        if name not in ("Init", "Finalize"):
            self.in_mpi += seconds
            self.calls += calls

    def sampled(
        self,
        name: str,
        site: int,
        role: int,
        channel: int,
        number: int,
        posted: float,
        enter: float,
        leave: float,
        *,
        peer: int = -1,
        bytes: int = 8,
        wait_site: int = 0,
        distance: int = 0,
    ) -> None:
        self.add(
            "samples", channel=channel, number=number, role=role, distance=distance, function=function(name),
            site=site, wait_site=wait_site or site, bytes=bytes, posted=ticks(posted), enter=ticks(enter),
            leave=ticks(leave), peer=peer, communicator=1,
        )  # fmt: skip

    @property
    def content(self) -> bytes:
        header = np.zeros(1, form.HEADER)
        pages = [page for kind in self.records for page in self._pages(kind)]
        over = np.zeros(8, form._OVERHEAD)
        for k, (kind, (bare, added)) in enumerate(self.overhead.items()):
            over[k] = kind.encode(), bare, added
        values = {
            "magic": form.MAGIC, "version": form.VERSION, "page_bytes": form.PAGE,
            "state": form.FINALIZED if self.finalized else form.RUNNING, "pages": 1 + len(pages),
            "rank": self.rank, "size": self.size, "pid": 1000 + self.rank, "mpi": 2,
            "threads": self.threads_count, "job": self.job,
            "host": self.host, "core": self.core, "package": 0 if self.core >= 0 else -1,
            "init_enter": ticks(-0.1), "init_exit": ticks(0), "flags": self.flags,
            "finalize_enter": ticks(self.end) if self.finalized else 0, "in_mpi": duration(self.in_mpi),
            "calls": self.calls, "overheads": len(self.overhead), "overhead": over,
            "hostname": b"host%d" % self.host, "program": b"/home/user/app",
        }  # fmt: skip
        values["first"] = ticks(-0.1), START - SECOND // 10
        values["last"] = ticks(self.end), START + round(self.end * SECOND)
        for name, value in {**values, **self.header}.items():
            header[name][0] = value
        return header.tobytes().ljust(form.PAGE, b"\0") + b"".join(pages)

    def _pages(self, kind: str) -> Iterable[bytes]:
        number, dtype = form.KINDS[kind]
        room = (form.PAGE - form.PAGE_HEADER.itemsize) // dtype.itemsize
        given = self.records[kind]
        for first in range(0, len(given), room):
            part = given[first : first + room]
            head = np.zeros(1, form.PAGE_HEADER)
            head["kind"], head["record_bytes"], head["records"] = number, dtype.itemsize, len(part)
            rows = np.zeros(len(part), dtype)
            for k, values in enumerate(part):
                for name, value in values.items():
                    if name == "frame":
                        rows[name][k, : len(value)] = value
                    else:
                        rows[name][k] = value
            yield (head.tobytes() + rows.tobytes()).ljust(form.PAGE, b"\0")

    def write(self, folder: Path) -> Path:
        path = folder / f"rank-{self.rank:05d}-{1000 + self.rank + self.job * 10000}.hkp"
        path.write_bytes(self.content)
        return path


def program(
    size: int, *, end: float = 10.0, hosts: int = 1, finalized: bool = True, job: int = 1
) -> list[Written]:
    """Ranks that have done nothing yet."""
    ranks = [
        Written(rank, size, end=end, finalized=finalized, host=77 + rank * hosts // size, job=job)
        for rank in range(size)
    ]
    for each in ranks:
        each.world()
    return ranks


def allreduces(
    ranks: Sequence[Written],
    late: int,
    steps: int = 50,
    work: float = 0.01,
    more: float = 0.02,
    cost: float = 20e-6,
    site: int = 5,
    bytes: int = 8,
    channel: int = WORLD,
) -> float:
    """A loop of computation and MPI_Allreduce in which the rank `late` computes `more` seconds longer.
    Returns the waiting of all ranks together."""
    for each in ranks:
        each.site(site, f"solver.py:{115 + site} solve")
        spent = 0.0
        for step in range(steps):
            begin = step * (work + more + cost)
            enter = begin + work + (more if each.rank == late else 0.0)
            leave = begin + work + more + cost
            spent += leave - enter
            each.sampled("Allreduce", site, form.COLLECTIVE, channel, step, enter, enter, leave, bytes=bytes)
        each.called("Allreduce", site, spent, steps, steps * bytes)
    return steps * more * (len(ranks) - 1)


def message(
    sender: Written,
    receiver: Written,
    number: int,
    posted: float,
    received: float,
    cost: float = 2e-6,
    *,
    channel: int = 99,
    bytes: int = 8,
    sites: tuple[int, int] = (11, 12),
    rendezvous: bool = False,
) -> None:
    """One blocking message: the sender enters its call at `posted`, the receiver at `received`."""
    sender.site(sites[0], "halo.py:10 send")
    receiver.site(sites[1], "halo.py:20 receive")
    arrived = max(posted, received) + cost
    left = arrived if rendezvous else posted + cost / 2
    distance = form.NODE
    sender.sampled("Send", sites[0], form.SEND, channel, number, posted, posted, left, peer=receiver.rank,
                   bytes=bytes, distance=distance)  # fmt: skip
    receiver.sampled("Recv", sites[1], form.RECEIVE, channel, number, received, received, arrived,
                     peer=sender.rank, bytes=bytes, distance=distance)  # fmt: skip
    sender.called("Send", sites[0], left - posted, 1, bytes, distance)
    receiver.called("Recv", sites[1], arrived - received, 1, bytes, distance)


def arrives_early(
    sender: Written, receiver: Written, number: int, posted: float, early: float, lasted: float
) -> None:
    """A message that arrives before it is sent, after a receive that `lasted` for some time."""
    left = posted - early
    send, receive = sender.site(11, "halo.py:10 send"), receiver.site(12, "halo.py:20 receive")
    sender.sampled("Send", send, form.SEND, 99, number, posted, posted, posted + 1e-6, peer=receiver.rank,
                   distance=form.NODE)  # fmt: skip
    receiver.sampled("Recv", receive, form.RECEIVE, 99, number, left - lasted, left - lasted, left,
                     peer=sender.rank, distance=form.NODE)  # fmt: skip
    sender.called("Send", send, 1e-6, 1, 8, form.NODE)
    receiver.called("Recv", receive, lasted, 1, 8, form.NODE)


def folder_of(
    path: Path, launches: Sequence[Sequence[Written]], cores: int = 64, seconds: float = 11.0, **more: Any
) -> Path:
    """A profile of these launches."""
    path.mkdir(parents=True, exist_ok=True)
    listed = []
    for k, ranks in enumerate(launches):
        name = f"launch-{k + 1}"
        (path / name).mkdir()
        for each in ranks:
            each.write(path / name)
        listed.append(ProfiledLaunch(folder=name, exit_code=0, seconds=seconds))
    manifest = Manifest(
        command=["mpiexec", "-n", str(len(launches[0])), "./app"], program="./app", cores=cores,
        started="2026-01-31T09:30:00Z", hockney="0.1.0", mpi=ProfiledMpi(family="mpich", version="5.0.2"),
        functions=list(FUNCTIONS), launches=listed,
    )  # fmt: skip
    write_manifest(
        path, Manifest(**{**{f: getattr(manifest, f) for f in manifest.__struct_fields__}, **more})
    )
    return path
