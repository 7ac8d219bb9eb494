# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The log times of all nodes and of all pairs of nodes in each launch of a run, by measure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hockney.core.case import Case
from hockney.core.record import Record, RunRecords
from hockney.studies.nodes.plan import (
    BANDWIDTH,
    BIDIRECTIONAL,
    COMPUTE,
    LATENCY,
    LOCAL,
    MEMORY,
    PING_PONG,
    STREAM,
    WINDOW,
)

if TYPE_CHECKING:
    import numpy as np

    from hockney.models.node_delays import DelayCounts

SENDING, RECEIVING, DELAYS = "sending", "receiving", "delays"
"""Measures from the bandwidth: of a node as sender and as receiver, and the mean over the repetitions, which
includes occasional long delays, as of lost packets. A part is slow by `DELAYS` if its repetitions by any
measure of pairs are delayed more often than those of others."""
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
MESSAGES: Mapping[str, int] = {LATENCY: 2, BANDWIDTH: 2 * WINDOW + 2, BIDIRECTIONAL: 2 * WINDOW}
"""The number of messages that a repetition of a pair times."""


@dataclass(frozen=True)
class PairTimes:
    """Log times of one case by launch (launches, nodes, nodes)."""

    measure: str
    case: Case
    times: np.ndarray


@dataclass(frozen=True)
class NodeTables:
    """The times of `cases` in a run, which other cases may belong to; of nodes with these names `only`, if
    there are any."""

    run: RunRecords
    cases: tuple[Case, ...]
    only: tuple[str, ...] = ()

    @classmethod
    def of_run(cls, run: RunRecords) -> NodeTables:
        """The times of all cases that the study measures."""
        cases = dict.fromkeys(record.parse_case() for record in run.records)
        return cls(run, tuple(case for case in cases if pair_measure(case) or own_measure(case)))

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes that took part, in natural order, or of those selected."""
        if self.only:
            return self.only
        names = {name for record in self._records for name in self._nodes_of(record)}
        return tuple(sorted(names, key=natural))

    def case_of(self, measure: str) -> Case:
        """The case that a measure is from."""
        if measure in (SENDING, RECEIVING):
            measure = BANDWIDTH
        if measure == DELAYS:
            return self.delays_case
        return next(case for case in self.cases if measure in (pair_measure(case), own_measure(case)))

    @property
    def delays_case(self) -> Case:
        """The case whose mean times are compared: the bandwidth, if it was measured."""
        by_measure = {pair_measure(case): case for case in self.cases}
        return next(by_measure[m] for m in (BANDWIDTH, BIDIRECTIONAL, LATENCY) if m in by_measure)

    @cached_property
    def delay_counts(self) -> DelayCounts:
        """The delayed repetitions of all pairs, by any measure of pairs."""
        import numpy as np

        from hockney.models.node_delays import DelayCounts, count_delays

        launches = list(dict.fromkeys(record.launch for record in self._records))
        index, totals = {node: k for k, node in enumerate(self.nodes)}, None
        for case in filter(pair_measure, self.cases):
            nothing = np.zeros(0, dtype=int), np.zeros(0)
            timed = dict.fromkeys(launches, nothing)
            for record in self._records:
                if record.case == case.line:
                    places = np.array([index.get(node, -1) for node in self._nodes_of(record)])
                    timed[record.launch] = _slowest_of_pairs(record, places, len(index))
            counts = count_delays(list(timed.values()), len(index), MESSAGES[pair_measure(case)])
            totals = counts if totals is None else totals + counts
        assert isinstance(totals, DelayCounts)
        return totals

    @cached_property
    def pair_times(self) -> tuple[PairTimes, ...]:
        results = []
        for case in self.cases:
            measure = pair_measure(case)
            if measure:
                results.append(PairTimes(measure, case, self._pair_table(case, pair_table)))
            if measure and case == self.delays_case:
                results.append(PairTimes(DELAYS, case, self._pair_table(case, mean_pair_table)))
        return tuple(sorted(results, key=lambda pair: list(TITLES).index(pair.measure)))

    @cached_property
    def _records(self) -> list[Record]:
        lines = {case.line for case in self.cases}
        return [record for record in self.run.records if record.case in lines]

    def _nodes_of(self, record: Record) -> list[str]:
        """The node of each rank of the case."""
        ranks = self._launch_ranks[record.launch]
        return [ranks[member] for member in record.members] if record.members else ranks

    @cached_property
    def _launch_ranks(self) -> dict[str, list[str]]:
        return {launch.launch: [rank.node for rank in launch.ranks] for launch in self.run.launches}

    def _pair_table(self, case: Case, table_of: Callable[[Record, int], np.ndarray]) -> np.ndarray:
        import numpy as np

        index = {node: k for k, node in enumerate(self.nodes)}
        tables = []
        for record in self._records:
            if record.case == case.line:
                names = self._nodes_of(record)
                ranks = [rank for rank, node in enumerate(names) if node in index]
                places = [index[names[rank]] for rank in ranks]
                table = np.full((len(index), len(index)), np.nan)
                table[np.ix_(places, places)] = table_of(record, len(names))[np.ix_(ranks, ranks)]
                tables.append(table)
        return np.array(tables)

    @cached_property
    def own_times(self) -> dict[str, np.ndarray]:
        """Log times of nodes (launches, nodes), by measure."""
        import numpy as np

        index = {node: k for k, node in enumerate(self.nodes)}
        tables: dict[str, np.ndarray] = {}
        for case in self.cases:
            measure = own_measure(case)
            rows = []
            for record in self._records if measure else ():
                if record.case != case.line:
                    continue
                row = np.full(len(index), np.nan)
                by_node: dict[str, list[float]] = {}
                for node, log_time in zip(self._nodes_of(record), rank_log_times(record), strict=True):
                    if node in index and not math.isnan(log_time):
                        by_node.setdefault(node, []).append(log_time)
                for node, values in by_node.items():
                    # a parallel program waits for the slowest core, while cores share the memory's bandwidth
                    row[index[node]] = max(values) if measure == "compute" else float(np.mean(values))
                rows.append(row)
            if rows:
                tables[measure] = np.array(rows)
        return tables


def pair_table(record: Record, ranks: int) -> np.ndarray:
    """The log times from each rank to each other in one launch: medians over the repetitions in which the
    pair met, nan where it did not."""
    import numpy as np

    from hockney.models.node_effects import group_medians

    _, pair, times = _timed_pairs(record, ranks)
    return group_medians(pair, np.log(times), ranks * ranks).reshape(ranks, ranks)


def mean_pair_table(record: Record, ranks: int) -> np.ndarray:
    """The logs of mean times, otherwise like `pair_table`."""
    import numpy as np

    _, pair, times = _timed_pairs(record, ranks)
    counts = np.bincount(pair, minlength=ranks * ranks)
    sums = np.bincount(pair, weights=times, minlength=ranks * ranks)
    table = np.full(ranks * ranks, np.nan)
    table[counts > 0] = np.log(sums[counts > 0] / counts[counts > 0])
    return table.reshape(ranks, ranks)


def _slowest_of_pairs(record: Record, places: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """For each pair and repetition, the pair (the lower place multiplied by `nodes`, plus the upper one) and
    the log of its longest time. Ranks at place -1 do not count."""
    import numpy as np

    repetition, pair, times = _timed_pairs(record, len(places))
    first, second = places[pair // len(places)], places[pair % len(places)]
    known = (first >= 0) & (second >= 0)
    pair = np.minimum(first, second) * nodes + np.maximum(first, second)
    key = (repetition * nodes * nodes + pair)[known]
    order = np.argsort(key, kind="stable")
    key, times = key[order], times[known][order]
    if not len(key):
        return key, times
    keys, starts = np.unique(key, return_index=True)
    return keys % (nodes * nodes), np.log(np.maximum.reduceat(times, starts))


def _timed_pairs(record: Record, ranks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The repetitions, pairs and times of all timed messages. Pairs are numbered by rank and partner."""
    import numpy as np

    times = np.asarray(record.metrics["pair_time"].values, dtype=float).reshape(-1, ranks)
    partners = np.asarray(record.metrics["partner"].values, dtype=int).reshape(-1, ranks)
    rank = np.broadcast_to(np.arange(ranks), partners.shape)
    timed = (times > 0) & (partners != rank)
    repetition = np.broadcast_to(np.arange(len(times))[:, None], partners.shape)
    return repetition[timed], (rank * ranks + partners)[timed], times[timed]


def rank_log_times(record: Record) -> list[float]:
    """The log time of each rank in one launch, the median over the repetitions; nan for ranks that time
    nothing."""
    import numpy as np

    metric = record.metrics["rank_time"] if "rank_time" in record.metrics else record.metrics["pair_time"]
    times = np.asarray(metric.values, dtype=float).reshape(len(record.times_s), -1)
    with np.errstate(divide="ignore"):
        medians = np.log(np.median(times, axis=0))
    return [float(value) if math.isfinite(value) else math.nan for value in medians]


def pair_measure(case: Case) -> str:
    """The measure of pairs that a case belongs to; "" for other cases."""
    if case.get("partners") != "all":
        return ""
    if case.workload == PING_PONG:
        return LATENCY
    return "" if case.workload != STREAM else BIDIRECTIONAL if case["direction"] == "both" else BANDWIDTH


def own_measure(case: Case) -> str:
    if case.workload == PING_PONG and case["partners"] == "neighbor":
        return LOCAL
    return {COMPUTE: "compute", MEMORY: "memory"}.get(case.workload, "")


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A sort key that orders n2 before n10."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name))
