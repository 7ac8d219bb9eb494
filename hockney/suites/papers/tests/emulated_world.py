# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of the reproductions on emulated machines from made-up times."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
from made_up import made_up
from paper_answers import CATALOG

from hockney.core.case import Case
from hockney.core.ethernet import Ethernet
from hockney.core.machine import Machine
from hockney.core.record import RunRecords
from hockney.machines import simulated
from hockney.models.barriers import traffic
from hockney.reproductions import Answer, Part, Reproduction

LAUNCHES = 3
Time = Callable[[Case], "float | None"]

LATENCY_S, PER_BYTE_S = 90e-6, 0.83e-6
"""10 Mbit/s: the headers of a message take the wire for nearly all of its latency."""


def one_way(size: int) -> float:
    return LATENCY_S + PER_BYTE_S * size


ACKNOWLEDGEMENT_S = 72e-6
ACKNOWLEDGEMENTS = {"mcs_tree": 14 / 30, "dissemination_mcs": 35 / 64}
"""Frames for each message of a barrier where no answer carries them (switched-ethernet.md)."""


def ethernet(shared: bool = True, *, exchanges: float = 1.0, acknowledged: bool = True) -> Time:
    """A network on which each message holds the medium for its whole time, or a switch. `exchanges` lengthens
    those of more than two hosts. On one medium, acknowledgements take their time too."""

    def exchange(case: Case) -> float:
        at_once = case.ranks / 2 if shared else 1.0
        return 2 * at_once * one_way(case.bytes) * (exchanges if case.ranks > 2 else 1.0)

    def time(case: Case) -> float:
        if case.workload == "round_robin":
            return exchange(case)
        if case.workload == "granularity":
            return float(case["work"]) / case.ranks + exchange(case)
        if case.workload == "barrier":
            algorithm = "recursive_doubling" if case["algorithm"] == "mpi" else str(case["algorithm"])
            if not shared:
                return _rounds(algorithm, case.ranks) * one_way(0)
            frames = ACKNOWLEDGEMENTS.get(algorithm, 0.0) * acknowledged
            return traffic(algorithm, case.ranks).messages * (one_way(0) + frames * ACKNOWLEDGEMENT_S)
        return one_way(case.bytes)

    return time


def _rounds(algorithm: str, ranks: int) -> int:
    """Messages one after the other on the longest way, with a switch whose ports take one at a time."""
    deep = math.ceil(math.log2(ranks))
    one_port = {"central": 2 * (ranks - 1), "total_exchange": ranks - 1}
    return one_port.get(algorithm, 2 * deep if algorithm in ("mcs_tree", "tournament_parity") else deep)


def machine(medium: str) -> Machine:
    """The hosts of an emulated machine; without a description if `medium` is empty."""
    described = Ethernet(name="x", title="X", hosts=16, rate=1.25e6, medium=medium) if medium else None
    return Machine(
        schema=2, kind="emulated", host="x", system="Linux", cpu="", cores=2, threads=2, hockney="0",
        hosts=[f"h{i}" for i in range(1, 17)], ranks_per_node=1, emulated=described,
    )  # fmt: skip


def answers(
    study: Reproduction, measured: Time, simulate: Callable[[Part, Case], float | None], medium: str = "bus"
) -> dict[str, Answer]:
    """`measured` are the times on the emulated machine, which differ by 1% between launches."""
    found = {}
    for part in study.parts(CATALOG):
        records = []
        for case in part.cases:
            seconds = measured(case) if part.on else simulate(part, case)
            if seconds is None:
                continue
            for launch in range(LAUNCHES if part.on else 1):
                record = made_up(case, seconds * (1 + 0.01 * (launch - 1) * bool(part.on)))
                records.append(msgspec.structs.replace(record, launch=f"{launch}.0"))
        here = machine(medium) if part.on else None
        found[part.name] = Answer(part, simulated.platform(part.machine), RunRecords.of(records), here)
    return found
