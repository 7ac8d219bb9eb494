# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where ranks of a launch meet, as they report it before anything is measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.core.layout import Layout, Level, level_between, parse_level, sort_levels
from hockney.core.machine import Machine
from hockney.core.option_names import option
from hockney.core.wording import join_words, plural
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
        levels=list(sort_levels(found)),
        nodes=layout.nodes,
        ranks_per_node=layout.ranks_per_node,
        hosts=machine.hosts or hosts,
    )


def _without_report(layout: Layout) -> set[Level]:
    """Levels on a machine whose launcher starts no ranks for a check, such as a simulated one."""
    found: set[Level] = {"network"} if layout.nodes > 1 else set()
    return found | {"node"} if layout.ranks_per_node > 1 else found


def refuse_missing(machine: Machine, layout: Layout, cases: Iterable[Case]) -> None:
    """Raises UsageError for a case whose level or number of nodes the launches do not have."""
    for case in cases:
        if case.place and machine.levels and case.place not in machine.levels:
            raise UsageError(
                f"no ranks meet at place={case.place}",
                f"the ranks started here meet at {join_words(machine.levels)}",
                f"use place={machine.levels[-1]}, or {_remedy(parse_level(case.place))}",
                code="no-such-level",
                place=case.place,
                available=list(machine.levels),
            )
        if case.nodes > layout.nodes or (case.nodes and case.ranks // case.nodes > layout.ranks_per_node):
            raise UsageError(
                f"{plural(case.ranks, 'rank')} on {plural(case.nodes, 'node')} do not fit",
                f"there {'is' if layout.nodes == 1 else 'are'} {plural(layout.nodes, 'node')} with "
                f"{plural(layout.ranks_per_node, 'rank')} each",
                f"use fewer ranks, or start more ({option('nodes')}, {option('hosts')}, "
                f"{option('ranks_per_node')})",
                code="ranks-not-on-nodes",
                ranks=case.ranks,
                nodes=case.nodes,
                available_nodes=layout.nodes,
                ranks_per_node=layout.ranks_per_node,
            )


def _remedy(level: Level) -> str:
    """How ranks come to meet at `level`, if the machine has it."""
    if level == "core":
        return f"start a rank on each hardware thread (with {option('mpiexec_args')}, see docs/levels.md)"
    if level == "network":
        return f"start ranks on several hosts ({option('nodes')}, {option('hosts')})"
    return f"start more ranks on each node ({option('ranks_per_node')})"
