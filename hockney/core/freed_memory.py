# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How glibc treats memory that a program frees, as environment variables for the ranks (mallopt(3)).

This decides whether an MPI that allocates a temporary buffer in each call has page faults in every call or in
none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Memory = Literal["kept", "returned"]
TRIM, MMAP = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
KEPT_VARIABLES: Mapping[str, str] = {TRIM: str(2**31 - 1), MMAP: str(32 << 20)}
"""Freed memory stays with the process, as in the engine (engine/app/heap.cpp)."""
RETURNED_VARIABLES: Mapping[str, str] = {TRIM: str(128 << 10), MMAP: str(128 << 10)}
"""Freed memory of more than 128 KiB (glibc's initial limits) is returned to the system. Without these
variables, glibc raises the limits when a larger buffer is freed, so that times depend on earlier
allocations."""


def assignments(variables: Mapping[str, str]) -> str:
    """Format the variables as NAME=value, as typed in front of a command."""
    return " ".join(f"{name}={value}" for name, value in variables.items())
