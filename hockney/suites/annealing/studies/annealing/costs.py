# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of messages and collectives on which predictions are based: which cases show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.catalog import Catalog
from hockney.core.machine import Machine
from hockney.studies import places
from hockney.suites.annealing.models.program import SCHEDULE_BYTES, STATISTICS_BYTES

MESSAGES = (0, 8, 16, 32, 64, 256, 1024, 4096)
"""Bytes of the ping-pong: those of the paper's messages, and enough others for a model of the time."""
STREAMED = (8, 64, 1024)
CALLS = {"bcast": (8, SCHEDULE_BYTES, 64), "gather": (8, STATISTICS_BYTES, 64)}
"""Bytes of the collectives of the blocking set-up, and around them."""


def cost_cases(ranks: Sequence[int], catalog: Catalog, machine: Machine) -> Iterator[str]:
    if not ranks:
        return
    yield from places.at_each(_messages(catalog), machine)
    for operation, sizes in CALLS.items():
        for workload in catalog.of_role("collective"):
            if workload.operation == operation:
                yield from (
                    f"{workload.name} bytes={size} buffers=hot sync=barrier ranks={p}"
                    for p in ranks
                    for size in sizes
                )


def _messages(catalog: Catalog) -> Iterator[str]:
    yield from (f"pingpong bytes={size} buffers=hot ranks=2" for size in MESSAGES)
    for workload in catalog.of_role("stream"):
        if not workload.bidirectional:
            yield from (f"{workload.name} bytes={size} buffers=hot ranks=2" for size in STREAMED)
