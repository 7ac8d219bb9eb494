# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a program in the BSP model, in the BPRAM model, and in variants that repair their assumptions.

    BSP     w + g h + L        g h is o for each packet and G for each byte: g = o + 4 G for words of 4 bytes
    BPRAM   w + sigma m + l    for each block of m bytes that a rank sends

L. G. Valiant, Communications of the ACM 33 (1990) 103; A. Aggarwal, A. K. Chandra, M. Snir, SPAA 1989. B. H.
H. Juurlink (1998) compared both with an Intel Paragon, and named the costs that they neglect. These are the
repairs that add them:

    startups   L is that of a full relation with its 2 (p - 1) messages. With this repair, a superstep costs
                the time of an empty one (about log p startups) and d + s startups, where d and s are the
                maximum numbers of messages that a rank sends and receives.
    sparse     in a full relation, the bytes of a message travel during the startups of others. With few
                messages, the first takes as long as the only message of a superstep, and each of the
                others takes the time of its startup or of its bytes, whichever is longer.
    balance    g and sigma are those of a network in which all ranks send at once. If few ranks send, a byte
                costs less: G_1 for each byte of h, and G - G_1 for each byte that a rank sends on average,
                the volume of E-BSP (B. H. H. Juurlink, H. A. G. Wijshoff, ACM Transactions on Computer
                Systems 16 (1998) 271). The same holds for l.
   copies      a rank copies bytes in its own memory, to pack and unpack messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeVar

from hockney.suites.bsp.models.parameters import BpramParameters, BulkCosts, MissingParameter
from hockney.suites.bsp.models.programs import LocalWork, Superstep

_T = TypeVar("_T")
BaseModel = Literal["bsp", "bpram"]
Repair = Literal["startups", "sparse", "balance", "copies"]
REPAIRS: dict[BaseModel, tuple[Repair, ...]] = {
    "bsp": ("startups", "sparse", "balance", "copies"),
    "bpram": ("balance", "copies"),
}
"""Repairs that apply to each model."""


@dataclass(frozen=True)
class CostTerms:
    """Seconds by cause. `work` and `copies` are those of the busiest rank, `data` is the time of bytes and
    packets, and `messages` the time of startups and synchronisation."""

    work: float = 0.0
    copies: float = 0.0
    data: float = 0.0
    messages: float = 0.0

    def __add__(self, other: CostTerms) -> CostTerms:
        return CostTerms(*(getattr(self, term.name) + getattr(other, term.name) for term in fields(self)))

    def scale(self, count: int) -> CostTerms:
        return CostTerms(*(count * getattr(self, term.name) for term in fields(self)))

    @property
    def total(self) -> float:
        return self.work + self.copies + self.data + self.messages

    @property
    def communication(self) -> float:
        """Seconds of everything except the work."""
        return self.total - self.work


@dataclass(frozen=True)
class CostModel:
    """The BSP or the BPRAM model, with some of its assumptions repaired."""

    base: BaseModel
    repairs: frozenset[Repair] = frozenset()

    @property
    def name(self) -> str:
        """The model's name, such as "bsp", "bsp+startups", or "bsp-repaired" with all repairs."""
        if not self.repairs:
            return self.base
        if len(self.repairs) == len(REPAIRS[self.base]):
            return f"{self.base}-repaired"
        return "+".join((self.base, *(name for name in REPAIRS[self.base] if name in self.repairs)))

    def without_repair(self, repair: Repair) -> CostModel:
        return replace(self, repairs=self.repairs - {repair})


def fully_repaired_model(base: BaseModel) -> CostModel:
    """Returns the model with all repairs."""
    return CostModel(base, frozenset(REPAIRS[base]))


def predict(supersteps: Iterable[Superstep], machine: BulkCosts, model: CostModel) -> CostTerms:
    """Predicts the seconds of a program, by cause. Raises MissingParameter."""
    total = CostTerms()
    for superstep in supersteps:
        total += superstep_cost(superstep, machine, model).scale(superstep.count)
    return total


def superstep_cost(superstep: Superstep, machine: BulkCosts, model: CostModel) -> CostTerms:
    """Predicts the seconds of one superstep, by cause. Ignores its count. Raises MissingParameter."""
    work = sum(local_seconds(work_item, machine) for work_item in superstep.work)
    if not superstep.synchronised:
        return CostTerms(work)
    copies = 0.0
    if "copies" in model.repairs and superstep.copied_bytes:
        copies = local_seconds(LocalWork.of("copy", superstep.copied_bytes), machine)
    if model.base == "bpram":
        bpram = require(machine.bpram, "sigma and l")
        return CostTerms(work, copies, *_block_seconds(superstep, bpram, model))
    return CostTerms(work, copies, *_relation_seconds(superstep, machine, model))


def local_seconds(work: LocalWork, machine: BulkCosts) -> float:
    """Raises NotMeasured."""
    try:
        return machine.rates.seconds(work)
    except KeyError:
        raise MissingParameter(f"the rate of {work.operation}") from None


