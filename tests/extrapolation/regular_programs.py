# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Well-known parallel algorithms whose partners, roots or sizes change from iteration to iteration or from
rank to rank, as traces in memory. Each step has its own call sites."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from replay.made_traces import Written, part

from hockney.extrapolation.grids import balanced

STEPS = 3
WORK_S = 64e-3
NONE = -2
"""MPI_PROC_NULL."""
Program = Callable[[Written, int], None]


def exchange(rank: Written, to: int, source: int, size: int, *, site: int, received: int = -1) -> None:
    """MPI_Sendrecv."""
    received = size if received < 0 else received
    rank.call("Sendrecv", part("send", to, size), part("receive", source, received), site=site, after=1e-4)


def send(rank: Written, to: int, size: int, *, site: int) -> None:
    rank.call("Send", part("send", to, size), site=site, after=1e-5)


def receive(rank: Written, source: int, size: int, *, site: int) -> None:
    rank.call("Recv", part("receive", source, size), site=site, after=1e-5)


def collective(
    rank: Written, name: str, size: int, *, site: int, root: int = -1, communicator: int = 1
) -> None:
    what = part("collective", size=size, root=root, communicator=communicator)
    rank.call(name, what, site=site, after=1e-4)


def rows(total: int, ranks: int, rank: int) -> int:
    """Rows of a rank; the first ranks have one more if the division has a remainder."""
    return total // ranks + (rank < total % ranks)


def owner(total: int, ranks: int, row: int) -> int:
    """The rank that has a row, in blocks of rows()."""
    more, least = total % ranks, total // ranks
    return row // (least + 1) if row < more * (least + 1) else more + (row - more * (least + 1)) // least


def floyd(rank: Written, ranks: int, *, size: int = 48) -> None:
    """All shortest paths: the owner of row k broadcasts it."""
    for k in range(size):
        collective(rank, "Bcast", 8 * size, root=owner(size, ranks, k), site=1)


def gauss_cyclic(rank: Written, ranks: int, *, size: int = 64) -> None:
    """The owner of row k sends the rest of it to all others, one by one."""
    for k in range(size):
        if k % ranks == rank.rank:
            for other in range(ranks):
                if other != rank.rank:
                    send(rank, other, 8 * (size - k), site=1)
        else:
            receive(rank, k % ranks, 8 * (size - k), site=2)


def gauss_with_back_substitution(rank: Written, ranks: int, *, size: int = 64) -> None:
    """Elimination with pivots found by a reduction, then substitution from the last row on."""
    for k in range(size):
        collective(rank, "Allreduce", 16, site=1)
        collective(rank, "Bcast", 8 * (size - k), root=k % ranks, site=2)
    for k in reversed(range(size)):
        collective(rank, "Bcast", 8, root=k % ranks, site=3)


def odd_even(rank: Written, ranks: int) -> None:
    """Odd-even transposition with MPI_PROC_NULL at the ends."""
    size = (1 << 16) // ranks
    for phase in range(ranks):
        partner = rank.rank + (1 if (phase + rank.rank) % 2 == 0 else -1)
        partner = partner if 0 <= partner < ranks else NONE
        exchange(rank, partner, partner, size if partner >= 0 else 0, site=1)


def odd_even_branches(rank: Written, ranks: int) -> None:
    """Odd-even transposition in which ranks without a partner wait, with a fixed number of phases."""
    size = (1 << 16) // ranks
    for phase in range(12):
        if phase % 2 == 0:
            partner = rank.rank + 1 if rank.rank % 2 == 0 else rank.rank - 1
        else:
            partner = rank.rank + 1 if rank.rank % 2 == 1 else rank.rank - 1
        if 0 <= partner < ranks:
            exchange(rank, partner, partner, size, site=1)


