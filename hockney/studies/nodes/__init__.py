# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which nodes are slow, and which links between nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hockney.core.catalog import Catalog
from hockney.studies.nodes.columns import answer, summary
from hockney.studies.nodes.page import page
from hockney.studies.nodes.plan import PARAMETERS, SIMULATED_LAUNCHES, WORKLOADS, plan
from hockney.studies.nodes.results import has_fault, is_conclusive, part_times

if TYPE_CHECKING:
    from hockney.models.comparison import JudgedCases, RunOfMachine

NAME = "nodes"
HELP = "slow nodes, links and switches: every pair of nodes, and every node alone"

__all__ = [
    "HELP",
    "NAME",
    "PARAMETERS",
    "SIMULATED_LAUNCHES",
    "WORKLOADS",
    "answer",
    "has_fault",
    "is_conclusive",
    "judge_parts",
    "page",
    "part_times",
    "plan",
    "summary",
]


def judge_parts(
    a: Sequence[RunOfMachine], b: Sequence[RunOfMachine], catalog: Catalog, tolerance: float
) -> JudgedCases:
    from hockney.studies.nodes import changes

    return changes.judge_parts(a, b, catalog, tolerance)
