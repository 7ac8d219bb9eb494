# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Bulk synchronous programs as sequences of supersteps, without times: the programs of the kernels in
engine/kernels, by operation and style of communication.

A kernel in the style `bpram` sends blocks: each step is a partial permutation with one block, without a
separate synchronisation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from hockney.core.case import Case, Value

WORD_BYTES = 4
"""Size of the words in which g is measured."""


@dataclass(frozen=True)
class LocalWork:
    """Work of the busiest rank: `operations` of the kind `operation`, which a workload of local rates
    measures. `values` are the parameters of its parts, sorted by name, such as (("keys", 4096), ("type",
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

    `bytes` is h, the maximum that a rank sends or receives; `mean_bytes` is the mean that a rank sends, over
    all ranks. `packets` is the number of words, blocks or messages that make up `bytes`: each is a call of
    the library. `max_destinations` and `max_sources` are d and s, the maximum number of ranks that a rank
    sends to and receives from. `copied_bytes` are those that the busiest rank copies in its own memory. A
    superstep of work without communication is not `synchronised`."""

    work: tuple[LocalWork, ...] = ()
    bytes: float = 0
    packets: float = 0
    max_destinations: int = 0
    max_sources: int = 0
    mean_bytes: float = 0
    copied_bytes: float = 0
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
        return self.bytes / WORD_BYTES

    @property
    def startups(self) -> int:
        """Number of steps if each rank sends at most one block and receives at most one in a step."""
        return max(self.max_destinations, self.max_sources)


def full_relation(ranks: int, bytes: float, packets: float, work: tuple[LocalWork, ...] = ()) -> Superstep:
    """Returns a superstep in which each rank sends `bytes` in total, evenly to all others."""
    return Superstep(work, bytes, packets, ranks - 1, ranks - 1, bytes)


def permutation(
    bytes: float, packets: float, work: tuple[LocalWork, ...] = (), copied_bytes: float = 0, count: int = 1
) -> Superstep:
    """Returns a superstep in which each rank sends `bytes` to one rank and receives `bytes` from one."""
    return Superstep(work, bytes, packets, 1, 1, bytes, copied_bytes, count)


def final_work(*work: LocalWork) -> Superstep:
    """Returns a superstep of work without communication."""
    return Superstep(work, synchronised=False)


def distinct_local_work(supersteps: Iterable[Superstep]) -> tuple[LocalWork, ...]:
    """Returns all local work, without duplicates."""
    return tuple(dict.fromkeys(work for superstep in supersteps for work in superstep.work))


TYPE_BYTES = {"double": 8, "float": 4, "uint32": 4}
TAG_BYTES, HEADER_BYTES = 8, 24
"""Bytes before the keys for another rank: in a message, and in a block."""
Supersteps = tuple[Superstep, ...]


def supersteps(operation: str, case: Case) -> Supersteps | None:
    """Returns the supersteps of a kernel's case; None for an unknown kernel, or for the style `mpi`, which
    has no supersteps."""
    program = PROGRAMS.get(operation)
    return None if program is None or case["style"] not in ("bsp", "bpram") else tuple(program(case))


