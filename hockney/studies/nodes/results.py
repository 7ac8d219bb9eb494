# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Slowdowns of nodes, links and switches relative to their medians, and which of them are named slow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from hockney.core.fit import Estimate
from hockney.pages.evidence import Evidence, StudyResults
from hockney.studies.nodes.effects import NodeEffects, measure_order
from hockney.studies.nodes.plan import BANDWIDTH, BIDIRECTIONAL, LATENCY
from hockney.studies.nodes.tables import (
    DELAYS,
    RECEIVING,
    SENDING,
    NodeTables,
    natural,
    own_measure,
    pair_measure,
)

if TYPE_CHECKING:
    import numpy as np

    from hockney.models.history import CaseTime
    from hockney.models.node_delays import Delays
    from hockney.models.node_effects import Effects, Kind
    from hockney.models.node_topology import NodeTopology

TARGET = 1.10
"""A run is conclusive if it would name a node that takes this many times as long."""
MAX_SLOW_SHARE = 0.2
"""If more of a node's links are slow, its pairs differ by distance rather than by faults."""
State = Literal["slow", "usual", "undecided", "unknown"]
FaultKind = Literal["slow", "delays"]
"""Whether messages always take longer, or some are delayed, as if packets were lost."""


@dataclass(frozen=True)
class Slowdown:
    """A node, a pair of nodes, or the nodes below a `switch`, by one measure: its time relative to the median
    of all, with a verdict. `p` is the adjusted p-value, `detectable` the ratio that would be named with a
    probability of 95%. By the measure `DELAYS`, `delayed` of the `repetitions` were delayed, and `detectable`
    is the share of delayed messages."""

    measure: str
    nodes: tuple[str, ...]
    ratio: Estimate
    p: float | None
    state: State
    detectable: float | None
    launches: int
    switch: str = ""
    delayed: int | None = None
    repetitions: int | None = None

    @property
    def kind(self) -> FaultKind:
        """The kind of fault if it is slow."""
        return "slow" if self.delayed is None else "delays"

    @property
    def name(self) -> str:
        return self.switch or " - ".join(self.nodes)


@dataclass(frozen=True)
class Power:
    """What the run would have named in 95% of such runs, by one measure: ratios for the median node, link and
    switch, or shares of delayed messages by the measure `DELAYS` (None: no links or switches, or unknown)."""

    measure: str
    node: float | None
    link: float | None
    switch: float | None
    launches: int


