# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers in the text of the T3E's paper: two broadcasts and an all-to-all with the paper's estimates,
latency, and the peaks of bandwidth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hockney.core.case import MPI
from hockney.reference.aggregated_bandwidth import DEFINITIONS
from hockney.reproductions.compared import Check, Compared, Statement, status_of
from hockney.reproductions.parts import Answer
from hockney.studies.collectives.plan import T3E_SIZES
from hockney.suites.papers.reproductions import t3e_algorithms
from hockney.suites.papers.reproductions.t3e_cases import (
    ALGORITHMS,
    LONG_BUFFER,
    LONG_PROCESSES,
    MECHANISMS,
    OPERATIONS,
    PRINTED,
    PROCESSES,
    SIZES,
    printed,
    seconds,
)

TEXT = "in the text"
ABOUT = 0.25
"""Two times are about the same if they differ by no more."""
LITTLE = 0.05
CONSTANT_TO = 64
BEST_SETTING = 4096
"""Bytes."""
MEDIUM, MEDIUM_PROCESSES = 16384, 64
"""Bytes of a buffer of medium size, and the most processes on which all messages are simulated at once."""


def rows(answers: Mapping[str, Answer]) -> Iterable[Compared]:
    """Numbers in the text. The paper's estimates are shown as the model of the quantities that they
    estimate."""
    tables, shared = answers["tables"], answers["shmem-collectives"]

    def of(
        key: str,
        what: str,
        simulated: float | None,
        by: Answer,
        model: str = "",
        mechanism: str = "",
        note: str = "",
        bound: bool = False,
    ) -> Compared:
        row = PRINTED.row(f"t3e/text/{key}")
        estimate = PRINTED.row(f"t3e/text/{model}").si if model else None
        unit = "B/s" if row.unit.endswith("/s") else "s"
        status = status_of(by.platform, row.key, mechanism)
        return Compared(
            row.key, what, row.si, simulated, estimate, unit, status, mechanism, note=note, table=TEXT,
            bound=bound,
        )  # fmt: skip

    for p in (32, 256):
        for by, mechanism in ((tables, ""), (shared, MECHANISMS[0].words)):
            time = seconds(by, "bcast", 4096, p)
            yield of(
                f"bcast/4KB/{p}", f"MPI_Bcast, 4 KB, {p} processes", time, by,
                f"bcast-tree/4KB/{p}", mechanism,
            )  # fmt: skip
    yield of(
        "bcast/1MB/32", "MPI_Bcast, 1 MB, 32 processes", seconds(tables, "bcast", SIZES["1MB"], 32), tables,
        "bcast-tree/1MB/32", note="the table says 18.92 ms",
    )  # fmt: skip
    yield of(
        "alltoall/4KB/32", "MPI_Alltoall, 4 KB, 32 processes", seconds(tables, "alltoall", 4096, 32), tables,
        "alltoall-sends/4KB/32", note="the table has this number for 1 KB on 64",
    )  # fmt: skip
    pairs = answers["pairs"]
    yield of("latency", "latency", pairs.seconds("pingpong", bytes=0), pairs, note="the formula says 17 us")
    longest = max(T3E_SIZES)
    time = pairs.seconds("pingpong", bytes=longest)
    yield of("peak", "largest bandwidth of one message", longest / time if time else None, pairs)
    yield from _peaks(tables, answers[ALGORITHMS], of)


def _peaks(tables: Answer, algorithms: Answer, of: Callable[..., Compared]) -> Iterable[Compared]:
    total = SIZES["1MB"]

    def rates(by: Answer, operation: str, algorithm: str = "") -> list[float]:
        times = [(p, seconds(by, operation, total, p, algorithm=algorithm)) for p in PROCESSES]
        return [DEFINITIONS[operation].of_buffer(total, p, t) for p, t in times if t]

    bcast, gather = rates(tables, "bcast"), rates(tables, "gather")
    alltoall = rates(algorithms, "alltoall", MECHANISMS[1].algorithm)
    words, low, high = MECHANISMS[1].words, min(alltoall, default=None), max(alltoall, default=None)
    yield of(
        "bcast-peak",
        "aggregated bandwidth of MPI_Bcast",
        max(bcast, default=None),
        tables,
        note="more than",
        bound=True,
    )
    yield of(
        "alltoall-peak/low", "aggregated bandwidth of MPI_Alltoall, from", low, algorithms,
        mechanism=words, note="simulated: 1 MB on 32 processes", bound=True,
    )  # fmt: skip
    yield of(
        "alltoall-peak/high", "aggregated bandwidth of MPI_Alltoall, to", high, algorithms,
        mechanism=words, note="simulated: 1 MB on 256 processes", bound=True,
    )  # fmt: skip
    yield of("gather-peak", "bandwidth of MPI_Gather, 1 MB", max(gather, default=None), tables)


