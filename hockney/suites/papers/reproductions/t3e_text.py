# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers in the text of the T3E's paper: two broadcasts and an all-to-all with the paper's estimates,
latency, and the peaks of bandwidth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hockney.core.case import MPI
from hockney.reference.aggregated_bandwidth import DEFINITIONS
from hockney.reproductions.compared import Check, ComparedNumber, Statement, status_of
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
TOLERANCE = 0.25
"""Two times are about the same if they differ by no more."""
SMALL_CHANGE = 0.05
CONSTANT_TO = 64
BEST_SETTING = 4096
"""Bytes."""
MEDIUM, MEDIUM_PROCESSES = 16384, 64
"""Bytes of a buffer of medium size, and the most processes on which all messages are simulated at once."""


def rows(answers: Mapping[str, Answer]) -> Iterable[ComparedNumber]:
    """Numbers in the text. The paper's estimates are shown as the model of the quantities that they
    estimate."""
    tables, shared_memory = answers["tables"], answers["shmem-collectives"]

    def row_of(
        key: str,
        label: str,
        simulated: float | None,
        by: Answer,
        model: str = "",
        mechanism: str = "",
        note: str = "",
        bound: bool = False,
    ) -> ComparedNumber:
        row = PRINTED.row(f"t3e/text/{key}")
        estimate = PRINTED.row(f"t3e/text/{model}").si if model else None
        unit = "B/s" if row.unit.endswith("/s") else "s"
        status = status_of(by.platform, row.key, mechanism)
        return ComparedNumber(
            row.key, label, row.si, simulated, estimate, unit, status, mechanism, note=note, table=TEXT,
            bound=bound,
        )  # fmt: skip

    for p in (32, 256):
        for by, mechanism in ((tables, ""), (shared_memory, MECHANISMS[0].words)):
            time = seconds(by, "bcast", 4096, p)
            yield row_of(
                f"bcast/4KB/{p}", f"MPI_Bcast, 4 KB, {p} processes", time, by,
                f"bcast-tree/4KB/{p}", mechanism,
            )  # fmt: skip
    yield row_of(
        "bcast/1MB/32", "MPI_Bcast, 1 MB, 32 processes", seconds(tables, "bcast", SIZES["1MB"], 32), tables,
        "bcast-tree/1MB/32", note="the table says 18.92 ms",
    )  # fmt: skip
    yield row_of(
        "alltoall/4KB/32", "MPI_Alltoall, 4 KB, 32 processes", seconds(tables, "alltoall", 4096, 32), tables,
        "alltoall-sends/4KB/32", note="the table has this number for 1 KB on 64",
    )  # fmt: skip
    pairs = answers["pairs"]
    yield row_of(
        "latency", "latency", pairs.seconds("pingpong", bytes=0), pairs, note="the formula says 17 us"
    )
    longest = max(T3E_SIZES)
    time = pairs.seconds("pingpong", bytes=longest)
    yield row_of("peak", "largest bandwidth of one message", longest / time if time else None, pairs)
    yield from _peak_rows(tables, answers[ALGORITHMS], row_of)


def _peak_rows(
    tables: Answer, algorithms: Answer, row_of: Callable[..., ComparedNumber]
) -> Iterable[ComparedNumber]:
    total = SIZES["1MB"]

    def rates(by: Answer, operation: str, algorithm: str = "") -> list[float]:
        times = [(p, seconds(by, operation, total, p, algorithm=algorithm)) for p in PROCESSES]
        return [DEFINITIONS[operation].of_buffer(total, p, t) for p, t in times if t]

    bcast, gather = rates(tables, "bcast"), rates(tables, "gather")
    alltoall = rates(algorithms, "alltoall", MECHANISMS[1].algorithm)
    words, low, high = MECHANISMS[1].words, min(alltoall, default=None), max(alltoall, default=None)
    yield row_of(
        "bcast-peak",
        "aggregated bandwidth of MPI_Bcast",
        max(bcast, default=None),
        tables,
        note="more than",
        bound=True,
    )
    yield row_of(
        "alltoall-peak/low", "aggregated bandwidth of MPI_Alltoall, from", low, algorithms,
        mechanism=words, note="simulated: 1 MB on 32 processes", bound=True,
    )  # fmt: skip
    yield row_of(
        "alltoall-peak/high", "aggregated bandwidth of MPI_Alltoall, to", high, algorithms,
        mechanism=words, note="simulated: 1 MB on 256 processes", bound=True,
    )  # fmt: skip
    yield row_of("gather-peak", "bandwidth of MPI_Gather, 1 MB", max(gather, default=None), tables)


