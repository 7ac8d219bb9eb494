# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A machine's parameters in the models of bulk synchronous programs, for one number of ranks.

They come from the fits of a run (relations, permutations, synchronisations, local rates, messages between two
ranks). Local rates can also come from a machine's description, by which simulated work takes its time."""

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
from hockney.suites.bsp.models.programs import WORD_BYTES, LocalWork


class MissingParameter(LookupError):
    """Raised if a model needs a parameter that was not measured."""


@dataclass(frozen=True)
class LocalRate:
    """One measured rate: a repetition of `operations` operations, with these `values` of its parameters, took
    `seconds`."""

    values: Mapping[str, Value]
    operations: float
    seconds: float

    @property
    def per_operation(self) -> float:
        return self.seconds / self.operations


@dataclass(frozen=True)
class LocalRates:
    """The measured rates of each kind of local work, with all ranks working at the same time."""

    rates_by_operation: Mapping[str, tuple[LocalRate, ...]] = field(default_factory=dict)

    def seconds(self, work: LocalWork) -> float:
        """Returns the seconds of `work` at the rate measured with the same values. Without one, interpolates
        the time per operation between the rates of the same type, linearly in the logarithm of the operations
        and constant beyond them. Raises KeyError if there is no rate."""
        if (matching_rate := self.exact_rate(work)) is not None:
            return work.operations * matching_rate.per_operation
        element_type = dict(work.values).get("type")
        operation_rates = self.rates_by_operation.get(work.operation, ())
        rates_of_type = [rate for rate in operation_rates if rate.values.get("type") == element_type]
        if not rates_of_type:
            raise KeyError(work.operation)
        rates_of_type.sort(key=lambda rate: rate.operations)
        log_operations = math.log(max(work.operations, 1.0))
        log_sizes = [math.log(rate.operations) for rate in rates_of_type]
        return work.operations * float(
            np.interp(log_operations, log_sizes, [rate.per_operation for rate in rates_of_type])
        )

    def exact_rate(self, work: LocalWork) -> LocalRate | None:
        """Returns the rate that was measured with the same values; None if there is none, or if the work has
        no values except a type."""
        values = dict(work.values)
        if len(values) <= ("type" in values):
            return None
        rates = self.rates_by_operation.get(work.operation, ())
        return next(
            (rate for rate in rates if all(rate.values.get(name) == value for name, value in values.items())),
            None,
        )


@dataclass(frozen=True)
class BspParameters:
    """Seconds measured with full h-relations: `L` for a superstep, `packet_s` and `per_byte_s` for each
    packet and each byte of h. For words of 4 bytes, g is packet_s + 4 per_byte_s.

    `empty_s` is the time of a superstep without communication, and `startup_s` the additional time for each
    message that a rank sends or receives. The only message of a superstep on two ranks takes
    `single_startup_s` and `single_per_byte_s`. `isolated_startup_s` and `isolated_per_byte_s` are the costs
    of a message while no other message is in the network."""

    L: float
    packet_s: float
    per_byte_s: float
    empty_s: float | None = None
    startup_s: float | None = None
    single_startup_s: float | None = None
    single_per_byte_s: float | None = None
    isolated_startup_s: float | None = None
    isolated_per_byte_s: float | None = None


@dataclass(frozen=True)
class BpramParameters:
    """Seconds for each byte of a block (`sigma`) and for each block (`startup_s`, l in the papers), measured
    with full block permutations. `isolated_sigma` and `isolated_startup_s` are the costs of a block while no
    other block is in the network."""

    sigma: float
    startup_s: float
    isolated_sigma: float | None = None
    isolated_startup_s: float | None = None


@dataclass(frozen=True)
class BulkCosts:
    """The known costs of a machine for `ranks` ranks. Parameters that were not measured are None."""

    ranks: int
    bsp: BspParameters | None = None
    bpram: BpramParameters | None = None
    rates: LocalRates = LocalRates()


FLOPS_PER_OPERATION = {
    "multiplication": 1.0,
    "sort": 5.0,
    "merge": 5.0,
    "min-plus": 2.0,
    "closure": 2.0,
    "copy": 1e-6,
}
"""Floating-point operations that count as one operation. The kernels' copies take almost no simulated time.
"""
ELEMENT_TYPES = ("", "double", "float", "uint32")


def operations_per_second(platform: Platform, operation: str) -> float:
    """Returns the description's rate of this operation, or else one derived from the cores' speed."""
    return platform.rates.get(operation) or platform.flops / FLOPS_PER_OPERATION[operation]


def described_rates(platform: Platform, overrides: Mapping[str, float] | None = None) -> LocalRates:
    """Returns the described rates in the form of measured ones. `overrides` are operations per second that
    replace those of the description."""
    rates_per_second = {
        operation: operations_per_second(platform, operation) for operation in FLOPS_PER_OPERATION
    } | dict(overrides or {})
    return LocalRates(
        {
            operation: tuple(
                LocalRate({"type": element_type} if element_type else {}, operations, 1.0)
                for element_type in ELEMENT_TYPES
            )
            for operation, operations in rates_per_second.items()
        }
    )


LOCAL_ROLE = "local"
"""Role of the workloads that measure local rates."""
OPERATIONS_METRIC = "operations"
"""Metric of these workloads: operations of one repetition."""


def machine_costs(fits: Fits, ranks: int, rates: LocalRates | None = None, end: End = "value") -> BulkCosts:
    """Returns the costs of a run's machine for `ranks` ranks: the values, or one `end` of their intervals.
    `rates` replace the measured rates of local work. A rate without this end takes NaN seconds. Raises
    MissingParameter if another parameter lacks it."""
    single_message = _single_message_costs(fits, end)
    return BulkCosts(
        ranks=ranks,
        bsp=_bsp_parameters(fits, ranks, single_message, end),
        bpram=_bpram_parameters(fits, ranks, single_message, end),
        rates=_local_rates(fits, ranks, end) if rates is None else rates,
    )


