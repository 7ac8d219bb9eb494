# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs with a known structure on any number of ranks, as traces in memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from extrapolation import regular_programs as regular
from replay.made_traces import Written, job_of_written, part, written

from hockney.extrapolation.grids import balanced, coordinates, rank_at
from hockney.extrapolation.observations import CallKinds, ObservedRun, observe, without_polls
from hockney.replay.building import WORLD, Job, TraceGraph, build

STEPS = 6
WORK_S = 64e-3
"""Computation of a step, of all ranks together."""
Program = Callable[[Written, int], None]


def _exchange(
    rank: Written, partners: Sequence[tuple[int, int, int]], after: float, *, first_site: int = 1
) -> None:
    """Receives from and sends to all partners (rank, bytes, direction), and waits for all. Each direction has
    its own call sites."""
    requests = []
    for partner, size, direction in partners:
        tags = {"tag": direction ^ 1}
        what = part("start receive", partner, size, **tags)
        requests.append(
            (rank.start_request("Irecv", what, after=after, site=first_site + 2 * direction), partner)
        )
        after = 1e-7
        what = part("start send", partner, size, tag=direction)
        requests.append(
            (rank.start_request("Isend", what, after=after, site=first_site + 2 * direction + 1), -1)
        )
    if requests:
        rank.call("Waitall", *(rank.end(request, peer) for request, peer in requests), site=99)


