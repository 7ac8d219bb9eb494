# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of bulk synchronous programs and of local work on the fake machine.

A superstep takes an empty one's time, a startup for each message that a rank sends or receives, and the time
of its packets and bytes; a block a startup and its bytes. The kernels take what their supersteps and their
local work take, in closed forms for numbers of ranks that are powers of two."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.launch.fakes import FakeWorkloads

WORD = 4
OPERATIONS = ("h-relation", "permutation", "synchronisation")
TYPE_BYTES = {"double": 8, "float": 4, "uint32": 4}


@dataclass(frozen=True)
class FakeBsp(FakeWorkloads):
    """The true costs (s): of a superstep, of blocks, and of an operation of each kind of local work. A word
    sent as a single message costs `naive_s`."""

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
            return workload.operation in KERNELS
        return workload.role == "bsp" and workload.operation in OPERATIONS

    def time(self, workload: Workload, case: Case, shares: np.ndarray) -> float:
        """Seconds of one operation."""
        if workload.role == "local":
            return self.operations(workload, case) * self.operation_s[workload.operation]
        if workload.role == "bsp-kernel":
            return KERNELS[workload.operation](self, case)
        if workload.operation == "h-relation":
            words, packet = case.number("h"), case.number("packet")
            if case["method"] == "mpi":
                return self.empty_s + self.naive_s * words * WORD / packet
            return self.superstep(case.ranks - 1, words * WORD / packet, words * WORD)
        return self.blocks(1, case.bytes) if workload.operation == "permutation" else self.empty_s

    def constants(self, workload: Workload, case: Case) -> dict[str, float]:
        return {"operations": self.operations(workload, case)} if workload.role == "local" else {}

    def operations(self, workload: Workload, case: Case) -> float:
        """The operations of one repetition of local work on one rank."""
        n = case.number("n")
        m, k = case.number("m") or n, case.number("k") or n
        keys = case.number("keys")
        return {
            "multiplication": 2 * n * m * k,
            "min-plus": n * m * k,
            "closure": n**3,
            "sort": keys * math.log2(keys) if keys > 1 else keys,
            "merge": keys,
            "copy": case.bytes,
        }[workload.operation]

    def superstep(self, messages: int, packets: float, byte_count: float) -> float:
        """Seconds of the superstep of a rank that sends and receives `messages` messages."""
        return (
            self.empty_s + 2 * messages * self.startup_s + packets * self.packet_s + byte_count * self.byte_s
        )

    def blocks(self, count: int, bytes: float) -> float:
        """`count` blocks one after the other, with `bytes` in total."""
        return count * self.block_s + bytes * self.block_byte_s

    def exchange(self, case: Case, messages: int, bytes: float) -> float:
        """One message to each of some ranks, in the style of a kernel."""
        if not messages:
            return 0.0
        if case["style"] == "bsp":
            return self.superstep(messages, messages, bytes)
        return self.blocks(messages, bytes)


def _matrix_multiplication(world: FakeBsp, case: Case) -> float:
    p, flop = case.ranks, world.operation_s["multiplication"]
    factors = round(math.log2(p))
    a, b, c = (2 ** ((factors + increment) // 3) for increment in (2, 1, 0))
    share = case.number("n") ** 2 / p
    block = share * TYPE_BYTES[str(case["type"])]
    gather = world.exchange(case, a + b - 2, (a + b - 2) * block)
    sums = world.exchange(case, c - 1, (c - 1) * block) + (c - 1) * share * flop
    last_s = world.empty_s if c == 1 and case["style"] == "bsp" else 0.0
    return gather + 2 * case.number("n") ** 3 / p * flop + sums + last_s


def _sort_seconds(world: FakeBsp, keys: float) -> float:
    return keys * math.log2(keys) * world.operation_s["sort"] if keys > 1 else 0.0


def _bitonic_sort(world: FakeBsp, case: Case) -> float:
    keys, q = case.number("keys"), round(math.log2(case.ranks))
    merge = keys * world.operation_s["merge"]
    step = world.exchange(case, 1, keys * TYPE_BYTES[str(case["type"])]) + merge
    return _sort_seconds(world, keys) + q * (q + 1) / 2 * step


def _sample_sort(world: FakeBsp, case: Case) -> float:
    p, keys, size = case.ranks, case.number("keys"), TYPE_BYTES[str(case["type"])]
    samples, levels = case.number("samples") or p, math.log2(p)
    local_s = (
        _sort_seconds(world, keys)
        + _sort_seconds(world, p * samples)
        + keys * levels * world.operation_s["merge"]
    )
    all_samples, all_keys = (p - 1) * samples * size, keys * size * (p - 1) / p
    if case["style"] == "bsp":
        return local_s + world.superstep(p - 1, p - 1, all_samples) + world.superstep(p - 1, p - 1, all_keys)
    local_s += world.blocks(math.ceil(levels), all_samples)
    if case["route"] == "butterfly":
        return local_s + world.blocks(round(levels), levels * keys / 2 * size)
    return local_s + world.blocks(p - 1, all_keys)


def _shortest_paths(world: FakeBsp, case: Case) -> float:
    n, p = case.number("n"), case.ranks
    rows = 2 ** (round(math.log2(p)) // 2)
    columns = p // rows
    b = case.number("block") or n / columns
    update = (n / rows - (rows == 1) * b) * n / columns * b * world.operation_s["min-plus"]
    panels = b * b * (n / rows if rows > 1 else max(n / columns, n - b)) * world.operation_s["min-plus"]
    owner_s = b**3 * world.operation_s["closure"] + panels
    exchange_s = 0.0
    for level in range(round(math.log2(columns))):
        message_count = 1 + (2**level < rows)
        for row, column in ((b * b, b * b), (b * n / columns, b * n / rows)):
            words = column + (row if message_count > 1 else 0)
            exchange_s += world.exchange(case, message_count, 4 * words)
    return 4 * n * n / p * world.operation_s["copy"] + n / b * (owner_s + update + exchange_s)


KERNELS: dict[str, Callable[[FakeBsp, Case], float]] = {
    "matrix multiplication": _matrix_multiplication,
    "bitonic sort": _bitonic_sort,
    "sample sort": _sample_sort,
    "shortest paths": _shortest_paths,
}


FAKE = FakeBsp()
