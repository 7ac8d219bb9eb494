# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of bulk synchronous programs and of local work on the fake machine.

A superstep takes the time of an empty one, a startup for each message that a rank sends or receives, and the
time of its packets and bytes. A block takes a startup and the time of its bytes. Kernels take the sum of
their supersteps and local work, in closed form for rank counts that are powers of two."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.launch.fakes import FakeWorkloads

WORD_BYTES = 4
OPERATIONS = ("h-relation", "permutation", "synchronisation")
TYPE_BYTES = {"double": 8, "float": 4, "uint32": 4}


@dataclass(frozen=True)
class FakeBsp(FakeWorkloads):
    """The true costs in seconds: of supersteps, of blocks, and of an operation of each kind of local work.
    `naive_s` is the time of a word sent as a single message."""

    empty_s: float = 1.5e-6
    startup_s: float = 0.5e-6
    packet_s: float = 12e-9
    byte_s: float = 0.25e-9
    block_s: float = 1.0e-6
    block_byte_s: float = 0.2e-9
    naive_s: float = 0.3e-6
    operation_s: Mapping[str, float] = field(
        default_factory=lambda: {
            "multiplication": 0.2e-9,
            "sort": 2.5e-9,
            "merge": 2.0e-9,
            "min-plus": 0.4e-9,
            "closure": 0.6e-9,
            "copy": 0.1e-9,
        }
    )

    def takes(self, workload: Workload) -> bool:
        if workload.role == "local":
            return workload.operation in self.operation_s
        if workload.role == "bsp-kernel":
            return workload.operation in KERNEL_SECONDS
        return workload.role == "bsp" and workload.operation in OPERATIONS

    def time(self, workload: Workload, case: Case, shares: np.ndarray) -> float:
        """Seconds of one operation."""
        if workload.role == "local":
            return self.operations(workload, case) * self.operation_s[workload.operation]
        if workload.role == "bsp-kernel":
            return KERNEL_SECONDS[workload.operation](self, case)
        if workload.operation == "h-relation":
            word_count, packet = case.number("h"), case.number("packet")
            if case["method"] == "mpi":
                return self.empty_s + self.naive_s * word_count * WORD_BYTES / packet
            return self.superstep_seconds(
                case.ranks - 1, word_count * WORD_BYTES / packet, word_count * WORD_BYTES
            )
        return self.block_seconds(1, case.bytes) if workload.operation == "permutation" else self.empty_s

    def constants(self, workload: Workload, case: Case) -> dict[str, float]:
        return {"operations": self.operations(workload, case)} if workload.role == "local" else {}

    def operations(self, workload: Workload, case: Case) -> float:
        """The number of operations of one repetition of local work on one rank."""
        n = case.number("n")
        m, k = case.number("m") or n, case.number("k") or n
        key_count = case.number("keys")
        return {
            "multiplication": 2 * n * m * k,
            "min-plus": n * m * k,
            "closure": n**3,
            "sort": key_count * math.log2(key_count) if key_count > 1 else key_count,
            "merge": key_count,
            "copy": case.bytes,
        }[workload.operation]

    def superstep_seconds(self, messages: int, packets: float, byte_count: float) -> float:
        """Seconds of a superstep in which a rank sends and receives `messages` messages."""
        return (
            self.empty_s + 2 * messages * self.startup_s + packets * self.packet_s + byte_count * self.byte_s
        )

    def block_seconds(self, count: int, bytes: float) -> float:
        """Seconds of `count` blocks sent one after the other, `bytes` in total."""
        return count * self.block_s + bytes * self.block_byte_s

    def exchange_seconds(self, case: Case, messages: int, bytes: float) -> float:
        """Seconds of an exchange with one message to each of several ranks, in the kernel's style."""
        if not messages:
            return 0.0
        if case["style"] == "bsp":
            return self.superstep_seconds(messages, messages, bytes)
        return self.block_seconds(messages, bytes)