def halo(dimensions: int, *, periodic: bool, size: int = 1 << 12) -> Program:
    """Neighbors in a grid as equal as possible; messages of the surface of a strongly scaled cube."""

    def run(rank: Written, ranks: int) -> None:
        dims = balanced(ranks, dimensions)[::-1]
        position = coordinates(dims, np.array([rank.rank]))[0]
        for _ in range(STEPS):
            partners = []
            for d, sign in itertools.product(range(dimensions), (-1, 1)):
                moved = position.copy()
                moved[d] += sign
                if periodic:
                    moved %= np.array(dims)
                elif not 0 <= moved[d] < dims[d]:
                    continue
                face = 8 * math.prod(size // dims[k] for k in range(dimensions) if k != d)
                partners.append((int(rank_at(dims, moved)), face, 2 * d + (sign > 0)))
            _exchange(rank, partners, WORK_S / ranks)
            rank.call("Allreduce", part("collective", size=8), site=50, after=WORK_S / ranks / 8)

    return run


def solver(
    rank: Written,
    ranks: int,
    *,
    iterations: Callable[[int, int], int],
    messages: Callable[[int], int] = lambda ranks: 1,
    size: Callable[[int], int] = lambda k: 1 << 10,
    is_pending: bool = False,
) -> None:
    """Two time steps, each with a solver in a grid of two dimensions that ends at a tolerance, after a number
    of iterations by number of ranks and step. In each iteration, the first rank also gets some messages of a
    size that depends on the iteration from the last one. With `is_pending`, a request is completed after the
    loop in which it was started before."""
    dims = balanced(ranks, 2)[::-1]
    position = coordinates(dims, np.array([rank.rank]))[0]
    neighbors = []
    for d, sign in itertools.product((0, 1), (-1, 1)):
        moved = position.copy()
        moved[d] += sign
        if 0 <= moved[d] < dims[d]:
            neighbors.append((int(rank_at(dims, moved)), 14400 // dims[1 - d], 2 * d + (sign > 0)))
    for step in range(2):
        rank.call("Bcast", part("collective", size=64, root=0), site=40)
        pending = 0
        if is_pending:
            pending = rank.start_request("Iallreduce", part("start collective", size=8), site=60)
        rank.call("Allreduce", part("collective", size=8), site=50)
        for k in range(iterations(ranks, step)):
            _exchange(rank, neighbors, WORK_S / ranks / 40)
            for _ in range(messages(ranks)):
                if rank.rank == 0:
                    rank.call("Recv", part("receive", ranks - 1, size(k)), site=41)
                if rank.rank == ranks - 1:
                    rank.call("Send", part("send", 0, size(k)), site=42)
            for _ in range(2):
                rank.call("Allreduce", part("collective", size=8), site=50)
        if is_pending:
            rank.call("Wait", rank.end(pending), site=61)
    rank.call("Barrier", part("collective"), site=51)


def sweep(rank: Written, ranks: int) -> None:
    """A wavefront over a grid of two dimensions, from one corner to the opposite one."""
    dims = balanced(ranks, 2)[::-1]
    x, y = coordinates(dims, np.array([rank.rank]))[0].tolist()
    size = (1 << 14) // dims[0]
    for _ in range(STEPS):
        if x > 0:
            rank.call("Recv", part("receive", rank.rank - 1, size), site=1)
        if y > 0:
            rank.call("Recv", part("receive", rank.rank - dims[0], size), site=2)
        after = WORK_S / ranks
        if x < dims[0] - 1:
            rank.call("Send", part("send", rank.rank + 1, size), site=3, after=after)
            after = 1e-7
        if y < dims[1] - 1:
            rank.call("Send", part("send", rank.rank + dims[0], size), site=4, after=after)


def butterfly(rank: Written, ranks: int) -> None:
    """log2(P) exchanges with partners that differ in one bit, of doubled sizes."""
    for _ in range(STEPS):
        rank.call("Barrier", part("collective"), site=1, after=WORK_S / ranks)
        for bit in range(ranks.bit_length() - 1):
            partner = rank.rank ^ (1 << bit)
            sent, received = part("send", partner, 64 << bit), part("receive", partner, 64 << bit)
            rank.call("Sendrecv", sent, received, site=2)


def pipeline(rank: Written, ranks: int) -> None:
    """P - 1 shifts in a ring."""
    for _ in range(STEPS):
        for _ in range(ranks - 1):
            sent = part("send", (rank.rank + 1) % ranks, (1 << 16) // ranks)
            received = part("receive", (rank.rank - 1) % ranks, (1 << 16) // ranks)
            rank.call("Sendrecv", sent, received, site=1, after=WORK_S / ranks**2)
        rank.call("Allreduce", part("collective", size=8), site=2)


def all_pairs(rank: Written, ranks: int) -> None:
    """P - 1 receives and sends, then one call that waits for all."""
    for _ in range(STEPS):
        size = (1 << 16) // ranks**2
        requests = []
        for k in range(1, ranks):
            source = (rank.rank - k) % ranks
            requests.append(
                (rank.start_request("Irecv", part("start receive", source, size), site=1), source)
            )
        for k in range(1, ranks):
            target = (rank.rank + k) % ranks
            requests.append((rank.start_request("Isend", part("start send", target, size), site=2), -1))
        rank.call("Waitall", *(rank.end(request, peer) for request, peer in requests), site=3)


def master_worker(rank: Written, ranks: int, *, asks: bool = True) -> None:
    """The first rank sends to all others, and takes their answers in any order. It may not ask who sent."""
    wildcard = 1
    for step in range(STEPS):
        if rank.rank == 0:
            for worker in range(1, ranks):
                rank.call("Send", part("send", worker, 128), site=1)
            for k in range(ranks - 1):
                worker = 1 + (k + step) % (ranks - 1) if asks else -1
                rank.call("Recv", part("receive", worker, 32, flags=wildcard), site=2)
        else:
            rank.call("Recv", part("receive", 0, 128), site=3)
            rank.call("Send", part("send", 0, 32), site=4, after=WORK_S / ranks)


def probing(rank: Written, ranks: int) -> None:
    """The first rank asks which message has come, and receives it; the order is another one in each run."""
    for step in range(STEPS):
        if rank.rank == 0:
            order = np.random.default_rng((ranks, step)).permutation(ranks - 1) + 1
            for worker in order.tolist():
                rank.call("Probe", part("probe", worker, 96, flags=1), site=1)
                rank.call("Recv", part("receive", worker, 96), site=2)
        else:
            rank.call("Send", part("send", 0, 96), site=3, after=WORK_S / ranks)
        rank.call("Barrier", part("collective"), site=4)


def rows_and_columns(rank: Written, ranks: int) -> None:
    """Collectives in the rows and columns of a grid: communicators 2 and 3."""
    dims = balanced(ranks, 2)[::-1]
    for _ in range(STEPS):
        size = (1 << 16) // ranks
        rank.call(
            "Alltoall", part("collective", size=size // dims[0], communicator=2), site=1, after=WORK_S / ranks
        )
        root = int(rank_at(dims, np.array([[rank.rank % dims[0], 0]]))[0])
        rank.call("Bcast", part("collective", size=size, communicator=3, root=root), site=2)


def rotating_roots(rank: Written, ranks: int) -> None:
    """Products of matrices in a grid, with as many steps as the grid has rows: in each, other roots in rows
    and columns. Then a loop over panels that the ranks own in turns."""
    dims = balanced(ranks, 2)[::-1]
    x, y = coordinates(dims, np.array([rank.rank]))[0].tolist()
    for _ in range(2):
        for k in range(dims[1]):
            row, column = rank_at(dims, np.array([[k % dims[0], y], [x, k % dims[1]]])).tolist()
            size = (1 << 20) // dims[1] ** 2
            rank.call("Bcast", part("collective", size=size, communicator=2, root=row), site=1)
            size = (1 << 20) // ranks
            rank.call("Bcast", part("collective", size=size, communicator=3, root=column), site=2)
            rank.call("Barrier", part("collective"), site=3, after=WORK_S / ranks)
    for panel in range(20):
        rank.call("Bcast", part("collective", size=1 << 10, root=panel % ranks), site=4)
        rank.call("Gather", part("collective", size=1 << 8, root=ranks - 1), site=6)
        rank.call("Barrier", part("collective"), site=5, after=WORK_S / ranks)


def opposite(rank: Written, ranks: int) -> None:
    """Exchanges across the middle of all ranks."""
    partner = (rank.rank + ranks // 2) % ranks
    for _ in range(STEPS):
        sent, received = part("send", partner, 1 << 12), part("receive", partner, 1 << 12)
        rank.call("Sendrecv", sent, received, site=1, after=WORK_S / ranks)


def transposed_grid(rank: Written, ranks: int) -> None:
    """Sums along the rows of a grid that is square or twice as long as high, in steps whose number is the
    logarithm of a row, and an exchange with the rank, or pair of ranks, on the other side of the diagonal."""
    x, y = balanced(ranks, 2)
    column, row = coordinates((x, y), np.array([rank.rank]))[0].tolist()
    opposite = column * x + row if x == y else 2 * (column // 2 * y + row) + column % 2
    for _ in range(STEPS):
        for bit in range(x.bit_length() - 1):
            partner = row * x + (column ^ (1 << bit))
            sent, received = part("send", partner, (1 << 14) // y), part("receive", partner, (1 << 14) // y)
            rank.call("Sendrecv", sent, received, site=1, after=WORK_S / ranks)
        sent, received = part("send", opposite, (1 << 14) // x), part("receive", opposite, (1 << 14) // x)
        rank.call("Sendrecv", sent, received, site=2)


def shared_nodes(rank: Written, ranks: int) -> None:
    """Communicators of two neighbors, and of the first rank of each, which number a later one differently."""
    leads = rank.rank % 2 == 0
    for _ in range(STEPS):
        first = rank.rank - rank.rank % 2
        rank.call("Reduce", part("collective", size=800, communicator=2, root=first), site=1, after=1e-3)
        if leads:
            rank.call("Allreduce", part("collective", size=800, communicator=3), site=2)
        rank.call("Bcast", part("collective", size=800, communicator=2, root=first), site=3)
        rank.call("Barrier", part("collective", communicator=4 if leads else 3), site=4)


def neighbors_that_may_be_none(rank: Written, ranks: int) -> None:
    """A grid of two dimensions, with connected ends in one of them; beyond the other ends are messages to
    MPI_PROC_NULL."""
    none = -2
    dims = balanced(ranks, 2)[::-1]
    position = coordinates(dims, np.array([rank.rank]))[0]
    for _ in range(STEPS):
        for d, sign in itertools.product((0, 1), (-1, 1)):
            to, source = position.copy(), position.copy()
            to[d] += sign
            source[d] -= sign
            found = []
            for each in (to, source):
                inside = d == 1 or 0 <= each[0] < dims[0]
                found.append(int(rank_at(dims, each % np.array(dims))) if inside else none)
            size = (1 << 14) // dims[1 - d]
            sent, received = (
                part(what, each, size) for what, each in zip(("send", "receive"), found, strict=True)
            )
            rank.call("Sendrecv", sent, received, site=1 + d, after=WORK_S / ranks)


def persistent_halo(rank: Written, ranks: int) -> None:
    """One call starts the receives from all neighbors in a grid of two dimensions and the sends to them."""
    dims = balanced(ranks, 2)[::-1]
    position = coordinates(dims, np.array([rank.rank]))[0]
    for _ in range(STEPS):
        parts = []
        for d, sign in itertools.product((0, 1), (-1, 1)):
            moved = position.copy()
            moved[d] += sign
            if 0 <= moved[d] < dims[d]:
                own = 2 * d + (sign > 0)
                size, partner = (1 << 14) // dims[1 - d], int(rank_at(dims, moved))
                parts.append(part("start receive", partner, size, tag=own ^ 1))
                parts.append(part("start send", partner, size, tag=own))
        rank.call("Startall", *parts, site=1, after=WORK_S / ranks)
        rank.requests += len(parts)
        first = rank.requests - len(parts) + 1
        ends = [rank.end(request, parts[request - first][2]) for request in range(first, rank.requests + 1)]
        rank.call("Waitall", *ends, site=2)


def rows_with_borders(rank: Written, ranks: int) -> None:
    """A grid of two dimensions whose messages are rows and columns with two more cells at each end. On few
    ranks, those of rows have too few different sizes for a law of their own."""
    dims = balanced(ranks, 2)[::-1]
    position = coordinates(dims, np.array([rank.rank]))[0]
    for _ in range(STEPS):
        partners = []
        for d, sign in itertools.product((0, 1), (-1, 1)):
            moved = position.copy()
            moved[d] += sign
            if 0 <= moved[d] < dims[d]:
                size = 8 * (960 // dims[1 - d] + 4)
                partners.append((int(rank_at(dims, moved)), size, 2 * d + (sign > 0)))
        _exchange(rank, partners, WORK_S / ranks)


def polling_first(rank: Written, ranks: int, *, tests: bool = True) -> None:
    """Shifts in a ring in both directions. A rank tests whether the first one has ended, and otherwise waits
    for it after it has started the second one."""
    random = np.random.default_rng((ranks, rank.rank))
    for step in range(STEPS):
        ends = []
        for sign in (1, -1):
            to, source = (rank.rank + sign) % ranks, (rank.rank - sign) % ranks
            requests = [
                (rank.start_request("Irecv", part("start receive", source, 64), site=1), source),
                (rank.start_request("Isend", part("start send", to, 64), site=2), -1),
            ]
            ends.append(requests)
            if sign == 1:
                tested = tests and (step == 0 or random.random() < 0.5) and rank.rank != 1
                if tested:
                    rank.call("Testall", *(rank.end(*each) for each in requests), site=3)
                elif tests:
                    rank.call("Testall", site=3, misses=True)
        if not tested:
            rank.call("Waitall", *(rank.end(*each) for each in ends[0]), site=4)
        rank.call("Waitall", *(rank.end(*each) for each in ends[1]), site=5)


def irregular(rank: Written, ranks: int) -> None:
    """Other partners on each number of ranks."""
    random = np.random.default_rng(ranks)
    for _ in range(STEPS):
        for _ in range(2 * ranks + int(random.integers(ranks))):
            source, target = random.choice(ranks, 2, replace=False).tolist()
            size = int(random.integers(1, 1 << 16))
            if rank.rank == source:
                rank.call("Isend", part("start send", target, size), site=1, after=WORK_S / ranks)
                rank.requests += 1
                rank.call("Wait", rank.end(rank.requests), site=3)
            if rank.rank == target:
                rank.call("Recv", part("receive", source, size), site=2)


PROGRAMS: dict[str, Program] = {
    "line": halo(1, periodic=False),
    "ring": halo(1, periodic=True),
    "grid of two dimensions": halo(2, periodic=False),
    "torus of two dimensions": halo(2, periodic=True),
    "sweep": sweep,
    "butterfly": butterfly,
    "pipeline": pipeline,
    "all pairs": all_pairs,
    "master and workers": master_worker,
    "master that does not ask who sent": partial(master_worker, asks=False),
    "probing": probing,
    "rows and columns": rows_and_columns,
    "rotating roots": rotating_roots,
    "opposite": opposite,
    "transposed grid": transposed_grid,
    "shared nodes": shared_nodes,
    "neighbors that may be none": neighbors_that_may_be_none,
    "persistent halo": persistent_halo,
    "rows with borders": rows_with_borders,
}
CUBES: dict[str, Program] = {
    "grid of three dimensions": halo(3, periodic=False, size=48),
    "torus of three dimensions": halo(3, periodic=True, size=48),
}


def _traced(program: Program, ranks: int) -> tuple[list[Written], Job]:
    made = written(ranks)
    for rank in made:
        program(rank, ranks)
    communicators = _communicators(program, ranks)
    job = job_of_written(made, [members for _, members in communicators])
    ids = []
    for rank in range(ranks):
        own = [number for number, (_, members) in enumerate(communicators) if rank in members]
        ids.append({own_id: number for own_id, number in enumerate(own, 1)})
    origins = tuple(origin for origin, _ in communicators)
    return made, replace(job, communicator_by_id=tuple(ids), origins=origins)


def _communicators(program: Program, ranks: int) -> list[tuple[str, list[int]]]:
    """In the order in which the program makes them, with the call that does: ranks number those that they are
    in, from 1 on."""
    everyone = np.arange(ranks)
    world = [(WORLD, everyone.tolist())]
    options = program.keywords if isinstance(program, partial) else {}
    program = program.func if isinstance(program, partial) else program
    if program in (rows_and_columns, rotating_roots, one_site, *regular.IN_ROWS_AND_COLUMNS):
        x, y = coordinates(balanced(ranks, 2)[::-1], everyone).T
        return [*world, *_groups("first split", y), *_groups("second split", x)]
    if program is shared_nodes:
        return [
            *world,
            *_groups("first split", everyone // 2),
            *_groups("second split", np.where(everyone % 2 == 0, 0, -1)),
            ("duplicate", everyone.tolist()),
        ]
    if program is without_one:
        return [*world, *_groups("first split", np.where(everyone == options["one"](ranks), -1, 0))]
    if program is halves_with_first_ranks:
        half = max(ranks // 2, 1)
        return [
            *world,
            *_groups("first split", everyone // half),
            *_groups("second split", np.where(everyone % half == 0, 0, -1)),
        ]
    if program is on_nodes:
        size = options["size"]
        return [
            *world,
            *_groups("Comm_split_type 0 of MPI_COMM_WORLD", everyone // size),
            *_groups("second split", np.where(everyone % size == 0, 0, -1)),
        ]
    return world


def _groups(origin: str, by: np.ndarray) -> list[tuple[str, list[int]]]:
    return [(origin, np.flatnonzero(by == value).tolist()) for value in np.unique(by) if value >= 0]


def traced_graph(program: Program, ranks: int) -> TraceGraph:
    made, job = _traced(program, ranks)
    return build([each.trace for each in made], job)


def observed(program: Program, counts: Sequence[int], kinds: CallKinds) -> list[ObservedRun]:
    runs = []
    for ranks in counts:
        made, job = _traced(program, ranks)
        runs.append(observe([each.trace for each in made], job, kinds, crowded=ranks > 4, elapsed_s=1.0))
    return without_polls(runs, kinds)


# Programs whose calls depend on the bits of a rank's number, or that talk in changing pairs.


def _binomial(rank: Written, ranks: int, root: int, *, first_site: int) -> None:
    """A broadcast and a reduction by messages, as MPI libraries make them."""
    relative = (rank.rank - root) % ranks
    low = relative & -relative if relative else 1 << (ranks - 1).bit_length()
    masks = [1 << k for k in range((low - 1).bit_length()) if relative + (1 << k) < ranks]
    parent = (relative - low + root) % ranks
    if relative:
        rank.call("Recv", part("receive", parent, 512), site=first_site, after=WORK_S / ranks)
    for mask in reversed(masks):
        rank.call("Send", part("send", (relative + mask + root) % ranks, 512), site=first_site + 1)
    for mask in masks:
        rank.call("Recv", part("receive", (relative + mask + root) % ranks, 64), site=first_site + 2)
    if relative:
        rank.call("Send", part("send", parent, 64), site=first_site + 3)


def binomial_trees(rank: Written, ranks: int, *, root: Callable[[int], int] = lambda ranks: 0) -> None:
    for _ in range(STEPS):
        _binomial(rank, ranks, root(ranks), first_site=1)


def tree_by_highest_bit(rank: Written, ranks: int) -> None:
    """A broadcast in which all ranks that have the data send it to one more."""
    for _ in range(STEPS):
        high = rank.rank.bit_length()
        if rank.rank:
            rank.call(
                "Recv", part("receive", rank.rank ^ (1 << (high - 1)), 512), site=1, after=WORK_S / ranks
            )
        for bit in range(high, (ranks - 1).bit_length()):
            if rank.rank + (1 << bit) < ranks:
                rank.call("Send", part("send", rank.rank + (1 << bit), 512), site=2)
        rank.call("Barrier", part("collective"), site=3)


def tree_with_a_step_for_each_bit(rank: Written, ranks: int) -> None:
    """A reduction in which one call site sends and another one receives, in a loop over all bits."""
    for _ in range(STEPS):
        rank.call("Barrier", part("collective"), site=3, after=WORK_S / ranks)
        for bit in range((ranks - 1).bit_length()):
            if rank.rank & (1 << bit):
                rank.call("Send", part("send", rank.rank ^ (1 << bit), 64), site=1)
                break
            if rank.rank + (1 << bit) < ranks:
                rank.call("Recv", part("receive", rank.rank ^ (1 << bit), 64), site=2)


def folded_doubling(rank: Written, ranks: int, *, pairs: bool) -> None:
    """An allreduce by recursive doubling on any number of ranks: those beyond a power of two, or every second
    one of as many pairs, send what they have to another rank first, and receive the result."""
    power = 1 << (ranks.bit_length() - 1)
    rest = ranks - power
    me = rank.rank

    def real(number: int) -> int:
        return number if not pairs else 2 * number + 1 if number < rest else number + rest

    for _ in range(STEPS):
        rank.call("Barrier", part("collective"), site=9, after=WORK_S / ranks)
        if pairs:
            partner = me ^ 1 if me < 2 * rest else -1
            outside = partner >= 0 and me % 2 == 0
            number = me // 2 if me < 2 * rest else me - rest
        else:
            partner = me + power if me < rest else me - power if me >= power else -1
            outside = me >= power
            number = me
        if outside:
            rank.call("Send", part("send", partner, 64), site=1)
            rank.call("Recv", part("receive", partner, 64), site=2)
            continue
        if partner >= 0:
            rank.call("Recv", part("receive", partner, 64), site=3)
        for bit in range(power.bit_length() - 1):
            other = real(number ^ (1 << bit))
            rank.call("Sendrecv", part("send", other, 64), part("receive", other, 64), site=4)
        if partner >= 0:
            rank.call("Send", part("send", partner, 64), site=5)


def exchange_in_rounds(
    rank: Written,
    ranks: int,
    *,
    rounds: Callable[[int], int],
    to: Callable[..., int],
    source: Callable[..., int],
) -> None:
    for _ in range(STEPS):
        for k in range(rounds(ranks)):
            size = 1 << 12
            sent = part("send", to(rank.rank, ranks, k), size)
            received = part("receive", source(rank.rank, ranks, k), size)
            rank.call("Sendrecv", sent, received, site=1, after=WORK_S / ranks**2)
        rank.call("Barrier", part("collective"), site=2)


def _other_half(rank: int, ranks: int, k: int) -> int:
    half = ranks // 2
    return half + (rank + k) % half if rank < half else (rank - k) % half


def _opponent(rank: int, ranks: int, k: int) -> int:
    """In a tournament by the method of the circle: the last rank stays, the others move."""
    last = ranks - 1
    if rank == last:
        return k * (ranks // 2) % last
    other = (k - rank) % last
    return last if other == rank else other


def odd_even_transposition(rank: Written, ranks: int) -> None:
    """Each rank exchanges its part with the right and the left neighbor by turns, P times."""
    size = (1 << 16) // ranks
    rank.call("Scatter", part("collective", size=size, root=0), site=1)
    for phase in range(ranks):
        partner = rank.rank + (1 if (phase + rank.rank) % 2 == 0 else -1)
        if 0 <= partner < ranks:
            sent, received = part("send", partner, size), part("receive", partner, size)
            rank.call("Sendrecv", sent, received, site=2, after=WORK_S / ranks**2)
    rank.call("Gather", part("collective", size=size, root=0), site=3)


def triangle(rank: Written, ranks: int) -> None:
    """All lower ranks send to a rank, which then sends to all higher ones."""
    for _ in range(STEPS):
        for lower in range(rank.rank):
            rank.call("Recv", part("receive", lower, 64), site=1)
        for higher in range(rank.rank + 1, ranks):
            rank.call("Send", part("send", higher, 64), site=2, after=WORK_S / ranks**2)
        rank.call("Barrier", part("collective"), site=3)


TREES: dict[str, Program] = {
    "binomial trees": binomial_trees,
    "binomial trees from the last rank": partial(binomial_trees, root=lambda ranks: ranks - 1),
    "binomial trees from another rank": partial(binomial_trees, root=lambda ranks: 1),
    "tree by highest bit": tree_by_highest_bit,
    "tree with a step for each bit": tree_with_a_step_for_each_bit,
    "triangle": triangle,
}
FOLDED: dict[str, Program] = {
    "folded doubling": partial(folded_doubling, pairs=False),
    "folded doubling in pairs": partial(folded_doubling, pairs=True),
}
ROUNDS: dict[str, Program] = {
    "shifts by less than half": partial(
        exchange_in_rounds,
        rounds=lambda ranks: ranks // 2,
        to=lambda r, ranks, k: (r + k + 1) % ranks,
        source=lambda r, ranks, k: (r - k - 1) % ranks,
    ),
    "halves": partial(
        exchange_in_rounds, rounds=lambda ranks: ranks // 2, to=_other_half, source=_other_half
    ),
    "all by exclusive or": partial(
        exchange_in_rounds,
        rounds=lambda ranks: ranks - 1,
        to=lambda r, ranks, k: r ^ (k + 1),
        source=lambda r, ranks, k: r ^ (k + 1),
    ),
    "tournament": partial(exchange_in_rounds, rounds=lambda ranks: ranks - 1, to=_opponent, source=_opponent),
    "odd-even transposition": odd_even_transposition,
}


# Programs with several communicators.


def one_site(rank: Written, ranks: int) -> None:
    """A function that is called with the row, the column and all ranks."""
    dims = balanced(ranks, 2)[::-1]
    for _ in range(STEPS):
        for communicator, size in (2, (1 << 12) // dims[1]), (3, (1 << 14) // dims[0]), (1, 8), (1, 8):
            what = part("collective", size=size, communicator=communicator)
            rank.call("Allreduce", what, site=1, after=WORK_S / ranks)


def without_one(rank: Written, ranks: int, *, one: Callable[[int], int]) -> None:
    """One rank writes results, which the others compute together; the first of these sends them."""
    master = one(ranks)
    first = 1 if master == 0 else 0
    for _ in range(STEPS):
        if rank.rank == master:
            rank.call("Recv", part("receive", first, 1 << 10), site=1)
        else:
            rank.call("Allreduce", part("collective", size=64, communicator=2), site=2, after=WORK_S / ranks)
            rank.call("Reduce", part("collective", size=640, communicator=2, root=first), site=3)
            if rank.rank == first:
                rank.call("Send", part("send", master, 1 << 10), site=4)
        rank.call("Barrier", part("collective"), site=5)


def on_nodes(rank: Written, ranks: int, *, size: int) -> None:
    """Sums on each node, then over the first ranks of all nodes."""
    first = rank.rank - rank.rank % size
    for _ in range(STEPS):
        rank.call("Reduce", part("collective", size=800, communicator=2, root=first), site=1, after=1e-3)
        if rank.rank == first:
            rank.call("Allreduce", part("collective", size=800, communicator=3), site=2)
        rank.call("Bcast", part("collective", size=800, communicator=2, root=first), site=3)


def halves_with_first_ranks(rank: Written, ranks: int) -> None:
    """Sums in both halves, then of their first ranks."""
    half = max(ranks // 2, 1)
    for _ in range(STEPS):
        first = rank.rank - rank.rank % half
        rank.call("Reduce", part("collective", size=800, communicator=2, root=first), site=1, after=1e-3)
        if rank.rank == first:
            rank.call("Allreduce", part("collective", size=800, communicator=3), site=2)
        rank.call("Bcast", part("collective", size=800, communicator=2, root=first), site=3)


COMMUNICATORS: dict[str, Program] = {
    "halves with first ranks": halves_with_first_ranks,
    "one site": one_site,
    "without the first rank": partial(without_one, one=lambda ranks: 0),
    "without the last rank": partial(without_one, one=lambda ranks: ranks - 1),
}
