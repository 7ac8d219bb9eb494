# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A profile: the records of all ranks of each launch, in seconds and bytes. Call sites, communicators and
regions are matched over the ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from hockney.core.errors import EnvironmentProblem, HockneyError, printable
from hockney.draw.page import Caveat
from hockney.profiles import rank_file as form
from hockney.profiles.call_sites import CallSite, call_sites
from hockney.profiles.manifest import Manifest, ProfiledLaunch, read_manifest
from hockney.profiles.rank_file import RankFile, RankFiles, read_launch, text_of

OUTSIDE_MPI_TIME = ("Init", "Init_thread", "Finalize")
"""Calls before or after the time in which computation and communication are compared."""

CALLS = np.dtype(
    [
        ("rank", "<i4"),
        ("site", "<i4"),
        ("raw_site", "<u4"),
        ("function", "<i4"),
        ("size_class", "<i4"),
        ("distance", "<i4"),
        ("communicator", "<i4"),
        ("region", "<i4"),
        ("language", "<i4"),
        ("calls", "<i8"),
        ("bytes", "<f8"),
        ("seconds", "<f8"),
        ("least", "<f8"),
        ("most", "<f8"),
        ("misses", "<i8"),
        ("waited", "<i8"),
        ("bins", "<i8", form.TIME_BINS),
    ]
)
"""One kind of call of one rank. `rank` is a place in `Launch.ranks`, `site` in its call sites, `communicator`
and `region` in its lists of these; times are seconds."""

SAMPLES = np.dtype(
    [
        ("rank", "<i4"),
        ("channel", "<u8"),
        ("number", "<i8"),
        ("role", "<i4"),
        ("distance", "<i4"),
        ("function", "<i4"),
        ("site", "<i4"),
        ("wait_site", "<i4"),
        ("raw_wait_site", "<u4"),
        ("bytes", "<f8"),
        ("posted", "<f8"),
        ("enter", "<f8"),
        ("leave", "<f8"),
        ("peer", "<i4"),
        ("communicator", "<i4"),
        ("weight", "<f8"),
    ]
)
"""One individually timed operation of one rank. Times are seconds of the clock of the rank's host, after the
first time of any rank there; `peer` is a place in `Launch.ranks`, or -1; `weight` is the number of operations
for which it stands."""


