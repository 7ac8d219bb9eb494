# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The map of all pairs of nodes, and the nodes in the order of their times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Table, Widget
from hockney.models.significance import NOTABLE
from hockney.pages.series import estimates
from hockney.studies.nodes.columns import power_table, ranking_table, slow_table
from hockney.studies.nodes.results import NodesResults
from hockney.studies.nodes.tables import TITLES

if TYPE_CHECKING:
    import numpy as np

MAX_ROWS = 40
"""The maximum number of nodes in a figure; the others are in the middle or fast."""
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
UNKNOWN = "--"


def pair_map(results: NodesResults) -> Widget | None:
    """An interactive map of all pairs; None without pairs. Each ratio is written in two digits of base 36, in
    percent."""
    ratios = results.pair_ratios
    if not ratios:
        return None
    fallback = slow_table(results) or power_table(results) or ranking_table(results, MAX_ROWS)
    return Widget(
        "nodes-map",
        "Times of all pairs of nodes",
        "pair_map",
        {
            "nodes": list(results.nodes),
            "notable": NOTABLE,
            "slow_nodes": list(results.slow_nodes),
            "slow_links": [list(link.nodes) for link in results.slow_links],
            "measures": [
                {"title": TITLES[measure], "rows": _encoded_rows(table)} for measure, table in ratios.items()
            ],
        },
        fallback if fallback is not None else Table("nodes-map", "", (), ()),
        "Times from the node of the row to that of the column, relative to the median pair.",
    )


def _encoded_rows(table: np.ndarray) -> list[str]:
    return ["".join(_encoded(float(ratio)) for ratio in row) for row in table]


def _encoded(ratio: float) -> str:
    if not math.isfinite(ratio):
        return UNKNOWN
    percent = min(len(DIGITS) ** 2 - 1, round(100 * ratio))
    return DIGITS[percent // len(DIGITS)] + DIGITS[percent % len(DIGITS)]


def ranking_figure(results: NodesResults) -> Figure | None:
    """The slowest nodes, with a series for each measure; None without any."""
    nodes = results.ranking[:MAX_ROWS]
    if not nodes:
        return None
    measures = list(dict.fromkeys(s.measure for s in results.slowdowns))
    height = 0.7 / max(1, len(measures) - 1)
    series = []
    for k, measure in enumerate(measures):
        offset = height * (k - (len(measures) - 1) / 2) if len(measures) > 1 else 0.0
        points = [
            (row + offset, s.ratio, s.state)
            for row, node in enumerate(nodes)
            if (s := results.node_slowdowns(node).get(measure)) is not None
        ]
        series.append(estimates(TITLES[measure], points))
    omitted = len(results.ranking) - len(nodes)
    return Figure(
        "nodes-ranking",
        "Nodes, the slowest first",
        Axis("node", "node", "linear", names=nodes, row=max(1.0, len(measures) / 2)),
        Axis("time relative to the median node", "times", include=(1.0, NOTABLE)),
        tuple(series),
        "With 95% intervals." + (f" {omitted} more nodes are in the table." if omitted else ""),
    )
