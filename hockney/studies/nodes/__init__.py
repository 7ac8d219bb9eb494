# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which nodes are slow, and which links between nodes."""

from __future__ import annotations

from hockney.studies.nodes.columns import answer, summary
from hockney.studies.nodes.page import page
from hockney.studies.nodes.plan import PARAMETERS, WORKLOADS, plan
from hockney.studies.nodes.results import has_fault, is_conclusive, part_times

NAME = "nodes"
HELP = "slow nodes and slow links: every pair of nodes, and every node alone"

__all__ = [
    "HELP",
    "NAME",
    "PARAMETERS",
    "WORKLOADS",
    "answer",
    "has_fault",
    "is_conclusive",
    "page",
    "part_times",
    "plan",
    "summary",
]
