# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Delays in clusters with known losses."""

from __future__ import annotations

import numpy as np

from hockney.models.node_delays import DelayCounts, count_delays

MESSAGES = (2, 10, 8)
"""Messages of a repetition, by measure: a repetition is delayed if one of them is lost."""
TOURNAMENTS = 10


def counts(
    random: np.random.Generator,
    nodes: int,
    launches: int = 6,
    link_loss: float = 0.0,
    node_loss: float = 0.0,
    background: float = 0.0,
    *,
    has_bursts: bool = False,
) -> DelayCounts:
    """Delays of a cluster in which node 2 and the link 1 - 3 lose shares of their messages. In bursts, a
    tenth of the repetitions of another node is delayed in every other launch."""
    first, second = np.triu_indices(nodes, 1)
    total = None
    for messages in MESSAGES:
        timed = []
        for _ in range(launches):
            share = np.full(len(first), background)
            share[(first == 1) & (second == 3)] += 1 - (1 - link_loss) ** messages
            share[(first == 2) | (second == 2)] += 1 - (1 - node_loss) ** messages
            if has_bursts and random.random() < 0.5:
                node = random.integers(nodes)
                share[(first == node) | (second == node)] += 0.1
            pairs = np.tile(first * nodes + second, TOURNAMENTS)
            is_delayed = random.random(len(pairs)) < np.tile(share, TOURNAMENTS)
            timed.append((pairs, 0.02 * random.standard_normal(len(pairs)) + np.log(30) * is_delayed))
        found = count_delays(timed, nodes, messages)
        total = found if total is None else total + found
    assert total is not None
    return total
