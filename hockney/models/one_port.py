# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a message schedule under Hockney's model of messages: each takes a time that only depends on its size,
during which its sender sends no other message and its receiver receives none. A rank may send and receive at
once (the one-port model of E. Chan et al., Concurrency and Computation 19 (2007) 1749). With alpha + beta x
for a message of x bytes the results are the closed forms of textbooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from hockney.models.schedules import Step


def one_port_time(
    steps: Iterable[Step], ranks: int, message_s: Callable[[float], float], combine_s_per_byte: float = 0.0
) -> float:
    """Seconds until the last rank has ended; `message_s` gives the seconds of a message by its bytes."""
    known: dict[float, float] = {}
    now = np.zeros(ranks)
    for step in steps:
        sending, receiving, combining = now.copy(), now.copy(), np.zeros(ranks)
        for layer in step.layers:
            sizes = np.broadcast_to(np.asarray(layer.size, dtype=float), layer.source.shape)
            distinct, which = np.unique(sizes, return_inverse=True)
            for size in distinct:
                if size not in known:
                    known[size] = message_s(float(size))
            took = np.array([known[size] for size in distinct])[which]
            end = np.maximum(sending[layer.source], receiving[layer.target]) + took
            sending[layer.source] = receiving[layer.target] = end
            if step.combine:
                combining[layer.target] += combine_s_per_byte * sizes
        now = np.maximum(sending, receiving) + combining
    return float(now.max())
