# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers in the text of the T3E's paper: two broadcasts and an all-to-all with the paper's estimates,
latency, and the peaks of bandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hockney.reference.aggregated_bandwidth import DEFINITIONS
from hockney.reproductions.compared import Compared, status_of
from hockney.reproductions.parts import Answer
from hockney.reproductions.t3e_cases import (
    ALGORITHMS,
    MECHANISMS,
    PAIR_SIZES,
    PRINTED,
    PROCESSES,
    SIZES,
    seconds,
)

TEXT = "in the text"


def rows(answers: Mapping[str, Answer]) -> Iterable[Compared]:
    """Numbers in the text. The paper's estimates are shown as the model of the quantities that they
    estimate."""
    tables, shared = answers["tables"], answers["shmem-collectives"]

    def of(
        key: str, what: str, simulated: float | None, by: Answer, model="", mechanism="", note=""
    ) -> Compared:
        row = PRINTED.row(f"t3e/text/{key}")
        estimate = PRINTED.row(f"t3e/text/{model}").si if model else None
        unit = "B/s" if row.unit.endswith("/s") else "s"
        status = status_of(by.platform, row.key, mechanism)
        return Compared(
            row.key, what, row.si, simulated, estimate, unit, status, mechanism, note=note, table=TEXT
        )

    for p in (32, 256):
        for by, mechanism in ((tables, ""), (shared, MECHANISMS[0].words)):
            time = seconds(by, "bcast", 4096, p)
            yield of(
                f"bcast/4KB/{p}", f"MPI_Bcast, 4 KB, {p} processes", time, by,
                f"bcast-tree/4KB/{p}", mechanism,
            )  # fmt: skip
    yield of(
        "bcast/1MB/32", "MPI_Bcast, 1 MB, 32 processes", seconds(tables, "bcast", SIZES["1MB"], 32), tables,
        "bcast-tree/1MB/32", note="the table says 18.92 ms",
    )  # fmt: skip
    yield of(
        "alltoall/4KB/32", "MPI_Alltoall, 4 KB, 32 processes", seconds(tables, "alltoall", 4096, 32), tables,
        "alltoall-sends/4KB/32", note="the table has this number for 1 KB on 64",
    )  # fmt: skip
    pairs = answers["pairs"]
    yield of("latency", "latency", pairs.seconds("pingpong", bytes=0), pairs, note="the formula says 17 us")
    longest = max(PAIR_SIZES)
    time = pairs.seconds("pingpong", bytes=longest)
    yield of("peak", "largest bandwidth of one message", longest / time if time else None, pairs)
    yield from _peaks(tables, answers[ALGORITHMS], of)


def _peaks(tables: Answer, algorithms: Answer, of) -> Iterable[Compared]:
    total = SIZES["1MB"]

    def rates(by: Answer, operation: str, algorithm: str = "") -> list[float]:
        times = [(p, seconds(by, operation, total, p, algorithm=algorithm)) for p in PROCESSES]
        return [DEFINITIONS[operation].of_buffer(total, p, t) for p, t in times if t]

    bcast, gather = rates(tables, "bcast"), rates(tables, "gather")
    alltoall = rates(algorithms, "alltoall", MECHANISMS[1].algorithm)
    words, low, high = MECHANISMS[1].words, min(alltoall, default=None), max(alltoall, default=None)
    yield of(
        "bcast-peak", "aggregated bandwidth of MPI_Bcast", max(bcast, default=None), tables, note="more than"
    )
    yield of(
        "alltoall-peak/low", "aggregated bandwidth of MPI_Alltoall, from", low, algorithms,
        mechanism=words, note="simulated: 1 MB on 32 processes",
    )  # fmt: skip
    yield of(
        "alltoall-peak/high", "aggregated bandwidth of MPI_Alltoall, to", high, algorithms,
        mechanism=words, note="simulated: 1 MB on 256 processes",
    )  # fmt: skip
    yield of("gather-peak", "bandwidth of MPI_Gather, 1 MB", max(gather, default=None), tables)
