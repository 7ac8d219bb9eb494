# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics of other benchmarks: algorithm and bus bandwidth as defined by nccl-tests, message rate as in
OSU's osu_mbw_mr. docs/columns.md explains the definitions.

nccl-tests, doc/PERFORMANCE.md: algbw = S / t, busbw = algbw times a factor of the operation, which makes it
comparable with the bandwidth of a link whatever the number of ranks n is. S is the whole array: for an
operation with a block for each rank (allgather, alltoall, gather, scatter, reduce_scatter) all n blocks
(src/*.cu, GetBw)."""

from __future__ import annotations

from collections.abc import Callable

from hockney.core.case import Case
from hockney.core.catalog import Workload

Factor = Callable[[int], float]


def _all_but_one(ranks: int) -> float:
    return (ranks - 1) / ranks


def _whole(ranks: int) -> float:
    return 1.0


FACTORS: dict[str, Factor] = {
    "allreduce": lambda ranks: 2 * (ranks - 1) / ranks,
    "reduce_scatter_block": _all_but_one,
    "allgather": _all_but_one,
    "alltoall": _all_but_one,
    "gather": _all_but_one,
    "scatter": _all_but_one,
    "bcast": _whole,
    "reduce": _whole,
}
"""Bus over algorithm bandwidth of the collectives in nccl-tests, which do not include scan and barrier."""

BLOCK_FOR_EACH = {"reduce_scatter_block", "allgather", "alltoall", "gather", "scatter"}
"""Operations whose `bytes` are one rank's block."""

PAIRS = ("point-to-point", "stream")
OF_ALL = ("isend", "many_to_one")
"""Operations of role "messages" whose time is divided by the messages of all ranks."""
SENDRECV = (*PAIRS, "exchange")
"""Roles of workloads measured like nccl-tests' sendrecv: each rank sends, or receives, its bytes."""


def factor_of(workload: Workload) -> Factor | None:
    """The factor of the workload's operation; None for operations without bandwidth."""
    if workload.role == "collective":
        return FACTORS.get(workload.operation)
    return _whole if workload.role in SENDRECV and workload.operation != "bisection" else None


def algorithm_bandwidth(case: Case, workload: Workload, seconds: float) -> float | None:
    """S / t (B/s); None if nothing is moved, or if nccl-tests have no such operation."""
    blocks = case.ranks if workload.role == "collective" and workload.operation in BLOCK_FOR_EACH else 1
    size = case.bytes * blocks
    return size / seconds if size and seconds > 0 and factor_of(workload) is not None else None


def bus_bandwidth(case: Case, workload: Workload, seconds: float) -> float | None:
    """Algorithm bandwidth times the operation's factor (B/s)."""
    speed, factor = algorithm_bandwidth(case, workload, seconds), factor_of(workload)
    return None if speed is None or factor is None else speed * factor(case.ranks)


def message_rate(workload: Workload, seconds: float) -> float | None:
    """Messages per second between two ranks, in both directions if both send, or of all pairs if the time is
    divided by them; None for other workloads."""
    if workload.role == "messages" and workload.operation in OF_ALL and seconds > 0:
        return 1 / seconds
    if workload.role not in PAIRS or seconds <= 0:
        return None
    return (2 if workload.bidirectional else 1) / seconds
