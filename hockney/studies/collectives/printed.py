# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's printed times, next to those of the simulated T3E."""

from __future__ import annotations

from hockney import reference
from hockney.core.machine import Machine

PAPER = reference.published("t3e")
NAMED = "M. Resch, H. Berger, R. Rabenseifner and T. Boenisch (1998)"
SIZES = {"8 B": ("8", 8), "1 KB": ("1KB", 1 << 10), "1 MB": ("1MB", 1 << 20)}
"""The paper's tables: the word in the keys of its rows, and the size of the buffer."""


def is_t3e(machine: Machine) -> bool:
    """Whether it is the simulated T3E, or a variant."""
    platform = machine.platform
    return platform is not None and platform.name.partition("+")[0] == PAPER.name


def printed_times(operation: str, ranks: int) -> dict[int, float]:
    """Seconds by buffer size; empty if the paper has none for this operation and number of processes."""
    keys = {f"t3e/table/{operation}/{word}/{ranks}": size for word, size in SIZES.values()}
    return {keys[row.key]: row.si for row in PAPER.rows if row.key in keys}
