# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Slowdowns of nodes and links relative to the median node and link, and which of them are named slow."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from hockney.core.fit import Estimate
from hockney.core.record import Record
from hockney.models.significance import NOTABLE
from hockney.pages.evidence import Evidence, MeasuredCase, StudyResults
from hockney.studies.nodes.plan import (
    BANDWIDTH,
    BIDIRECTIONAL,
    COMPUTE,
    LATENCY,
    LOCAL,
    MEMORY,
    PING_PONG,
    STREAM,
)

if TYPE_CHECKING:
    import numpy as np

    from hockney.models.history import CaseTime
    from hockney.models.node_effects import Effects, PairEffects

TARGET = 1.10
"""A run is conclusive if it would name a node that takes this many times as long."""
MAX_SLOW_SHARE = 0.2
"""If more of a node's links are slow, its pairs differ by distance rather than by faults."""
SENDING, RECEIVING, DELAYS = "sending", "receiving", "delays"
"""Measures from the bandwidth: of a node as sender and as receiver, and the mean over the repetitions, which
includes occasional long delays, as of lost packets."""
TITLES: Mapping[str, str] = {
    LATENCY: "latency",
    SENDING: "sending",
    RECEIVING: "receiving",
    BANDWIDTH: "bandwidth",
    BIDIRECTIONAL: "both directions",
    DELAYS: "delays",
    LOCAL: "local latency",
    "compute": "computing",
    "memory": "memory",
}
"""Titles of what is compared, in the order of tables."""
State = Literal["slow", "usual", "undecided", "unknown"]


@dataclass(frozen=True)
class Slowdown:
    """A node, or a pair of nodes, by one measure: its time relative to the median of all, with a verdict.
    `p` is the adjusted p-value, `detectable` the ratio that would be named with a probability of 95%."""

    measure: str
    nodes: tuple[str, ...]
    ratio: Estimate
    p: float | None
    state: State
    detectable: float | None
    launches: int

    @property
    def name(self) -> str:
        return " - ".join(self.nodes)


@dataclass(frozen=True)
class PairTimes:
    """Log times of one case by launch (launches, nodes, nodes)."""

    measure: str
    result: MeasuredCase
    times: np.ndarray


@dataclass(frozen=True)
class Power:
    """What the run would have named in 95% of such runs, by one measure: ratios for the median node and link
    (None: no links, or unknown)."""

    measure: str
    node: float | None
    link: float | None
    launches: int


