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
    PAPER_VALUES,
    PROCESSES,
    SIZES,
    printed_row,
    seconds,
)

TEXT_TABLE = "in the text"
TOLERANCE = 0.25
"""Maximum relative difference of two times that are about the same."""
SMALL_CHANGE = 0.05
CONSTANT_PROCESSES = 64
BEST_BUFFER_MAX = 4096
"""The paper's best setting of MPI_BUFFER_MAX, in bytes."""
MEDIUM_BYTES, MEDIUM_PROCESSES = 16384, 64
"""Bytes of a buffer of medium size, and the maximum number of processes for which all its messages are
simulated at the same time."""


def rows(answers: Mapping[str, Answer]) -> Iterable[ComparedNumber]:
    """Yields the numbers in the text. The paper's estimates are shown as the model of the estimated
    quantities."""
    tables, shared_memory = answers["tables"], answers["shmem-collectives"]

    def make_row(
        key: str,
        label: str,
        simulated: float | None,
        answer: Answer,
        model: str = "",
        mechanism: str = "",
        note: str = "",
        bound: bool = False,
    ) -> ComparedNumber:
        row = PAPER_VALUES.row(f"t3e/text/{key}")
        estimate = PAPER_VALUES.row(f"t3e/text/{model}").si if model else None
        unit = "B/s" if row.unit.endswith("/s") else "s"
        status = status_of(answer.platform, row.key, mechanism)
        return ComparedNumber(
            row.key, label, row.si, simulated, estimate, unit, status, mechanism, note=note, table=TEXT_TABLE,
            bound=bound,
        )  # fmt: skip

    for p in (32, 256):
        for answer, mechanism in ((tables, ""), (shared_memory, MECHANISMS[0].title)):
            time = seconds(answer, "bcast", 4096, p)
            yield make_row(
                f"bcast/4KB/{p}", f"MPI_Bcast, 4 KB, {p} processes", time, answer,
                f"bcast-tree/4KB/{p}", mechanism,
            )  # fmt: skip
    yield make_row(
        "bcast/1MB/32", "MPI_Bcast, 1 MB, 32 processes", seconds(tables, "bcast", SIZES["1MB"], 32), tables,
        "bcast-tree/1MB/32", note="the table says 18.92 ms",
    )  # fmt: skip
    yield make_row(
        "alltoall/4KB/32", "MPI_Alltoall, 4 KB, 32 processes", seconds(tables, "alltoall", 4096, 32), tables,
        "alltoall-sends/4KB/32", note="the table has this number for 1 KB on 64",
    )  # fmt: skip
    pairs = answers["pairs"]
    yield make_row(
        "latency", "latency", pairs.seconds("pingpong", bytes=0), pairs, note="the formula says 17 us"
    )
    max_size = max(T3E_SIZES)
    time = pairs.seconds("pingpong", bytes=max_size)
    yield make_row("peak", "largest bandwidth of one message", max_size / time if time else None, pairs)
    yield from _peak_rows(tables, answers[ALGORITHMS], make_row)


def _peak_rows(
    tables: Answer, algorithms: Answer, make_row: Callable[..., ComparedNumber]
) -> Iterable[ComparedNumber]:
    total = SIZES["1MB"]

    def rates(answer: Answer, operation: str, algorithm: str = "") -> list[float]:
        times = [(p, seconds(answer, operation, total, p, algorithm=algorithm)) for p in PROCESSES]
        return [DEFINITIONS[operation].of_buffer(total, p, time_s) for p, time_s in times if time_s]

    bcast_rates, gather_rates = rates(tables, "bcast"), rates(tables, "gather")
    alltoall_rates = rates(algorithms, "alltoall", MECHANISMS[1].algorithm)
    mechanism_title, low, high = (
        MECHANISMS[1].title,
        min(alltoall_rates, default=None),
        max(alltoall_rates, default=None),
    )
    yield make_row(
        "bcast-peak",
        "aggregated bandwidth of MPI_Bcast",
        max(bcast_rates, default=None),
        tables,
        note="more than",
        bound=True,
    )
    yield make_row(
        "alltoall-peak/low", "aggregated bandwidth of MPI_Alltoall, from", low, algorithms,
        mechanism=mechanism_title, note="simulated: 1 MB on 32 processes", bound=True,
    )  # fmt: skip
    yield make_row(
        "alltoall-peak/high", "aggregated bandwidth of MPI_Alltoall, to", high, algorithms,
        mechanism=mechanism_title, note="simulated: 1 MB on 256 processes", bound=True,
    )  # fmt: skip
    yield make_row("gather-peak", "bandwidth of MPI_Gather, 1 MB", max(gather_rates, default=None), tables)


