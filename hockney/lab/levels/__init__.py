# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where ranks of a launch meet, as they report it before anything is measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from hockney.core.case import Case
from hockney.core.layout import Layout, Level, level_between, nearest_first
from hockney.core.machine import Machine
from hockney.lab.levels import messages
from hockney.launch.launcher import Hello


def with_levels(machine: Machine, layout: Layout, hellos: Sequence[Hello]) -> Machine:
    """The machine with the layout of its ranks, the hosts on which they ran, and the levels at which they
    meet: those of rank 0, which takes part in every case."""
    if hellos:
        first, *others = hellos
        found = {level_between(first, other) for other in others}
    else:
        found = _without_report(layout)
    hosts = list(dict.fromkeys(hello.host for hello in hellos)) if layout.nodes > 1 else []
    return msgspec.structs.replace(
        machine,
        levels=list(nearest_first(found)),
        nodes=layout.nodes,
        ranks_per_node=layout.ranks_per_node,
        hosts=machine.hosts or hosts,
    )


def _without_report(layout: Layout) -> set[Level]:
    """On a machine whose launcher starts no ranks for a check, such as a simulated one."""
    found: set[Level] = {"network"} if layout.nodes > 1 else set()
    return found | {"node"} if layout.ranks_per_node > 1 else found


def refuse_missing(machine: Machine, layout: Layout, cases: Iterable[Case]) -> None:
    """Raises UsageError for a case whose level or number of nodes the launches do not have."""
    for case in cases:
        if case.place and machine.levels and case.place not in machine.levels:
            raise messages.no_such_level(case.place, machine.levels)
        if case.nodes > layout.nodes or (case.nodes and case.ranks // case.nodes > layout.ranks_per_node):
            raise messages.too_few_nodes(case.ranks, case.nodes, layout)
