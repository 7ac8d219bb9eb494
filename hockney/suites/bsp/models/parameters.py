# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A machine's parameters in the models of bulk synchronous programs, at one number of ranks: from the fits of
a run (relations, permutations, synchronisations, local rates, messages between two ranks), or local rates
from a machine's description, where work takes the time that the case states."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.core.case import Value, parse_canonical
from hockney.core.catalog import PING_PONG
from hockney.core.fit import Estimate, Fit, Fits
from hockney.core.platform import Platform
from hockney.models.measured_costs import End
from hockney.suites.bsp.fits.bsp import PACKET, PERMUTATION, RELATION, ROLE, SYNCHRONISATION
from hockney.suites.bsp.models.programs import WORD, LocalWork


class NotMeasured(LookupError):
    """A model needs a parameter that was not measured."""


@dataclass(frozen=True)
class LocalRate:
    """One measured rate: a repetition of `operations` operations with these `values` of the parameters took
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
        """Seconds of `work` at the rate that was measured with the same values; otherwise the time per
        operation is interpolated between the rates of the same type, linearly in the logarithm of the
        operations, and constant beyond them. Raises KeyError if there is none."""
        if (exact_rate := self.exact(work)) is not None:
            return work.operations * exact_rate.per_operation
        kind = dict(work.values).get("type")
        rates = self.measured.get(work.operation, ())
        same_type = [rate for rate in rates if rate.values.get("type") == kind]
        if not same_type:
            raise KeyError(work.operation)
        same_type.sort(key=lambda rate: rate.operations)
        log_operations = math.log(max(work.operations, 1.0))
        log_sizes = [math.log(rate.operations) for rate in same_type]
        return work.operations * float(
            np.interp(log_operations, log_sizes, [rate.per_operation for rate in same_type])
        )

    def exact(self, work: LocalWork) -> LocalRate | None:
        """The rate of work with the same values, which are more than a type; None if it was not measured."""
        values = dict(work.values)
        if len(values) <= ("type" in values):
            return None
        rates = self.measured.get(work.operation, ())
        return next((r for r in rates if all(r.values.get(k) == v for k, v in values.items())), None)


@dataclass(frozen=True)
class Bsp:
    """Seconds as measured with full h-relations: `L` for a superstep, `packet` and `per_byte` for each packet
    and each byte of h, so that g of words of 4 bytes is packet + 4 per_byte. What a superstep takes without
    any communication is `empty`, and what it takes in addition for each message that a rank sends or receives
    is `startup`. The only message of a superstep on two ranks takes `single_startup` and `single_per_byte`;
    `startup_alone` and `per_byte_alone` belong to a message that meets no other."""

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
    with full block permutations. `sigma_alone` and `startup_alone` belong to a block that meets no other."""

    sigma: float
    startup: float
    sigma_alone: float | None = None
    startup_alone: float | None = None


@dataclass(frozen=True)
class BulkCosts:
    """The known costs of a machine at `ranks` ranks: parameters that were not measured are None."""

    ranks: int
    bsp: Bsp | None = None
    bpram: Bpram | None = None
    rates: LocalRates = LocalRates()


FLOPS = {
    "multiplication": 1.0,
    "sort": 5.0,
    "merge": 5.0,
    "min-plus": 2.0,
    "closure": 2.0,
    "copy": 1e-6,
}
"""Floating-point operations that count as one operation; the kernels' copies take no simulated time."""
TYPES = ("", "double", "float", "uint32")


def operations_per_second(platform: Platform, operation: str) -> float:
    """Operations per second, from the description's rate of this operation, or else from the speed of its
    cores."""
    return platform.rates.get(operation) or platform.flops / FLOPS[operation]


def described_rates(platform: Platform, overrides: Mapping[str, float] | None = None) -> LocalRates:
    """The described rates in the form of measured ones; `known` are operations per second that replace the
    description's."""
    speeds = {operation: operations_per_second(platform, operation) for operation in FLOPS} | dict(
        overrides or {}
    )
    return LocalRates(
        {
            operation: tuple(LocalRate({"type": kind} if kind else {}, speed, 1.0) for kind in TYPES)
            for operation, speed in speeds.items()
        }
    )


LOCAL = "local"
"""The role of workloads that measure local rates."""
OPERATIONS = "operations"
"""Their metric: operations of one repetition."""


def machine_costs(fits: Fits, ranks: int, rates: LocalRates | None = None, end: End = "value") -> BulkCosts:
    """The costs of a run's machine at `ranks` ranks: the values, or one `end` of the interval of each. Other
    `rates` of local work replace the measured ones. Rates without this end take nan seconds; raises
    NotMeasured if a parameter has none."""
    single_message = _single_message(fits, end)
    return BulkCosts(
        ranks=ranks,
        bsp=_bsp(fits, ranks, single_message, end),
        bpram=_bpram(fits, ranks, single_message, end),
        rates=_local_rates(fits, ranks, end) if rates is None else rates,
    )


def rank_counts(fits: Fits) -> tuple[int, ...]:
    """The rank counts at which parameters were fitted."""
    counts = {fit.subject["ranks"] for model in ("bsp", "bpram") for fit in fits.select_by_role(model, ROLE)}
    return tuple(sorted(int(ranks) for ranks in counts))


