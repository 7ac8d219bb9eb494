# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of a group on a simulated switch with one rank on each node."""

from __future__ import annotations

from collections.abc import Sequence

from real_mpi import group_for, simgrid_here

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.core.record import EngineLine
from hockney.launch.launcher import LaunchOptions
from hockney.launch.smpi import SmpiLauncher


def even_switch(ranks: int, latency_s: float = 10e-6, per_byte_s: float = 1e-8) -> Platform:
    """A node for each rank. A message of x bytes takes latency_s + x * per_byte_s."""
    network = Network(shape="switch", nodes=(NodeGroup(count=ranks),))
    segment = Segment(latency_s=latency_s, per_byte_s=per_byte_s)
    return Platform(name="even", title="Even", network=network, segments=(segment,))


def lines_on_switch(
    group: str,
    words: Sequence[str],
    ranks: int,
    *,
    latency_s: float = 10e-6,
    per_byte_s: float = 1e-8,
    repetitions: int = 1,
) -> list[EngineLine]:
    """What the engine prints."""
    return lines_on(even_switch(ranks, latency_s, per_byte_s), group, words, ranks, repetitions=repetitions)


def lines_on(
    machine: Platform, group: str, words: Sequence[str], ranks: int, *, repetitions: int = 1
) -> list[EngineLine]:
    """What the engine prints on this machine."""
    engine = group_for(simgrid_here(), group)
    launcher = SmpiLauncher(simgrid_here(), engine.path, engine.platform, machine)
    cases = [engine.catalog.case(word, ranks) for word in words]
    options = LaunchOptions("S", 0, budget_s=120.0, max_repetitions=repetitions, origin="simulated")
    return list(launcher.run(cases, ranks, options))
