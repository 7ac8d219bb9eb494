# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a program in the BSP model, in the BPRAM model, and with one or several of their assumptions
repaired.

    BSP     w + g h + L        g h is o for each packet and G for each byte: g = o + 4 G for words of 4 bytes
    BPRAM   w + sigma m + l    for each block of m bytes that a rank sends

L. G. Valiant, Communications of the ACM 33 (1990) 103; A. Aggarwal, A. K. Chandra, M. Snir, SPAA 1989. B. H.
H. Juurlink (1998) compared both with an Intel Paragon, and named what they neglect. Each is a repair:

    startups    L stands for a full relation with its 2 (p - 1) messages. A superstep costs d + s startups,
                the most messages that a rank sends and receives, besides what an empty one takes (about
                log p startups).
    sparse      in a full relation, the bytes of a message travel during the startups of others. If there are
                few messages, the first takes what the only message of a superstep takes, and each of the
                others the longer of its startup and its bytes.
    balance     g and sigma are those of a network in which all ranks send at once. If few do, a byte costs
                less: G_1 for each byte of h, and the rest of G for each byte that a rank sends on average,
                the volume of E-BSP (B. H. H. Juurlink, H. A. G. Wijshoff, ACM Transactions on Computer
                Systems 16 (1998) 271). The same holds for l.
    copies      bytes that a rank copies in its own memory, to pack and unpack what it sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeVar

from hockney.suites.bsp.models.parameters import Bpram, BulkCosts, NotMeasured
from hockney.suites.bsp.models.programs import LocalWork, Superstep

T = TypeVar("T")
Base = Literal["bsp", "bpram"]
Repair = Literal["startups", "sparse", "balance", "copies"]
REPAIRS: dict[Base, tuple[Repair, ...]] = {
    "bsp": ("startups", "sparse", "balance", "copies"),
    "bpram": ("balance", "copies"),
}
"""Repairs that apply to each model."""


