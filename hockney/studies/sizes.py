# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The message sizes and rank counts of a study."""

from __future__ import annotations

from hockney.core.machine import Machine
from hockney.core.units import doubling_series

DEFAULT_SIZES = tuple(doubling_series(0, 4 << 20))
DOUBLE_BYTES = 8
MAX_SIMULATED_RANKS = 16
MIN_MESSAGES_PER_BUDGET = 3000
"""A launch of a survey takes about 300 times as long as its longest message, and there are ten launches."""
MIN_LONGEST_MESSAGE = 16 << 10
"""The minimum size (bytes) of the longest message, even for small budgets: shorter messages do not show the
bandwidth."""


def default_ranks(machine: Machine) -> tuple[int, ...]:
    """2, and the powers of two up to the number of cores. More ranks than cores must be requested explicitly,
    because they measure the scheduler instead of message passing. A simulated machine may be of any size and
    is slow to simulate, so more than a few ranks must be requested there too. On several nodes, each of the
    ranks per node has a core."""
    layout = machine.layout
    cores = machine.cores if layout is None or layout.nodes == 1 else layout.ranks
    cores = min(cores, MAX_SIMULATED_RANKS) if machine.traits.simulated else cores
    return tuple(doubling_series(2, 1 << (cores.bit_length() - 1))) if cores > 2 else (2,)


def affordable_sizes(
    sizes: tuple[int, ...], machine: Machine, budget_s: float, concurrent_messages: int = 1
) -> tuple[int, ...]:
    """The sizes that the budget allows on an emulated network, whose rate is known: `concurrent_messages` may
    take at most 1 / MIN_MESSAGES_PER_BUDGET of the budget. At 10 Mbit/s, a message of 4 MiB takes 3.7 s."""
    if machine.emulated is None:
        return sizes
    max_bytes = max(MIN_LONGEST_MESSAGE, machine.emulated.payload_rate * budget_s / MIN_MESSAGES_PER_BUDGET)
    return tuple(size for size in sizes if size * concurrent_messages <= max_bytes)


def round_up_to_doubles(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes rounded up to whole doubles, without duplicates, because reductions add vectors of
    doubles."""
    return tuple(sorted({-(-size // DOUBLE_BYTES) * DOUBLE_BYTES for size in sizes}))