def _block_seconds(superstep: Superstep, bpram: BpramParameters, model: CostModel) -> tuple[float, float]:
    """Returns the seconds of the bytes and of the startups of blocks."""
    data, startups = superstep.bytes * bpram.sigma, superstep.startups * bpram.startup_s
    if (
        "balance" in model.repairs
        and bpram.isolated_sigma is not None
        and bpram.isolated_startup_s is not None
    ):
        data = _unbalanced_seconds(superstep, bpram.sigma, bpram.isolated_sigma)
        if superstep.bytes:
            startup_s = (
                _unbalanced_seconds(superstep, bpram.startup_s, bpram.isolated_startup_s) / superstep.bytes
            )
            startups = superstep.startups * startup_s
    return data, startups


def _relation_seconds(superstep: Superstep, machine: BulkCosts, model: CostModel) -> tuple[float, float]:
    """Returns the seconds of an h-relation's bytes and packets, and of its startups and synchronisation."""
    bsp = require(machine.bsp, "g and L")
    startups = superstep.startups
    messages_s, per_byte = bsp.L, bsp.per_byte_s
    if "startups" in model.repairs:
        messages_s = require(bsp.empty_s, "an empty superstep")
        messages_s += (superstep.max_destinations + superstep.max_sources) * require(
            bsp.startup_s, "a startup"
        )
    is_sparse = "sparse" in model.repairs and 0 < startups < machine.ranks - 1
    if is_sparse:
        per_byte = max(per_byte, require(bsp.single_per_byte_s, "the only message of a superstep"))
    bytes_s = superstep.bytes * per_byte
    is_balanced = "balance" in model.repairs
    if is_balanced and bsp.isolated_per_byte_s is not None:
        bytes_s = _unbalanced_seconds(superstep, per_byte, min(per_byte, bsp.isolated_per_byte_s))
    if is_sparse:
        pair_s = 2 * require(bsp.startup_s, "a startup")
        single_s = require(bsp.single_startup_s, "the only message of a superstep")
        if is_balanced and bsp.isolated_startup_s is not None and superstep.bytes:
            single_s = _unbalanced_seconds(superstep, single_s, bsp.isolated_startup_s) / superstep.bytes
        messages_s += single_s - pair_s
        bytes_s = bytes_s / startups + (startups - 1) * max(0.0, bytes_s / startups - pair_s)
    return superstep.packets * bsp.packet_s + bytes_s, messages_s


def _unbalanced_seconds(superstep: Superstep, full_s: float, isolated_s: float) -> float:
    """Returns `isolated_s` for each byte of h, plus the time that the bytes of other ranks add for each byte
    that a rank sends on average."""
    return superstep.bytes * isolated_s + superstep.mean_bytes * (full_s - isolated_s)


def require(value: _T | None, name: str) -> _T:
    """Raises NotMeasured."""
    if value is None:
        raise MissingParameter(name)
    return value


ACCEPTED_ERROR = 0.1
"""A model with a smaller relative error counts as correct."""
MIN_CORRECTION = 1 / 3
"""An assumption is named if its repair removes at least this share of the error."""

ASSUMPTIONS: dict[Repair, str] = {
    "startups": "every superstep pays for the messages of a full relation",
    "sparse": "the bytes of a message travel during the startups of others",
    "balance": "all ranks send as much as the busiest one",
    "copies": "a rank copies no data in its own memory",
}
"""The models' assumptions, by the repair that drops each."""


@dataclass(frozen=True)
class Diagnosis:
    """The error of the model `base`, (predicted - measured) / measured. `repair` is the repair that reduces
    it most; None if the error is small or no repair suffices. `repaired_error` is the error after that
    repair."""

    base: BaseModel
    error: float
    repair: Repair | None = None
    repaired_error: float | None = None


def relative_error(predicted_s: float, measured_s: float) -> float:
    return predicted_s / measured_s - 1


def diagnose(
    supersteps: Sequence[Superstep], machine: BulkCosts, base: BaseModel, measured_s: float
) -> Diagnosis | None:
    """Determines the error of the model `base` and the assumption that fails. Returns None if the model's
    parameters were not measured."""
    try:
        error = relative_error(predict(supersteps, machine, CostModel(base)).total, measured_s)
    except MissingParameter:
        return None
    errors: dict[Repair, float] = {}
    for repair in REPAIRS[base]:
        try:
            repaired_s = predict(supersteps, machine, CostModel(base, frozenset({repair}))).total
        except MissingParameter:
            continue
        errors[repair] = relative_error(repaired_s, measured_s)
    best_repair = min(errors, key=lambda repair: abs(errors[repair]), default=None)
    if (
        best_repair is None
        or abs(error) <= ACCEPTED_ERROR
        or abs(errors[best_repair]) > (1 - MIN_CORRECTION) * abs(error)
    ):
        return Diagnosis(base, error)
    return Diagnosis(base, error, best_repair, errors[best_repair])
