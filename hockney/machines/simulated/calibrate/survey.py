# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The data that calibration takes from a run: medians by size, trusted fits, the location of the ranks."""

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
    """The level of a simulated machine that stands for this one: a description has one within a node."""
    return place if place in ("", NETWORK) else NODE


@dataclass(frozen=True)
class Survey:
    """`name` identifies the run in the origins of numbers taken from it. With a `place`, only what was
    measured at this level counts, and the rest of the run is not there; without, only cases that leave the
    place to the launch."""

    name: str
    fits: Fits
    run: RunRecords
    machine: Machine
    place: str = ""

    def at(self, place: str) -> Survey:
        return replace(self, place=place)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The levels at which the ping-pong was measured, that is used of each kind: the farthest within a
        node, and between nodes. ("",) if the launches placed it."""
        cases = (parse_canonical(s.case) for s in self.fits.summaries)
        named = {case.place for case in cases if case.workload == self.ping_pong and case.place}
        found = (farthest_level_in_node(named), NETWORK if NETWORK in named else "")
        return tuple(place for place in found if place) or ("",)

    @property
    def levels(self) -> tuple[Survey, ...]:
        """The run at each of its `places`."""
        return tuple(self.at(place) for place in self.places)

    def refuse(self) -> None:
        """Raises for a run from which no machine can be calibrated."""
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
        """Cases with their times: of the cost to which the models were fitted."""
        cases = ((parse_canonical(s.case), s) for s in self.fits.summaries)
        return tuple((case, s.cost(self.fits.cost)) for case, s in cases if self._is_here(case, s))

    def _is_here(self, case: Case, seen: MeasuredPlacement) -> bool:
        """Operations of two ranks on one node, or on two, are at a level too."""
        if not self.place:
            return not case.is_placed
        return case.ranks == PAIR_RANKS and case.is_placed and meeting_level(case, seen) == self.place

    def pause(self, case: Case) -> float:
        """Seconds between two messages of a train, as measured, or else as requested by the case."""
        metric = next((s.metrics.get("paused") for s in self.fits.summaries if s.case == case.line), None)
        return (
            metric.typical.value if metric is not None and metric.typical.value > 0 else case.number("delay")
        )

    def medians(self, workload: str, ranks: int = PAIR_RANKS, **fixed: Value) -> dict[int, Estimate]:
        """Median times by message size of the cases whose parameters have these values; parameters that the
        workload does not have are ignored."""
        by_size = {
            case.bytes: median
            for case, median in self.measured
            if case.workload == workload
            and case.ranks == ranks
            and all(case.get(k, v) == v for k, v in fixed.items())
            and median.value > 0
        }
        return dict(sorted(by_size.items()))

    def workload(self, role: str, operation: str = "") -> str:
        """The measured workload with this role and operation, see `Catalog.name_of`."""
        return self._catalog.workload_name(role, operation)

    @cached_property
    def ping_pong(self) -> str:
        return self.workload(*PING_PONG)

    def operation_of(self, workload: str) -> str:
        """The operation of a workload; empty if it is not a collective."""
        entry = self._catalog.entry(workload)
        return entry.operation if entry.role in ("collective", "barrier") else ""

    def operation(self, name: str, **fixed: Value) -> dict[int, Estimate]:
        """Median times by size of the collective operation on two ranks, of the cases whose parameters have
        these values."""
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
        """A message's time by size, buffers hot: the ping-pong."""
        return self.medians(self.ping_pong, buffers="hot")

    @cached_property
    def hockney(self) -> Fit | None:
        fits = self.fits.select_by_role("hockney", *PING_PONG)
        return next((f for f in fits if f.subject.matches(buffers="hot") and self._of_here(f)), None)

    def _of_here(self, fit: Fit) -> bool:
        return fit.subject.get(PLACE, "") == self.place and NODES not in fit.subject

    @cached_property
    def loggp(self) -> Fit | None:
        """The fit whose lines may stand for the measured overheads."""
        fits = self.fits.select_by_role("loggp", "train")
        return next((f for f in fits if f.verdict in ("good", "fair") and self._of_here(f)), None)

    @cached_property
    def pair_nodes(self) -> set[frozenset[str]]:
        """The nodes of each launch of two ranks."""
        return {launch.nodes for launch in self.run.launches if len(launch.ranks) == PAIR_RANKS}

    @property
    def between_nodes(self) -> bool:
        """Whether its pairs of ranks were on two nodes."""
        if self.place:
            return self.place == NETWORK
        return any(len(nodes) > 1 for nodes in self.pair_nodes)

    @cached_property
    def clock_s(self) -> float:
        """The cost of a reading of the clock as used by the engine: its cost, or a tenth of its step (a
        repetition is at least 100 costs and 10 steps long); of the typical launch."""
        each = sorted(max(x.clock.overhead_s, x.clock.resolution_s / 10) for x in self.run.launches)
        return each[len(each) // 2] if each else 0.0

    def batch(self, workload: str, size: int) -> float:
        """Operations between two readings of the clock, of the typical launch; of the fastest one, which has
        most, if times are undisturbed."""
        batches = self._batches.get((workload, size), ())
        if batches and self.fits.cost == "undisturbed":
            return float(max(batches))
        return math.exp(sum(map(math.log, batches)) / len(batches)) if batches else 1.0

    def reading(self, workload: str, size: int) -> float:
        """The part of a measured time due to reading the clock; subtracted because it also occurs in the
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
        """The standard deviation of the log of a ping-pong's time, from the quartiles within launches."""
        inside = sorted(
            s.within
            for s in self.fits.summaries
            for case in [parse_canonical(s.case)]
            if case.workload == self.ping_pong and self._is_here(case, s) and math.isfinite(s.within)
        )
        return inside[len(inside) // 2] / 1.349 if inside else 0.0


def near(table: Mapping[int, float], size: float, jumps: Sequence[int] = ()) -> float:
    """A ratio at `size`, interpolated linearly over log(size); constant beyond the measured sizes, and
    between one of them and one of `jumps`: sizes from which on something else may apply."""
    sizes = sorted(table)
    if size <= sizes[0]:
        return table[sizes[0]]
    for low, high in pairwise(sizes):
        if size <= high:
            inside = [jump for jump in jumps if low < jump <= high]
            if inside and not inside[0] <= size < inside[-1]:
                return table[low if size < inside[0] else high]
            part = math.log((size + 1) / (low + 1)) / math.log((high + 1) / (low + 1))
            return table[low] + part * (table[high] - table[low])
    return table[sizes[-1]]