@dataclass(frozen=True)
class NodesResults(StudyResults):
    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes that took part, in natural order."""
        names = {name for record in self._records for name in self._nodes_of(record)}
        return tuple(sorted(names, key=_natural))

    @cached_property
    def pair_times(self) -> tuple[PairTimes, ...]:
        results = []
        for result in self._cases:
            measure = _pair_measure(result)
            if measure:
                results.append(PairTimes(measure, result, self._pair_table(result, pair_table)))
            if measure == BANDWIDTH:
                results.append(PairTimes(DELAYS, result, self._pair_table(result, mean_pair_table)))
        return tuple(sorted(results, key=lambda pair: list(TITLES).index(pair.measure)))

    @cached_property
    def pair_effects(self) -> Mapping[str, PairEffects]:
        """The effects in each launch, by measure."""
        from hockney.models.node_effects import pair_effects, symmetric_pair_effects

        return {
            pair.measure: (pair_effects if pair.measure == BANDWIDTH else symmetric_pair_effects)(
                pair.times, self.distances
            )
            for pair in self.pair_times
        }

    @cached_property
    def distances(self) -> np.ndarray | None:
        """A number for the distance of each pair of nodes (nodes, nodes); None if unknown."""
        platform = self.evidence.machine.platform
        if platform is None:
            return None
        from hockney.models.distances import distances

        return distances(platform, [int(name.lstrip("n")) for name in self.nodes])

    @cached_property
    def slowdowns(self) -> tuple[Slowdown, ...]:
        """All nodes by each measure."""
        return tuple(self._judged[0])

    @cached_property
    def links(self) -> tuple[Slowdown, ...]:
        """All pairs of nodes by each measure."""
        return tuple(self._judged[1])

    @property
    def slow_nodes(self) -> Mapping[str, tuple[Slowdown, ...]]:
        """The slow nodes, the slowest first, with the slowdowns that are named."""
        named = sorted((s for s in self.slowdowns if s.state == "slow"), key=lambda s: -s.ratio.value)
        return {s.name: tuple(other for other in named if other.name == s.name) for s in named}

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
            link_measure = BANDWIDTH if measure in (SENDING, RECEIVING) else measure
            nodes = [s for s in self.slowdowns if s.measure == measure]
            links = [s for s in self.links if s.measure == link_measure]
            launches = min(s.launches for s in nodes)
            powers.append(Power(measure, _median_detectable(nodes), _median_detectable(links), launches))
        return tuple(powers)

    @property
    def is_conclusive(self) -> bool:
        """Whether every measure would have named a node that takes `TARGET` times as long."""
        return bool(self.main_powers) and all(
            power.node is not None and power.node <= TARGET for power in self.main_powers
        )

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
        return tuple(sorted(largest, key=lambda node: (*(-part for part in largest[node]), _natural(node))))

    @cached_property
    def typical(self) -> Mapping[str, float]:
        """The time of the median node, or of a pair of median nodes, by measure, in seconds."""
        import numpy as np

        tables = dict(self._own_tables)
        for pair in self.pair_times:
            effects = self.pair_effects[pair.measure]
            tables[pair.measure] = pair.times - effects.sending[:, :, None] - effects.receiving[:, None, :]
        typical = {measure: float(np.exp(np.nanmedian(table))) for measure, table in tables.items()}
        if BANDWIDTH in typical:
            typical |= {SENDING: typical[BANDWIDTH], RECEIVING: typical[BANDWIDTH]}
        return typical

    def payload_bytes(self, measure: str) -> int:
        """The bytes that move in the time of a measure; 0 if that time is a latency or has no bytes."""
        if measure in (SENDING, RECEIVING, DELAYS):
            measure = BANDWIDTH
        for result in self._cases:
            if _pair_measure(result) == measure != LATENCY:
                return result.case.bytes
            if _own_measure(result) == measure == "memory":
                return 3 * result.case.bytes
        return 0

    def case_line(self, measure: str) -> str:
        """The case that a measure is from."""
        if measure in (SENDING, RECEIVING):
            measure = BANDWIDTH
        return next(m.case.line for m in self._cases if measure in (_pair_measure(m), _own_measure(m)))

    @cached_property
    def pair_ratios(self) -> Mapping[str, np.ndarray]:
        """For each measure of pairs, the times of all pairs relative to the median pair (nodes, nodes); nan
        where unknown."""
        import numpy as np

        ratios = {}
        for pair in self.pair_times:
            relative = pair.times - np.nanmedian(pair.times, axis=(1, 2), keepdims=True)
            with np.errstate(all="ignore"):
                table = np.exp(_median_over_launches(relative))
            if pair.measure != BANDWIDTH:
                table = np.where(np.isnan(table), table.T, table)
            ratios[pair.measure] = table
        return ratios

    @cached_property
    def _cases(self) -> list[MeasuredCase]:
        return [m for m in self.evidence.measured if _pair_measure(m) or _own_measure(m)]

    @cached_property
    def _records(self) -> list[Record]:
        lines = {result.case.line for result in self._cases}
        return [record for record in self.evidence.run.records if record.case in lines]

    def _nodes_of(self, record: Record) -> list[str]:
        """The node of each rank of the case."""
        ranks = self._launch_ranks[record.launch]
        return [ranks[member] for member in record.members] if record.members else ranks

    @cached_property
    def _launch_ranks(self) -> dict[str, list[str]]:
        return {launch.launch: [rank.node for rank in launch.ranks] for launch in self.evidence.run.launches}

    def _pair_table(self, result: MeasuredCase, table_of: Callable[[Record, int], np.ndarray]) -> np.ndarray:
        import numpy as np

        index = {node: k for k, node in enumerate(self.nodes)}
        tables = []
        for record in self._records:
            if record.case == result.case.line:
                places = np.array([index[node] for node in self._nodes_of(record)])
                table = np.full((len(index), len(index)), np.nan)
                table[np.ix_(places, places)] = table_of(record, len(places))
                tables.append(table)
        return np.array(tables)

    @cached_property
    def _own_tables(self) -> dict[str, np.ndarray]:
        """Log times of nodes (launches, nodes), by measure."""
        import numpy as np

        index = {node: k for k, node in enumerate(self.nodes)}
        tables: dict[str, np.ndarray] = {}
        for result in self._cases:
            measure = _own_measure(result)
            rows = []
            for record in self._records if measure else ():
                if record.case != result.case.line:
                    continue
                row = np.full(len(index), np.nan)
                by_node: dict[str, list[float]] = {}
                for node, log_time in zip(self._nodes_of(record), rank_log_times(record), strict=True):
                    if not math.isnan(log_time):
                        by_node.setdefault(node, []).append(log_time)
                for node, values in by_node.items():
                    # a parallel program waits for the slowest core, while cores share the memory's bandwidth
                    row[index[node]] = max(values) if measure == "compute" else float(np.mean(values))
                rows.append(row)
            if rows:
                tables[measure] = np.array(rows)
        return tables

    @cached_property
    def _judged(self) -> tuple[list[Slowdown], list[Slowdown]]:
        """The nodes and the links."""
        import numpy as np

        from hockney.models.node_effects import adjusted_p_values, over_launches, relative_to_median

        is_exact = self.evidence.machine.is_exact
        upper = np.triu_indices(len(self.nodes), 1)
        nodes: dict[str, Effects] = {}
        links: dict[str, Effects] = {}
        for measure, effects in self.pair_effects.items():
            if measure == BANDWIDTH:
                nodes[SENDING] = over_launches(effects.sending, is_exact=is_exact)
                nodes[RECEIVING] = over_launches(effects.receiving, is_exact=is_exact)
            else:
                nodes[measure] = over_launches(effects.sending, is_exact=is_exact)
            both = (effects.links + effects.links.swapaxes(1, 2)) / 2
            links[measure] = over_launches(both[:, upper[0], upper[1]], is_exact=is_exact)
        for measure, table in self._own_tables.items():
            nodes[measure] = over_launches(relative_to_median(table), is_exact=is_exact)
        families = [
            np.concatenate([np.zeros(0), *(e.p_slower for e in group.values())]) for group in (nodes, links)
        ]
        sizes = [int(np.isfinite(p).sum()) for p in families]
        present = sum(size > 0 for size in sizes)
        adjusted = adjusted_p_values(*families)
        node_names = [(node,) for node in self.nodes]
        link_names = [(self.nodes[i], self.nodes[j]) for i, j in zip(*upper, strict=True)]
        return (
            list(_slowdowns(nodes, node_names, adjusted[0], present * sizes[0], len(self.nodes))),
            list(_slowdowns(links, link_names, adjusted[1], present * sizes[1], len(self.nodes))),
        )


def _slowdowns(
    groups: Mapping[str, Effects],
    names: Sequence[tuple[str, ...]],
    adjusted: np.ndarray,
    tests: int,
    nodes: int,
) -> Iterator[Slowdown]:
    import numpy as np

    from hockney.models.node_effects import is_slow

    for measure in sorted(groups, key=list(TITLES).index):
        effects = groups[measure]
        first = list(groups).index(measure) * len(names)
        half_width, detectable = effects.half_width(), _detectable(effects, measure, tests, nodes)
        slow = is_slow(effects, adjusted[first : first + len(names)])
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
                _state(ratio, p, is_slow=bool(slow[k])),
                float(np.exp(detectable[k])) if np.isfinite(detectable[k]) else None,
                int(effects.launches[k]),
            )


def _detectable(effects: Effects, measure: str, tests: int, nodes: int) -> np.ndarray:
    """The smallest detectable log slowdowns: of links, of nodes by their pairs, or of nodes alone."""
    if len(effects.launches) != nodes:
        return effects.detectable_link(tests, nodes)
    is_of_pairs = measure in (LATENCY, SENDING, RECEIVING, BIDIRECTIONAL, DELAYS)
    return effects.detectable_node(tests, nodes) if is_of_pairs else effects.detectable(tests)


def _ratio(log_ratio: float, half_width: float) -> Estimate:
    if not math.isfinite(half_width):
        return Estimate(math.exp(log_ratio), None, None)
    return Estimate(*(math.exp(log_ratio + sign * half_width) for sign in (0, -1, 1)))


def _state(ratio: Estimate, p: float, *, is_slow: bool) -> State:
    if math.isnan(p) or ratio.high is None:
        return "unknown"
    if is_slow:
        return "slow"
    return "usual" if ratio.high <= NOTABLE else "undecided"


def _median_detectable(slowdowns: list[Slowdown]) -> float | None:
    from statistics import median

    values = [s.detectable for s in slowdowns]
    known = [value for value in values if value is not None]
    return median(known) if known and len(known) == len(values) else None


def pair_table(record: Record, ranks: int) -> np.ndarray:
    """The log times from each rank to each other in one launch: medians over the repetitions in which the
    pair met, nan where it did not."""
    import numpy as np

    pair, times = _timed_pairs(record, ranks)
    values = np.log(times)
    order = np.lexsort((values, pair))
    pair, values = pair[order], values[order]
    pairs, first, counts = np.unique(pair, return_index=True, return_counts=True)
    table = np.full(ranks * ranks, np.nan)
    table[pairs] = (values[first + (counts - 1) // 2] + values[first + counts // 2]) / 2
    return table.reshape(ranks, ranks)


def mean_pair_table(record: Record, ranks: int) -> np.ndarray:
    """The logs of mean times, otherwise like `pair_table`."""
    import numpy as np

    pair, times = _timed_pairs(record, ranks)
    counts = np.bincount(pair, minlength=ranks * ranks)
    sums = np.bincount(pair, weights=times, minlength=ranks * ranks)
    table = np.full(ranks * ranks, np.nan)
    table[counts > 0] = np.log(sums[counts > 0] / counts[counts > 0])
    return table.reshape(ranks, ranks)


def _timed_pairs(record: Record, ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of all timed messages, numbered by rank and partner, and their times."""
    import numpy as np

    times = np.asarray(record.metrics["pair_time"].values, dtype=float).reshape(-1, ranks)
    partners = np.asarray(record.metrics["partner"].values, dtype=int).reshape(-1, ranks)
    rank = np.broadcast_to(np.arange(ranks), partners.shape)
    timed = (times > 0) & (partners != rank)
    return (rank * ranks + partners)[timed], times[timed]