def process_grid(ranks: int, grid: str = "auto") -> tuple[int, int, int]:
    """Returns the number of processes of a matrix multiplication along the rows, the columns and the inner
    dimension. "auto" selects the grid with the least communication."""
    if grid != "auto":
        rows, columns, layers = (int(part) for part in grid.split(":"))
        return rows, columns, layers
    grids = [
        (rows, columns, ranks // (rows * columns))
        for rows in range(ranks, 0, -1)
        if ranks % rows == 0
        for columns in range(ranks // rows, 0, -1)
        if ranks // rows % columns == 0
    ]
    return min(
        grids,
        key=lambda candidate: (
            1 / (candidate[0] * candidate[2])
            + 1 / (candidate[1] * candidate[2])
            + 1 / (candidate[0] * candidate[1])
        ),
    )


def square_grid(ranks: int) -> tuple[int, int]:
    """Returns the rows and columns of a grid of processes that is as square as possible."""
    rows = max(divisor for divisor in range(1, math.isqrt(ranks) + 1) if ranks % divisor == 0)
    return rows, ranks // rows


def _matrix_multiplication(case: Case) -> Iterator[Superstep]:
    n, p, element_type = int(case.number("n")), case.ranks, str(case["type"])
    rows, columns, layers = process_grid(p, str(case["grid"]))
    block_bytes, elements = n * n / p * TYPE_BYTES[element_type], n * n / p
    multiply = LocalWork.of(
        "multiplication", 2 * n**3 / p, n=n // rows, m=n // columns, k=n // layers, type=element_type
    )
    parts = rows + columns - 2
    if case["style"] == "bsp":
        yield _exchange(case, parts, parts * block_bytes)
        if layers == 1:  # the next product must not begin before this one ends
            yield Superstep((multiply,))
            return
        yield _exchange(case, layers - 1, (layers - 1) * block_bytes, multiply)
        yield final_work(_partial_sum_work(multiply, (layers - 1) * elements))
        return
    if parts:
        yield permutation(block_bytes, 1, count=parts)
    if layers == 1:
        yield final_work(multiply)
        return
    add = _partial_sum_work(multiply, elements)
    yield permutation(block_bytes, 1, work=(multiply,))
    if layers > 2:
        yield permutation(block_bytes, 1, work=(add,), count=layers - 2)
    yield final_work(add)


def _exchange(case: Case, partners: int, bytes: float, *work: LocalWork) -> Superstep:
    """Returns a superstep in which each rank sends `bytes` to `partners` ranks in equal parts, and receives
    the same."""
    return Superstep(work, bytes, _packet_count(case, bytes, partners), partners, partners, bytes)


def _packet_count(case: Case, bytes: float, blocks: float) -> float:
    """Returns the number of puts or messages for these bytes in `blocks` blocks."""
    packet = int(case.number("packet"))
    return bytes / packet if packet else blocks


def _partial_sum_work(multiply: LocalWork, operations: float) -> LocalWork:
    """Returns the work of partial sums. They are few compared with the multiplication, so they count as more
    of its operations."""
    return LocalWork(multiply.operation, operations, multiply.values)


def _bitonic_sort(case: Case) -> Iterator[Superstep]:
    keys, p, element_type = int(case.number("keys")), case.ranks, str(case["type"])
    steps = round(math.log2(p))
    steps = steps * (steps + 1) // 2
    sort, merge = _sort_work(case), LocalWork.of("merge", keys, keys=keys, type=element_type)
    if not steps:
        yield final_work(sort)
        return
    bytes = keys * TYPE_BYTES[element_type]
    packets = _packet_count(case, bytes, 1)
    yield permutation(bytes, packets, work=(sort,))
    if steps > 1:
        yield permutation(bytes, packets, work=(merge,), count=steps - 1)
    yield final_work(merge)


def _sort_work(case: Case) -> LocalWork:
    """Returns the work of sorting one rank's keys."""
    keys, element_type = int(case.number("keys")), str(case["type"])
    return LocalWork.of(
        "sort",
        keys * math.log2(keys) if keys > 1 else keys,
        keys=keys,
        type=element_type,
        distribution=str(case["distribution"]),
    )


def _sample_sort(case: Case) -> Iterator[Superstep]:
    keys, p, element_type = int(case.number("keys")), case.ranks, str(case["type"])
    bytes_per_key, samples_per_rank = TYPE_BYTES[element_type], int(case.number("samples")) or p
    if p == 1:
        yield final_work(_sort_work(case))
        return
    sample_work = LocalWork.of(
        "sort",
        p * samples_per_rank * math.log2(p * samples_per_rank),
        keys=p * samples_per_rank,
        type=element_type,
    )
    merge = LocalWork.of("merge", keys * math.ceil(math.log2(p)), keys=keys, type=element_type)
    if case["style"] == "bsp":
        sample_bytes, key_bytes = (
            (p - 1) * samples_per_rank * bytes_per_key,
            keys * bytes_per_key * (p - 1) / p,
        )
        messages = _packet_count(case, key_bytes, p - 1)
        yield full_relation(
            p, sample_bytes, _packet_count(case, sample_bytes, p - 1), work=(_sort_work(case),)
        )
        yield full_relation(p, key_bytes + TAG_BYTES * messages, messages, work=(sample_work,))
        yield final_work(merge)
        return
    for step in range(math.ceil(math.log2(p))):
        blocks = min(2**step, p - 2**step)
        yield permutation(
            samples_per_rank * blocks * bytes_per_key, 1, work=(_sort_work(case),) if step == 0 else ()
        )
    if case["route"] == "butterfly":
        steps = round(math.log2(p))
        block = keys / 2 * bytes_per_key + HEADER_BYTES * p / 2
        yield permutation(block, 1, work=(sample_work,), copied_bytes=(keys + keys / 2) * bytes_per_key)
        if steps > 1:
            yield permutation(block, 1, copied_bytes=keys / 2 * bytes_per_key, count=steps - 1)
    else:
        block = keys / p * bytes_per_key + HEADER_BYTES
        yield replace(
            full_relation(p, (p - 1) * block, p - 1, work=(sample_work,)), copied_bytes=keys * bytes_per_key
        )
    yield final_work(merge)


def _shortest_paths(case: Case) -> Iterator[Superstep]:
    n, p, element_bytes = int(case.number("n")), case.ranks, TYPE_BYTES["float"]
    rows, columns = square_grid(p)
    height, width = n // rows, n // columns
    broadcast = (
        partial(_broadcast_in_supersteps, case)
        if case["style"] == "bsp"
        else partial(_broadcast_in_blocks, p)
    )
    pending_work: tuple[LocalWork, ...] = (LocalWork.of("copy", n * n / p * element_bytes),)
    for panel_width in _panel_widths(n, rows, columns, int(case.number("block"))):
        diagonal_bytes, row_bytes, column_bytes = (
            element_bytes * panel_width * side for side in (panel_width, width, height)
        )
        panel_work: tuple[LocalWork, ...] = ()
        if panel_width > 1:
            closure = LocalWork.of("closure", float(panel_width) ** 3, n=panel_width)
            steps = broadcast((columns, 1, diagonal_bytes), (rows, 1, diagonal_bytes))
            yield from _prepend_work(steps, (*pending_work, closure), diagonal_bytes)
            pending_work = ()
            panel_work = _panel_work(panel_width, height, width, rows, columns)
        steps = broadcast((columns, rows, column_bytes), (rows, columns, row_bytes))
        yield from _prepend_work(steps, (*pending_work, *panel_work), row_bytes + column_bytes)
        # In a single row or column of ranks, every rank has a part of the panel.
        pending_work = (
            _min_plus_work(
                height - (rows == 1) * panel_width, width - (columns == 1) * panel_width, panel_width
            ),
        )
    yield final_work(*pending_work)


def _panel_work(panel_width: int, height: int, width: int, rows: int, columns: int) -> tuple[LocalWork, ...]:
    """Returns the work of the busiest rank. The owner of the diagonal block updates the remainder of both
    panels, other ranks of its row and column update one of them."""
    panel_works = [_min_plus_work(panel_width, width, panel_width)] * (columns > 1) + [
        _min_plus_work(height, panel_width, panel_width)
    ] * (rows > 1)
    owner = (
        _min_plus_work(panel_width, width - panel_width, panel_width),
        _min_plus_work(height - panel_width, panel_width, panel_width),
    )
    return max(
        [owner, *((work,) for work in panel_works)],
        key=lambda candidate: sum(work.operations for work in candidate),
    )


def _min_plus_work(n: int, m: int, k: int) -> LocalWork:
    return LocalWork.of("min-plus", float(n) * m * k, n=n, m=m, k=k)


def _panel_widths(n: int, rows: int, columns: int, max_width: int) -> Iterator[int]:
    """Yields the widths of the panels, which end at the bounds of the blocks of rows and columns."""
    bounds = {n * (k + 1) // parts for parts in (rows, columns) for k in range(parts)}
    start = 0
    for bound in sorted(bounds):
        while start < bound:
            width = min(bound - start, max_width or n)
            yield width
            start += width


def _prepend_work(
    steps: Iterator[Superstep], work: tuple[LocalWork, ...], copied_bytes: float
) -> Iterator[Superstep]:
    """Yields the steps with this work before the first one, whose sender also copies `copied_bytes`."""
    first_step = next(steps, None)
    if first_step is None:
        yield final_work(*work)
        return
    yield replace(first_step, work=work, copied_bytes=copied_bytes)
    yield from steps


Tree = tuple[int, int, float]
"""Broadcasts in binary trees: ranks of each tree, number of trees, and bytes."""


def _broadcast_in_supersteps(case: Case, *trees: Tree) -> Iterator[Superstep]:
    """Yields the supersteps of all broadcasts, which are executed at the same time."""
    for level in range(math.ceil(math.log2(max(ranks for ranks, _, _ in trees)))):
        senders_by_size = [(size, count * _sender_count(ranks, level)) for ranks, count, size in trees]
        sizes = [size for size, senders in senders_by_size if senders]
        mean_bytes = sum(size * senders for size, senders in senders_by_size) / case.ranks
        packets = _packet_count(case, sum(sizes), len(sizes))
        yield Superstep((), sum(sizes), packets, len(sizes), len(sizes), mean_bytes)


def _broadcast_in_blocks(p: int, *trees: Tree) -> Iterator[Superstep]:
    """Yields the supersteps of the trees, one tree after the other."""
    for ranks, count, size in trees:
        for level in range(math.ceil(math.log2(ranks))):
            yield Superstep((), size, 1, 1, 1, count * _sender_count(ranks, level) * size / p)


def _sender_count(ranks: int, level: int) -> int:
    """Returns the number of ranks that send at this level of a binary tree over `ranks` ranks."""
    return max(0, min(2**level, ranks - 2**level))


PROGRAMS: dict[str, Callable[[Case], Iterator[Superstep]]] = {
    "matrix multiplication": _matrix_multiplication,
    "bitonic sort": _bitonic_sort,
    "sample sort": _sample_sort,
    "shortest paths": _shortest_paths,
}
"""Programs by operation of the workload."""