@dataclass(frozen=True)
class NodesResults(StudyResults):
    @cached_property
    def tables(self) -> NodeTables:
        return NodeTables.of_run(self.evidence.run)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes that took part, in natural order."""
        return self.tables.nodes

    @cached_property
    def topology(self) -> NodeTopology:
        from hockney.models.node_topology import node_topology

        return node_topology(self.evidence.machine, self.nodes)

    @cached_property
    def effects(self) -> NodeEffects:
        return NodeEffects(self.tables, self.topology)

    @cached_property
    def slowdowns(self) -> tuple[Slowdown, ...]:
        """All nodes by each measure."""
        return self._judged["node"]

    @cached_property
    def links(self) -> tuple[Slowdown, ...]:
        """All pairs of nodes by each measure."""
        return self._judged["link"]

    @property
    def switches(self) -> tuple[Slowdown, ...]:
        """All switches that can be compared, by each measure."""
        return self._judged["switch"]

    @property
    def slow_switches(self) -> Mapping[str, tuple[Slowdown, ...]]:
        """The slow switches, the slowest first, with the slowdowns that are named."""
        return _named_slow(self.switches)

    @property
    def slow_nodes(self) -> Mapping[str, tuple[Slowdown, ...]]:
        """The slow nodes, the slowest first, with the slowdowns that are named."""
        return _named_slow(self.slowdowns)

    @property
    def slow_links(self) -> tuple[Slowdown, ...]:
        """The slow links, the slowest first, unless they form groups."""
        if self.has_groups:
            return ()
        return tuple(sorted((s for s in self.links if s.state == "slow"), key=lambda s: -s.ratio.value))

    @cached_property
    def has_groups(self) -> bool:
        """Whether so many links of a node are slow that pairs differ by distance: nodes then form groups, as
        on several switches."""
        counts: dict[tuple[str, str], int] = {}
        for link in self.links:
            if link.state == "slow":
                for node in link.nodes:
                    counts[link.measure, node] = counts.get((link.measure, node), 0) + 1
        limit = max(2.0, MAX_SLOW_SHARE * (len(self.nodes) - 1))
        return any(count > limit for count in counts.values())

    @cached_property
    def powers(self) -> tuple[Power, ...]:
        powers = []
        for measure in dict.fromkeys(s.measure for s in self.slowdowns):
            nodes = [s for s in self.slowdowns if s.measure == measure]
            links = [s for s in self.links if s.measure == link_measure(measure)]
            switches = [s for s in self.switches if s.measure == measure]
            launches = min(s.launches for s in nodes)
            node, link, switch = map(_median_detectable, (nodes, links, switches))
            powers.append(Power(measure, node, link, switch, launches))
        return tuple(powers)

    @property
    def is_conclusive(self) -> bool:
        """Whether every measure would have named a node that takes `TARGET` times as long, and some slowdown
        of a link, and no node or switch is undecided."""
        return (
            bool(self.main_powers)
            and all(power.node is not None and power.node <= TARGET for power in self.main_powers)
            and not self.too_few_for_links
            and not self.undecided
        )

    @property
    def too_few_for_links(self) -> bool:
        """Whether the launches are too few to name any link, however slow."""
        measures = {s.measure for s in self.links}
        return any(
            power.link is None for power in self.main_powers if link_measure(power.measure) in measures
        )

    @property
    def undecided(self) -> tuple[Slowdown, ...]:
        """The nodes and switches that might take `TARGET` times as long, the slowest first."""
        found = (s for s in (*self.slowdowns, *self.switches) if s.state == "undecided")
        return tuple(sorted(found, key=lambda s: -s.ratio.value))

    @property
    def main_powers(self) -> tuple[Power, ...]:
        """The powers by typical times. Delays may vary too much to find small slowdowns."""
        return tuple(power for power in self.powers if power.measure != DELAYS)

    def node_slowdowns(self, node: str) -> dict[str, Slowdown]:
        """The slowdowns of a node by measure."""
        return {s.measure: s for s in self.slowdowns if s.name == node}

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """The nodes, the slowest first: those named slow, then by their largest slowdown."""
        largest: dict[str, tuple[bool, float]] = {}
        for s in self.slowdowns:
            key = (s.state == "slow", s.ratio.value)
            largest[s.name] = max(key, largest.get(s.name, key))
        return tuple(sorted(largest, key=lambda node: (*(-part for part in largest[node]), natural(node))))

    @cached_property
    def typical(self) -> Mapping[str, float]:
        """The time of the median node, or of a pair of median nodes, by measure, in seconds."""
        import numpy as np

        machine = self.effects.by_kind["machine"]
        typical = {measure: float(np.exp(np.nanmedian(table))) for measure, table in machine.items()}
        if BANDWIDTH in typical:
            typical |= {SENDING: typical[BANDWIDTH], RECEIVING: typical[BANDWIDTH]}
        return typical

    def payload_bytes(self, measure: str) -> int:
        """The bytes that move in the time of a measure; 0 if that time is a latency or has no bytes."""
        if measure == DELAYS:
            measure = pair_measure(self.tables.delays_case)
        if measure in (SENDING, RECEIVING):
            measure = BANDWIDTH
        for case in self.tables.cases:
            if pair_measure(case) == measure != LATENCY:
                return case.bytes
            if own_measure(case) == measure == "memory":
                return 3 * case.bytes
        return 0

    def case_line(self, measure: str) -> str:
        """The case that a measure is from."""
        return self.tables.case_of(measure).line

    @cached_property
    def pair_ratios(self) -> Mapping[str, np.ndarray]:
        """For each measure of pairs, the times of all pairs relative to the median pair (nodes, nodes); nan
        where unknown."""
        import numpy as np

        ratios = {}
        for pair in self.tables.pair_times:
            relative = pair.times - np.nanmedian(pair.times, axis=(1, 2), keepdims=True)
            with np.errstate(all="ignore"):
                table = np.exp(_median_over_launches(relative))
            if pair.measure != BANDWIDTH:
                table = np.where(np.isnan(table), table.T, table)
            ratios[pair.measure] = table
        return ratios

    @cached_property
    def _judged(self) -> Mapping[Kind, tuple[Slowdown, ...]]:
        """The nodes, links and switches."""
        import numpy as np

        from hockney.models.node_delays import link_delays, node_delays
        from hockney.models.node_effects import (
            FALSE_SHARE,
            adjusted_p_values,
            over_launches,
        )
        from hockney.models.node_links import link_p_values

        is_exact, values = self.evidence.machine.is_exact, self.effects.by_kind
        delays: dict[Kind, Delays] = {}
        kinds: tuple[Kind, ...] = ("node", "link", "switch")
        groups = {
            kind: {
                measure: over_launches(table, is_exact=is_exact) for measure, table in values[kind].items()
            }
            for kind in kinds
        }
        p_values = {
            kind: {measure: effects.p_slower for measure, effects in groups[kind].items()} for kind in kinds
        }
        sizes = [int(sum(np.isfinite(p).sum() for p in p_values[kind].values())) for kind in kinds]
        present = sum(size > 0 for size in sizes)
        if not is_exact:  # delays are compared by their numbers
            for measure in groups["link"].keys() - {DELAYS}:
                p_values["link"][measure] = link_p_values(values["link"][measure], groups["link"][measure])
        if DELAYS in p_values["node"] and not is_exact:
            counts_ = self.tables.delay_counts
            delays["node"] = node_delays(counts_, present * sizes[0])
            p_values["node"][DELAYS] = delays["node"].p_values
            lossy = adjusted_p_values(_families(p_values))["node"].reshape(-1, len(self.nodes))
            is_lossy = lossy[list(groups["node"]).index(DELAYS)] <= FALSE_SHARE
            delays["link"] = link_delays(counts_, is_lossy, present * sizes[1])
            p_values["link"][DELAYS] = delays["link"].p_values
        families = _families(p_values)
        pairs = zip(*self.effects.pair_indices, strict=True)
        names: tuple[list[tuple[str, ...]], ...] = (
            [(node,) for node in self.nodes],
            [(self.nodes[i], self.nodes[j]) for i, j in pairs],
            [tuple(self.nodes[k] for k in group) for group in self.topology.members],
        )
        adjusted, switches = adjusted_p_values(families), self.topology.names
        tests = [present * size for size in sizes]
        return {
            kind: tuple(
                _slowdowns(
                    kind,
                    groups[kind],
                    names[k],
                    switches,
                    adjusted[kind],
                    {
                        measure: self._detectable(kind, measure, effects, tests[k])
                        for measure, effects in groups[kind].items()
                        if measure != DELAYS or kind not in delays
                    },
                    delays.get(kind),
                )
            )
            for k, kind in enumerate(kinds)
        }

    def _detectable(self, kind: Kind, measure: str, effects: Effects, tests: int) -> np.ndarray:
        """The smallest detectable log slowdowns: of links, of nodes and switches by their pairs, or of nodes
        alone."""
        from hockney.models.node_links import detectable_links

        if kind == "link" and not self.evidence.machine.is_exact:
            values = self.effects.by_kind[kind][measure]
            return detectable_links(values, effects, tests, len(self.nodes))
        if kind == "link" or measure not in (LATENCY, SENDING, RECEIVING, BIDIRECTIONAL, DELAYS):
            return effects.detectable(tests)
        compared = len(self.nodes) if kind == "node" else self.topology.compared_count
        return effects.detectable_node(tests, compared)


def link_measure(measure: str) -> str:
    """The measure of links from the same times as this one of nodes."""
    return BANDWIDTH if measure in (SENDING, RECEIVING) else measure


def _families(p_values: Mapping[Kind, Mapping[str, np.ndarray]]) -> dict[Kind, np.ndarray]:
    """The p-values of each kind, measure by measure."""
    import numpy as np

    return {kind: np.concatenate([np.zeros(0), *values.values()]) for kind, values in p_values.items()}


def _named_slow(slowdowns: Sequence[Slowdown]) -> Mapping[str, tuple[Slowdown, ...]]:
    named = sorted((s for s in slowdowns if s.state == "slow"), key=lambda s: -s.ratio.value)
    return {s.name: tuple(other for other in named if other.name == s.name) for s in named}


def _slowdowns(
    kind: Kind,
    groups: Mapping[str, Effects],
    names: Sequence[tuple[str, ...]],
    switches: Sequence[str],
    adjusted: np.ndarray,
    smallest: Mapping[str, np.ndarray],
    delays: Delays | None,
) -> Iterator[Slowdown]:
    import numpy as np

    from hockney.models.node_effects import is_slow

    for measure in sorted(groups, key=measure_order):
        effects = groups[measure]
        first = list(groups).index(measure) * len(names)
        counted = delays if measure == DELAYS else None
        detectable = np.exp(smallest[measure]) if counted is None else counted.detectable
        half_width, slow = effects.half_width(), is_slow(effects, adjusted[first : first + len(names)])
        for k, name in enumerate(names):
            if not np.isfinite(effects.log_ratio[k]):
                continue
            p = float(adjusted[first + k])
            ratio = _ratio(float(effects.log_ratio[k]), float(half_width[k]))
            yield Slowdown(
                measure,
                name,
                ratio,
                None if math.isnan(p) else p,
                _state(ratio, p, is_slow=bool(slow[k])) if counted is None else _delays_state(p),
                float(detectable[k]) if np.isfinite(detectable[k]) else None,
                int(effects.launches[k]),
                switches[k] if kind == "switch" else "",
                None if counted is None else int(counted.delayed[k]),
                None if counted is None else int(counted.repetitions[k]),
            )


def _ratio(log_ratio: float, half_width: float) -> Estimate:
    if not math.isfinite(half_width):
        return Estimate(math.exp(log_ratio), None, None)
    return Estimate(*(math.exp(log_ratio + sign * half_width) for sign in (0, -1, 1)))


def _delays_state(p: float) -> State:
    from hockney.models.node_effects import FALSE_SHARE

    return "unknown" if math.isnan(p) else "slow" if p <= FALSE_SHARE else "usual"


def _state(ratio: Estimate, p: float, *, is_slow: bool) -> State:
    if math.isnan(p) or ratio.high is None:
        return "unknown"
    if is_slow:
        return "slow"
    return "usual" if ratio.high <= TARGET else "undecided"


def _median_detectable(slowdowns: list[Slowdown]) -> float | None:
    from statistics import median

    values = [s.detectable for s in slowdowns]
    known = [value for value in values if value is not None]
    return median(known) if known and len(known) == len(values) else None


def _median_over_launches(values: np.ndarray) -> np.ndarray:
    import numpy as np

    known = np.isfinite(values).any(axis=0)
    result = np.full(values.shape[1:], np.nan)
    result[known] = np.nanmedian(values[:, known], axis=0)
    return result


def is_conclusive(evidence: Evidence) -> bool:
    return NodesResults.of(evidence).is_conclusive


def has_fault(evidence: Evidence) -> bool:
    """Whether a node, a link or a switch is named slow."""
    results = NodesResults.of(evidence)
    return bool(results.slow_nodes or results.slow_links or results.slow_switches)


def part_times(evidence: Evidence) -> list[CaseTime]:
    """The time of each node by each measure: of the median node, multiplied by the node's slowdown."""
    from hockney.models.history import CaseTime

    results = NodesResults.of(evidence)
    times = []
    for s in results.slowdowns:
        if s.measure == DELAYS:
            continue
        typical_s, ratio = results.typical[s.measure], s.ratio
        low_s, high_s = (None if bound is None else typical_s * bound for bound in (ratio.low, ratio.high))
        line = f"{results.case_line(s.measure)} node={s.name} measure={s.measure}"
        times.append(CaseTime(line, f"on {s.name}", s.launches, typical_s * ratio.value, low_s, high_s))
    return times
