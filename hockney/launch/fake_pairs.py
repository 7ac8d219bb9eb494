# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The known costs of many pairs at once, in the fake world: the max-rate model of Gropp, Olson and Samfass
(EuroMPI 2016), with a gap for each message, by the level at which ranks meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hockney.core.case import Case
from hockney.core.catalog import Workload

NAMES = ("pairs_stream", "pairs_pingpong")


@dataclass(frozen=True)
class FakePairs:
    """The rate (B/s) that pairs share at each level ("": at the others), and the gap (s) between two messages
    of any pairs."""

    rates: Mapping[str, float] = field(default_factory=lambda: {"": 25e9, "network": 4e9})
    gap_s: float = 0.06e-6

    def time(
        self, workload: Workload, case: Case, message_s: float, latency_s: float, stream_s: float
    ) -> float | None:
        """Seconds, if a message of one pair takes `message_s`, an empty one `latency_s`, and each of a stream
        `stream_s`; None for other workloads."""
        if workload.name not in NAMES:
            return None
        pairs = int(case.number("pairs")) or case.ranks // 2
        byte = 1 / self.rates.get(case.place, self.rates[""])
        if "window" in case:
            return max(stream_s / pairs, self.gap_s + case.bytes * byte)
        return max(message_s, latency_s + (pairs - 1) * self.gap_s + pairs * case.bytes * byte)
