# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of MPI by mpi4py, with buffers and with objects; comments mark lines that the test looks for."""

from __future__ import annotations

import threading

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size


def ring(out: np.ndarray, into: np.ndarray) -> None:
    for _ in range(10):
        world.Sendrecv(out, right, 1, into, left, 1)  # ring


def nonblocking(out: np.ndarray, into: np.ndarray) -> None:
    requests = [world.Irecv(into, left, 2), world.Isend(out, right, 2)]
    MPI.Request.Waitall(requests)


def waited(barriers: int) -> None:
    for _ in range(barriers):
        world.Barrier()  # barrier in a function


class Sums:
    def total(self, value: float) -> float:
        return float(world.allreduce(value))  # total of objects

    def array(self, values: np.ndarray) -> None:
        world.Allreduce(MPI.IN_PLACE, values)  # in place


def by_two(values: np.ndarray, into: np.ndarray, type_: MPI.Datatype) -> None:
    """A reduction in Python, which calls MPI itself."""
    numbers, sums = np.frombuffer(values, dtype="d"), np.frombuffer(into, dtype="d")
    MPI.COMM_SELF.Get_rank()
    sums += numbers


def main() -> None:
    out, into = np.full(100, float(rank)), np.zeros(100)
    ring(out, into)
    nonblocking(out, into)
    waited(3)
    world.Barrier()  # barrier in main
    sums = Sums()
    total = sums.total(float(rank))
    sums.array(into)
    twin = MPI.COMM_WORLD.Dup()
    twin.Set_name("twin")
    got = twin.sendrecv({"rank": rank}, right, source=left)  # objects
    twin.Free()
    operation = MPI.Op.Create(by_two, commute=True)
    reduced = np.zeros(4)
    world.Allreduce(np.full(4, 2.0), reduced, op=operation)  # own operation
    operation.Free()
    if MPI.Query_thread() == MPI.THREAD_MULTIPLE:
        thread = threading.Thread(target=waited, args=(2,))
        thread.start()
        thread.join()
    try:
        world.Send(out, dest=size + 5)
        failed = 0
    except MPI.Exception:
        failed = 1
    if rank == 0:
        print(total, into.sum(), got, reduced.tolist(), failed, flush=True)


main()
