# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What glibc does with memory that a program frees, as environment variables for the ranks (mallopt(3)).

An MPI that allocates a temporary buffer in each call runs into page faults in every call or in none,
depending on this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Memory = Literal["kept", "returned"]
TRIM, MMAP = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
KEPT: Mapping[str, str] = {TRIM: str(2**31 - 1), MMAP: str(32 << 20)}
"""It stays with the process, as in the engine (engine/app/heap.cpp)."""
RETURNED: Mapping[str, str] = {TRIM: str(128 << 10), MMAP: str(128 << 10)}
"""It is returned to the system if there are more than 128 KiB of it, glibc's initial limits. Without these
variables glibc raises them when a larger buffer is freed, so that times depend on what was freed before."""


def assignments(variables: Mapping[str, str]) -> str:
    """The variables as NAME=value, as typed in front of a command."""
    return " ".join(f"{name}={value}" for name, value in variables.items())