def rank_counts(fits: Fits) -> tuple[int, ...]:
    """Returns the rank counts for which parameters were fitted."""
    counts = {fit.subject["ranks"] for model in ("bsp", "bpram") for fit in fits.select_by_role(model, ROLE)}
    return tuple(sorted(int(ranks) for ranks in counts))


def relation_fit(fits: Fits, ranks: int, method: str = "put") -> Fit | None:
    """Returns the fit of g and L to relations whose words are sent by one method."""
    return _usable_fit(
        fits.select_by_role("bsp", ROLE, RELATION), ranks=ranks, method=method, **{PACKET: WORD_BYTES}
    )


def permutation_fit(fits: Fits, ranks: int) -> Fit | None:
    """Returns the fit of sigma and l."""
    return _usable_fit(fits.select_by_role("bpram", ROLE, PERMUTATION), ranks=ranks)


def superstep_fit(fits: Fits, ranks: int) -> Fit | None:
    """Returns the fit of L, o and G, which is valid for packets of any size sent by puts."""
    return _usable_fit(fits.select_by_role("superstep", ROLE, RELATION), ranks=ranks, method="put")


def parameter_value(fit: Fit, symbol: str, end: End = "value") -> float:
    """Returns a parameter's value, or one end of its interval. Raises MissingParameter if that is unknown."""
    parameter = fit.parameter(symbol)
    assert parameter is not None, f"a {fit.model} has {symbol}"
    return _interval_end(parameter.estimate, end)


def _interval_end(estimate: Estimate, end: End) -> float:
    bound = getattr(estimate, end)
    if bound is None:
        raise MissingParameter("an interval")
    return bound


def _usable_fit(fits: Iterable[Fit], **parameters: int | str) -> Fit | None:
    return next((fit for fit in fits if fit.verdict != "refused" and fit.subject.matches(**parameters)), None)


def _bsp_parameters(
    fits: Fits, ranks: int, single_message: tuple[float, float] | None, end: End
) -> BspParameters | None:
    """Returns the parameters of BSP. A full relation has p - 1 messages out and in, so they share the time by
    which its L exceeds an empty superstep."""
    line, empty_s = _bsp_line(fits, ranks, end), _empty_superstep_s(fits, ranks, end)
    if line is None:
        return None
    superstep_s, packet, per_byte = line
    bsp = BspParameters(superstep_s, packet, per_byte, empty_s)
    if empty_s is not None:
        bsp = replace(bsp, startup_s=max(0.0, superstep_s - empty_s) / (2 * max(1, ranks - 1)))
    pair_line, empty_s = _bsp_line(fits, 2, end), _empty_superstep_s(fits, 2, end)
    if pair_line is not None and empty_s is not None:
        bsp = replace(bsp, single_startup_s=max(0.0, pair_line[0] - empty_s), single_per_byte_s=pair_line[2])
        if single_message is not None:
            bsp = replace(bsp, isolated_startup_s=min(bsp.single_startup_s or 0.0, single_message[0]))
    return bsp if single_message is None else replace(bsp, isolated_per_byte_s=single_message[1])


def _bsp_line(fits: Fits, ranks: int, end: End) -> tuple[float, float, float] | None:
    """Returns L, o and G. If only words were measured, all of g belongs to their bytes."""
    packet_fit, word_fit = superstep_fit(fits, ranks), relation_fit(fits, ranks)
    if packet_fit is not None:
        return (
            parameter_value(packet_fit, "L", end),
            parameter_value(packet_fit, "o", end),
            parameter_value(packet_fit, "G", end),
        )
    return (
        None
        if word_fit is None
        else (parameter_value(word_fit, "L", end), 0.0, parameter_value(word_fit, "g", end) / WORD_BYTES)
    )


def _bpram_parameters(
    fits: Fits, ranks: int, single_message: tuple[float, float] | None, end: End
) -> BpramParameters | None:
    fit = permutation_fit(fits, ranks)
    if fit is None:
        return None
    sigma, startup_s = parameter_value(fit, "sigma", end), parameter_value(fit, "l", end)
    if single_message is None:
        return BpramParameters(sigma, startup_s)
    return BpramParameters(sigma, startup_s, min(sigma, single_message[1]), min(startup_s, single_message[0]))


def _empty_superstep_s(fits: Fits, ranks: int, end: End) -> float | None:
    names = {workload.name for workload in fits.workloads if workload.performs(ROLE, SYNCHRONISATION)}
    summaries = (summary for summary in fits.summaries if summary.case.split(" ", 1)[0] in names)
    costs = (summary.cost(fits.cost) for summary in summaries if parse_canonical(summary.case).ranks == ranks)
    return next((_interval_end(time, end) for time in costs), None)


def _single_message_costs(fits: Fits, end: End) -> tuple[float, float] | None:
    """Returns the startup and the seconds per byte of a unidirectional message between two ranks; None if
    unknown."""
    fit = _usable_fit(fits.select_by_role("hockney", *PING_PONG), ranks=2, buffers="hot")
    if fit is None or fit.parameter("r_inf") is None:
        return None
    opposite_end: dict[End, End] = {"value": "value", "low": "high", "high": "low"}
    return parameter_value(fit, "t_0", end), 1 / parameter_value(fit, "r_inf", opposite_end[end])


def _local_rates(fits: Fits, ranks: int, end: End) -> LocalRates:
    rates_by_operation: dict[str, list[LocalRate]] = {}
    for workload, case, summary in fits.measured_cases(LOCAL_ROLE):
        operation_count = summary.metrics.get(OPERATIONS_METRIC)
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
