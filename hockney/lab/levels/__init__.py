# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where ranks of a launch meet, as they report it before anything is measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.core.layout import Layout, Level, level_between, level_from, nearest_first
from hockney.core.machine import Machine
from hockney.core.wording import plural, together
from hockney.launch.launcher import Hello

_ON_THREADS = "start a rank on each hardware thread (with --mpiexec-args, see docs/levels.md)"
_ON_NODES = "start ranks on several hosts (--nodes, --hosts)"
_MORE = "start more ranks on each node (--ranks-per-node)"
_OTHERWISE: Mapping[Level, str] = {
    "core": _ON_THREADS,
    "cache": _MORE,
    "socket": _MORE,
    "node": _MORE,
    "network": _ON_NODES,
}
"""How ranks come to meet at each level, if the machine has it."""


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
            raise UsageError(
                f"no ranks meet at place={case.place}",
                f"the ranks started here meet at {together(machine.levels)}",
                f"use place={machine.levels[-1]}, or {_OTHERWISE[level_from(case.place)]}",
                code="no-such-level",
                place=case.place,
                available=list(machine.levels),
            )
        if case.nodes > layout.nodes or (case.nodes and case.ranks // case.nodes > layout.ranks_per_node):
            raise UsageError(
                f"{plural(case.ranks, 'rank')} on {plural(case.nodes, 'node')} do not fit",
                f"there {'is' if layout.nodes == 1 else 'are'} {plural(layout.nodes, 'node')} with "
                f"{plural(layout.ranks_per_node, 'rank')} each",
                "use fewer ranks, or start more (--nodes, --hosts, --ranks-per-node)",
                code="ranks-not-on-nodes",
                ranks=case.ranks,
                nodes=case.nodes,
                available_nodes=layout.nodes,
                ranks_per_node=layout.ranks_per_node,
            )