def bitonic(rank: Written, ranks: int) -> None:
    for stage in range(1, ranks.bit_length()):
        for bit in reversed(range(stage)):
            partner = rank.rank ^ (1 << bit)
            exchange(rank, partner, partner, (1 << 16) // ranks, site=1)
    collective(rank, "Barrier", 0, site=2)


def bitonic_branches(rank: Written, ranks: int) -> None:
    """Whether a rank keeps the lower or the higher part decides on the call site."""
    for stage in range(1, ranks.bit_length()):
        for bit in reversed(range(stage)):
            partner = rank.rank ^ (1 << bit)
            keeps_low = (rank.rank >> stage) % 2 == (rank.rank >> bit) % 2
            exchange(rank, partner, partner, (1 << 16) // ranks, site=1 + keeps_low)


def cannon(rank: Written, ranks: int) -> None:
    """Rows and columns are shifted by their number first."""
    side = balanced(ranks, 2)[0]
    row, column = divmod(rank.rank, side)
    size = (1 << 20) // ranks

    def at(row: int, column: int) -> int:
        return row % side * side + column % side

    exchange(rank, at(row, column - row), at(row, column + row), size, site=1)
    exchange(rank, at(row - column, column), at(row + column, column), size, site=2)
    for _ in range(side):
        exchange(rank, at(row, column - 1), at(row, column + 1), size, site=3)
        exchange(rank, at(row - 1, column), at(row + 1, column), size, site=4)


def cannon_where_needed(rank: Written, ranks: int) -> None:
    """The first row and column stay where they are."""
    side = balanced(ranks, 2)[0]
    row, column = divmod(rank.rank, side)
    size = (1 << 20) // ranks
    if row:
        to, source = row * side + (column - row) % side, row * side + (column + row) % side
        exchange(rank, to, source, size, site=1)
    if column:
        to, source = (row - column) % side * side + column, (row + column) % side * side + column
        exchange(rank, to, source, size, site=2)
    for _ in range(side - 1):
        to, source = row * side + (column - 1) % side, row * side + (column + 1) % side
        exchange(rank, to, source, size, site=3)
        exchange(rank, (rank.rank - side) % ranks, (rank.rank + side) % ranks, size, site=4)


def fox(rank: Written, ranks: int) -> None:
    """Fox's algorithm: in step k, the rank k places right of the diagonal broadcasts in its row; columns are
    shifted. Communicator 2: rows."""
    side = balanced(ranks, 2)[0]
    row, _ = divmod(rank.rank, side)
    size = (1 << 20) // ranks
    for k in range(side):
        collective(rank, "Bcast", size, root=row * side + (row + k) % side, site=1, communicator=2)
        exchange(rank, (rank.rank - side) % ranks, (rank.rank + side) % ranks, size, site=2)


def summa(rank: Written, ranks: int, *, panels: int = 24) -> None:
    """Panels of a matrix, in rows and columns of a grid; communicators 2 and 3."""
    side = balanced(ranks, 2)[0]
    row, column = divmod(rank.rank, side)
    for k in range(panels):
        collective(rank, "Bcast", (1 << 18) // side, root=row * side + k % side, site=1, communicator=2)
        collective(rank, "Bcast", (1 << 18) // side, root=k % side * side + column, site=2, communicator=3)


def summa_blocks(rank: Written, ranks: int, *, panels: int = 48) -> None:
    side = balanced(ranks, 2)[0]
    row, column = divmod(rank.rank, side)
    for k in range(panels):
        own = k * side // panels
        collective(rank, "Bcast", (1 << 18) // side, root=row * side + own, site=1, communicator=2)
        collective(rank, "Bcast", (1 << 18) // side, root=own * side + column, site=2, communicator=3)


def power_iteration(rank: Written, ranks: int) -> None:
    """Products of blocks of a matrix are added in rows, transposed, and sent down from the diagonal."""
    side = balanced(ranks, 2)[0]
    row, column = divmod(rank.rank, side)
    for _ in range(12):
        collective(rank, "Allreduce", (1 << 12) // side, site=1, communicator=2)
        if row != column:
            other = column * side + row
            exchange(rank, other, other, (1 << 12) // side, site=2)
        collective(rank, "Bcast", (1 << 12) // side, root=column * (side + 1), site=3, communicator=3)


def transposition(rank: Written, ranks: int) -> None:
    """Blocks of a matrix in a square grid; those on the diagonal stay."""
    side = balanced(ranks, 2)[0]
    row, column = divmod(rank.rank, side)
    for _ in range(STEPS):
        if row != column:
            other = column * side + row
            exchange(rank, other, other, (1 << 20) // ranks, site=1)
        collective(rank, "Barrier", 0, site=2)


def multipartition(rank: Written, ranks: int) -> None:
    """Sweeps in three directions over cells on diagonals of a cube, as in NPB SP and BT: each rank sends to
    its successor and receives from its predecessor, in as many stages as the square grid has rows."""
    side = balanced(ranks, 2)[0]
    row, column = divmod(rank.rank, side)

    def at(row: int, column: int) -> int:
        return row % side * side + column % side

    directions = ((0, 1), (1, 0), (-1, -1))
    for _ in range(STEPS):
        for number, (down, right) in enumerate(directions):
            after, before = at(row + down, column + right), at(row - down, column - right)
            size = (1 << 18) // ranks
            for stage in range(side):
                if stage > 0:
                    receive(rank, before, size, site=10 * number + 1)
                if stage < side - 1:
                    send(rank, after, size, site=10 * number + 2)
            for stage in range(side):
                if stage > 0:
                    receive(rank, after, size, site=10 * number + 3)
                if stage < side - 1:
                    send(rank, before, size, site=10 * number + 4)


def block_tridiagonal(rank: Written, ranks: int) -> None:
    """Sweeps over cells on diagonals of a cube, as in NPB BT. A message has the tag of its cell, and results
    of a cell are sent while the next one is computed."""
    side = balanced(ranks, 2)[0]
    row, column = divmod(rank.rank, side)
    size = (1 << 16) // ranks

    def at(row: int, column: int) -> int:
        return row % side * side + column % side

    for _ in range(STEPS):
        for number, (down, right) in enumerate(((0, 1), (1, 0), (1, -1))):
            after, before = at(row + down, column + right), at(row - down, column - right)
            for way, (to, source) in enumerate(((after, before), (before, after))):
                sent = 0
                sites = range(20 * number + 10 * way, 20 * number + 10 * way + 5)
                for stage in range(side):
                    tag = (number + 1) * 1000 + way * 500
                    if stage > 0:
                        own = tag + (row - stage * (1 - 2 * way)) % side + side * stage
                        what = part("start receive", source, size, tag=own)
                        received = rank.start_request("Irecv", what, site=sites[0])
                        rank.call("Wait", rank.end(sent), site=sites[1])
                        rank.call("Wait", rank.end(received), site=sites[2])
                    if stage < side - 1:
                        other = to // side
                        own = tag + (other - (stage + 1) * (1 - 2 * way)) % side + side * (stage + 1)
                        what = part("start send", to, size, tag=own)
                        sent = rank.start_request("Isend", what, site=sites[3])
        collective(rank, "Allreduce", 40, site=90)


def scatter_blocks(rank: Written, ranks: int, *, total: int = 1000) -> None:
    """The first rank sends uneven blocks, and collects the results; all exchange their border rows."""
    if rank.rank == 0:
        for other in range(1, ranks):
            send(rank, other, 80 * rows(total, ranks, other), site=1)
    else:
        receive(rank, 0, 80 * rows(total, ranks, rank.rank), site=2)
    for _ in range(STEPS):
        for sign in (-1, 1):
            to, source = rank.rank + sign, rank.rank - sign
            to, source = (each if 0 <= each < ranks else NONE for each in (to, source))
            rank.call(
                "Sendrecv",
                part("send", to, 80 if to >= 0 else 0),
                part("receive", source, 80 if source >= 0 else 0),
                site=3,
                after=WORK_S / ranks,
            )
    collective(rank, "Gatherv", 80 * rows(total, ranks, rank.rank), root=0, site=4)


def allgather_uneven(rank: Written, ranks: int, *, total: int = 1000) -> None:
    """A product of a matrix and a vector that all need; uneven blocks."""
    for _ in range(STEPS):
        collective(rank, "Allgatherv", 8 * rows(total, ranks, rank.rank), site=1)


def ring_allgather(rank: Written, ranks: int, *, total: int = 1000) -> None:
    """Uneven blocks that move around a ring."""
    for _ in range(STEPS):
        for k in range(ranks - 1):
            sent, received = (rows(total, ranks, (rank.rank - k - each) % ranks) for each in (0, 1))
            to, source = (rank.rank + 1) % ranks, (rank.rank - 1) % ranks
            exchange(rank, to, source, 8 * sent, received=8 * received, site=1)


def ring_allreduce(rank: Written, ranks: int) -> None:
    """A reduction of blocks and their distribution, P - 1 steps each."""
    for _ in range(STEPS):
        for site in (1, 2):
            for _ in range(ranks - 1):
                exchange(
                    rank, (rank.rank + 1) % ranks, (rank.rank - 1) % ranks, (1 << 20) // ranks, site=site
                )


def rabenseifner(rank: Written, ranks: int) -> None:
    """Recursive halving, then recursive doubling."""
    size = 1 << 20
    bits = range(ranks.bit_length() - 1)
    for _ in range(STEPS):
        for bit in reversed(bits):
            partner = rank.rank ^ (1 << bit)
            exchange(rank, partner, partner, size * (1 << bit) // ranks, site=1)
        for bit in bits:
            partner = rank.rank ^ (1 << bit)
            exchange(rank, partner, partner, size * (1 << bit) // ranks, site=2)


def personalised_on_hypercube(rank: Written, ranks: int) -> None:
    for _ in range(STEPS):
        for bit in range(ranks.bit_length() - 1):
            partner = rank.rank ^ (1 << bit)
            exchange(rank, partner, partner, (1 << 20) // ranks // 2, site=1)
        collective(rank, "Barrier", 0, site=2)


def cyclic_reduction(rank: Written, ranks: int) -> None:
    """Half of the ranks of each level eliminate the others' unknowns, then the way back."""
    levels = ranks.bit_length() - 1
    for _ in range(STEPS):
        for level in range(levels):
            stride = 1 << level
            if (rank.rank + 1) % (2 * stride) == 0:
                receive(rank, rank.rank - stride, 64, site=1)
            elif (rank.rank + 1) % stride == 0:
                send(rank, rank.rank + stride, 64, site=2)
        for level in reversed(range(levels)):
            stride = 1 << level
            if (rank.rank + 1) % (2 * stride) == 0:
                send(rank, rank.rank - stride, 32, site=3)
            elif (rank.rank + 1) % stride == 0:
                receive(rank, rank.rank + stride, 32, site=4)


def merge_tree(rank: Written, ranks: int) -> None:
    """Sorted parts are merged in a binary tree; messages double."""
    size = (1 << 16) // ranks
    for bit in range(ranks.bit_length() - 1):
        if rank.rank & (1 << bit):
            send(rank, rank.rank - (1 << bit), size << bit, site=1)
            break
        receive(rank, rank.rank + (1 << bit), size << bit, site=2)
    collective(rank, "Barrier", 0, site=3)


def scatter_tree(rank: Written, ranks: int) -> None:
    """A scatter by halves of what is left."""
    size = (1 << 16) // ranks
    for bit in reversed(range(ranks.bit_length() - 1)):
        if rank.rank % (1 << bit) == 0:
            if rank.rank & (1 << bit):
                receive(rank, rank.rank - (1 << bit), size << bit, site=1)
            else:
                send(rank, rank.rank + (1 << bit), size << bit, site=2)
    collective(rank, "Barrier", 0, site=3)


def quarters(rank: Written, ranks: int) -> None:
    """Only the first quarter of the ranks exchanges results, across it."""
    quarter = max(ranks // 4, 1)
    for _ in range(STEPS):
        collective(rank, "Allreduce", 8, site=1)
        if rank.rank < quarter:
            to, source = (rank.rank + 1) % quarter, (rank.rank - 1) % quarter
            exchange(rank, to, source, 4096, site=2)


def to_first_quarter(rank: Written, ranks: int) -> None:
    """Ranks send their part to one of the first quarter, which writes them."""
    quarter = max(ranks // 4, 1)
    for _ in range(STEPS):
        collective(rank, "Allreduce", 8, site=1)
        if rank.rank < quarter:
            for k in range(1, 4):
                receive(rank, rank.rank + k * quarter, 4096, site=2)
        else:
            send(rank, rank.rank % quarter, 4096, site=3)


def dealt_tasks(rank: Written, ranks: int, *, tasks: int = 60) -> None:
    """The first rank deals tasks to the others in turns, and collects their results in the same order."""
    workers = ranks - 1
    if rank.rank == 0:
        for task in range(tasks):
            send(rank, 1 + task % workers, 256, site=1)
        for task in range(tasks):
            receive(rank, 1 + task % workers, 64, site=2)
    else:
        for task in range(tasks):
            if task % workers == rank.rank - 1:
                receive(rank, 0, 256, site=3)
                send(rank, 0, 64, site=4)


def v_cycle(rank: Written, ranks: int, *, finest: int = 1 << 10) -> None:
    """Halos on levels of a multigrid method in a line, as many as leave each rank two cells."""
    cells = finest // ranks
    for _ in range(STEPS):
        level = cells
        while level >= 2:
            for sign in (-1, 1):
                to, source = (rank.rank + sign) % ranks, (rank.rank - sign) % ranks
                exchange(rank, to, source, 8 * level, site=1)
            level //= 2
        collective(rank, "Allreduce", 8, site=2)
        level = 2
        while level <= cells:
            exchange(rank, (rank.rank + 1) % ranks, (rank.rank - 1) % ranks, 8 * level, site=3)
            level *= 2


def pairwise_transposes(rank: Written, ranks: int) -> None:
    """A transform in one dimension with three transposes of P - 1 exchanges."""
    for site in (1, 2, 3):
        for k in range(1, ranks):
            size = (1 << 20) // ranks**2
            exchange(rank, (rank.rank + k) % ranks, (rank.rank - k) % ranks, size, site=site)


def bodies_in_a_ring(rank: Written, ranks: int) -> None:
    """Particles travel half of the ring, with nonblocking messages, and results come back."""
    for _ in range(STEPS):
        for _ in range(ranks // 2):
            request = rank.start_request(
                "Irecv", part("start receive", (rank.rank - 1) % ranks, 4096 // ranks), site=1
            )
            sent = rank.start_request(
                "Isend", part("start send", (rank.rank + 1) % ranks, 4096 // ranks), site=2, after=1e-4
            )
            rank.call("Waitall", rank.end(request), rank.end(sent), site=3)
        exchange(rank, (rank.rank + ranks // 2) % ranks, (rank.rank + ranks // 2) % ranks, 2048, site=4)


def alternating_order(rank: Written, ranks: int) -> None:
    """Blocking halos without deadlock: even ranks send first."""
    for _ in range(STEPS):
        neighbors = [each for each in (rank.rank - 1, rank.rank + 1) if 0 <= each < ranks]
        if rank.rank % 2 == 0:
            for each in neighbors:
                send(rank, each, 4096, site=1)
            for each in neighbors:
                receive(rank, each, 4096, site=2)
        else:
            for each in neighbors:
                receive(rank, each, 4096, site=3)
            for each in neighbors:
                send(rank, each, 4096, site=4)


def null_halo(rank: Written, ranks: int, *, size: int = 960) -> None:
    """Halos in a grid of two dimensions with MPI_PROC_NULL at the ends, by nonblocking messages."""
    x, y = balanced(ranks, 2)[::-1]
    column, row = rank.rank % x, rank.rank // x
    sides = ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column))
    for _ in range(STEPS):
        requests = []
        for site, (r, c) in enumerate(sides, 1):
            other = r * x + c if 0 <= r < y and 0 <= c < x else NONE
            length = 8 * size // (y if site < 3 else x) if other >= 0 else 0
            requests.append(rank.start_request("Irecv", part("start receive", other, length), site=site))
            requests.append(rank.start_request("Isend", part("start send", other, length), site=10 + site))
        rank.call("Waitall", *map(rank.end, requests), site=20, after=1e-3)
        collective(rank, "Allreduce", 8, site=21)


def uneven_halo(rank: Written, ranks: int, *, width: int = 1002, height: int = 1002) -> None:
    """Halos of uneven blocks in a grid of two dimensions without connected ends."""
    x, y = balanced(ranks, 2)[::-1]
    column, row = rank.rank % x, rank.rank // x
    for _ in range(STEPS):
        for site, (down, right) in enumerate(((0, 1), (1, 0)), 1):
            length = 8 * (rows(height, y, row) if right else rows(width, x, column))
            for sign in (1, -1):
                to, source = ((row + s * sign * down, column + s * sign * right) for s in (1, -1))
                peers = [r * x + c if 0 <= r < y and 0 <= c < x else NONE for r, c in (to, source)]
                rank.call(
                    "Sendrecv",
                    part("send", peers[0], length if peers[0] >= 0 else 0),
                    part("receive", peers[1], length if peers[1] >= 0 else 0),
                    site=2 * site + (sign > 0),
                    after=1e-4,
                )
        collective(rank, "Allreduce", 8, site=9)


def dissemination(rank: Written, ranks: int) -> None:
    """A barrier for any number of ranks, and Bruck's exchange."""
    for _ in range(STEPS):
        for bit in range((ranks - 1).bit_length()):
            exchange(rank, (rank.rank + (1 << bit)) % ranks, (rank.rank - (1 << bit)) % ranks, 1, site=1)
        for bit in range((ranks - 1).bit_length()):
            exchange(rank, (rank.rank - (1 << bit)) % ranks, (rank.rank + (1 << bit)) % ranks, 2048, site=2)


def wavefront_blocks(rank: Written, ranks: int) -> None:
    """A pipeline along a line with a fixed number of blocks."""
    for _ in range(STEPS):
        for _ in range(8):
            if rank.rank > 0:
                receive(rank, rank.rank - 1, 512, site=1)
            if rank.rank < ranks - 1:
                send(rank, rank.rank + 1, 512, site=2)


def sample_sort(rank: Written, ranks: int) -> None:
    collective(rank, "Gather", 8 * (ranks - 1), root=0, site=1)
    collective(rank, "Bcast", 8 * (ranks - 1), root=0, site=2)
    collective(rank, "Alltoall", 4, site=3)
    collective(rank, "Alltoallv", (1 << 20) // ranks, site=4)


# Exchanges within rows and columns of a grid


def _at(ranks: int, row: int, column: int) -> int:
    """In a grid as square as possible, whose rows are the longer dimension."""
    return row * balanced(ranks, 2)[0] + column


def doubling_in_rows(rank: Written, ranks: int) -> None:
    """Sums by recursive doubling in rows, then in columns."""
    x, y = balanced(ranks, 2)
    row, column = divmod(rank.rank, x)
    for _ in range(STEPS):
        for bit in range(x.bit_length() - 1):
            other = _at(ranks, row, column ^ 1 << bit)
            exchange(rank, other, other, (1 << 14) // y, site=1)
        for bit in range(y.bit_length() - 1):
            other = _at(ranks, row ^ 1 << bit, column)
            exchange(rank, other, other, (1 << 14) // x, site=2)


def pairs_in_rows_and_columns(rank: Written, ranks: int) -> None:
    """Transposes of a transform in two dimensions: each pair of a row exchanges, then each pair of a
    column."""
    x, y = balanced(ranks, 2)
    row, column = divmod(rank.rank, x)
    for _ in range(STEPS):
        for k in range(1, x):
            to, source = _at(ranks, row, (column + k) % x), _at(ranks, row, (column - k) % x)
            exchange(rank, to, source, (1 << 18) // ranks // x, site=1)
        for k in range(1, y):
            other = _at(ranks, row ^ k, column)
            exchange(rank, other, other, (1 << 18) // ranks // y, site=2)


def neighbors_in_pairs(rank: Written, ranks: int) -> None:
    """Exchanges with the other of two in a row, and across the middle of a column."""
    x, y = balanced(ranks, 2)
    row, column = divmod(rank.rank, x)
    for _ in range(STEPS):
        exchange(rank, _at(ranks, row, column ^ 1), _at(ranks, row, column ^ 1), 4096, site=1)
        other = _at(ranks, y - 1 - row, column)
        exchange(rank, other, other, 2048, site=2)
        collective(rank, "Allreduce", 8, site=3)


# Elimination and prefixes


def gauss_blocks(rank: Written, ranks: int, *, size: int = 64) -> None:
    """Ranks have blocks of rows; the owner of row k sends it to all others."""
    for k in range(size):
        own = owner(size, ranks, k)
        if own == rank.rank:
            for other in range(ranks):
                if other != rank.rank:
                    send(rank, other, 8 * (size - k), site=1)
        else:
            receive(rank, own, 8 * (size - k), site=2)


def gauss_blocks_below(rank: Written, ranks: int, *, size: int = 64) -> None:
    """As above, but only ranks with rows below row k need it."""
    for k in range(size):
        own = owner(size, ranks, k)
        if own == rank.rank:
            for other in range(rank.rank + 1, ranks):
                send(rank, other, 8 * (size - k), site=1)
        elif own < rank.rank:
            receive(rank, own, 8 * (size - k), site=2)


def prefix_sums(rank: Written, ranks: int) -> None:
    """By doubled distances; ranks near the ends drop out."""
    for _ in range(STEPS):
        for bit in range((ranks - 1).bit_length()):
            if rank.rank + (1 << bit) < ranks:
                send(rank, rank.rank + (1 << bit), 64, site=1)
            if rank.rank >= 1 << bit:
                receive(rank, rank.rank - (1 << bit), 64, site=2)
        collective(rank, "Barrier", 0, site=3)


def v_cycle_with_fewer_ranks(rank: Written, ranks: int) -> None:
    """Halos in a line on all levels of a multigrid method: on a coarse level only each second rank of the
    level before it has cells, which it gets from its neighbor."""
    levels = ranks.bit_length() - 1
    for _ in range(STEPS):
        for level in range(levels + 1):
            stride = 1 << level
            if rank.rank % stride == 0:
                for sign in (-1, 1):
                    other = rank.rank + sign * stride
                    if 0 <= other < ranks:
                        exchange(rank, other, other, 64, site=1)
                if level < levels:
                    if rank.rank % (2 * stride) == 0:
                        receive(rank, rank.rank + stride, 32, site=2)
                    else:
                        send(rank, rank.rank - stride, 32, site=3)
        for level in reversed(range(levels)):
            stride = 1 << level
            if rank.rank % (2 * stride) == 0:
                send(rank, rank.rank + stride, 32, site=4)
            elif rank.rank % stride == 0:
                receive(rank, rank.rank - stride, 32, site=5)
        collective(rank, "Allreduce", 8, site=6)


def chosen_ranks_send(
    rank: Written, ranks: int, *, sends: Callable[[int, int], bool], to: Callable[[int, int], int]
) -> None:
    """Ranks that a rule chooses send to a partner by another rule. Both may agree with other rules on
    few ranks."""
    for _ in range(STEPS):
        if sends(rank.rank, ranks) and to(rank.rank, ranks) != rank.rank:
            send(rank, to(rank.rank, ranks), 64, site=1)
        for source in range(ranks):
            if source != rank.rank and sends(source, ranks) and to(source, ranks) == rank.rank:
                receive(rank, source, 64, site=2)
        collective(rank, "Barrier", 0, site=3)


IN_ROWS_AND_COLUMNS = (fox, summa, summa_blocks, power_iteration)
"""Programs with communicators of the rows and columns of a grid."""
SQUARES = (4, 9, 16)
POWERS = (2, 4, 8, 16)
REGULAR: dict[str, tuple[Program, tuple[int, ...], int]] = {
    "Floyd": (floyd, POWERS, 24),
    "Floyd with uneven blocks": (partial(floyd, size=50), POWERS, 24),
    "Floyd on any number": (partial(floyd, size=50), (3, 4, 7, 10), 23),
    "Gauss with cyclic rows": (gauss_cyclic, POWERS, 64),
    "Gauss with cyclic rows on any number": (partial(gauss_cyclic, size=50), (3, 4, 7, 10), 23),
    "bitonic with branches": (bitonic_branches, POWERS, 32),
    "Gauss with substitution": (gauss_with_back_substitution, POWERS, 64),
    "odd-even transposition with MPI_PROC_NULL": (odd_even, POWERS, 64),
    "odd-even transposition with branches": (odd_even_branches, POWERS, 64),
    "odd-even transposition on any number": (odd_even_branches, (3, 4, 7, 10), 23),
    "bitonic": (bitonic, POWERS, 64),
    "Cannon": (cannon, SQUARES, 64),
    "Cannon where needed": (cannon_where_needed, SQUARES, 64),
    "Fox": (fox, SQUARES, 64),
    "SUMMA": (summa, SQUARES, 64),
    "SUMMA with blocks": (summa_blocks, SQUARES, 64),
    "transposition": (transposition, SQUARES, 64),
    "power iteration": (power_iteration, (*SQUARES, 25), 64),
    "multipartition": (multipartition, SQUARES, 64),
    "ring allreduce": (ring_allreduce, POWERS, 64),
    "Rabenseifner": (rabenseifner, POWERS, 64),
    "cyclic reduction": (cyclic_reduction, POWERS, 64),
    "merge tree": (merge_tree, POWERS, 64),
    "scatter tree": (scatter_tree, POWERS, 64),
    "quarters": (quarters, (8, 16, 32), 64),
    "to the first quarter": (to_first_quarter, (4, 8, 16), 64),
    "dealt tasks": (dealt_tasks, (3, 4, 6, 11), 16),
    "V-cycle": (v_cycle, POWERS, 64),
    "bodies in a ring": (bodies_in_a_ring, POWERS, 64),
    "alternating order": (alternating_order, POWERS, 64),
    "halo with MPI_PROC_NULL": (null_halo, (4, 9, 16), 64),
    "dissemination on any number": (dissemination, (3, 4, 7, 10), 23),
    "sample sort": (sample_sort, POWERS, 64),
    "doubling in rows and columns": (doubling_in_rows, (*POWERS, 32), 64),
    "pairs in rows and columns": (pairs_in_rows_and_columns, POWERS, 64),
    "neighbors in pairs": (neighbors_in_pairs, POWERS, 64),
}
REFUSED: dict[str, tuple[Program, tuple[int, ...], int]] = {
    "Gauss with blocks": (gauss_blocks, POWERS, 64),
    "Gauss with blocks below": (gauss_blocks_below, POWERS, 64),
    "prefix sums": (prefix_sums, POWERS, 64),
    "prefix sums on any number": (prefix_sums, (3, 4, 7, 10), 23),
    "V-cycle with fewer ranks": (v_cycle_with_fewer_ranks, POWERS, 64),
}
"""Programs of whose calls no pattern is known."""
COINCIDENCES: dict[str, tuple[Program, tuple[int, ...], int]] = {
    name: (partial(chosen_ranks_send, sends=sends, to=to), counts, 64)
    for name, sends, to, counts in (
        ("a quarter to the first", lambda r, p: r == p // 4, lambda r, p: 0, (4, 8, 16)),
        ("rank 4 to the first", lambda r, p: r == 4, lambda r, p: 0, (8, 16, 32)),
        ("the last four to the next", lambda r, p: r >= p - 4, lambda r, p: (r + 1) % p, (4, 8, 16)),
        ("the last row to the first", lambda r, p: r >= p - math.isqrt(p), lambda r, p: 0, (4, 9, 16)),
        ("the last rank to the first", lambda r, p: r == p - 1, lambda r, p: 0, (2, 4, 8, 16)),
        ("every eighth", lambda r, p: r % 8 == 7, lambda r, p: (r + 4) % p, (2, 4, 8, 16)),
        ("pairs by exclusive or", lambda r, p: True, lambda r, p: r ^ 1, (2, 4, 8, 16)),
        ("even ranks to the next", lambda r, p: r % 2 == 0, lambda r, p: r + 1, (2, 4, 8, 16)),
        ("all to the start of a row", lambda r, p: True, lambda r, p: r - r % math.isqrt(p), (4, 9, 16)),
    )
}
"""On few ranks, another rule gives the same partners."""
TAGGED: dict[str, tuple[Program, tuple[int, ...], int]] = {
    "block-tridiagonal": (block_tridiagonal, SQUARES, 64),
}
"""Their tags depend on the rank and the iteration."""
UNEVEN: dict[str, tuple[Program, tuple[int, ...], int]] = {
    "uneven scatter": (scatter_blocks, POWERS, 64),
    "uneven allgather": (allgather_uneven, POWERS, 64),
    "ring allgather": (ring_allgather, POWERS, 64),
    "ring allgather on any number": (ring_allgather, (3, 4, 7, 10), 23),
    "uneven halo": (uneven_halo, SQUARES, 64),
}
"""Their sizes differ by the remainder of a division."""
