# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The effects of nodes, links and switches on times in each launch of a run, by measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hockney.studies.nodes.plan import BANDWIDTH
from hockney.studies.nodes.tables import RECEIVING, SENDING, TITLES, NodeTables

if TYPE_CHECKING:
    import numpy as np

    from hockney.models.node_effects import Kind, PairEffects
    from hockney.models.node_topology import NodeTopology

LaunchEffects = Mapping[str, "np.ndarray"]
"""Effects by measure, each with one row per launch: logarithms of ratios of times."""
WITHIN = " within"
"""The suffix of measures of the messages between the nodes below one switch."""


def measure_order(measure: str) -> tuple[int, bool]:
    """A sort key in the order of tables."""
    base = measure.removesuffix(WITHIN)
    return list(TITLES).index(base), base != measure


def measure_title(measure: str) -> str:
    base = measure.removesuffix(WITHIN)
    return TITLES[base] + measure[len(base) :]


@dataclass(frozen=True)
class NodeEffects:
    """The effects in a run with this topology of its nodes."""

    tables: NodeTables
    topology: NodeTopology

    @cached_property
    def pairs(self) -> Mapping[str, PairEffects]:
        """The effects from the times of pairs, by measure."""
        from hockney.models.node_effects import pair_effects

        return {
            pair.measure: pair_effects(
                pair.times,
                self.topology.distances,
                self.topology.levels,
                is_symmetric=pair.measure != BANDWIDTH,
            )
            for pair in self.tables.pair_times
        }

    @property
    def measures(self) -> set[str]:
        """The measures of nodes and of pairs."""
        return {*self.by_kind["node"], *self.by_kind["machine"]}

    @cached_property
    def by_kind(self) -> Mapping[Kind, LaunchEffects]:
        """The log times of the median pair or node (the machine), with one column; and the effects relative
        to it, with one column per node, switch, and link (pairs in the order of `pair_indices`)."""

        from hockney.models.node_effects import relative_to_median, row_medians

        kinds: dict[Kind, dict[str, np.ndarray]] = {"machine": {}, "node": {}, "switch": {}, "link": {}}
        first, second = self.pair_indices
        for measure, effects in self.pairs.items():
            kinds["machine"][measure] = effects.typical
            sides = {measure: effects.sending}, {measure: effects.switch_sending}
            if measure == BANDWIDTH:
                sides = (
                    {SENDING: effects.sending, RECEIVING: effects.receiving},
                    {SENDING: effects.switch_sending, RECEIVING: effects.switch_receiving},
                )
            kinds["node"] |= sides[0]
            kinds["switch"] |= sides[1]
            kinds["switch"][measure + WITHIN] = effects.switch_within
            both = (effects.links + effects.links.swapaxes(1, 2)) / 2
            kinds["link"][measure] = both[:, first, second]
        for measure, table in self.tables.own_times.items():
            kinds["machine"][measure] = row_medians(table)[:, None]
            kinds["node"][measure] = relative_to_median(table)
        return kinds

    @cached_property
    def pair_indices(self) -> tuple[np.ndarray, np.ndarray]:
        """The nodes of each link."""
        import numpy as np

        return np.triu_indices(len(self.tables.nodes), 1)