def relation_fit(fits: Fits, ranks: int, method: str = "put") -> Fit | None:
    """g and L of words, by one method."""
    return _usable(fits.select_by_role("bsp", ROLE, RELATION), ranks=ranks, method=method, **{PACKET: WORD})


def permutation_fit(fits: Fits, ranks: int) -> Fit | None:
    """sigma and l."""
    return _usable(fits.select_by_role("bpram", ROLE, PERMUTATION), ranks=ranks)


def superstep_fit(fits: Fits, ranks: int) -> Fit | None:
    """L, o and G for packets of any size, by puts."""
    return _usable(fits.select_by_role("superstep", ROLE, RELATION), ranks=ranks, method="put")


def value(fit: Fit, symbol: str, end: End = "value") -> float:
    """Raises NotMeasured if this end of the parameter's interval is unknown."""
    parameter = fit.parameter(symbol)
    assert parameter is not None, f"a {fit.model} has {symbol}"
    return _end_of(parameter.estimate, end)


def _end_of(estimate: Estimate, end: End) -> float:
    bound = getattr(estimate, end)
    if bound is None:
        raise NotMeasured("an interval")
    return bound


def _usable(fits: Iterable[Fit], **fixed: int | str) -> Fit | None:
    return next((fit for fit in fits if fit.verdict != "refused" and fit.subject.matches(**fixed)), None)


def _bsp(fits: Fits, ranks: int, single_message: tuple[float, float] | None, end: End) -> Bsp | None:
    """A full relation has p - 1 messages out and in: its L beyond an empty superstep's time is theirs."""
    line, empty_s = _bsp_line(fits, ranks, end), _empty_superstep(fits, ranks, end)
    if line is None:
        return None
    superstep_s, packet, per_byte = line
    bsp = Bsp(superstep_s, packet, per_byte, empty_s)
    if empty_s is not None:
        bsp = replace(bsp, startup=max(0.0, superstep_s - empty_s) / (2 * max(1, ranks - 1)))
    pair, empty_s = _bsp_line(fits, 2, end), _empty_superstep(fits, 2, end)
    if pair is not None and empty_s is not None:
        bsp = replace(bsp, single_startup=max(0.0, pair[0] - empty_s), single_per_byte=pair[2])
        if single_message is not None:
            bsp = replace(bsp, startup_alone=min(bsp.single_startup or 0.0, single_message[0]))
    return bsp if single_message is None else replace(bsp, per_byte_alone=single_message[1])


def _bsp_line(fits: Fits, ranks: int, end: End) -> tuple[float, float, float] | None:
    """L, o and G; if only words were measured, all of g belongs to their bytes."""
    fit, words = superstep_fit(fits, ranks), relation_fit(fits, ranks)
    if fit is not None:
        return value(fit, "L", end), value(fit, "o", end), value(fit, "G", end)
    return None if words is None else (value(words, "L", end), 0.0, value(words, "g", end) / WORD)


def _bpram(fits: Fits, ranks: int, single_message: tuple[float, float] | None, end: End) -> Bpram | None:
    fit = permutation_fit(fits, ranks)
    if fit is None:
        return None
    sigma, startup = value(fit, "sigma", end), value(fit, "l", end)
    if single_message is None:
        return Bpram(sigma, startup)
    return Bpram(sigma, startup, min(sigma, single_message[1]), min(startup, single_message[0]))


def _empty_superstep(fits: Fits, ranks: int, end: End) -> float | None:
    names = {w.name for w in fits.workloads if w.performs(ROLE, SYNCHRONISATION)}
    summaries = (each for each in fits.summaries if each.case.split(" ", 1)[0] in names)
    costs = (each.cost(fits.cost) for each in summaries if parse_canonical(each.case).ranks == ranks)
    return next((_end_of(time, end) for time in costs), None)


def _single_message(fits: Fits, end: End) -> tuple[float, float] | None:
    """Startup and seconds for each byte of a message between two ranks of which one sends, if it is known."""
    fit = _usable(fits.select_by_role("hockney", *PING_PONG), ranks=2, buffers="hot")
    if fit is None or fit.parameter("r_inf") is None:
        return None
    opposite_end: dict[End, End] = {"value": "value", "low": "high", "high": "low"}
    return value(fit, "t_0", end), 1 / value(fit, "r_inf", opposite_end[end])


def _local_rates(fits: Fits, ranks: int, end: End) -> LocalRates:
    rates_by_operation: dict[str, list[LocalRate]] = {}
    for workload, case, summary in fits.measured(LOCAL):
        operation_count = summary.metrics.get(OPERATIONS)
        if operation_count is None or operation_count.typical.value <= 0:
            continue
        if case.ranks == ranks:
            seconds = getattr(summary.cost(fits.cost), end)
            rates_by_operation.setdefault(workload.operation, []).append(
                LocalRate(
                    case.values, operation_count.typical.value, math.nan if seconds is None else seconds
                )
            )
    return LocalRates({operation: tuple(rates) for operation, rates in rates_by_operation.items()})
