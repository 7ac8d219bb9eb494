# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Bulk synchronous programs as program descriptions (`hockney.models.programs`), and a machine's parameters
as the costs of their messages.

A superstep consists of local work, messages from each sending rank to the ranks after it, and a barrier.
Blocks of BPRAM are followed by a wait for the slowest rank, which takes no time of its own. With these costs,
a program takes the time of its model: w + g h + L, or w + sigma m + l. If startups were measured, a superstep
pays for its own messages and not for those of a full relation (the repair `startups` in `costs`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.models.measured_costs import LocalCost, MeasuredCosts
from hockney.models.programs.communication import Communication
from hockney.models.programs.parts import CollectivePart, Iteration, Part, StepsPart, join_parts
from hockney.models.programs.patterns import messages_to_next
from hockney.models.schedules.schedule import Step
from hockney.suites.bsp.models.costs import BaseModel, local_seconds, require
from hockney.suites.bsp.models.parameters import BulkCosts
from hockney.suites.bsp.models.programs import Superstep

STEP_NAMES: dict[BaseModel, str] = {"bsp": "supersteps", "bpram": "blocks"}


def iteration(supersteps: Iterable[Superstep], ranks: int, machine: BulkCosts, base: BaseModel) -> Iteration:
    """Returns the entire program as one iteration, with local work at the machine's rates. Raises
    MissingParameter."""
    parts_by_superstep = (
        tuple(_superstep_parts(superstep, ranks, machine, base)) * superstep.count for superstep in supersteps
    )
    return join_parts(
        ((part, 1.0) for superstep_parts in parts_by_superstep for part in superstep_parts), ranks
    )


def _superstep_parts(superstep: Superstep, ranks: int, machine: BulkCosts, base: BaseModel) -> Iterator[Part]:
    for work in superstep.work:
        seconds = np.full(ranks, local_seconds(work, machine))
        yield StepsPart(work.operation, (Step((), computed=seconds),))
    if not superstep.synchronised:
        return
    steps = []
    if superstep.bytes and ranks > 1:
        senders = max(1, round(ranks * superstep.mean_bytes / superstep.bytes))
        partners = min(superstep.max_destinations, ranks - 1)
        steps = [messages_to_next(ranks, np.full(senders, superstep.bytes / partners), partners)]
    if base == "bpram":
        yield StepsPart(STEP_NAMES[base], (*steps, Step((), joins=True)))
        return
    if steps:
        yield StepsPart(STEP_NAMES[base], tuple(steps))
    yield CollectivePart(f"{STEP_NAMES[base]}: barrier", "barrier", 0)


def communication(machine: BulkCosts, base: BaseModel, packet: int, source: str) -> Communication:
    """Returns the costs of messages and barriers, from the parameters of `source`. A nonzero `packet` is the
    size in bytes of the packets into which each message is split. Raises MissingParameter."""
    startup, barrier_s = 0.0, 0.0
    if base == "bpram":
        bpram = require(machine.bpram, "sigma and l")
        latency, per_byte = bpram.startup_s, bpram.sigma
    else:
        bsp = require(machine.bsp, "g and L")
        latency, per_byte = (
            (0.0, bsp.per_byte_s + bsp.packet_s / packet) if packet else (bsp.packet_s, bsp.per_byte_s)
        )
        barrier_s = bsp.L
        if bsp.startup_s is not None and bsp.empty_s is not None:
            startup, barrier_s = bsp.startup_s, bsp.empty_s
    message = PointToPointCosts(
        name=base,
        title=f"{base.upper()} parameters",
        pieces=(CostPiece(0, latency + 2 * startup, per_byte),),
        shared=False,
        source=source,
    )
    handling = (latency + startup, per_byte, startup, 0.0)
    measured_costs = MeasuredCosts(message, None, None, handling, LocalCost(), LocalCost(), LocalCost())
    barrier = {("barrier", machine.ranks): ((0.0, barrier_s),)}
    return Communication(message, measured_costs, collectives=barrier)
