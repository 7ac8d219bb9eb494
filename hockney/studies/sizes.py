# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The message sizes and rank counts of a study."""

from __future__ import annotations

from hockney.core.machine import Machine
from hockney.core.units import doubling_series

DEFAULT = tuple(doubling_series(0, 4 << 20))
DOUBLE = 8
MAX_SIMULATED_RANKS = 16
MESSAGES = 3000
"""A launch of a survey spends the time of some 300 of its longest messages, and there are ten of them."""
MIN_LONGEST_BYTES = 16 << 10
"""A smaller budget does not make the longest message shorter, which would tell nothing about the
bandwidth."""


def default_ranks(machine: Machine) -> tuple[int, ...]:
    """2, and the powers of two up to the cores: more ranks than cores must be requested explicitly, because
    then the scheduler is measured and not the message passing. A simulated machine may be of any size and is
    slow to simulate, so there more than a few ranks must be requested explicitly. On several nodes, there is
    a core for each of the ranks per node."""
    layout = machine.layout
    cores = machine.cores if layout is None or layout.nodes == 1 else layout.ranks
    cores = min(cores, MAX_SIMULATED_RANKS) if machine.traits.simulated else cores
    return tuple(doubling_series(2, 1 << (cores.bit_length() - 1))) if cores > 2 else (2,)


def affordable(
    sizes: tuple[int, ...], machine: Machine, budget_s: float, at_once: int = 1
) -> tuple[int, ...]:
    """The sizes, except those of which `at_once` messages take more than 1 / MESSAGES of the budget on an
    emulated network, whose rate is known. At 10 Mbit/s, a message of 4 MiB takes 3.7 s."""
    if machine.emulated is None:
        return sizes
    longest = max(MIN_LONGEST_BYTES, machine.emulated.payload_rate * budget_s / MESSAGES)
    return tuple(size for size in sizes if size * at_once <= longest)


def whole_doubles(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes rounded up to whole doubles, each once: reductions add vectors of them."""
    return tuple(sorted({-(-size // DOUBLE) * DOUBLE for size in sizes}))
