# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Choice of a barrier from a run that measured several."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.api.run_contents import Run
from hockney.core.errors import Inconclusive, UsageError
from hockney.studies.barriers.results import Choice, choose, entry_mode


def choose_barriers(
    run: Run, ranks: Sequence[int], nodes: int = 0, ranks_per_node: int = 0
) -> tuple[list[Choice], list[Inconclusive]]:
    """Choose the fastest barrier for each number of ranks and of nodes (default: all measured layouts).

    Returns the choices, and the reason for each layout without one. Times are per call, in seconds. Raises
    UsageError for ranks that do not fill the nodes.
    """
    choices, failures = [], []
    for layout in _requested_layouts(run, ranks, nodes, ranks_per_node):
        try:
            choices.append(choose(run.evidence, *layout))
        except Inconclusive as error:
            failures.append(error)
    return choices, failures


def _requested_layouts(
    run: Run, ranks: Sequence[int], nodes: int, ranks_per_node: int
) -> list[tuple[int, int]]:
    """Pairs of a number of ranks and a number of nodes (0: placed by the launcher)."""
    measured = sorted({(case.ranks, case.nodes) for case in run.plan.cases if entry_mode(case) is not None})
    if not nodes and not ranks_per_node:
        if not ranks:
            return measured
        return [
            layout
            for p in ranks
            for layout in [candidate for candidate in measured if candidate[0] == p] or [(p, 0)]
        ]
    if nodes and ranks_per_node:
        return [
            (p, nodes) for p in ranks or [nodes * ranks_per_node] if _fills_nodes(p, nodes, ranks_per_node)
        ]
    if nodes:
        return [(p, nodes) for p in ranks or [p for p, n in measured if n == nodes]]
    return [
        (p, p // ranks_per_node) for p in ranks if _fills_nodes(p, p // ranks_per_node, ranks_per_node)
    ] or [(p, n) for p, n in measured if n and p == n * ranks_per_node]


def _fills_nodes(ranks: int, nodes: int, ranks_per_node: int) -> bool:
    """True if the ranks fill the nodes. Raises UsageError otherwise."""
    if ranks != nodes * ranks_per_node:
        raise UsageError(
            f"{ranks} ranks do not fill the nodes with {ranks_per_node} each",
            "every node has the same number of ranks",
            f"use a multiple of {ranks_per_node} ranks",
            code="ranks-do-not-fill",
            ranks=ranks,
            ranks_per_node=ranks_per_node,
        )
    return True