@dataclass(frozen=True)
class CostTerms:
    """Seconds by cause: `work` and `copies` of the busiest rank, `data` for bytes and packets, `messages` for
    startups and synchronisation."""

    work: float = 0.0
    copies: float = 0.0
    data: float = 0.0
    messages: float = 0.0

    def __add__(self, other: CostTerms) -> CostTerms:
        return CostTerms(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def times(self, count: int) -> CostTerms:
        return CostTerms(*(count * getattr(self, f.name) for f in fields(self)))

    @property
    def total(self) -> float:
        return self.work + self.copies + self.data + self.messages

    @property
    def communication(self) -> float:
        """Everything except the work."""
        return self.total - self.work


@dataclass(frozen=True)
class CostModel:
    """One of the two models with some of its assumptions repaired."""

    base: Base
    repairs: frozenset[Repair] = frozenset()

    @property
    def name(self) -> str:
        """ "bsp", "bsp+startups", "bsp-repaired" with all repairs."""
        if not self.repairs:
            return self.base
        if len(self.repairs) == len(REPAIRS[self.base]):
            return f"{self.base}-repaired"
        return "+".join((self.base, *(name for name in REPAIRS[self.base] if name in self.repairs)))

    def without(self, repair: Repair) -> CostModel:
        return replace(self, repairs=self.repairs - {repair})


def repaired(base: Base) -> CostModel:
    """The model with all repairs."""
    return CostModel(base, frozenset(REPAIRS[base]))


def predict(supersteps: Iterable[Superstep], machine: BulkCosts, model: CostModel) -> CostTerms:
    """Seconds of a program. Raises NotMeasured."""
    total = CostTerms()
    for each in supersteps:
        total += superstep_cost(each, machine, model).times(each.count)
    return total


def superstep_cost(superstep: Superstep, machine: BulkCosts, model: CostModel) -> CostTerms:
    """Seconds of one superstep; its count is ignored. Raises NotMeasured."""
    work = sum(local_seconds(each, machine) for each in superstep.work)
    if not superstep.synchronised:
        return CostTerms(work)
    copies = 0.0
    if "copies" in model.repairs and superstep.copied:
        copies = local_seconds(LocalWork.of("copy", superstep.copied), machine)
    if model.base == "bpram":
        bpram = require(machine.bpram, "sigma and l")
        return CostTerms(work, copies, *_block_seconds(superstep, bpram, model))
    return CostTerms(work, copies, *_relation_seconds(superstep, machine, model))


def local_seconds(work: LocalWork, machine: BulkCosts) -> float:
    """Raises NotMeasured."""
    try:
        return machine.rates.seconds(work)
    except KeyError:
        raise NotMeasured(f"the rate of {work.operation}") from None


def _block_seconds(superstep: Superstep, bpram: Bpram, model: CostModel) -> tuple[float, float]:
    """Seconds of the bytes and of the startups of blocks."""
    data, startups = superstep.bytes * bpram.sigma, superstep.startups * bpram.startup
    if "balance" in model.repairs and bpram.sigma_alone is not None and bpram.startup_alone is not None:
        data = _unbalanced_seconds(superstep, bpram.sigma, bpram.sigma_alone)
        if superstep.bytes:
            startup_s = _unbalanced_seconds(superstep, bpram.startup, bpram.startup_alone) / superstep.bytes
            startups = superstep.startups * startup_s
    return data, startups


def _relation_seconds(superstep: Superstep, machine: BulkCosts, model: CostModel) -> tuple[float, float]:
    """Seconds of an h-relation's bytes and packets, and of its startups and synchronisation."""
    bsp = require(machine.bsp, "g and L")
    startups = superstep.startups
    messages_s, per_byte = bsp.L, bsp.per_byte
    if "startups" in model.repairs:
        messages_s = require(bsp.empty, "an empty superstep")
        messages_s += (superstep.sends + superstep.receives) * require(bsp.startup, "a startup")
    is_sparse = "sparse" in model.repairs and 0 < startups < machine.ranks - 1
    if is_sparse:
        per_byte = max(per_byte, require(bsp.single_per_byte, "the only message of a superstep"))
    bytes_s = superstep.bytes * per_byte
    is_balanced = "balance" in model.repairs
    if is_balanced and bsp.per_byte_alone is not None:
        bytes_s = _unbalanced_seconds(superstep, per_byte, min(per_byte, bsp.per_byte_alone))
    if is_sparse:
        pair_s = 2 * require(bsp.startup, "a startup")
        single_s = require(bsp.single_startup, "the only message of a superstep")
        if is_balanced and bsp.startup_alone is not None and superstep.bytes:
            single_s = _unbalanced_seconds(superstep, single_s, bsp.startup_alone) / superstep.bytes
        messages_s += single_s - pair_s
        bytes_s = bytes_s / startups + (startups - 1) * max(0.0, bytes_s / startups - pair_s)
    return superstep.packets * bsp.packet + bytes_s, messages_s


def _unbalanced_seconds(superstep: Superstep, full_relation: float, alone: float) -> float:
    """`alone` for each byte of h, plus what other ranks' bytes add for each byte that a rank sends on
    average."""
    return superstep.bytes * alone + superstep.mean_bytes * (full_relation - alone)


def require(value: T | None, what: str) -> T:
    """Raises NotMeasured."""
    if value is None:
        raise NotMeasured(what)
    return value


CLOSE_ERROR = 0.1
"""A model with a smaller relative error is right."""
MIN_CORRECTION = 1 / 3
"""An assumption is named if its repair removes at least this part of the error."""

ASSUMPTIONS: dict[Repair, str] = {
    "startups": "every superstep pays for the messages of a full relation",
    "sparse": "the bytes of a message travel during the startups of others",
    "balance": "all ranks send as much as the busiest one",
    "copies": "a rank copies no data in its own memory",
}
"""Assumptions of the models, by the repair that drops each."""


@dataclass(frozen=True)
class Diagnosis:
    """`error`: (predicted - measured) / measured of the model `base`. `failing`: the assumption whose repair
    reduces it most (None if the error is small or no repair suffices). `corrected`: the error after that
    repair."""

    base: Base
    error: float
    failing: Repair | None = None
    corrected: float | None = None


def relative_error(predicted: float, measured: float) -> float:
    return predicted / measured - 1


def diagnose(
    supersteps: Sequence[Superstep], machine: BulkCosts, base: Base, measured: float
) -> Diagnosis | None:
    """The error of the model `base` and the assumption that fails; None if the model's parameters were not
    measured."""
    try:
        error = relative_error(predict(supersteps, machine, CostModel(base)).total, measured)
    except NotMeasured:
        return None
    errors: dict[Repair, float] = {}
    for repair in REPAIRS[base]:
        try:
            time = predict(supersteps, machine, CostModel(base, frozenset({repair}))).total
        except NotMeasured:
            continue
        errors[repair] = relative_error(time, measured)
    best = min(errors, key=lambda repair: abs(errors[repair]), default=None)
    if best is None or abs(error) <= CLOSE_ERROR or abs(errors[best]) > (1 - MIN_CORRECTION) * abs(error):
        return Diagnosis(base, error)
    return Diagnosis(base, error, best, errors[best])