def checks(answers: Mapping[str, Answer]) -> list[Check]:
    """Checks of the statements in the paper's text."""
    tables = answers["tables"]
    return [
        _best_setting_check(answers),
        _constant_barrier_check(tables),
        *(_tree_check(tables, p) for p in (32, 256)),
        _alltoall_check(tables),
        _peak_check(tables),
        _medium_size_check(answers),
        *(_loop_check(answers, operation) for operation in ("gather", "scatter")),
        _reduce_loop_check(answers),
        _linear_check(tables),
        _gather_check(tables),
    ]


def _best_setting_check(answers: Mapping[str, Answer]) -> Check:
    """The check of the best setting, by the time that a message, or a Gather or Scatter of 1 MB, takes with
    it relative to the unlimited default: longer means that waiting for the receiver costs more than it
    saves."""
    default, best = answers["eager-unlimited"], answers["eager-4k"]
    claim = "4096 bytes is the best setting of MPI_BUFFER_MAX, not the unlimited default"
    statement = Statement("buffer-max", "text on figure 1", claim)
    long_sizes = [size for size in T3E_SIZES if size > BEST_SETTING]
    message_ratios = _ratios(
        (best.seconds("pingpong", bytes=size), default.seconds("pingpong", bytes=size)) for size in long_sizes
    )
    root_ratios = _ratios(
        (seconds(best, operation, SIZES["1MB"], p), seconds(default, operation, SIZES["1MB"], p))
        for operation in ("gather", "scatter")
        for p in PROCESSES
    )
    if len(message_ratios) < len(long_sizes) or not root_ratios:
        return statement.unknown()
    holds = (
        max(message_ratios + root_ratios) <= 1 + SMALL_CHANGE
        and min(message_ratios + root_ratios) < 1 - SMALL_CHANGE
    )
    finding = (
        f"longer messages take {min(message_ratios):.2f} to {max(message_ratios):.2f} times as long as with "
        f"the default, MPI_Gather and MPI_Scatter of 1 MB {min(root_ratios):.2f} to {max(root_ratios):.2f} "
        "times"
    )
    return statement.check(holds, finding)


def _ratios(times: Iterable[tuple[float | None, float | None]]) -> list[float]:
    return [a / b for a, b in times if a and b]


def _constant_barrier_check(tables: Answer) -> Check:
    """Checks that the barrier is nearly constant, which the description takes from this statement."""
    claim = f"the barrier is nearly constant up to {CONSTANT_TO} processes"
    statement = Statement("barrier-constant", "figure 2", claim)
    few_s, many_s = (tables.seconds("barrier", algorithm=MPI, ranks=p) for p in (2, CONSTANT_TO))
    if not few_s or not many_s:
        return statement.unknown()
    by_construction = tables.platform.barrier_cluster >= CONSTANT_TO
    finding = f"{many_s / few_s:.2f} times as long as on 2"
    return statement.check(many_s <= (1 + TOLERANCE) * few_s, finding, by_construction)


def _tree_check(tables: Answer, processes: int) -> Check:
    printed_s = PRINTED.row(f"t3e/text/bcast-tree/4KB/{processes}").si
    claim = (
        f"MPI_Bcast of 4 KB on {processes} processes takes about as long as a tree of send and receive "
        f"({1e6 * printed_s:g} us)"
    )
    statement = Statement(f"bcast-as-tree-{processes}", "text on MPI_Bcast", claim)
    time = seconds(tables, "bcast", 4096, processes)
    if time is None:
        return statement.unknown()
    return statement.check(abs(time / printed_s - 1) <= TOLERANCE, f"{1e6 * time:.1f} us")


def _alltoall_check(tables: Answer) -> Check:
    printed_s = PRINTED.row("t3e/text/alltoall-sends/4KB/32").si
    claim = (
        f"MPI_Alltoall of 4 KB on 32 processes is faster than 31 sends and receives ({1e6 * printed_s:g} us)"
    )
    statement = Statement("alltoall-faster-than-sends", "text on MPI_Alltoall", claim)
    time = seconds(tables, "alltoall", 4096, 32)
    if time is None:
        return statement.unknown()
    return statement.check(time < printed_s, f"{1e6 * time:.0f} us")


def _peak_check(tables: Answer) -> Check:
    least = PRINTED.row("t3e/text/bcast-peak").si
    claim = f"the aggregated bandwidth of MPI_Bcast reaches more than {least / 1e9:g} GB/s"
    statement = Statement("bcast-peak", "text on MPI_Bcast", claim)
    bandwidth = _rate("bcast", SIZES["1MB"], 256, seconds(tables, "bcast", SIZES["1MB"], 256))
    return (
        statement.unknown()
        if bandwidth is None
        else statement.check(bandwidth > least, f"{bandwidth / 1e9:.1f} GB/s")
    )


