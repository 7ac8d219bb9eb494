# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A machine's parameters in the models of bulk synchronous programs, at one number of ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hockney.core.case import Value
from hockney.suites.bsp.models.superstep import LocalWork


@dataclass(frozen=True)
class LocalRate:
    """One measured rate: a repetition of `operations` with these `values` of the parameters took so many
    `seconds`."""

    values: Mapping[str, Value]
    operations: float
    seconds: float

    @property
    def per_operation(self) -> float:
        return self.seconds / self.operations


@dataclass(frozen=True)
class LocalRates:
    """The measured rates of each kind of local work, with all ranks at work."""

    measured: Mapping[str, tuple[LocalRate, ...]] = field(default_factory=dict)

    def seconds(self, work: LocalWork) -> float:
        """Seconds of `work` at the rate that was measured with the same values; otherwise with a time per
        operation interpolated linearly in the logarithm of the operations, between those of the same type,
        and constant beyond them. Raises KeyError if there is none."""
        if (same := self.exact(work)) is not None:
            return work.operations * same.per_operation
        kind = dict(work.values).get("type")
        every = self.measured.get(work.operation, ())
        known = [rate for rate in every if rate.values.get("type") == kind]
        if not known:
            raise KeyError(work.operation)
        known.sort(key=lambda rate: rate.operations)
        at = math.log(max(work.operations, 1.0))
        sizes = [math.log(rate.operations) for rate in known]
        return work.operations * float(np.interp(at, sizes, [rate.per_operation for rate in known]))

    def exact(self, work: LocalWork) -> LocalRate | None:
        """The rate of work with the same values, which are more than a type; None if it was not measured."""
        values = dict(work.values)
        if len(values) <= ("type" in values):
            return None
        every = self.measured.get(work.operation, ())
        return next((r for r in every if all(r.values.get(k) == v for k, v in values.items())), None)


@dataclass(frozen=True)
class Bsp:
    """Seconds as measured with full h-relations: `L` for a superstep, `packet` and `per_byte` for each packet
    and each byte of h, so that g of words of 4 bytes is packet + 4 per_byte. What a superstep takes without
    any communication is `empty`, and what it takes in addition for each message that a rank sends or receives
    is `startup`. The only message of a superstep on two ranks takes `single_startup` and `single_per_byte`;
    `startup_alone` and `per_byte_alone` are those of a message that no other one meets."""

    L: float
    packet: float
    per_byte: float
    empty: float | None = None
    startup: float | None = None
    single_startup: float | None = None
    single_per_byte: float | None = None
    startup_alone: float | None = None
    per_byte_alone: float | None = None


@dataclass(frozen=True)
class Bpram:
    """Seconds for each byte of a block (`sigma`) and for each block (`startup`, l in the papers), measured
    with full block permutations. `sigma_alone` and `startup_alone` are those of a block that no other one
    meets."""

    sigma: float
    startup: float
    sigma_alone: float | None = None
    startup_alone: float | None = None


@dataclass(frozen=True)
class BulkCosts:
    """What is known of a machine at `ranks` ranks: parameters that were not measured are None."""

    ranks: int
    bsp: Bsp | None = None
    bpram: Bpram | None = None
    rates: LocalRates = LocalRates()