def checks(answers: Mapping[str, Answer]) -> list[Check]:
    """What the paper's text states."""
    tables = answers["tables"]
    return [
        _best_setting(answers),
        _constant_barrier(tables),
        *(_as_a_tree(tables, p) for p in (32, 256)),
        _faster_than_sends(tables),
        _peak(tables),
        _medium(answers),
        *(_loop_of_sends(answers, operation) for operation in ("gather", "scatter")),
        _cheaper_than_a_loop(answers),
        _linear_in_processes(tables),
        _breaks_down(tables),
    ]


def _best_setting(answers: Mapping[str, Answer]) -> Check:
    """The check of the best setting, by the time that a message, or a Gather or Scatter of 1 MB, takes with
    it relative to the unlimited default: longer means that waiting for the receiver costs more than it
    saves."""
    default, best = answers["eager-unlimited"], answers["eager-4k"]
    what = "4096 bytes is the best setting of MPI_BUFFER_MAX, not the unlimited default"
    stated = Statement("buffer-max", "text on figure 1", what)
    long = [size for size in T3E_SIZES if size > BEST_SETTING]
    messages = _ratios(
        (best.seconds("pingpong", bytes=size), default.seconds("pingpong", bytes=size)) for size in long
    )
    root = _ratios(
        (seconds(best, operation, SIZES["1MB"], p), seconds(default, operation, SIZES["1MB"], p))
        for operation in ("gather", "scatter")
        for p in PROCESSES
    )
    if len(messages) < len(long) or not root:
        return stated.unknown()
    holds = max(messages + root) <= 1 + LITTLE and min(messages + root) < 1 - LITTLE
    found = (
        f"longer messages take {min(messages):.2f} to {max(messages):.2f} times as long as with the default, "
        f"MPI_Gather and MPI_Scatter of 1 MB {min(root):.2f} to {max(root):.2f} times"
    )
    return stated.check(holds, found)


def _ratios(times: Iterable[tuple[float | None, float | None]]) -> list[float]:
    return [a / b for a, b in times if a and b]


def _constant_barrier(tables: Answer) -> Check:
    """The check of the nearly constant barrier, which the description takes from this statement."""
    what = f"the barrier is nearly constant up to {CONSTANT_TO} processes"
    stated = Statement("barrier-constant", "figure 2", what)
    few, many = (tables.seconds("barrier", algorithm=MPI, ranks=p) for p in (2, CONSTANT_TO))
    if not few or not many:
        return stated.unknown()
    by_construction = tables.platform.barrier_cluster >= CONSTANT_TO
    found = f"{many / few:.2f} times as long as on 2"
    return stated.check(many <= (1 + ABOUT) * few, found, by_construction)


def _as_a_tree(tables: Answer, processes: int) -> Check:
    printed_s = PRINTED.row(f"t3e/text/bcast-tree/4KB/{processes}").si
    what = (
        f"MPI_Bcast of 4 KB on {processes} processes takes about as long as a tree of send and receive "
        f"({1e6 * printed_s:g} us)"
    )
    stated = Statement(f"bcast-as-tree-{processes}", "text on MPI_Bcast", what)
    found = seconds(tables, "bcast", 4096, processes)
    if found is None:
        return stated.unknown()
    return stated.check(abs(found / printed_s - 1) <= ABOUT, f"{1e6 * found:.1f} us")


def _faster_than_sends(tables: Answer) -> Check:
    printed_s = PRINTED.row("t3e/text/alltoall-sends/4KB/32").si
    what = (
        f"MPI_Alltoall of 4 KB on 32 processes is faster than 31 sends and receives ({1e6 * printed_s:g} us)"
    )
    stated = Statement("alltoall-faster-than-sends", "text on MPI_Alltoall", what)
    found = seconds(tables, "alltoall", 4096, 32)
    if found is None:
        return stated.unknown()
    return stated.check(found < printed_s, f"{1e6 * found:.0f} us")