def rank_log_times(record: Record) -> list[float]:
    """The log time of each rank in one launch, the median over the repetitions; nan for ranks that time
    nothing."""
    import numpy as np

    metric = record.metrics["rank_time"] if "rank_time" in record.metrics else record.metrics["pair_time"]
    times = np.asarray(metric.values, dtype=float).reshape(len(record.times_s), -1)
    with np.errstate(divide="ignore"):
        medians = np.log(np.median(times, axis=0))
    return [float(value) if math.isfinite(value) else math.nan for value in medians]


def _median_over_launches(values: np.ndarray) -> np.ndarray:
    import numpy as np

    known = np.isfinite(values).any(axis=0)
    result = np.full(values.shape[1:], np.nan)
    result[known] = np.nanmedian(values[:, known], axis=0)
    return result


def _pair_measure(result: MeasuredCase) -> str:
    """The measure of pairs that a case belongs to; "" for other cases."""
    case = result.case
    if case.get("partners") != "all":
        return ""
    if case.workload == PING_PONG:
        return LATENCY
    return "" if case.workload != STREAM else BIDIRECTIONAL if case["direction"] == "both" else BANDWIDTH


def _own_measure(result: MeasuredCase) -> str:
    case = result.case
    if case.workload == PING_PONG and case["partners"] == "neighbor":
        return LOCAL
    return {COMPUTE: "compute", MEMORY: "memory"}.get(case.workload, "")


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """A sort key that orders n2 before n10."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name))


def is_conclusive(evidence: Evidence) -> bool:
    return NodesResults.of(evidence).is_conclusive


def has_fault(evidence: Evidence) -> bool:
    """Whether a node or a link is named slow."""
    results = NodesResults.of(evidence)
    return bool(results.slow_nodes or results.slow_links)


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