def sample_weight(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether each operation of a channel, by number, is timed, and how many operations it then represents.
    Corresponds to `sampled` in engine/profile/format.hpp."""
    n = np.asarray(numbers, dtype=np.uint64)
    every = np.ones(n.shape, dtype=np.uint64)
    while True:
        more = n // every >= 64
        if not more.any():
            break
        every = np.where(more, every * np.uint64(2), every)
    with np.errstate(over="ignore"):
        mixed = n * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
    return (mixed & (every - np.uint64(1))) == 0, every.astype(float)


@dataclass(frozen=True)
class Communicator:
    """A communicator. Its `key` is equal on all members."""

    key: int
    name: str
    size: int
    made_by: str = ""
    remote_size: int = 0

    @property
    def is_inter(self) -> bool:
        return self.remote_size > 0

    @property
    def text(self) -> str:
        made = f" of {self.made_by}" if self.made_by else ""
        return self.name or f"communicator{made} ({self.size} ranks)"


NO_COMMUNICATOR = Communicator(0, "", 0)


@dataclass(frozen=True)
class RegionTime:
    """A region that the program named with MPI_Pcontrol, over all ranks: rank seconds in it, and the part of
    them in MPI."""

    name: str
    entered: int
    seconds: float
    in_mpi_s: float


@dataclass(frozen=True)
class RankTimes:
    """The times of one rank. `elapsed_s` is the time from the end of MPI_Init to the beginning of
    MPI_Finalize, without pauses (MPI_Pcontrol). For a rank that did not get there it extends to the end of
    the launch if known, otherwise to its last sign of life. `in_mpi_s` is the part in MPI calls, averaged
    over the threads that call MPI. `start` and `end` are times of its `clock`, like those of samples. Ranks
    with the same clock number share it, up to the sum of their errors."""

    label: str
    rank: int
    job: int
    host: int
    kernel: int
    clock: int
    clock_error_s: float
    hostname: str
    start: float
    end: float
    elapsed_s: float
    in_mpi_s: float
    threads: int
    calls: int
    core: int
    finished: bool

    @property
    def outside_s(self) -> float:
        """Seconds outside of MPI, which are the rank's computation."""
        return max(0.0, self.elapsed_s - self.in_mpi_s)


@dataclass(frozen=True)
class OpenCall:
    """A call that has not returned: the indices of its rank and call site in the launch, and how long it has
    lasted (s)."""

    rank: int
    site: int
    function: int
    communicator: int
    seconds: float


@dataclass(frozen=True)
class Launch:
    """One launch of the program. `sent` contains the bytes from each rank (row) to each other rank,
    `messages` the number of messages. `index_of` maps the numbers of call sites in each file to indices in
    `sites`. `overheads` contains by kind of call the seconds of a call without recording, and the seconds
    that recording adds (medians over the ranks)."""

    entry: ProfiledLaunch
    functions: tuple[str, ...]
    ranks: tuple[RankTimes, ...]
    calls: np.ndarray
    samples: np.ndarray
    sites: tuple[CallSite, ...]
    communicators: tuple[Communicator, ...]
    regions: tuple[RegionTime, ...]
    region_names: tuple[str, ...]
    sent: np.ndarray
    messages: np.ndarray
    overheads: dict[str, tuple[float, float]]
    caveats: tuple[Caveat, ...]
    files: tuple[RankFile, ...]
    index_of: tuple[Mapping[int, int], ...]
    open_calls: tuple[OpenCall, ...] = ()

    def function(self, number: int) -> str:
        """The function's name without MPI_."""
        return self.functions[number] if 0 <= number < len(self.functions) else f"function {number}"

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.functions)}

    @cached_property
    def counted(self) -> np.ndarray:
        """The calls between MPI_Init and MPI_Finalize."""
        left_out = [self.number_of[name] for name in OUTSIDE_MPI_TIME if name in self.number_of]
        return self.calls[~np.isin(self.calls["function"], left_out)]

    @property
    def hosts(self) -> int:
        return len({rank.host for rank in self.ranks})

    @property
    def most_ranks_on_a_host(self) -> int:
        """The largest number of ranks that share a host's processors. Emulated hosts share those of their
        kernel."""
        kernels = Counter(rank.kernel for rank in self.ranks)
        return max(kernels.values(), default=0)

    @cached_property
    def elapsed_s(self) -> float:
        """The time (s) from the first rank's start to the last rank's end if all share a clock; otherwise the
        longest time of a rank."""
        longest = max((rank.elapsed_s for rank in self.ranks), default=0.0)
        if len({rank.clock for rank in self.ranks}) != 1 or any(
            rank.elapsed_s < rank.end - rank.start - 1e-9 for rank in self.ranks
        ):
            return longest
        return max(rank.end for rank in self.ranks) - min(rank.start for rank in self.ranks)

    @property
    def in_mpi_s(self) -> float:
        """Time (s) in MPI, summed over the ranks."""
        return sum(rank.in_mpi_s for rank in self.ranks)

    @property
    def total_s(self) -> float:
        """The elapsed time of all ranks together."""
        return sum(rank.elapsed_s for rank in self.ranks)

    @property
    def mpi_share(self) -> float:
        return self.in_mpi_s / self.total_s if self.total_s > 0 else 0.0


