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

from hockney.core.case import Case, Value, parse_canonical
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


def described_rates(platform: Platform, known: Mapping[str, float] | None = None) -> LocalRates:
    """The described rates in the form of measured ones; `known` are operations per second that replace the
    description's."""
    speeds = {operation: operations_per_second(platform, operation) for operation in FLOPS} | dict(
        known or {}
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
    """What a run shows of its machine at `ranks` ranks: the values, or one `end` of the interval of each.
    Other `rates` of local work replace the measured ones. Rates without this end take nan seconds; raises
    NotMeasured if a parameter has none."""
    alone = _message(fits, end)
    return BulkCosts(
        ranks=ranks,
        bsp=_bsp(fits, ranks, alone, end),
        bpram=_bpram(fits, ranks, alone, end),
        rates=_rates(fits, ranks, end) if rates is None else rates,
    )


def rank_counts(fits: Fits) -> tuple[int, ...]:
    """The rank counts at which parameters were fitted."""
    found = {fit.subject["ranks"] for model in ("bsp", "bpram") for fit in fits.select_by_role(model, ROLE)}
    return tuple(sorted(int(ranks) for ranks in found))


def relation_fit(fits: Fits, ranks: int, method: str = "put", packet: int = WORD) -> Fit | None:
    """g and L for packets of one size, by one method."""
    return _usable(fits.select_by_role("bsp", ROLE, RELATION), ranks=ranks, method=method, **{PACKET: packet})


def permutation_fit(fits: Fits, ranks: int) -> Fit | None:
    """sigma and l."""
    return _usable(fits.select_by_role("bpram", ROLE, PERMUTATION), ranks=ranks)


def superstep_fit(fits: Fits, ranks: int, method: str = "put") -> Fit | None:
    """L, o and G for packets of any size."""
    return _usable(fits.select_by_role("superstep", ROLE, RELATION), ranks=ranks, method=method)


def value(fit: Fit, symbol: str, end: End = "value") -> float:
    """Raises NotMeasured if this end of the parameter's interval is unknown."""
    parameter = fit.parameter(symbol)
    assert parameter is not None, f"a {fit.model} has {symbol}"
    return _at(parameter.estimate, end)


def _at(estimate: Estimate, end: End) -> float:
    found = getattr(estimate, end)
    if found is None:
        raise NotMeasured("an interval")
    return found


def _usable(fits: Iterable[Fit], **fixed: int | str) -> Fit | None:
    return next((fit for fit in fits if fit.verdict != "refused" and fit.subject.matches(**fixed)), None)


def _bsp(fits: Fits, ranks: int, alone: tuple[float, float] | None, end: End) -> Bsp | None:
    """A full relation has p - 1 messages out and in: its L beyond an empty superstep's time is theirs."""
    line, empty = _line(fits, ranks, end), _empty(fits, ranks, end)
    if line is None:
        return None
    whole, packet, per_byte = line
    known = Bsp(whole, packet, per_byte, empty)
    if empty is not None:
        known = replace(known, startup=max(0.0, whole - empty) / (2 * max(1, ranks - 1)))
    pair, empty = _line(fits, 2, end), _empty(fits, 2, end)
    if pair is not None and empty is not None:
        known = replace(known, single_startup=max(0.0, pair[0] - empty), single_per_byte=pair[2])
        if alone is not None:
            known = replace(known, startup_alone=min(known.single_startup or 0.0, alone[0]))
    return known if alone is None else replace(known, per_byte_alone=alone[1])


def _line(fits: Fits, ranks: int, end: End) -> tuple[float, float, float] | None:
    """L, o and G; if only words were measured, all of g belongs to their bytes."""
    fit, words = superstep_fit(fits, ranks), relation_fit(fits, ranks)
    if fit is not None:
        return value(fit, "L", end), value(fit, "o", end), value(fit, "G", end)
    return None if words is None else (value(words, "L", end), 0.0, value(words, "g", end) / WORD)


def _bpram(fits: Fits, ranks: int, alone: tuple[float, float] | None, end: End) -> Bpram | None:
    fit = permutation_fit(fits, ranks)
    if fit is None:
        return None
    sigma, startup = value(fit, "sigma", end), value(fit, "l", end)
    if alone is None:
        return Bpram(sigma, startup)
    return Bpram(sigma, startup, min(sigma, alone[1]), min(startup, alone[0]))


def _empty(fits: Fits, ranks: int, end: End) -> float | None:
    names = {w.name for w in fits.workloads if w.performs(ROLE, SYNCHRONISATION)}
    return next((_at(time, end) for case, time in _costs(fits, names) if case.ranks == ranks), None)


def _message(fits: Fits, end: End) -> tuple[float, float] | None:
    """Startup and seconds for each byte of a message between two ranks of which one sends, if it is known."""
    fit = _usable(fits.select_by_role("hockney", *PING_PONG), ranks=2, buffers="hot")
    if fit is None or fit.parameter("r_inf") is None:
        return None
    slow_and_fast: dict[End, End] = {"value": "value", "low": "high", "high": "low"}
    return value(fit, "t_0", end), 1 / value(fit, "r_inf", slow_and_fast[end])


def _rates(fits: Fits, ranks: int, end: End) -> LocalRates:
    found: dict[str, list[LocalRate]] = {}
    workloads = {w.name: w for w in fits.workloads if w.role == LOCAL}
    for summary in fits.summaries:
        workload = workloads.get(summary.case.split(" ", 1)[0])
        counted = summary.metrics.get(OPERATIONS)
        if workload is None or counted is None or counted.typical.value <= 0:
            continue
        case = parse_canonical(summary.case)
        if case.ranks == ranks:
            seconds = getattr(summary.cost(fits.cost), end)
            found.setdefault(workload.operation, []).append(
                LocalRate(case.values, counted.typical.value, math.nan if seconds is None else seconds)
            )
    return LocalRates({operation: tuple(rates) for operation, rates in found.items()})


def _costs(fits: Fits, workloads: set[str]) -> Iterable[tuple[Case, Estimate]]:
    for summary in fits.summaries:
        if summary.case.split(" ", 1)[0] in workloads:
            yield parse_canonical(summary.case), summary.cost(fits.cost)
