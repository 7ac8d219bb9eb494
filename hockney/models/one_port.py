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
    steps: Iterable[Step],
    ranks: int,
    message_s: Callable[[float], float],
    combine_s_per_byte: float = 0.0,
    *,
    per_node: int = 1,
    near_s: Callable[[float], float] | None = None,
) -> float:
    """Seconds until the last rank has ended; `message_s` gives the seconds of a message by its bytes, and
    `near_s` those of one within a node, of `per_node` consecutive ranks each."""
    known: dict[tuple[float, bool], float] = {}
    of_level = message_s, near_s or message_s
    now = np.zeros(ranks)
    for step in steps:
        sending, receiving, combining = now.copy(), now.copy(), np.zeros(ranks)
        for layer in step.layers:
            sizes = np.broadcast_to(np.asarray(layer.size, dtype=float), layer.source.shape)
            local = layer.source // per_node == layer.target // per_node
            took = np.zeros(sizes.shape)
            for within in np.unique(local):
                distinct, which = np.unique(sizes[local == within], return_inverse=True)
                for size in distinct:
                    if (size, within) not in known:
                        known[size, within] = of_level[int(within)](float(size))
                took[local == within] = np.array([known[size, within] for size in distinct])[which]
            end = np.maximum(sending[layer.source], receiving[layer.target]) + took
            sending[layer.source] = receiving[layer.target] = end
            if step.combine:
                combining[layer.target] += combine_s_per_byte * sizes
        now = np.maximum(sending, receiving) + combining
    return float(now.max())
