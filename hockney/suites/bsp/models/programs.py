# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What bulk synchronous programs do, superstep by superstep, without any times: supersteps, and the programs
of the kernels in engine/kernels, by operation and style of communication.

A kernel in the style `bpram` sends blocks: each step is a partial permutation with one block, without a
synchronisation of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from hockney.core.case import Case, Value

WORD = 4
"""Bytes of the words in which g is measured."""


@dataclass(frozen=True)
class LocalWork:
    """Work of the busiest rank: `operations` of the kind `operation` (of a workload of local rates), in parts
    that have these `values` of its parameters, sorted by name, such as (("keys", 4096), ("type",
    "double"))."""

    operation: str
    operations: float
    values: tuple[tuple[str, Value], ...] = ()

    @staticmethod
    def of(operation: str, operations: float, **values: Value) -> LocalWork:
        return LocalWork(operation, operations, tuple(sorted(values.items())))


@dataclass(frozen=True)
class Superstep:
    """`count` identical supersteps.

    `bytes` is h, the most that a rank sends or receives; `mean_bytes` is what a rank sends on average over
    all ranks. `packets` are the words, blocks or messages of which these bytes consist, of the same rank:
    each is a call of the library. `sends` and `receives` are d and s, the most ranks that a rank sends to,
    and receives from. `copied` are bytes that the busiest rank copies in its own memory. Work that no
    communication follows is not `synchronised`."""

    work: tuple[LocalWork, ...] = ()
    bytes: float = 0
    packets: float = 0
    sends: int = 0
    receives: int = 0
    mean_bytes: float = 0
    copied: float = 0
    count: int = 1
    synchronised: bool = True

    def __post_init__(self) -> None:
        if self.mean_bytes > self.bytes:
            raise ValueError("a rank sends more bytes on average than the most that a rank sends")
        if self.bytes and not self.synchronised:
            raise ValueError("there is no communication without a synchronisation")

    @property
    def words(self) -> float:
        """h in words."""
        return self.bytes / WORD

    @property
    def startups(self) -> int:
        """Steps of the superstep if each rank sends at most one block and receives at most one in a step."""
        return max(self.sends, self.receives)


def full_relation(ranks: int, bytes: float, packets: float, work: tuple[LocalWork, ...] = ()) -> Superstep:
    """A superstep in which each rank sends `bytes` in total, evenly to all others."""
    return Superstep(work, bytes, packets, ranks - 1, ranks - 1, bytes)


def permutation(
    bytes: float, packets: float, work: tuple[LocalWork, ...] = (), copied: float = 0, count: int = 1
) -> Superstep:
    """A superstep in which each rank sends `bytes` to one rank and receives as many from one."""
    return Superstep(work, bytes, packets, 1, 1, bytes, copied, count)


def final_work(*work: LocalWork) -> Superstep:
    """Work that no communication follows."""
    return Superstep(work, synchronised=False)


def local_works(supersteps: Iterable[Superstep]) -> tuple[LocalWork, ...]:
    """All local work, each part once."""
    return tuple(dict.fromkeys(work for each in supersteps for work in each.work))


TYPE_BYTES = {"double": 8, "float": 4, "uint32": 4}
TAG, HEADER = 8, 24
"""Bytes that precede the keys of a rank for another one: of a message, and in a block."""
Supersteps = tuple[Superstep, ...]


def supersteps(operation: str, case: Case) -> Supersteps | None:
    """The supersteps of a kernel's case; None for an unknown kernel, and for one in the style `mpi`, which
    has no supersteps."""
    program = PROGRAMS.get(operation)
    return None if program is None or case["style"] not in ("bsp", "bpram") else tuple(program(case))


