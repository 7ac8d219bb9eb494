# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Data of a run for calibration: medians by size, trusted fits, location of the ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from hockney.core.case import NODES, PLACE, Case, Value, parse_canonical
from hockney.core.catalog import PING_PONG, Catalog
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Estimate, Fit, Fits
from hockney.core.layout import (
    NETWORK,
    NODE,
    PAIR_RANKS,
    MeasuredPlacement,
    farthest_level_in_node,
    meeting_level,
)
from hockney.core.machine import Machine
from hockney.core.record import RunRecords


def in_simulation(place: str) -> str:
    """Corresponding level of a simulated machine, which has only one level within a node."""
    return place if place in ("", NETWORK) else NODE


@dataclass(frozen=True)
class Survey:
    """Data of a run. `name` identifies the run in the origins of numbers. With a `place`, only measurements
    at this level are visible; without one, only cases without a specified level."""

    name: str
    fits: Fits
    run: RunRecords
    machine: Machine
    place: str = ""

    def at(self, place: str) -> Survey:
        return replace(self, place=place)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Levels at which the ping-pong was measured: the farthest level within a node, and between nodes;
        ("",) if the launcher placed the ranks."""
        cases = (parse_canonical(summary.case) for summary in self.fits.summaries)
        named_levels = {case.place for case in cases if case.workload == self.ping_pong and case.place}
        levels = (farthest_level_in_node(named_levels), NETWORK if NETWORK in named_levels else "")
        return tuple(level for level in levels if level) or ("",)

    @property
    def levels(self) -> tuple[Survey, ...]:
        """Data of the run at each of its `places`."""
        return tuple(self.at(place) for place in self.places)

    def refuse(self) -> None:
        """Raise UsageError or Inconclusive for a run from which no machine can be calibrated."""
        if self.machine.traits.simulated or any(record.simulated for record in self.run.records):
            raise UsageError(
                f"{self.name} was simulated",
                "its machine is already described",
                f"use --machine sim:{self.machine.host}",
                code="survey-was-simulated",
            )
        if not self.one_way:
            ranks = sorted({case.ranks for case, _ in self.measured if case.workload == self.ping_pong})
            counts = ", ".join(map(str, ranks))
            why = f"it was measured with ranks={counts}" if ranks else "the cost of a message is read from it"
            raise Inconclusive(
                f"{self.name} has no ping-pong on 2 ranks",
                why,
                "measure it with 'hockney survey'",
                code="survey-without-pingpong",
                ranks=tuple(ranks),
            )
        fit = self.hockney
        if fit is None or fit.verdict == "refused":
            raise Inconclusive(
                f"the ping-pong of {self.name} has no model",
                (fit.why if fit else "") or "no model fits it",
                "measure more sizes",
                code="survey-without-model",
            )
        if len({len(nodes) for nodes in self.pair_nodes}) > 1:
            raise Inconclusive(
                f"the 2 ranks of {self.name} were on one host in some launches and on two in others",
                "their times belong to two kinds of path",
                "survey each placement separately",
                code="survey-with-mixed-placement",
            )

    @cached_property
    def measured(self) -> tuple[tuple[Case, Estimate], ...]:
        """Cases with their times for the cost to which the models were fitted."""
        cases = ((parse_canonical(summary.case), summary) for summary in self.fits.summaries)
        return tuple(
            (case, summary.cost(self.fits.cost)) for case, summary in cases if self._is_here(case, summary)
        )

    def _is_here(self, case: Case, seen: MeasuredPlacement) -> bool:
        """Whether the case was measured at this level. Operations of two ranks on one or two nodes also have
        a level."""
        if not self.place:
            return not case.is_placed
        return case.ranks == PAIR_RANKS and case.is_placed and meeting_level(case, seen) == self.place

    def pause(self, case: Case) -> float:
        """Seconds between two messages of a train, as measured or, if unknown, as requested by the case."""
        metric = next(
            (summary.metrics.get("paused") for summary in self.fits.summaries if summary.case == case.line),
            None,
        )
        return (
            metric.typical.value if metric is not None and metric.typical.value > 0 else case.number("delay")
        )

    def medians(self, workload: str, ranks: int = PAIR_RANKS, **fixed: Value) -> dict[int, Estimate]:
        """Median times by message size of cases with these values of parameters. Parameters that the workload
        lacks are ignored."""
        by_size = {
            case.bytes: median
            for case, median in self.measured
            if case.workload == workload
            and case.ranks == ranks
            and all(case.get(name, value) == value for name, value in fixed.items())
            and median.value > 0
        }
        return dict(sorted(by_size.items()))

    def workload(self, role: str, operation: str = "") -> str:
        """Name of the measured workload with this role and operation, see `Catalog.name_of`."""
        return self._catalog.workload_name(role, operation)

    @cached_property
    def ping_pong(self) -> str:
        return self.workload(*PING_PONG)

    def operation_of(self, workload: str) -> str:
        """Operation of a workload; "" if it is not a collective."""
        entry = self._catalog.entry(workload)
        return entry.operation if entry.role in ("collective", "barrier") else ""

    def operation(self, name: str, **fixed: Value) -> dict[int, Estimate]:
        """Median times by size of a collective operation on two ranks, for cases with these values of
        parameters."""
        by_size: dict[int, Estimate] = {}
        for workload in self._catalog.workloads:
            if self.operation_of(workload.name) == name:
                by_size |= self.medians(workload.name, PAIR_RANKS, **fixed)
        return dict(sorted(by_size.items()))

    @cached_property
    def _catalog(self) -> Catalog:
        return Catalog(schema=self.fits.schema, engine="", workloads=self.fits.workloads)

    @cached_property
    def one_way(self) -> dict[int, Estimate]:
        """Message times by size with hot buffers, from the ping-pong."""
        return self.medians(self.ping_pong, buffers="hot")

    @cached_property
    def hockney(self) -> Fit | None:
        fits = self.fits.select_by_role("hockney", *PING_PONG)
        return next((fit for fit in fits if fit.subject.matches(buffers="hot") and self._of_here(fit)), None)

    def _of_here(self, fit: Fit) -> bool:
        return fit.subject.get(PLACE, "") == self.place and NODES not in fit.subject

    @cached_property
    def loggp(self) -> Fit | None:
        """Trusted fit of the overheads, if any."""
        fits = self.fits.select_by_role("loggp", "train")
        return next((fit for fit in fits if fit.verdict in ("good", "fair") and self._of_here(fit)), None)

    @cached_property
    def pair_nodes(self) -> set[frozenset[str]]:
        """Nodes of each launch of two ranks."""
        return {launch.nodes for launch in self.run.launches if len(launch.ranks) == PAIR_RANKS}

    @property
    def between_nodes(self) -> bool:
        """Whether the pairs of ranks were on two nodes."""
        if self.place:
            return self.place == NETWORK
        return any(len(nodes) > 1 for nodes in self.pair_nodes)

    @cached_property
    def clock_s(self) -> float:
        """Cost of reading the clock in the typical launch, as used by the engine: the measured cost or a
        tenth of the clock's step (a repetition takes at least 100 costs and 10 steps)."""
        costs = sorted(
            max(launch.clock.overhead_s, launch.clock.resolution_s / 10) for launch in self.run.launches
        )
        return costs[len(costs) // 2] if costs else 0.0

    def batch(self, workload: str, size: int) -> float:
        """Operations between two readings of the clock in the typical launch or, for undisturbed times, in
        the fastest one."""
        batches = self._batches.get((workload, size), ())
        if batches and self.fits.cost == "undisturbed":
            return float(max(batches))
        return math.exp(sum(map(math.log, batches)) / len(batches)) if batches else 1.0

    def reading(self, workload: str, size: int) -> float:
        """Part of a measured time due to reading the clock. It is subtracted because it also occurs in the
        simulation."""
        return self.clock_s / self.batch(workload, size)

    @cached_property
    def _batches(self) -> dict[tuple[str, int], list[int]]:
        batches: dict[tuple[str, int], list[int]] = {}
        for record in self.run.records:
            case = record.parse_case()
            if case.ranks == PAIR_RANKS and self._is_here(case, record):
                batches.setdefault((case.workload, case.bytes), []).append(record.batch)
        return batches

    @property
    def spread(self) -> float:
        """Standard deviation of the log of a ping-pong's time, from the quartiles within launches."""
        within_launch = sorted(
            summary.within
            for summary in self.fits.summaries
            for case in [parse_canonical(summary.case)]
            if case.workload == self.ping_pong
            and self._is_here(case, summary)
            and math.isfinite(summary.within)
        )
        return within_launch[len(within_launch) // 2] / 1.349 if within_launch else 0.0


def near(table: Mapping[int, float], size: float, jumps: Sequence[int] = ()) -> float:
    """Interpolate a ratio at `size` linearly over log(size). It is constant beyond the measured sizes and
    between a measured size and one of `jumps`, at which the ratio may change."""
    sizes = sorted(table)
    if size <= sizes[0]:
        return table[sizes[0]]
    for low, high in pairwise(sizes):
        if size <= high:
            inner_jumps = [jump for jump in jumps if low < jump <= high]
            if inner_jumps and not inner_jumps[0] <= size < inner_jumps[-1]:
                return table[low if size < inner_jumps[0] else high]
            fraction = math.log((size + 1) / (low + 1)) / math.log((high + 1) / (low + 1))
            return table[low] + fraction * (table[high] - table[low])
    return table[sizes[-1]]
