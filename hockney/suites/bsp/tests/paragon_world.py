# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A Paragon with known costs of supersteps and blocks, for the tests of its reproduction."""

from __future__ import annotations

import math
from dataclasses import dataclass

from paper_answers import Time

from hockney.core.case import Case
from hockney.core.record import MetricSeries
from hockney.machines import simulated
from hockney.reproductions import Part
from hockney.suites.bsp.models.costs import CostModel, fully_repaired_model, predict
from hockney.suites.bsp.models.parameters import BpramParameters, BspParameters, BulkCosts
from hockney.suites.bsp.models.programs import supersteps
from hockney.suites.bsp.reproductions.paragon_kernels import KERNELS, local_rates


@dataclass(frozen=True)
class ParagonWorld:
    """Seconds of an empty superstep, and more for each of its log p steps, of a startup at either end, of a
    packet, a byte and a word that is sent at once, and of a block; those of a message alone are the paper's,
    and those of a byte's buffer are those of the description. Kernels take what the models with all repairs
    predict, or what the `plain` ones do."""

    superstep: float = 0.5e-3

    step: float = 216e-6
    startup: float = 80e-6
    packet: float = 5.9e-6
    byte: float = 0.0226e-6
    naive: float = 130e-6
    block: float = 1e-3
    plain: bool = False

    @property
    def buffer(self) -> float:
        return simulated.platform("paragon").libraries.buffer_s_per_byte

    def costs(self, ranks: int) -> BulkCosts:
        empty = self.superstep + self.step * math.ceil(math.log2(ranks))
        alone = 146e-6, 0.0115e-6
        whole = empty + 2 * (ranks - 1) * self.startup
        single = 2 * self.startup
        bsp = BspParameters(
            whole,
            self.packet,
            self.byte,
            empty,
            self.startup,
            single,
            self.byte,
            min(single, alone[0]),
            alone[1],
        )
        bpram = BpramParameters(self.byte, self.block, min(self.byte, alone[1]), min(self.block, alone[0]))
        return BulkCosts(ranks, bsp, bpram, local_rates(simulated.platform("paragon")))

    def metrics(self, case: Case, seconds: float) -> dict[str, MetricSeries]:
        """Metrics of a case: the parts of a relation by puts, or the communication of a kernel."""
        if case.workload == "h_relation":
            words = case["h"] * 4 / case["packet"]
            parts = {"write": self.packet / 2 * words, "read": self.packet / 2 * words}
            parts["exchange"] = seconds - sum(parts.values())
            return {name: series(value, "record") for name, value in parts.items()}
        if case.workload not in KERNELS:
            return {}
        speeds = local_rates(simulated.platform("paragon"))
        steps = supersteps(KERNELS[case.workload][0], case) or ()
        work = sum(step.count * speeds.seconds(each) for step in steps for each in step.work)
        return {"communication": series(seconds - work, "repetition")}

    def time(self, case: Case) -> float:
        if case.workload == "pingpong":
            return 146e-6 + 0.0115e-6 * case.bytes
        if case.workload == "block_permutation":
            return self.block + self.byte * case.bytes
        bsp = self.costs(case.ranks).bsp
        if case.workload == "bsp_sync":
            return bsp.empty_s
        if case.workload == "h_relation":
            bytes = 4 * case["h"]
            if case["method"] == "mpi":
                return bsp.empty_s + self.naive * bytes / case["packet"]
            return bsp.L + self.packet * bytes / case["packet"] + (self.byte + self.buffer) * bytes
        base = "bsp" if case["style"] == "bsp" else "bpram"
        model = CostModel(base) if self.plain else fully_repaired_model(base)
        return predict(supersteps(KERNELS[case.workload][0], case), self.costs(case.ranks), model).total


def series(value: float, per: str) -> MetricSeries:
    return MetricSeries(unit="s", over_ranks="max", per=per, phase=False, values=[value])


PARAGON = ParagonWorld()


def on_paragon(start=146e-6, both=216e-6, link=175e6, world: ParagonWorld = PARAGON) -> Time:
    def time(part: Part, case: Case) -> float:
        if part.name.startswith(("bsp-", "slow-copies")):
            return world.time(case)
        if case.workload == "bisection":
            one = case["direction"] == "one"
            return both + case.bytes * max(0.0113e-6 if one else 0.0226e-6, case.ranks / 2 / link)
        return (
            start + 0.0115e-6 * case.bytes if case.workload == "pingpong" else both + 0.0226e-6 * case.bytes
        )

    return time