def _peak(tables: Answer) -> Check:
    least = PRINTED.row("t3e/text/bcast-peak").si
    what = f"the aggregated bandwidth of MPI_Bcast reaches more than {least / 1e9:g} GB/s"
    stated = Statement("bcast-peak", "text on MPI_Bcast", what)
    found = _rate("bcast", SIZES["1MB"], 256, seconds(tables, "bcast", SIZES["1MB"], 256))
    return stated.unknown() if found is None else stated.check(found > least, f"{found / 1e9:.1f} GB/s")


def _medium(answers: Mapping[str, Answer]) -> Check:
    printed_rate = PRINTED.row("t3e/text/alltoall-medium").si
    what = (
        f"MPI_Alltoall of medium sizes reaches {printed_rate / 1e9:g} GB/s aggregated, within a factor of 2"
    )
    stated = Statement("alltoall-medium", "text on MPI_Alltoall", what)
    name = t3e_algorithms.own(answers[ALGORITHMS].platform, "alltoall")
    time = t3e_algorithms.seconds(answers[ALGORITHMS], "alltoall", name, MEDIUM, MEDIUM_PROCESSES)
    found = _rate("alltoall", MEDIUM, MEDIUM_PROCESSES, time)
    if found is None:
        return stated.unknown()
    holds = printed_rate / 2 <= found <= 2 * printed_rate
    return stated.check(holds, f"{found / 1e9:.2f} GB/s with {MEDIUM} B on {MEDIUM_PROCESSES} processes")


def _ratios_to_a_loop(answers: Mapping[str, Answer], operation: str) -> list[float]:
    """Times of a loop of sends or receives of the root over those of MPI's operation."""
    by = answers[ALGORITHMS]
    return _ratios(
        (
            t3e_algorithms.seconds(by, operation, "linear", total, p),
            seconds(answers["tables"], operation, total, p),
        )
        for total in SIZES.values()
        for p in PROCESSES
    )


def _loop_of_sends(answers: Mapping[str, Answer], operation: str) -> Check:
    what = f"instead of {OPERATIONS[operation]}, a loop of sends and receives may be faster"
    stated = Statement(f"{operation}-loop-faster", f"text on {OPERATIONS[operation]}", what)
    ratios = _ratios_to_a_loop(answers, operation)
    if not ratios:
        return stated.unknown()
    return stated.check(
        min(ratios) < 1 - LITTLE, f"the loop takes {min(ratios):.2f} to {max(ratios):.2f} times as long"
    )


def _cheaper_than_a_loop(answers: Mapping[str, Answer]) -> Check:
    what = "MPI_Reduce is cheaper than a loop of receives with sums"
    stated = Statement("reduce-cheaper-than-loop", "text on MPI_Reduce", what)
    ratios = _ratios_to_a_loop(answers, "reduce")
    if not ratios:
        return stated.unknown()
    return stated.check(
        min(ratios) > 1, f"the loop takes {min(ratios):.1f} to {max(ratios):.1f} times as long"
    )


def _linear_in_processes(tables: Answer) -> Check:
    few, many = PROCESSES[0], PROCESSES[-1]
    what = "the costs of MPI_Reduce scale linearly with the processes"
    stated = Statement("reduce-linear", "text on MPI_Reduce", what)
    total = SIZES["1MB"]
    times = [seconds(tables, "reduce", total, p) for p in (few, many)]
    if times[0] is None or times[1] is None:
        return stated.unknown()
    in_table = printed("reduce", "1MB", many).si / printed("reduce", "1MB", few).si
    found = times[1] / times[0]
    return stated.check(
        found >= (1 - ABOUT) * many / few,
        f"{found:.2f} times as long on {many // few} times as many; by the table {in_table:.2f}",
    )


def _breaks_down(tables: Answer) -> Check:
    what = "the bandwidth of MPI_Gather breaks down beyond 1 MB"
    stated = Statement("gather-breaks-down", "text on MPI_Gather", what)
    sizes = (SIZES["1MB"], LONG_BUFFER)
    one, more = (
        _rate("gather", total, LONG_PROCESSES, seconds(tables, "gather", total, LONG_PROCESSES))
        for total in sizes
    )
    if one is None or more is None:
        return stated.unknown()
    found = f"{more / 1e6:.0f} MB/s with 4 MB, {one / 1e6:.0f} MB/s with 1 MB"
    return stated.check(more < (1 - ABOUT) * one, found)


def _rate(operation: str, total: int, processes: int, time: float | None) -> float | None:
    return DEFINITIONS[operation].of_buffer(total, processes, time) if time else None
