# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Bulk synchronous programs as described ones (`hockney.models.programs`), and a machine's parameters as the
costs of their messages.

A superstep is local work, messages of each rank that sends to the ranks after it, and a barrier; blocks of
BPRAM are followed by a wait for the slowest rank, which takes no time. On these costs a program takes what
its model says: w + g h + L, or w + sigma m + l. If startups were measured, a superstep pays for its own
messages and not for those of a full relation (the repair `startups` in `costs`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.models.measured_costs import LocalCost, MeasuredCosts
from hockney.models.programs.communication import Communication
from hockney.models.programs.parts import CollectivePart, Iteration, Part, StepsPart, join
from hockney.models.programs.patterns import to_next
from hockney.models.schedules.schedule import Step
from hockney.suites.bsp.models.costs import Base, local_seconds, require
from hockney.suites.bsp.models.parameters import BulkCosts
from hockney.suites.bsp.models.programs import Superstep

NAMES: dict[Base, str] = {"bsp": "supersteps", "bpram": "blocks"}


def iteration(supersteps: Iterable[Superstep], ranks: int, machine: BulkCosts, base: Base) -> Iteration:
    """The whole program, with the local work of the machine. Raises NotMeasured."""
    parts = (tuple(_parts(each, ranks, machine, base)) * each.count for each in supersteps)
    return join(((part, 1.0) for of_superstep in parts for part in of_superstep), ranks)


def _parts(superstep: Superstep, ranks: int, machine: BulkCosts, base: Base) -> Iterator[Part]:
    for work in superstep.work:
        seconds = np.full(ranks, local_seconds(work, machine))
        yield StepsPart(work.operation, (Step((), computed=seconds),))
    if not superstep.synchronised:
        return
    steps = []
    if superstep.bytes and ranks > 1:
        senders = max(1, round(ranks * superstep.mean_bytes / superstep.bytes))
        partners = min(superstep.sends, ranks - 1)
        steps = [to_next(ranks, np.full(senders, superstep.bytes / partners), partners)]
    if base == "bpram":
        yield StepsPart(NAMES[base], (*steps, Step((), joins=True)))
        return
    if steps:
        yield StepsPart(NAMES[base], tuple(steps))
    yield CollectivePart(f"{NAMES[base]}: barrier", "barrier", 0)


def communication(machine: BulkCosts, base: Base, packet: int, source: str) -> Communication:
    """The costs of messages and barriers, from the parameters of `source`; with a `packet`, each message
    consists of packets of as many bytes, also for its tags. Raises NotMeasured."""
    startup, barrier_s = 0.0, 0.0
    if base == "bpram":
        bpram = require(machine.bpram, "sigma and l")
        latency, per_byte = bpram.startup, bpram.sigma
    else:
        bsp = require(machine.bsp, "g and L")
        latency, per_byte = (
            (0.0, bsp.per_byte + bsp.packet / packet) if packet else (bsp.packet, bsp.per_byte)
        )
        barrier_s = bsp.L
        if bsp.startup is not None and bsp.empty is not None:
            startup, barrier_s = bsp.startup, bsp.empty
    message = PointToPointCosts(
        name=base,
        title=f"{base.upper()} parameters",
        pieces=(CostPiece(0, latency + 2 * startup, per_byte),),
        shared=False,
        source=source,
    )
    handling = (latency + startup, per_byte, startup, 0.0)
    measured = MeasuredCosts(message, None, None, handling, LocalCost(), LocalCost(), LocalCost())
    barrier = {("barrier", machine.ranks): ((0.0, barrier_s),)}
    return Communication(message, measured, collectives=barrier)
