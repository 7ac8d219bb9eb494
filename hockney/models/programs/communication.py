# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of a program's messages and collectives on a machine, from the fits of a run or from a machine's
description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hockney.core.case import HOT, WRITTEN, Case
from hockney.core.fit import Fits
from hockney.core.layout import LEVELS, NETWORK, farthest_level_in_node
from hockney.core.platform import Platform
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.collective_algorithms import Curve, interpolate_curve
from hockney.models.levels import levels_agree
from hockney.models.measured_costs import End, MeasuredCosts, measured_costs, message_seconds, value_or_bound


@dataclass(frozen=True)
class Communication:
    """`message` is the cost of a single message, and `measured` contains all measured costs between two
    ranks. If they differ within a node, `measured_within_node` contains the latter. `collectives` are the
    measured times of operations by number of ranks. A described machine has a `platform` instead. `end`
    selects the typical times or a bound of their intervals."""

    message: PointToPointCosts
    measured: MeasuredCosts | None = None
    measured_within_node: MeasuredCosts | None = None
    collectives: Mapping[tuple[str, int], Curve] = field(default_factory=dict)
    platform: Platform | None = None
    end: End = "value"

    def one_way(self, size: float, ranks: int) -> float:
        """Seconds of one message, the slowest among `ranks` ranks."""
        if (measured := self._measured_costs(ranks)) is not None:
            return message_seconds(measured.message, size, self.end)
        return max(self.message.one_way(size, ranks), 0.0)

    def _measured_costs(self, ranks: int) -> MeasuredCosts | None:
        """The measured costs of the slowest messages among `ranks` ranks."""
        is_within_node = self.measured_within_node is not None and ranks <= self.message.per_node(ranks)
        return self.measured_within_node if is_within_node else self.measured

    def handling_times(self, size: float, ranks: int) -> tuple[float, float]:
        """Seconds for which a pipeline's message occupies its sender and its receiver, if the receiver gets
        it in time."""
        if self.platform is not None:
            return self.platform.segment(size, on_node=ranks <= self.message.cores).handling(size)
        if (measured := self._measured_costs(ranks)) is None:
            half = self.one_way(size, ranks) / 2
            return half, half
        parts = measured.parts(size)
        return parts.send, parts.receive

    def medium_time(self, count: int, size: float, ranks: int) -> float:
        """Seconds for which `count` messages with a total of `size` bytes occupy a shared medium; 0 without
        one."""
        message_s, per_byte = self.message.medium
        if self.message.shared and not per_byte:
            per_byte = self.message.piece(size / count, ranks).per_byte_s if count else 0.0
        return count * message_s + size * per_byte

    def nic_time(self, size: float, ranks: int) -> float:
        """Seconds for which a message of a described node occupies its NIC; 0 among the ranks of one node."""
        if self.platform is None or ranks <= self.message.cores:
            return 0.0
        return size / self.platform.network.nic

    def measured_collective(self, operation: str, ranks: int, size: float) -> float | None:
        """The measured seconds of a call on this number of ranks; None if it was not measured."""
        curve = self.collectives.get((operation, ranks))
        return None if curve is None else interpolate_curve(curve, size)


def communication_from_fits(fits: Fits, message: PointToPointCosts, end: End = "value") -> Communication:
    """Communication costs from a run with a ping-pong and the costs of its messages."""
    within_node = None if message.within_node is None else measured_costs(fits, message.within_node, end)
    measured = measured_costs(fits, message.between_nodes, end)
    return Communication(message, measured, within_node, _collective_curves(fits, message, end), end=end)


def _collective_curves(fits: Fits, message: PointToPointCosts, end: End) -> dict[tuple[str, int], Curve]:
    """The times of collectives by operation and number of ranks. The ranks must be on the same number of
    nodes as the program's, as far as the cases specify it. Times with recently written data are preferred,
    since a program's data is recently written."""
    times_by_buffers: dict[str, dict[tuple[str, int], dict[float, float]]] = {HOT: {}, WRITTEN: {}}
    for workload, case, summary in fits.measured_cases("collective"):
        buffers = str(case.get("buffers", HOT))
        if buffers not in times_by_buffers or not case.with_parameter("buffers", HOT).is_usual:
            continue
        if case.setting or case.get("sync") == "loop" or workload.size_of(case) <= 0:
            continue
        if not case.is_placed or _has_matching_placement(case, message):
            times = times_by_buffers[buffers].setdefault((workload.operation, case.ranks), {})
            times[workload.size_of(case)] = value_or_bound(summary.cost(fits.cost), end)
    curves = [
        (key, times)
        for times_by_operation in times_by_buffers.values()
        for key, times in times_by_operation.items()
    ]
    barriers = _barrier_curves(fits, message, end)
    return barriers | {key: tuple(sorted(times.items())) for key, times in curves if len(times) > 1}


def _barrier_curves(fits: Fits, message: PointToPointCosts, end: End) -> dict[tuple[str, int], Curve]:
    """The times of MPI_Barrier by number of ranks."""
    curves: dict[tuple[str, int], Curve] = {}
    for _, case, summary in fits.measured_cases("barrier"):
        is_usual = case.is_usual and case.get("algorithm") == "mpi" and case.get("sync") != "loop"
        if is_usual and (not case.is_placed or _has_matching_placement(case, message)):
            curves["barrier", case.ranks] = ((0.0, value_or_bound(summary.cost(fits.cost), end)),)
    return curves


def _has_matching_placement(case: Case, message: PointToPointCosts) -> bool:
    if case.nodes and message.within_node is not None:
        return case.nodes == message.node_count(case.ranks)
    place = case.place or (NETWORK if case.nodes > 1 else farthest_level_in_node(LEVELS))
    return levels_agree(place, message.level(case.ranks).place)
