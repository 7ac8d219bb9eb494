# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes over which a study distributes its ranks, so that the launcher decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hockney.core.case import NODES, PLACE, Case
from hockney.core.layout import NETWORK, Layout
from hockney.core.machine import Machine


def min_node_count(ranks: int, layout: Layout) -> int:
    """The smallest number of nodes that can hold `ranks` ranks, the same number on each; 0 if there is
    none."""
    possible_counts = (
        count
        for count in range(1, layout.nodes + 1)
        if ranks % count == 0 and ranks // count <= layout.ranks_per_node
    )
    return next(possible_counts, 0)


def node_counts(ranks: int, layout: Layout) -> tuple[int, ...]:
    """One node and all nodes if they can hold `ranks` ranks, otherwise the smallest possible number of
    nodes."""
    counts = {
        count for count in (1, layout.nodes) if ranks % count == 0 and ranks // count <= layout.ranks_per_node
    }
    return tuple(sorted(counts or {min_node_count(ranks, layout)}))


def with_node_counts(cases: Iterable[Case], machine: Machine) -> list[Case]:
    """Copies of the cases that do not leave their placement to the launcher: on a machine with several nodes,
    they use as few nodes as possible. Ranks that cannot be distributed evenly are left to the launcher."""
    layout = machine.layout
    if layout is None or layout.nodes == 1:
        return list(cases)
    return [_with_node_count(case, layout) for case in cases]


def _with_node_count(case: Case, layout: Layout) -> Case:
    nodes = 0 if case.is_placed else min_node_count(case.ranks, layout)
    return case.with_parameter(NODES, nodes) if nodes else case


def node_words(nodes: int) -> str:
    """The words of a case on `nodes` nodes; "" for 0."""
    return f" {NODES}={nodes}" if nodes else ""


def level_words(place: str) -> str:
    """The words of a case at this level; "" for none."""
    return f" {PLACE}={place}" if place else ""


def measured_levels(machine: Machine) -> tuple[str, ...]:
    """The levels at which a study measures messages between two ranks, nearest first. On a machine whose
    cases are not placed, this is only ""."""
    return tuple(machine.levels) if machine.is_placed else ("",)


def prediction_levels(machine: Machine) -> tuple[str, ...]:
    """The farthest level within a node and the level between nodes, if ranks meet there. Models predict from
    these (`message_costs.chosen_fits`), because ranks that fill a node also meet at its farthest level, and
    ranks on several nodes send messages at both."""
    levels_of_machine = measured_levels(machine)
    return levels_of_machine[-2:] if levels_of_machine[-1] == NETWORK else levels_of_machine[-1:]


def at_prediction_levels(lines: Iterable[str], machine: Machine) -> Iterator[str]:
    """The lines of messages between two ranks, repeated for each of the `prediction_levels`."""
    all_lines = [*lines]
    return (line + level_words(level) for level in prediction_levels(machine) for line in all_lines)


def intra_node_pair_words(machine: Machine) -> str:
    """The words of a case with two ranks of a node that meet at its farthest level."""
    intra_node_levels = [level for level in measured_levels(machine) if level not in ("", NETWORK)]
    return level_words(intra_node_levels[-1]) if len(intra_node_levels) > 1 else node_words(1)