def checks(answers: Mapping[str, Answer]) -> list[Check]:
    """Checks the statements in the paper's text."""
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
    """Checks the best setting by the relative times of a message, and of a Gather and Scatter of 1 MB. If
    they are longer than with the unlimited default, waiting for the receiver costs more than it saves."""
    default_answer, best_answer = answers["eager-unlimited"], answers["eager-4k"]
    claim = "4096 bytes is the best setting of MPI_BUFFER_MAX, not the unlimited default"
    statement = Statement("buffer-max", "text on figure 1", claim)
    long_sizes = [size for size in T3E_SIZES if size > BEST_BUFFER_MAX]
    message_ratios = _ratios(
        (best_answer.seconds("pingpong", bytes=size), default_answer.seconds("pingpong", bytes=size))
        for size in long_sizes
    )
    root_ratios = _ratios(
        (
            seconds(best_answer, operation, SIZES["1MB"], p),
            seconds(default_answer, operation, SIZES["1MB"], p),
        )
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
    return [numerator / denominator for numerator, denominator in times if numerator and denominator]


def _constant_barrier_check(tables: Answer) -> Check:
    """Checks that the barrier is nearly constant. The description takes this from the same statement."""
    claim = f"the barrier is nearly constant up to {CONSTANT_PROCESSES} processes"
    statement = Statement("barrier-constant", "figure 2", claim)
    few_s, many_s = (tables.seconds("barrier", algorithm=MPI, ranks=p) for p in (2, CONSTANT_PROCESSES))
    if not few_s or not many_s:
        return statement.unknown()
    is_by_construction = tables.platform.barrier_cluster >= CONSTANT_PROCESSES
    finding = f"{many_s / few_s:.2f} times as long as on 2"
    return statement.check(many_s <= (1 + TOLERANCE) * few_s, finding, is_by_construction)


def _tree_check(tables: Answer, processes: int) -> Check:
    printed_s = PAPER_VALUES.row(f"t3e/text/bcast-tree/4KB/{processes}").si
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
    printed_s = PAPER_VALUES.row("t3e/text/alltoall-sends/4KB/32").si
    claim = (
        f"MPI_Alltoall of 4 KB on 32 processes is faster than 31 sends and receives ({1e6 * printed_s:g} us)"
    )
    statement = Statement("alltoall-faster-than-sends", "text on MPI_Alltoall", claim)
    time = seconds(tables, "alltoall", 4096, 32)
    if time is None:
        return statement.unknown()
    return statement.check(time < printed_s, f"{1e6 * time:.0f} us")


def _peak_check(tables: Answer) -> Check:
    min_bandwidth = PAPER_VALUES.row("t3e/text/bcast-peak").si
    claim = f"the aggregated bandwidth of MPI_Bcast reaches more than {min_bandwidth / 1e9:g} GB/s"
    statement = Statement("bcast-peak", "text on MPI_Bcast", claim)
    bandwidth = _aggregated_bandwidth("bcast", SIZES["1MB"], 256, seconds(tables, "bcast", SIZES["1MB"], 256))
    return (
        statement.unknown()
        if bandwidth is None
        else statement.check(bandwidth > min_bandwidth, f"{bandwidth / 1e9:.1f} GB/s")
    )


def _medium_size_check(answers: Mapping[str, Answer]) -> Check:
    printed_rate = PAPER_VALUES.row("t3e/text/alltoall-medium").si
    claim = (
        f"MPI_Alltoall of medium sizes reaches {printed_rate / 1e9:g} GB/s aggregated, within a factor of 2"
    )
    statement = Statement("alltoall-medium", "text on MPI_Alltoall", claim)
    name = t3e_algorithms.machine_algorithm(answers[ALGORITHMS].platform, "alltoall")
    time = t3e_algorithms.seconds(answers[ALGORITHMS], "alltoall", name, MEDIUM_BYTES, MEDIUM_PROCESSES)
    bandwidth = _aggregated_bandwidth("alltoall", MEDIUM_BYTES, MEDIUM_PROCESSES, time)
    if bandwidth is None:
        return statement.unknown()
    holds = printed_rate / 2 <= bandwidth <= 2 * printed_rate
    return statement.check(
        holds, f"{bandwidth / 1e9:.2f} GB/s with {MEDIUM_BYTES} B on {MEDIUM_PROCESSES} processes"
    )


def _loop_ratios(answers: Mapping[str, Answer], operation: str) -> list[float]:
    """Returns the ratios of the times of a loop of the root's sends or receives to the times of MPI's
    operation."""
    answer = answers[ALGORITHMS]
    return _ratios(
        (
            t3e_algorithms.seconds(answer, operation, "linear", total, p),
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
    min_processes, max_processes = PROCESSES[0], PROCESSES[-1]
    claim = "the costs of MPI_Reduce scale linearly with the processes"
    statement = Statement("reduce-linear", "text on MPI_Reduce", claim)
    total = SIZES["1MB"]
    times = [seconds(tables, "reduce", total, p) for p in (min_processes, max_processes)]
    if times[0] is None or times[1] is None:
        return statement.unknown()
    printed_ratio = (
        printed_row("reduce", "1MB", max_processes).si / printed_row("reduce", "1MB", min_processes).si
    )
    ratio = times[1] / times[0]
    return statement.check(
        ratio >= (1 - TOLERANCE) * max_processes / min_processes,
        f"{ratio:.2f} times as long on {max_processes // min_processes} times as many; by the table "
        f"{printed_ratio:.2f}",
    )


def _gather_check(tables: Answer) -> Check:
    claim = "the bandwidth of MPI_Gather breaks down beyond 1 MB"
    statement = Statement("gather-breaks-down", "text on MPI_Gather", claim)
    sizes = (SIZES["1MB"], LONG_BUFFER)
    short_bandwidth, long_bandwidth = (
        _aggregated_bandwidth(
            "gather", total, LONG_PROCESSES, seconds(tables, "gather", total, LONG_PROCESSES)
        )
        for total in sizes
    )
    if short_bandwidth is None or long_bandwidth is None:
        return statement.unknown()
    finding = f"{long_bandwidth / 1e6:.0f} MB/s with 4 MB, {short_bandwidth / 1e6:.0f} MB/s with 1 MB"
    return statement.check(long_bandwidth < (1 - TOLERANCE) * short_bandwidth, finding)


def _aggregated_bandwidth(operation: str, total: int, processes: int, time: float | None) -> float | None:
    return DEFINITIONS[operation].of_buffer(total, processes, time) if time else None
