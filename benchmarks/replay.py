# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How fast the evaluator and the event-driven model of traced programs are, on graphs made in memory: steps
of computation and an exchange with both neighbors on a ring, and after every tenth step an allreduce by
recursive doubling. An event is an operation of a rank: a start or an end of a message.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from hockney.replay.graph import (
    BLOCKING,
    COST,
    GROUP,
    MESSAGE,
    OP,
    RECEIVE,
    RECEIVED,
    SEND,
    SENT,
    TOGETHER,
    Graph,
)

EVERY = 10
"""Steps to each allreduce."""
HALO = ((RECEIVE, 0, 0), (RECEIVE, 1, 0), (SEND, 0, 0), (SEND, 1, 0),
        (RECEIVED, 0, 0), (RECEIVED, 1, TOGETHER), (SENT, 0, TOGETHER), (SENT, 1, TOGETHER))  # fmt: skip
"""Kind, direction and flags."""
ROUND = ((SEND, 0, BLOCKING), (RECEIVE, 0, TOGETHER), (RECEIVED, 0, TOGETHER), (SENT, 0, TOGETHER))
PLACES = ("halo", "allreduce")


def costs(latency: float = 1e-6) -> np.ndarray:
    """Of a message of the halo, and one of the allreduce."""
    table = np.zeros(2, dtype=COST)
    table["overhead"], table["receive"], table["latency"], table["gap"] = 2e-7, 3e-7, latency, 1e-7
    table["transfer"] = 8192 * 1e-10, 8 * 1e-10
    table["eager"], table["gap_holds"], table["level"] = 1, 1, 4
    return table


def halo(ranks: int, steps: int, seed: int = 1) -> Graph:
    """A graph; `ranks` is a power of two."""
    rounds = ranks.bit_length() - 1
    each = steps * len(HALO) + steps // EVERY * rounds * len(ROUND)
    random = np.random.default_rng(seed)
    rank = np.arange(ranks, dtype=np.uint32)
    ops = np.zeros((ranks, each), dtype=OP)
    slowness = (1 + 0.03 * random.standard_normal(ranks)).astype(np.float32)
    number = steps * 2 + steps // EVERY * rounds
    messages = np.zeros((number, ranks), dtype=MESSAGE)
    messages["source"] = rank
    column = layer = 0

    def add(kind: int, flags: int, place: int, senders: np.ndarray, row: int) -> None:
        nonlocal column
        mine = rank if kind in (SEND, SENT) else senders
        ops["kind"][:, column], ops["flags"][:, column], ops["place"][:, column] = kind, flags, place
        ops["cost"][:, column] = place
        ops["slot"][:, column] = row * ranks + mine
        column += 1

    for step in range(steps):
        noise = 1 + 0.01 * random.standard_normal(ranks).astype(np.float32)
        ops["computed_s"][:, column] = 1e-4 * slowness * noise
        for row, way in enumerate((1, -1)):
            messages["target"][layer + row] = (rank.astype(np.int64) + way) % ranks
        messages["size"][layer : layer + 2] = 8192
        for kind, way, flags in HALO:
            senders = (rank.astype(np.int64) - (1, -1)[way]) % ranks
            add(kind, flags, 0, senders, layer + way)
        layer += 2
        if step % EVERY == EVERY - 1:
            for bit in range(rounds):
                messages["target"][layer], messages["size"][layer] = rank ^ (1 << bit), 8
                for kind, _, flags in ROUND:
                    add(kind, flags, 1, rank ^ (1 << bit), layer)
                layer += 1
    first = np.arange(ranks + 1, dtype=np.int64) * each
    return Graph(
        ops.reshape(-1),
        first,
        messages.reshape(-1),
        np.zeros(0, dtype=GROUP),
        (),
        (np.arange(ranks),),
        PLACES,
    )


def timed(action: Callable[[], object], times: int = 3) -> float:
    """The shortest of several."""
    least = np.inf
    for _ in range(times):
        begin = time.perf_counter()
        action()
        least = min(least, time.perf_counter() - begin)
    return float(least)
