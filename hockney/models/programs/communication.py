# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a program's messages and collectives cost on a machine, from the fits of a run or from a machine's
description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hockney.core.case import HOT, WRITTEN, Case
from hockney.core.fit import Fits
from hockney.core.layout import LEVELS, NETWORK, farthest_level_in_node
from hockney.core.platform import Platform
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.collective_algorithms import Curve, on_curve
from hockney.models.levels import alike
from hockney.models.measured_costs import End, MeasuredCosts, at_end, measured_costs, seconds


@dataclass(frozen=True)
class Communication:
    """`message` is the cost of a message alone, `measured` what else a run shows between two ranks, those
    `measured_near` within a node if that differs, and `collectives` what it shows of an operation on a number
    of ranks. A described machine has a `platform` instead. `end` selects the times or an end of their
    intervals."""

    message: PointToPointCosts
    measured: MeasuredCosts | None = None
    measured_near: MeasuredCosts | None = None
    collectives: Mapping[tuple[str, int], Curve] = field(default_factory=dict)
    platform: Platform | None = None
    end: End = "value"

    def one_way(self, size: float, ranks: int) -> float:
        """Seconds of one message, the slowest among `ranks` ranks."""
        if (measured := self._measured(ranks)) is not None:
            return seconds(measured.message, size, self.end)
        return max(self.message.one_way(size, ranks), 0.0)

    def _measured(self, ranks: int) -> MeasuredCosts | None:
        """The measured costs of the slowest messages among `ranks` ranks."""
        within = self.measured_near is not None and ranks <= self.message.per_node(ranks)
        return self.measured_near if within else self.measured

    def handling(self, size: float, ranks: int) -> tuple[float, float]:
        """Seconds for which a message of a pipeline occupies its sender and its receiver, which has it when
        it needs it."""
        if self.platform is not None:
            return self.platform.segment(size, on_node=ranks <= self.message.cores).handling(size)
        if (measured := self._measured(ranks)) is None:
            half = self.one_way(size, ranks) / 2
            return half, half
        parts = measured.parts(size)
        return parts.send, parts.receive

    def on_medium(self, count: int, size: float, ranks: int) -> float:
        """Seconds for which `count` messages with `size` bytes altogether occupy a shared medium; 0 without
        one."""
        each_s, per_byte = self.message.medium
        if self.message.shared and not per_byte:
            per_byte = self.message.piece(size / count, ranks).per_byte_s if count else 0.0
        return count * each_s + size * per_byte

    def through_nic(self, size: float, ranks: int) -> float:
        """Seconds for which a message of a described node occupies its NIC; 0 among the ranks of one node."""
        if self.platform is None or ranks <= self.message.cores:
            return 0.0
        return size / self.platform.network.nic

    def measured_collective(self, operation: str, ranks: int, size: float) -> float | None:
        """Seconds of a call as a run measured it on this number of ranks; None if it did not."""
        curve = self.collectives.get((operation, ranks))
        return None if curve is None else on_curve(curve, size)


def of_fits(fits: Fits, message: PointToPointCosts, end: End = "value") -> Communication:
    """Communication costs from a run with a ping-pong, whose messages cost `message`."""
    near = None if message.near is None else measured_costs(fits, message.near, end)
    measured = measured_costs(fits, message.between, end)
    return Communication(message, measured, near, _collectives(fits, message, end), end=end)


def _collectives(fits: Fits, message: PointToPointCosts, end: End) -> dict[tuple[str, int], Curve]:
    """The times of collectives by operation and number of ranks. The ranks are on as many nodes as a
    program's, as far as the cases name them; the data was just written, as a program's is, if the run
    measured such data."""
    found: dict[str, dict[tuple[str, int], dict[float, float]]] = {HOT: {}, WRITTEN: {}}
    for workload, case, summary in fits.measured("collective"):
        buffers = str(case.get("buffers", HOT))
        if buffers not in found or not case.with_parameter("buffers", HOT).is_usual:
            continue
        if case.setting or case.get("sync") == "loop" or workload.size_of(case) <= 0:
            continue
        if not case.is_placed or _placed_alike(case, message):
            times = found[buffers].setdefault((workload.operation, case.ranks), {})
            times[workload.size_of(case)] = at_end(summary.cost(fits.cost), end)
    curves = [(key, times) for measured in found.values() for key, times in measured.items()]
    barriers = _barriers(fits, message, end)
    return barriers | {key: tuple(sorted(times.items())) for key, times in curves if len(times) > 1}


def _barriers(fits: Fits, message: PointToPointCosts, end: End) -> dict[tuple[str, int], Curve]:
    """The times of MPI_Barrier by number of ranks."""
    times: dict[tuple[str, int], Curve] = {}
    for _, case, summary in fits.measured("barrier"):
        usual = case.is_usual and case.get("algorithm") == "mpi" and case.get("sync") != "loop"
        if usual and (not case.is_placed or _placed_alike(case, message)):
            times["barrier", case.ranks] = ((0.0, at_end(summary.cost(fits.cost), end)),)
    return times


def _placed_alike(case: Case, message: PointToPointCosts) -> bool:
    if case.nodes and message.near is not None:
        return case.nodes == message.count_of_nodes(case.ranks)
    place = case.place or (NETWORK if case.nodes > 1 else farthest_level_in_node(LEVELS))
    return alike(place, message.level(case.ranks).place)