def _matrix_multiplication_s(costs: FakeBsp, case: Case) -> float:
    p, operation_s = case.ranks, costs.operation_s["multiplication"]
    dimensions = round(math.log2(p))
    rows, columns, layers = (2 ** ((dimensions + increment) // 3) for increment in (2, 1, 0))
    elements = case.number("n") ** 2 / p
    block_bytes = elements * TYPE_BYTES[str(case["type"])]
    gather_s = costs.exchange_seconds(case, rows + columns - 2, (rows + columns - 2) * block_bytes)
    sum_s = (
        costs.exchange_seconds(case, layers - 1, (layers - 1) * block_bytes)
        + (layers - 1) * elements * operation_s
    )
    last_s = costs.empty_s if layers == 1 and case["style"] == "bsp" else 0.0
    return gather_s + 2 * case.number("n") ** 3 / p * operation_s + sum_s + last_s


def _local_sort_s(costs: FakeBsp, keys: float) -> float:
    return keys * math.log2(keys) * costs.operation_s["sort"] if keys > 1 else 0.0


def _bitonic_sort_s(costs: FakeBsp, case: Case) -> float:
    keys, dimensions = case.number("keys"), round(math.log2(case.ranks))
    merge_s = keys * costs.operation_s["merge"]
    step_s = costs.exchange_seconds(case, 1, keys * TYPE_BYTES[str(case["type"])]) + merge_s
    return _local_sort_s(costs, keys) + dimensions * (dimensions + 1) / 2 * step_s


def _sample_sort_s(costs: FakeBsp, case: Case) -> float:
    p, keys, key_bytes = case.ranks, case.number("keys"), TYPE_BYTES[str(case["type"])]
    samples, levels = case.number("samples") or p, math.log2(p)
    local_s = (
        _local_sort_s(costs, keys)
        + _local_sort_s(costs, p * samples)
        + keys * levels * costs.operation_s["merge"]
    )
    sample_bytes, exchanged_bytes = (p - 1) * samples * key_bytes, keys * key_bytes * (p - 1) / p
    if case["style"] == "bsp":
        return (
            local_s
            + costs.superstep_seconds(p - 1, p - 1, sample_bytes)
            + costs.superstep_seconds(p - 1, p - 1, exchanged_bytes)
        )
    local_s += costs.block_seconds(math.ceil(levels), sample_bytes)
    if case["route"] == "butterfly":
        return local_s + costs.block_seconds(round(levels), levels * keys / 2 * key_bytes)
    return local_s + costs.block_seconds(p - 1, exchanged_bytes)


def _shortest_paths_s(costs: FakeBsp, case: Case) -> float:
    n, p = case.number("n"), case.ranks
    rows = 2 ** (round(math.log2(p)) // 2)
    columns = p // rows
    panel_width = case.number("block") or n / columns
    update_s = (
        (n / rows - (rows == 1) * panel_width) * n / columns * panel_width * costs.operation_s["min-plus"]
    )
    panels_s = (
        panel_width
        * panel_width
        * (n / rows if rows > 1 else max(n / columns, n - panel_width))
        * costs.operation_s["min-plus"]
    )
    owner_s = panel_width**3 * costs.operation_s["closure"] + panels_s
    exchange_s = 0.0
    for level in range(round(math.log2(columns))):
        message_count = 1 + (2**level < rows)
        for row_words, column_words in (
            (panel_width * panel_width, panel_width * panel_width),
            (panel_width * n / columns, panel_width * n / rows),
        ):
            word_count = column_words + (row_words if message_count > 1 else 0)
            exchange_s += costs.exchange_seconds(case, message_count, 4 * word_count)
    return 4 * n * n / p * costs.operation_s["copy"] + n / panel_width * (owner_s + update_s + exchange_s)


KERNEL_SECONDS: dict[str, Callable[[FakeBsp, Case], float]] = {
    "matrix multiplication": _matrix_multiplication_s,
    "bitonic sort": _bitonic_sort_s,
    "sample sort": _sample_sort_s,
    "shortest paths": _shortest_paths_s,
}


FAKE = FakeBsp()
