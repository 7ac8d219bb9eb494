# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The processors that a rank may use, from its affinity mask as text."""

from __future__ import annotations


def processors(mask: str) -> set[int]:
    """ "0-2,8" as numbers; empty if it is not such a list."""
    cpus: set[int] = set()
    for part in mask.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            cpus.update(range(int(first), min(int(last or first), int(first) + 65536) + 1))
    return cpus