@dataclass(frozen=True)
class Profile:
    """The recorded launches, in the order of their start."""

    folder: Path
    manifest: Manifest
    launches: tuple[Launch, ...]
    caveats: tuple[Caveat, ...] = ()

    @property
    def cores(self) -> int:
        return self.manifest.cores

    @property
    def typical(self) -> Launch:
        """The launch with the median elapsed time, which tables and figures show."""
        ordered = sorted(self.launches, key=lambda launch: launch.elapsed_s)
        return ordered[(len(ordered) - 1) // 2]

    @property
    def oversubscribed(self) -> bool:
        """Whether a host has more ranks than cores."""
        return 0 < self.cores < max(launch.most_ranks_on_a_host for launch in self.launches)


def read_profile(folder: Path) -> Profile:
    """Read the profile in a folder. Raises HockneyError if no launch has a usable rank file."""
    manifest = read_manifest(folder)
    launches, problems = [], []
    for entry in manifest.launches:
        if not entry.profiled:
            continue
        try:
            launches.append(make_launch(read_launch(folder / entry.folder), entry, manifest.functions))
        except HockneyError as error:
            problems.append((entry, error))
    if not launches:
        if problems:
            raise problems[0][1]
        raise EnvironmentProblem(
            f"{printable(str(folder))} has no launch that was profiled",
            code="no-profiled-launch",
            path=str(folder),
        )
    caveats = [
        Caveat("unusable-launch", f"{entry.folder} is left out: {error}", "intervals over launches", "")
        for entry, error in problems
    ]
    caveats += [
        Caveat(
            "program-failed",
            f"{entry.folder} ended with exit code {entry.exit_code}",
            "all numbers, which are of an incomplete run",
            "",
        )
        for entry in manifest.launches
        if entry.exit_code not in (0, None)
    ]
    return Profile(folder, manifest, tuple(launches), tuple(caveats))


def make_launch(read: RankFiles, entry: ProfiledLaunch, functions: Sequence[str]) -> Launch:
    files = read.files
    sites, index_of = call_sites(files)
    rates = _seconds_per_tick(files)
    clocks = rank_clocks(files)
    left_out = [k for k, name in enumerate(functions) if name in OUTSIDE_MPI_TIME]
    ranks = tuple(
        _rank_times(each, files, rates[k], clocks[k], left_out, _ended_ns(each, files, entry))
        for k, each in enumerate(files)
    )
    communicators, communicator_of = _communicators(files, functions)
    region_names, region_of, regions = _regions(files, rates)
    calls = [
        _calls(k, each, index_of[k], communicator_of[k], region_of[k], rates[k])
        for k, each in enumerate(files)
    ]
    world = {(each.job, each.rank): k for k, each in reversed(list(enumerate(files)))}
    samples = [
        _samples(k, each, index_of[k], communicator_of[k], clocks[k], world) for k, each in enumerate(files)
    ]
    sent, messages = _matrix(files, world)
    caveats = (*read.caveats, *_caveats(files, ranks))
    return Launch(
        entry=entry,
        functions=tuple(functions),
        ranks=ranks,
        calls=np.concatenate(calls),
        samples=np.concatenate(samples),
        sites=sites,
        communicators=communicators,
        regions=regions,
        region_names=region_names,
        sent=sent,
        messages=messages,
        overheads=_overheads(files),
        caveats=caveats,
        files=files,
        index_of=index_of,
        open_calls=tuple(_open_calls(files, ranks, index_of, communicator_of, clocks, left_out)),
    )


def _open_calls(
    files: Sequence[RankFile],
    ranks: Sequence[RankTimes],
    index_of: Sequence[Mapping[int, int]],
    communicator_of: Sequence[dict[int, int]],
    clocks: Sequence[RankClock],
    left_out: Sequence[int],
) -> Iterator[OpenCall]:
    for k, file in enumerate(files):
        if int(file.header["finalize_enter"]):
            continue
        inside = file.threads["depth"] > 0
        for thread in file.threads[inside & ~np.isin(file.threads["function"], left_out)]:
            yield OpenCall(
                k,
                index_of[k].get(int(thread["site"]), 0),
                int(thread["function"]),
                communicator_of[k].get(int(thread["communicator"]), 0),
                max(0.0, ranks[k].end - clocks[k].second(int(thread["since"]))),
            )


def _seconds_per_tick(files: Sequence[RankFile]) -> list[float]:
    """Seconds per clock tick of each rank. If a rank's file does not contain it, the median of the other
    ranks on its host, or of all ranks."""
    known = [(each.host, each.clock.seconds_per_tick) for each in files if each.clock.ns_per_tick is not None]
    rates = []
    for each in files:
        if each.clock.ns_per_tick is not None:
            rates.append(each.clock.seconds_per_tick)
            continue
        same = [rate for host, rate in known if host == each.host] or [rate for _, rate in known]
        rates.append(float(np.median(same)) if same else 1e-9)
    return rates


@dataclass(frozen=True)
class RankClock:
    """A rank's clock, which counts seconds from `base_ns`. Ranks with the same `number` share it, up to
    `error_s`."""

    number: int
    clock: form.Clock
    base_ns: int
    error_s: float = 0.0

    def second(self, ticks: int) -> float:
        return float(self.seconds(np.array([ticks], dtype=np.uint64))[0])

    def seconds(self, ticks: np.ndarray) -> np.ndarray:
        since = (np.asarray(ticks, dtype=np.uint64) - np.uint64(self.clock.ticks)).view(np.int64)
        rate = self.clock.ns_per_tick or 1.0
        return np.asarray((since * rate + float(self.clock.ns - self.base_ns)) * 1e-9)


def rank_clocks(files: Sequence[RankFile]) -> list[RankClock]:
    """The clocks of the ranks. Ranks on one kernel share CLOCK_MONOTONIC. Clocks of other kernels are
    converted to the clock of rank 0 of their world if they were compared with it."""
    of_first = {each.job: each.kernel for each in reversed(files) if each.rank == 0}
    found = []
    for each, rate in zip(files, _seconds_per_tick(files), strict=True):
        clock, number, error = form.Clock(each.clock.ticks, each.clock.ns, rate * 1e9), each.kernel, 0.0
        if each.job in of_first and of_first[each.job] != each.kernel:
            compared = each.clock_of_rank_0()
            if compared is not None:
                (clock, error), number = compared, of_first[each.job]
        found.append((number, clock, error))
    bases: dict[int, int] = {}
    for number, clock, _ in found:
        bases[number] = min(bases.get(number, clock.ns), clock.ns)
    return [RankClock(number, clock, bases[number], error) for number, clock, error in found]


def _ended_ns(file: RankFile, files: Sequence[RankFile], entry: ProfiledLaunch) -> int | None:
    """When a launch ended, on the clock of a rank, if known. A program of a script ended at the latest when
    the next one started."""
    if not entry.ended_ns or entry.kernel != f"{file.kernel:x}":
        return None
    seen = int(file.header["last"]["monotonic_ns"])
    later = [
        first
        for each in files
        if each.job != file.job and not each.flag(form.SPAWNED) and each.kernel == file.kernel
        if (first := int(each.header["first"]["monotonic_ns"])) > seen
    ]
    return max(seen, min([entry.ended_ns, *later]))


def _rank_times(
    file: RankFile,
    files: Sequence[RankFile],
    rate: float,
    clock: RankClock,
    left_out: Sequence[int],
    ended_ns: int | None,
) -> RankTimes:
    head = file.header
    init = int(head["init_exit"]) or int(head["init_enter"]) or int(head["first"]["ticks"])
    start = clock.second(init)
    inside = (file.threads["depth"] > 0) & ~np.isin(file.threads["function"], left_out)
    waiting = file.threads[inside]
    in_mpi = float(head["in_mpi"]) * rate
    if int(head["finalize_enter"]):
        end = clock.second(int(head["finalize_enter"]))
    else:
        # The header's sum is written at the end only.
        own = file.entries[~np.isin(file.entries["function"], left_out)]
        in_mpi = max(in_mpi, float(own["ticks"].sum()) * rate)
        signs = [int(head["last"]["ticks"]), *(int(t) for t in file.threads["since"])]
        if len(file.samples):
            signs.append(int(file.samples["leave"].max()))
        end = max(clock.second(sign) for sign in signs)
        if ended_ns is not None and clock.number == file.kernel:
            end = max(end, (ended_ns - clock.base_ns) * 1e-9)
        # A call that has not returned counts up to here.
        in_mpi += sum(max(0.0, end - clock.second(int(since))) for since in waiting["since"])
    elapsed = max(0.0, end - start - float(head["paused"]) * rate)
    threads = max(1, int(head["threads"]), len(file.threads))
    spawned = sorted({each.job for each in files if each.flag(form.SPAWNED)})
    label = str(file.rank)
    if len({each.job for each in files}) > 1 and file.flag(form.SPAWNED):
        label = f"{file.rank} (spawned{f' {spawned.index(file.job) + 1}' if len(spawned) > 1 else ''})"
    return RankTimes(
        label=label,
        rank=file.rank,
        job=file.job,
        host=file.host,
        kernel=file.kernel,
        clock=clock.number,
        clock_error_s=clock.error_s,
        hostname=file.hostname,
        start=start,
        end=max(start, end),
        elapsed_s=elapsed,
        in_mpi_s=min(elapsed, in_mpi / threads),
        threads=threads,
        calls=int(head["calls"]),
        core=int(head["core"]),
        finished=file.is_finalized,
    )


def _communicators(
    files: Sequence[RankFile], functions: Sequence[str]
) -> tuple[tuple[Communicator, ...], list[dict[int, int]]]:
    listed = [NO_COMMUNICATOR]
    by_key: dict[int, int] = {}
    of_files = []
    for file in files:
        own = {0: 0}
        for row in file.communicators:
            key = int(row["key"])
            if key not in by_key:
                by_key[key] = len(listed)
                made = int(row["made_by"])
                name = text_of(row["name"])
                listed.append(
                    Communicator(
                        key,
                        name or ("MPI_COMM_WORLD" if int(row["id"]) == 1 else ""),
                        int(row["size"]),
                        functions[made] if made < len(functions) else "",
                        int(row["remote_size"]) if int(row["inter"]) else 0,
                    )
                )
            own[int(row["id"])] = by_key[key]
        of_files.append(own)
    return tuple(listed), of_files


def _regions(
    files: Sequence[RankFile], rates: Sequence[float]
) -> tuple[tuple[str, ...], list[dict[int, int]], tuple[RegionTime, ...]]:
    names = [""]
    of_files = []
    total: dict[str, list[float]] = {}
    for file, rate in zip(files, rates, strict=True):
        own = {0: 0}
        for row in file.regions:
            name = text_of(row["name"]) or f"region {int(row['id'])}"
            if name not in names:
                names.append(name)
            own[int(row["id"])] = names.index(name)
            sums = total.setdefault(name, [0.0, 0.0, 0.0])
            sums[0] += int(row["entered"])
            sums[1] += float(row["ticks"]) * rate
            sums[2] += float(row["in_mpi"]) * rate
        of_files.append(own)
    regions = tuple(
        RegionTime(name, int(region_name), seconds_sum, mpi_sum)
        for name, (region_name, seconds_sum, mpi_sum) in total.items()
    )
    return tuple(names), of_files, regions


def _map_values(values: np.ndarray, mapping: Mapping[int, int]) -> np.ndarray:
    """Each value replaced by its entry in the dictionary; 0 if there is none."""
    distinct_values, inverse = np.unique(values, return_inverse=True)
    return np.array([mapping.get(int(value), 0) for value in distinct_values], dtype=np.int32)[
        inverse.reshape(-1)
    ]


def _calls(
    rank: int,
    file: RankFile,
    index_of: Mapping[int, int],
    communicator_of: dict[int, int],
    region_of: dict[int, int],
    rate: float,
) -> np.ndarray:
    raw = file.entries[file.entries["calls"] > 0]
    rows = np.zeros(len(raw), CALLS)
    rows["rank"] = rank
    rows["raw_site"] = raw["site"]
    rows["site"] = _map_values(raw["site"], index_of)
    rows["communicator"] = _map_values(raw["communicator"], communicator_of)
    rows["region"] = _map_values(raw["region"], region_of)
    copied = "function", "size_class", "distance", "language", "calls", "bytes", "misses", "waited", "bins"
    for name in copied:
        rows[name] = raw[name]
    for name, ticks in (("seconds", "ticks"), ("least", "least"), ("most", "most")):
        rows[name] = raw[ticks].astype(float) * rate
    return rows


def _samples(
    rank: int,
    file: RankFile,
    index_of: Mapping[int, int],
    communicator_of: dict[int, int],
    clock: RankClock,
    world: dict[tuple[int, int], int],
) -> np.ndarray:
    raw = file.samples[file.samples["leave"] > 0]
    rows = np.zeros(len(raw), SAMPLES)
    rows["rank"] = rank
    for name in ("channel", "number", "role", "distance", "function", "bytes"):
        rows[name] = raw[name]
    rows["site"] = _map_values(raw["site"], index_of)
    rows["wait_site"] = _map_values(raw["wait_site"], index_of)
    rows["raw_wait_site"] = raw["wait_site"]
    rows["communicator"] = _map_values(raw["communicator"], communicator_of)
    for name in ("posted", "enter", "leave"):
        rows[name] = clock.seconds(raw[name])
    peers, inverse = np.unique(raw["peer"], return_inverse=True)
    rows["peer"] = np.array([world.get((file.job, int(p)), -1) for p in peers], np.int32)[inverse.reshape(-1)]
    rows["weight"] = _weights(rows)
    return rows


def _weights(rows: np.ndarray) -> np.ndarray:
    """The number of operations that each sample represents. The numbers from 64 * 2**k to twice that form a
    range with a known number of operations, which is divided by the number of samples in it. In the last,
    incomplete range, `sample_weight` gives the average."""
    weights = sample_weight(rows["number"])[1]
    if not len(rows):
        return weights
    part = np.maximum(0, np.floor(np.log2(np.maximum(rows["number"], 1) / 64)) + 1).astype(np.int64)
    order = np.lexsort([part, rows["role"], rows["channel"]])
    new_channel = first_rows(rows[order], "channel", "role")
    new_part = new_channel.copy()
    new_part[1:] |= part[order][1:] != part[order][:-1]
    starts = np.flatnonzero(new_part)
    ends = np.append(starts[1:], len(rows))
    is_last = np.append(new_channel[starts[1:]], True)
    for first, end, last in zip(starts.tolist(), ends.tolist(), is_last.tolist(), strict=True):
        number = int(part[order[first]])
        if number and not last:
            weights[order[first:end]] = 64 * 2 ** (number - 1) / (end - first)
    return weights


def _matrix(files: Sequence[RankFile], world: dict[tuple[int, int], int]) -> tuple[np.ndarray, np.ndarray]:
    count = len(files)
    sent, messages = np.zeros((count, count)), np.zeros((count, count), dtype=np.int64)
    for k, file in enumerate(files):
        others = np.array(
            [world.get((file.job, rank), -1) for rank in file.peers["rank"].tolist()], dtype=int
        )
        rows, others = file.peers[others >= 0], others[others >= 0]
        np.add.at(sent[k], others, rows["sent_bytes"].astype(float) + rows["put_bytes"].astype(float))
        np.add.at(sent[:, k], others, rows["got_bytes"].astype(float))
        np.add.at(messages[k], others, rows["sent"].astype(np.int64))
    return sent, messages


def _overheads(files: Sequence[RankFile]) -> dict[str, tuple[float, float]]:
    kinds: dict[str, list[tuple[float, float]]] = {}
    for file in files:
        for kind, pair in file.overheads.items():
            kinds.setdefault(kind, []).append(pair)
    return {
        kind: (float(np.median([bare for bare, _ in pairs])), float(np.median([more for _, more in pairs])))
        for kind, pairs in kinds.items()
    }


def _caveats(files: Sequence[RankFile], ranks: Sequence[RankTimes]) -> Iterator[Caveat]:
    expected = {file.job: int(file.header["size"]) for file in files}
    missing = sum(expected.values()) - len({(file.job, file.rank) for file in files})
    if missing > 0:
        yield Caveat(
            "missing-ranks",
            f"{missing} of {sum(expected.values())} ranks have no profile",
            "totals, the balance of the ranks, and waiting for these ranks",
            "",
        )
    unfinished = [rank.rank for rank in ranks if not rank.finished]
    if unfinished:
        yield Caveat(
            "unfinished-ranks",
            f"{form.rank_list(unfinished)} did not reach MPI_Finalize",
            "elapsed times, which end when the launch did, or at the last sign of life",
            "",
        )
    worlds = {file.job for file in files if not file.flag(form.SPAWNED)}
    if len(worlds) > 1:
        yield Caveat(
            "several-programs",
            f"the launch started {len(worlds)} MPI programs; their ranks are counted together",
            "the balance of the ranks, and the efficiencies",
            "profile one program at a time",
        )
    threaded = [rank.rank for rank in ranks if rank.threads > 1]
    if threaded:
        yield Caveat(
            "several-threads",
            f"several threads of {form.rank_list(threaded)} call MPI; a rank's time in MPI is the mean of "
            "them",
            "time in MPI and outside of it; waiting for messages, which is not separated from the first call "
            "of a second thread on",
            "",
        )


def first_rows(ordered: np.ndarray, *keys: str) -> np.ndarray:
    """Whether each of the ordered rows is the first one with its values of these fields."""
    is_first = np.zeros(len(ordered), dtype=bool)
    is_first[:1] = True
    for key in keys:
        is_first[1:] |= ordered[key][1:] != ordered[key][:-1]
    return is_first


def group_rows(rows: np.ndarray, *keys: str) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Group rows by equal values of these fields."""
    if not len(rows):
        return
    ordered = rows[np.lexsort([rows[key] for key in reversed(keys)])]
    starts = np.flatnonzero(first_rows(ordered, *keys))
    for first, last in zip(starts, [*starts[1:], len(rows)], strict=True):
        part = ordered[first:last]
        yield tuple(int(part[key][0]) for key in keys), part


def quantile_s(bins: np.ndarray, seconds_per_tick: float, share: float) -> float:
    """A quantile of the durations, from their histogram: the geometric centre of its bin."""
    total = bins.sum()
    if not total:
        return 0.0
    k = int(np.searchsorted(np.cumsum(bins), share * total))
    return float(2.0 ** (min(k, len(bins) - 1) + form.FIRST_TIME_BIN + 0.5)) * seconds_per_tick
