# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes over which a study spreads its ranks, so that the launcher decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hockney.core.case import NODES, PLACE, Case
from hockney.core.layout import NETWORK, Layout
from hockney.core.machine import Machine


def fewest_nodes(ranks: int, layout: Layout) -> int:
    """The smallest number of nodes with room for `ranks` ranks, equally many on each; 0 if there is none."""
    room = (n for n in range(1, layout.nodes + 1) if ranks % n == 0 and ranks // n <= layout.ranks_per_node)
    return next(room, 0)


def node_counts(ranks: int, layout: Layout) -> tuple[int, ...]:
    """One node and all nodes, as far as they have room for `ranks` ranks; otherwise the fewest nodes."""
    counts = {n for n in (1, layout.nodes) if ranks % n == 0 and ranks // n <= layout.ranks_per_node}
    return tuple(sorted(counts or {fewest_nodes(ranks, layout)}))


def settled(cases: Iterable[Case], machine: Machine) -> list[Case]:
    """Cases that leave their ranks to the launcher are spread over the fewest nodes, on several nodes. Ranks
    that cannot be spread evenly remain the launcher's."""
    layout = machine.layout
    if layout is None or layout.nodes == 1:
        return list(cases)
    return [_settled(case, layout) for case in cases]


def _settled(case: Case, layout: Layout) -> Case:
    nodes = 0 if case.is_placed else fewest_nodes(case.ranks, layout)
    return case.with_parameter(NODES, nodes) if nodes else case


def spread_over(nodes: int) -> str:
    """The words of a case on `nodes` nodes, "" for 0."""
    return f" {NODES}={nodes}" if nodes else ""


def at(place: str) -> str:
    """The words of a case at this level, "" for none."""
    return f" {PLACE}={place}" if place else ""


def levels(machine: Machine) -> tuple[str, ...]:
    """The levels at which a study measures messages between two ranks, nearest first: "" on a machine whose
    cases are not placed."""
    return tuple(machine.levels) if machine.is_placed else ("",)


def spanned(machine: Machine) -> tuple[str, ...]:
    """The farthest level within a node and that between nodes, as far as ranks meet there. Models predict
    from these (`message_costs.chosen_fits`): ranks that fill a node meet at its farthest level too, and ranks
    of several nodes have messages of both."""
    levels_of_machine = levels(machine)
    return levels_of_machine[-2:] if levels_of_machine[-1] == NETWORK else levels_of_machine[-1:]


def at_each(lines: Iterable[str], machine: Machine) -> Iterator[str]:
    """Messages between two ranks from which a study predicts: at each of the levels that are `spanned`."""
    every = [*lines]
    return (line + at(level) for level in spanned(machine) for line in every)


def of_pair(machine: Machine) -> str:
    """The words of two ranks of one node that meet at its farthest level."""
    within = [level for level in levels(machine) if level not in ("", NETWORK)]
    return at(within[-1]) if len(within) > 1 else spread_over(1)
