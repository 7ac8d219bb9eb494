# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Messages and bytes of a schedule, counted step by step."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hockney.models.schedules.schedule import Step


class Tally:
    """Counts over the steps added so far: `messages` of all ranks, and for each rank the messages that it
    has `handled` (sent or received), the bytes `sent` and `received`, and the longest chain of messages that
    ends at it (`chain`)."""

    def __init__(self, ranks: int) -> None:
        self.messages = 0
        self.handled = np.zeros(ranks, dtype=int)
        self.chain = np.zeros(ranks, dtype=int)
        self.sent = np.zeros(ranks)
        self.received = np.zeros(ranks)

    @classmethod
    def of(cls, steps: Iterable[Step], ranks: int) -> Tally:
        tally = cls(ranks)
        for step in steps:
            tally.add(step)
        return tally

    def add(self, step: Step) -> None:
        before = self.chain.copy() if len(step.layers) > 1 else self.chain
        for layer in step.layers:
            source, target = layer.source, layer.target
            self.messages += len(source)
            self.handled[source] += 1
            self.handled[target] += 1
            self.chain[target] = np.maximum(self.chain[target], before[source] + 1)
            self.sent[source] += layer.size
            self.received[target] += layer.size

    @property
    def depth(self) -> int:
        """Messages on the longest path, each of which waits for the one before."""
        return int(self.chain.max())

    @property
    def busiest(self) -> int:
        """Messages that the busiest rank sends and receives."""
        return int(self.handled.max())

    def busiest_bytes(self, *, shared: bool) -> float:
        """Bytes through the busiest rank's port, which sending and receiving have in common if `shared`."""
        if shared:
            return float((self.sent + self.received).max())
        return float(max(self.sent.max(), self.received.max()))