def grid_of(ranks: int, grid: str = "auto") -> tuple[int, int, int]:
    """The processes of matrix multiplication along the rows, the columns and the inner dimension. auto: those
    with the least communication, 1/ac + 1/bc + 1/ab."""
    if grid != "auto":
        a, b, c = (int(part) for part in grid.split(":"))
        return a, b, c
    grids = [
        (a, b, ranks // (a * b))
        for a in range(ranks, 0, -1)
        if ranks % a == 0
        for b in range(ranks // a, 0, -1)
        if ranks // a % b == 0
    ]
    return min(grids, key=lambda g: 1 / (g[0] * g[2]) + 1 / (g[1] * g[2]) + 1 / (g[0] * g[1]))


def square_grid(ranks: int) -> tuple[int, int]:
    """Rows and columns of processes, nearly as many of each."""
    rows = max(r for r in range(1, math.isqrt(ranks) + 1) if ranks % r == 0)
    return rows, ranks // rows


def _matrix_multiplication(case: Case) -> Iterator[Superstep]:
    n, p, kind = int(case.number("n")), case.ranks, str(case["type"])
    a, b, c = grid_of(p, str(case["grid"]))
    block, share = n * n / p * TYPE_BYTES[kind], n * n / p
    multiply = LocalWork.of("multiplication", 2 * n**3 / p, n=n // a, m=n // b, k=n // c, type=kind)
    parts = a + b - 2
    if case["style"] == "bsp":
        yield _exchange(case, parts, parts * block)
        if c == 1:  # the next product may not begin before this one has ended
            yield Superstep((multiply,))
            return
        yield _exchange(case, c - 1, (c - 1) * block, multiply)
        yield final_work(_partial_sums(multiply, (c - 1) * share))
        return
    if parts:
        yield permutation(block, 1, count=parts)
    if c == 1:
        yield final_work(multiply)
        return
    add = _partial_sums(multiply, share)
    yield permutation(block, 1, work=(multiply,))
    if c > 2:
        yield permutation(block, 1, work=(add,), count=c - 2)
    yield final_work(add)


def _exchange(case: Case, partners: int, bytes: float, *work: LocalWork) -> Superstep:
    """A superstep in which each rank sends these bytes to `partners` ranks in equal parts, and receives as
    much."""
    return Superstep(work, bytes, _packets(case, bytes, partners), partners, partners, bytes)


def _packets(case: Case, bytes: float, blocks: float) -> float:
    """The number of puts or messages for these bytes in `blocks` blocks."""
    packet = int(case.number("packet"))
    return bytes / packet if packet else blocks


def _partial_sums(multiply: LocalWork, operations: float) -> LocalWork:
    """Partial sums are few against the multiplication: they count as more of its operations."""
    return LocalWork(multiply.operation, operations, multiply.values)


def _bitonic_sort(case: Case) -> Iterator[Superstep]:
    m, p, kind = int(case.number("keys")), case.ranks, str(case["type"])
    steps = round(math.log2(p))
    steps = steps * (steps + 1) // 2
    sort, merge = _sort_work(case), LocalWork.of("merge", m, keys=m, type=kind)
    if not steps:
        yield final_work(sort)
        return
    bytes = m * TYPE_BYTES[kind]
    packets = _packets(case, bytes, 1)
    yield permutation(bytes, packets, work=(sort,))
    if steps > 1:
        yield permutation(bytes, packets, work=(merge,), count=steps - 1)
    yield final_work(merge)


def _sort_work(case: Case) -> LocalWork:
    """The sorting of one rank's keys."""
    m, kind = int(case.number("keys")), str(case["type"])
    return LocalWork.of(
        "sort", m * math.log2(m) if m > 1 else m, keys=m, type=kind, distribution=str(case["distribution"])
    )


def _sample_sort(case: Case) -> Iterator[Superstep]:
    m, p, kind = int(case.number("keys")), case.ranks, str(case["type"])
    e, s = TYPE_BYTES[kind], int(case.number("samples")) or p
    if p == 1:
        yield final_work(_sort_work(case))
        return
    samples = LocalWork.of("sort", p * s * math.log2(p * s), keys=p * s, type=kind)
    merge = LocalWork.of("merge", m * math.ceil(math.log2(p)), keys=m, type=kind)
    if case["style"] == "bsp":
        sample_bytes, key_bytes = (p - 1) * s * e, m * e * (p - 1) / p
        messages = _packets(case, key_bytes, p - 1)
        yield full_relation(p, sample_bytes, _packets(case, sample_bytes, p - 1), work=(_sort_work(case),))
        yield full_relation(p, key_bytes + TAG * messages, messages, work=(samples,))
        yield final_work(merge)
        return
    for step in range(math.ceil(math.log2(p))):
        blocks = min(2**step, p - 2**step)
        yield permutation(s * blocks * e, 1, work=(_sort_work(case),) if step == 0 else ())
    if case["route"] == "butterfly":
        steps = round(math.log2(p))
        block = m / 2 * e + HEADER * p / 2
        yield permutation(block, 1, work=(samples,), copied=(m + m / 2) * e)
        if steps > 1:
            yield permutation(block, 1, copied=m / 2 * e, count=steps - 1)
    else:
        block = m / p * e + HEADER
        yield replace(full_relation(p, (p - 1) * block, p - 1, work=(samples,)), copied=m * e)
    yield final_work(merge)


def _shortest_paths(case: Case) -> Iterator[Superstep]:
    n, p, e = int(case.number("n")), case.ranks, TYPE_BYTES["float"]
    rows, columns = square_grid(p)
    height, width = n // rows, n // columns
    broadcast = (
        partial(_broadcast_in_supersteps, case)
        if case["style"] == "bsp"
        else partial(_broadcast_in_blocks, p)
    )
    pending_work: tuple[LocalWork, ...] = (LocalWork.of("copy", n * n / p * e),)
    for b in _panels(n, rows, columns, int(case.number("block"))):
        diagonal, row, column = (e * b * each for each in (b, width, height))
        panel: tuple[LocalWork, ...] = ()
        if b > 1:
            closure = LocalWork.of("closure", float(b) ** 3, n=b)
            steps = broadcast((columns, 1, diagonal), (rows, 1, diagonal))
            yield from _prepend_work(steps, (*pending_work, closure), diagonal)
            pending_work = ()
            panel = _panel_work(b, height, width, rows, columns)
        steps = broadcast((columns, rows, column), (rows, columns, row))
        yield from _prepend_work(steps, (*pending_work, *panel), row + column)
        # In a single row or column of ranks, all have a part of the panel.
        pending_work = (_min_plus(height - (rows == 1) * b, width - (columns == 1) * b, b),)
    yield final_work(*pending_work)


def _panel_work(b: int, height: int, width: int, rows: int, columns: int) -> tuple[LocalWork, ...]:
    """The work of the busiest rank: the owner of the diagonal block updates what remains of both panels, the
    others of its row and column one of them."""
    panel_works = [_min_plus(b, width, b)] * (columns > 1) + [_min_plus(height, b, b)] * (rows > 1)
    owner = (_min_plus(b, width - b, b), _min_plus(height - b, b, b))
    return max(
        [owner, *((other,) for other in panel_works)], key=lambda works: sum(w.operations for w in works)
    )


def _min_plus(n: int, m: int, k: int) -> LocalWork:
    return LocalWork.of("min-plus", float(n) * m * k, n=n, m=m, k=k)


def _panels(n: int, rows: int, columns: int, max_width: int) -> Iterator[int]:
    """The widths of the panels, which end where blocks of rows and of columns do."""
    ends = {n * (k + 1) // parts for parts in (rows, columns) for k in range(parts)}
    begin = 0
    for end in sorted(ends):
        while begin < end:
            width = min(end - begin, max_width or n)
            yield width
            begin += width


def _prepend_work(
    steps: Iterator[Superstep], work: tuple[LocalWork, ...], copied: float
) -> Iterator[Superstep]:
    """The steps, the first of which follows this work, and these bytes that its sender copies."""
    first = next(steps, None)
    if first is None:
        yield final_work(*work)
        return
    yield replace(first, work=work, copied=copied)
    yield from steps


Trees = tuple[int, int, float]
"""Broadcasts in binary trees: ranks of each, their number, and bytes."""


def _broadcast_in_supersteps(case: Case, *trees: Trees) -> Iterator[Superstep]:
    """All broadcasts at the same time."""
    for level in range(math.ceil(math.log2(max(ranks for ranks, _, _ in trees)))):
        sends = [(size, count * _senders(ranks, level)) for ranks, count, size in trees]
        sizes = [size for size, senders in sends if senders]
        mean = sum(size * senders for size, senders in sends) / case.ranks
        packets = _packets(case, sum(sizes), len(sizes))
        yield Superstep((), sum(sizes), packets, len(sizes), len(sizes), mean)


def _broadcast_in_blocks(p: int, *trees: Trees) -> Iterator[Superstep]:
    """The supersteps of the trees, one tree after the other."""
    for ranks, count, size in trees:
        for level in range(math.ceil(math.log2(ranks))):
            yield Superstep((), size, 1, 1, 1, count * _senders(ranks, level) * size / p)


def _senders(ranks: int, level: int) -> int:
    """The number of ranks that send at this level of a binary tree over `ranks` ranks."""
    return max(0, min(2**level, ranks - 2**level))


PROGRAMS: dict[str, Callable[[Case], Iterator[Superstep]]] = {
    "matrix multiplication": _matrix_multiplication,
    "bitonic sort": _bitonic_sort,
    "sample sort": _sample_sort,
    "shortest paths": _shortest_paths,
}
"""Programs by the operation of the workload."""
