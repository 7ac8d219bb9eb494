# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A prediction as one document for programs: seconds, bytes and fractions, each with the ends of its 95%
interval (null if unknown)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hockney.core.layout import NODE
from hockney.core.platform import Platform
from hockney.draw.page import Caveat
from hockney.models.applications.grain_prediction import Needed, Prediction, RanksRow
from hockney.models.applications.message_costs import BEST_FIRST
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.levels import NETWORK
from hockney.pages.grain_prediction.tables import LEFT_OUT
from hockney.pages.origins import provenance


def document(prediction: Prediction, caveats: Sequence[Caveat], platform: Platform | None) -> dict[str, Any]:
    """The output of `--json`; docs/models.md describes its parts."""
    best = prediction.best
    return {
        "algorithm": prediction.algorithm,
        "machine": _machine(prediction.messages, platform),
        "cost": prediction.messages.cost,
        "larger_machine": prediction.larger,
        "message_s": prediction.one_way,
        **({"message_between_nodes_s": prediction.between} if prediction.between else {}),
        "ranks": [{**_row(each), **_layout(prediction, each.ranks)} for each in prediction.rows],
        "leaves_out": LEFT_OUT,
        "break_even": [_needed(each) for each in prediction.break_even],
        "work_needed": [_needed(each) for each in prediction.needed],
        "best": {
            "most": best.most,
            "fastest": {**_row(best.fastest), "low": best.ends[0], "high": best.ends[1]},
            "half_efficient": _row(best.thrifty),
        },
        "levers": {
            "ranks": prediction.changed,
            "changes": [
                {
                    "name": each.lever.name,
                    "how": each.lever.words,
                    "efficiency": each.efficiency,
                    "gain": each.lever.gain,
                    "algorithm": each.lever.algorithm,
                }
                for each in prediction.changes
            ],
        },
        "doubts": list(caveats),
    }


def _machine(messages: PointToPointCosts, platform: Platform | None) -> dict[str, Any]:
    fitted = max(messages.levels(), key=_worse)
    return {
        "name": messages.name,
        "title": messages.title,
        "source": messages.source,
        "buffers": messages.buffers or None,
        "verdict": fitted.verdict,
        "why": fitted.doubt,
        "network": "medium" if any(messages.medium) else "shared" if messages.shared else "switch",
        "network_why": messages.why,
        "pieces": messages.pieces,
        "near_pieces": messages.near.pieces if messages.near else (),
        "cores_per_node": messages.cores,
        "shared_rates": [
            {
                "place": NETWORK if level is not messages.near and messages.place == NETWORK else NODE,
                "bytes_per_s": node.estimate,
                "gap_s": node.gap_s,
                "pairs": node.pairs,
            }
            for level in messages.levels()
            if (node := level.node) is not None
        ],
        "medium": {"message_s": messages.medium[0], "s_per_byte": messages.medium[1]},
        "half_duplex_s_per_byte": messages.half_duplex_s_per_byte,
        "eager_bytes": None if math.isinf(messages.eager) else messages.eager,
        "smallest_bytes": messages.smallest,
        "largest_bytes": messages.largest,
        "most_ranks": messages.most_ranks,
        "origins": list(provenance(platform)) if platform is not None else [],
    }


def _worse(level: PointToPointCosts) -> int:
    """The order of verdicts; of costs that were not fitted it is unknown."""
    return ("", *BEST_FIRST).index(level.verdict)


def _row(row: RanksRow) -> dict[str, Any]:
    return {
        "ranks": row.ranks,
        "time_s": row.time,
        "speed_up": row.speed_up,
        "efficiency": row.efficiency,
        "communication_share": row.communication,
        "ranks_a_core": row.shared_by,
    }


def _layout(prediction: Prediction, ranks: int) -> dict[str, int]:
    layout = prediction.layout(ranks)
    return {} if layout is None else {"nodes": layout.nodes, "ranks_per_node": layout.ranks_per_node}


def _needed(needed: Needed) -> dict[str, Any]:
    return {
        "ranks": needed.ranks,
        "efficiency": needed.efficiency,
        "work_s": needed.work,
        "most_efficiency": needed.ceiling,
    }
