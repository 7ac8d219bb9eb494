# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the names of nodes belong to a machine."""

from __future__ import annotations

from hockney.core.machine import Machine


def nodes_vary(machine: Machine) -> bool:
    """Whether another run on the same machine gets other nodes: in a batch job, or on several nodes."""
    return bool(machine.scheduler) or (machine.layout is not None and machine.layout.nodes > 1)
