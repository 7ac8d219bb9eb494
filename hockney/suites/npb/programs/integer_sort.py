# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""IS: each rank sorts its keys by bucket, sends the buckets to the ranks that they belong to, and ranks what
it receives.

A rank alone sorts only if its counters exceed the cache; otherwise the time of sorting and of ranking sorted
keys comes from that of counting, by their shares of the operations, which were measured.
"""

from __future__ import annotations

from hockney.models.programs.program import Collective, Phase, Program, Share, Work, length_of

SIZES = {
    "S": (1 << 16, 1 << 11, 1 << 9),
    "W": (1 << 20, 1 << 16, 1 << 10),
    "A": (1 << 23, 1 << 19, 1 << 10),
    "B": (1 << 25, 1 << 21, 1 << 10),
    "C": (1 << 27, 1 << 23, 1 << 10),
    "tiny": (1009, 1 << 7, 1 << 5),
}
"""Keys, values and buckets."""
ITERATIONS = 10
COUNTING, SORTING = 0.2, 0.5
"""Shares of the operations, by their times."""
KEY, COUNTER = 4, 8
"""Bytes."""
IN_CACHE = 2 << 20
"""Bytes of counters up to which a rank alone does not sort."""


def sorts(size: str, ranks: int) -> bool:
    return ranks > 1 or KEY * SIZES[size][1] > IN_CACHE


def program(size: str, ranks: int) -> Program:
    """Buckets are taken to be divided evenly: each rank keeps its share of its own keys."""
    keys, _, buckets = SIZES[size]
    own = [length_of(keys, ranks, rank) for rank in range(ranks)]
    first = COUNTING + SORTING * sorts(size, ranks)
    ranking = "ranks" if sorts(size, ranks) == sorts(size, 1) else "buckets"

    def shares(part: float, like: str) -> tuple[Share, ...]:
        return tuple(Share((Work(ITERATIONS * part * each, like),)) for each in own)

    sent = (
        Collective("alltoall", ITERATIONS, (KEY * ranks,) * ranks),
        Collective("alltoall", ITERATIONS, tuple(KEY * (each - each // ranks) for each in own), own=False),
    )
    counts = Collective("allreduce", ITERATIONS, (COUNTER * buckets,) * ranks)
    phases = (
        Phase("buckets", shares(first, "buckets"), (counts,)),
        Phase("exchange", (Share(),) * ranks, sent if ranks > 1 else ()),
        Phase("ranks", shares(1 - COUNTING - SORTING, ranking)),
    )
    return Program("is", size, ranks, ITERATIONS, float(ITERATIONS * keys), phases)
