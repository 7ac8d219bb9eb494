# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The processors that ranks may use, from their affinity masks as text."""

from __future__ import annotations

from hockney.core.machine import Machine
from hockney.core.record import Launch


def processors(mask: str) -> set[int]:
    """ "0-2,8" as numbers; empty if it is not such a list."""
    cpus: set[int] = set()
    for part in mask.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            cpus.update(range(int(first), min(int(last or first), int(first) + 65536) + 1))
    return cpus


def crowded(launch: Launch, machine: Machine) -> bool:
    """Whether more ranks run on a host than it has processors for them."""
    hosts: dict[str, list[str]] = {}
    for rank in launch.ranks:
        hosts.setdefault(rank.host, []).append(rank.cpus)
    for host, masks in hosts.items():
        cpus = {cpu for mask in masks for cpu in processors(mask)}
        if cpus and len(masks) > len(cpus):
            return True
        if not cpus and host == machine.host and len(masks) > machine.threads:
            return True
    return False


def bound(mask: str, machine: Machine) -> bool:
    """Whether a rank with this mask is bound to a core, of which it may use all hardware threads."""
    threads = -(-machine.threads // max(1, machine.cores))
    return 0 < len(processors(mask)) <= threads
