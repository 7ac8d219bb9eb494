# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a collective operation on a described machine, from the algorithm named in its description.

Each algorithm is a message schedule, run by the LogGP simulator. Overlapping steps, uneven trees and rank
counts that are not a power of two are simulated exactly. With P = 2**k equal ranks, and m(x) = o_s + L + G x
+ o_r, the times reduce to closed forms:

    dissemination barrier   k m(0)                            Hensgen, Finkel and Manber 1988
    binomial broadcast      k m(x)                            each step's receivers are later steps' senders
    binomial reduction      k (m(x) + c x)                    c: time to add, per byte
    recursive doubling      k (m(x) + c x)                    Thakur, Rabenseifner and Gropp 2005
    linear gather           o_s + L + G x + (P-1) o_r         Alexandrov, Ionescu, Schauser, Scheiman 1995
    linear scatter          (P-1) o_s + L + G x + o_r
    pairwise exchange       (P-1) m(x)

No algorithm models messages that share a link: predict() returns None if links must be the bottleneck."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.platform import Platform
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.routes import UNLIMITED
from hockney.models.schedules import NotModelled, Tally
from hockney.models.schedules.smpi import smpi_schedules

Curve = Sequence[tuple[float, float]]
"""Bytes of each rank's block or vector, ascending, and seconds."""


def predict(platform: Platform, operation: str, ranks: int, size: int) -> float | None:
    """Seconds from the common start of `operation` until the last of the `ranks` ranks ends, with root 0.
    `size` is the bytes of each rank's block or vector. None if the algorithm is not modelled, or if messages
    must wait for each other at a NIC, on a bus or a medium. Contention on a cable of a torus or a mesh is not
    detected."""
    if not 1 <= ranks <= platform.capacity or size < 0:
        return None
    if operation == "barrier" and (barrier_s := platform.barrier_s(ranks)) is not None:
        return barrier_s
    schedules = smpi_schedules(platform.collectives, operation)
    network = platform.network
    if schedules is None or network.medium_message_s or network.medium_s_per_byte:
        return None
    call = call_time(platform, operation, size)
    if ranks == 1:
        return call
    simulator = LogGPSimulator(platform, ranks)
    busiest = 0.0
    try:
        for phase in schedules[1]:
            tally = Tally(ranks)
            for step in phase(ranks, size):
                simulator.take(step)
                tally.add(step)
            busiest += tally.max_bytes(shared=network.duplex == "half")
    except NotModelled:
        return None
    time = float(simulator.now.max())
    return None if _min_shared_time(platform, busiest, ranks) > time else call + time


def call_time(platform: Platform, operation: str, size: int) -> float:
    """Time of the call on each rank before any message."""
    points = platform.calls.get(operation)
    return interpolate_curve(points, size) if points else 0.0


def interpolate_curve(points: Curve, size: float) -> float:
    """Interpolate linearly between the sizes; constant below them, and proportional to the bytes above
    them."""
    last, seconds = points[-1]
    if size > last > 0:
        return seconds * size / last
    sizes, times = zip(*points, strict=True)
    return float(np.interp(size, sizes, times))


def _min_shared_time(platform: Platform, busiest: float, ranks: int) -> float:
    """Minimum time that the NIC of the busiest node, or the single cable of a bus, must work."""
    network = platform.network
    cores = min(max(group.cores for group in platform.nodes), ranks)
    nic = busiest * cores / network.nic if network.nic < UNLIMITED else 0.0
    cable = busiest * ranks / network.link if network.shape == "bus" and network.link < UNLIMITED else 0.0
    return max(nic, cable)