def _medium_size_check(answers: Mapping[str, Answer]) -> Check:
    printed_rate = PRINTED.row("t3e/text/alltoall-medium").si
    claim = (
        f"MPI_Alltoall of medium sizes reaches {printed_rate / 1e9:g} GB/s aggregated, within a factor of 2"
    )
    statement = Statement("alltoall-medium", "text on MPI_Alltoall", claim)
    name = t3e_algorithms.machine_algorithm(answers[ALGORITHMS].platform, "alltoall")
    time = t3e_algorithms.seconds(answers[ALGORITHMS], "alltoall", name, MEDIUM, MEDIUM_PROCESSES)
    bandwidth = _rate("alltoall", MEDIUM, MEDIUM_PROCESSES, time)
    if bandwidth is None:
        return statement.unknown()
    holds = printed_rate / 2 <= bandwidth <= 2 * printed_rate
    return statement.check(
        holds, f"{bandwidth / 1e9:.2f} GB/s with {MEDIUM} B on {MEDIUM_PROCESSES} processes"
    )


def _loop_ratios(answers: Mapping[str, Answer], operation: str) -> list[float]:
    """Ratios of the times of a loop of the root's sends or receives to the times of MPI's operation."""
    by = answers[ALGORITHMS]
    return _ratios(
        (
            t3e_algorithms.seconds(by, operation, "linear", total, p),
            seconds(answers["tables"], operation, total, p),
        )
        for total in SIZES.values()
        for p in PROCESSES
    )


def _loop_check(answers: Mapping[str, Answer], operation: str) -> Check:
    claim = f"instead of {OPERATIONS[operation]}, a loop of sends and receives may be faster"
    statement = Statement(f"{operation}-loop-faster", f"text on {OPERATIONS[operation]}", claim)
    ratios = _loop_ratios(answers, operation)
    if not ratios:
        return statement.unknown()
    return statement.check(
        min(ratios) < 1 - SMALL_CHANGE, f"the loop takes {min(ratios):.2f} to {max(ratios):.2f} times as long"
    )


def _reduce_loop_check(answers: Mapping[str, Answer]) -> Check:
    claim = "MPI_Reduce is cheaper than a loop of receives with sums"
    statement = Statement("reduce-cheaper-than-loop", "text on MPI_Reduce", claim)
    ratios = _loop_ratios(answers, "reduce")
    if not ratios:
        return statement.unknown()
    return statement.check(
        min(ratios) > 1, f"the loop takes {min(ratios):.1f} to {max(ratios):.1f} times as long"
    )


def _linear_check(tables: Answer) -> Check:
    fewest_processes, most_processes = PROCESSES[0], PROCESSES[-1]
    claim = "the costs of MPI_Reduce scale linearly with the processes"
    statement = Statement("reduce-linear", "text on MPI_Reduce", claim)
    total = SIZES["1MB"]
    times = [seconds(tables, "reduce", total, p) for p in (fewest_processes, most_processes)]
    if times[0] is None or times[1] is None:
        return statement.unknown()
    printed_ratio = (
        printed("reduce", "1MB", most_processes).si / printed("reduce", "1MB", fewest_processes).si
    )
    ratio = times[1] / times[0]
    return statement.check(
        ratio >= (1 - TOLERANCE) * most_processes / fewest_processes,
        f"{ratio:.2f} times as long on {most_processes // fewest_processes} times as many; by the table "
        f"{printed_ratio:.2f}",
    )


def _gather_check(tables: Answer) -> Check:
    claim = "the bandwidth of MPI_Gather breaks down beyond 1 MB"
    statement = Statement("gather-breaks-down", "text on MPI_Gather", claim)
    sizes = (SIZES["1MB"], LONG_BUFFER)
    one_mb, four_mb = (
        _rate("gather", total, LONG_PROCESSES, seconds(tables, "gather", total, LONG_PROCESSES))
        for total in sizes
    )
    if one_mb is None or four_mb is None:
        return statement.unknown()
    finding = f"{four_mb / 1e6:.0f} MB/s with 4 MB, {one_mb / 1e6:.0f} MB/s with 1 MB"
    return statement.check(four_mb < (1 - TOLERANCE) * one_mb, finding)


def _rate(operation: str, total: int, processes: int, time: float | None) -> float | None:
    return DEFINITIONS[operation].of_buffer(total, processes, time) if time else None
